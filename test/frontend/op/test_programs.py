"""Operations as parts of programs: kernels, sizes that are not known, names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Array, Operation, any_function, normals, run

import gingham
from gingham import op
from gingham.edsl import (
    Placeholder,
    Program,
    Tensor,
    TensorIndexes,
    TensorLens,
    TensorOutput,
    exp,
    index,
    relu,
    reshape,
    rsqrt,
    select,
)


@pytest.fixture
def device() -> None:
    if gingham.default_device().is_reference:
        pytest.skip("the interpreter has no kernels")


def launches(operation: Operation, *arrays: Array) -> int:
    jitted = gingham.jit()(any_function(operation))
    return jitted.ir(*arrays, stage="opencl").count("opencl.launch @")


def tile_softmax(x: Tensor) -> Tensor:
    M = x.shape[0]
    i, j = TensorIndexes(2)
    greatest = TensorOutput(M, 1)
    greatest[i, 0].max(x[i, j])
    power = exp(x - greatest)
    total = TensorOutput(M, 1)
    total[i, 0].sum(power[i, j])
    return power / total


def tile_layer_norm(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    M, N = x.shape
    i, j = TensorIndexes(2)
    total = TensorOutput(M, 1)
    total[i, 0].sum(x[i, j])
    distance = x - total / N
    squares = distance * distance
    spread = TensorOutput(M, 1)
    spread[i, 0].sum(squares[i, j])
    return distance * rsqrt(spread / N + 1e-5) * w + b


def tile_convolution(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    N, _, H, W = x.shape
    CO = w.shape[0]
    n, h, v, co, ci, j, k = TensorIndexes(7)
    y = TensorOutput(N, CO, H, W)
    y[n, co, h, v].sum(x[n, ci, h + j - 1, v + k - 1] * w[co, ci, j, k])
    return relu(y + reshape(b, CO, 1, 1))


def tile_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    H, L = q.shape[:2]
    S, V = k.shape[1], v.shape[2]
    h, i, j, e = TensorIndexes(4)
    product = TensorOutput(H, L, S)
    product[h, i, j].sum(q[h, i, e] * k[h, j, e])
    seen = index([L, 1], 0) >= index([1, S], 1)
    scores = select(seen, product * 0.25, -float("inf"))
    greatest = TensorOutput(H, L, 1)
    greatest[h, i, 0].max(scores[h, i, j])
    power = exp(scores - greatest)
    total = TensorOutput(H, L, 1)
    total[h, i, 0].sum(power[h, i, j])
    weights = power / total
    result = TensorOutput(H, L, V)
    result[h, i, e].sum(weights[h, i, j] * v[h, j, e])
    return result


MODELS: list[tuple[Operation, Operation, list[Array]]] = [
    (lambda x: op.softmax(x), tile_softmax, [normals(64, 128)]),
    (
        lambda x, w, b: op.layer_norm(x, w, b),
        tile_layer_norm,
        [normals(64, 128), normals(128), normals(128, seed=1)],
    ),
    (
        lambda x, w, b: op.relu(op.conv(x, w, b, padding=1)),
        tile_convolution,
        [normals(2, 16, 30, 30), normals(32, 16, 3, 3), normals(32)],
    ),
    (
        lambda q, k, v: op.scaled_dot_product_attention(q, k, v, is_causal=True),
        tile_attention,
        [normals(4, 64, 16), normals(4, 64, 16, seed=1), normals(4, 64, 16, seed=2)],
    ),
]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    ("operation", "tile", "arrays"),
    MODELS,
    ids=["softmax", "layer_norm", "convolution", "attention"],
)
def test_as_many_kernels_as_by_hand(
    operation: Operation, tile: Operation, arrays: list[Array]
) -> None:
    assert launches(operation, *arrays) == launches(tile, *arrays)
    np.testing.assert_allclose(
        run(operation, *arrays, device=None), run(tile, *arrays, device=None), atol=1e-4
    )


def test_sizes_that_are_not_known_while_the_program_is_made() -> None:
    """All but operations that say otherwise: one trace serves all sizes."""

    def model(x: Any, w: Any) -> list[Any]:
        image = op.conv(x, w, None, 2, "SAME_UPPER")
        channels = op.group_norm(op.avg_pool(image, 2, 1, 1), 2)
        rows = op.flatten(op.pad(channels, 1, "edge", axes=[-1]), 2)
        scores = op.scaled_dot_product_attention(rows, rows, rows, is_causal=True)
        return [
            op.softmax(scores),
            op.concatenate([rows, op.roll(rows, 2, -1), op.flip(rows, 1)], -1),
            op.cumsum(rows, -1),
            op.resize(x, [x.shape[2] * 2, x.shape[3] + 3], axes=(2, 3), mode="linear"),
            op.slice(x, [-3, 1], [None, -1], (2, 3)),
            op.take_along_axis(rows, op.argmax(rows, -1, True), -1),
            op.topk(rows, 3)[0],
            op.tril(op.matmul(rows, op.swapaxes(rows, 1, 2))),
            op.reshape(x, 0, -1),
            op.broadcast_to(op.mean(rows, (1, 2), True), rows.shape),
        ]

    jitted = gingham.jit(device="reference")(model)
    for shape in [(2, 4, 7, 5), (1, 4, 6, 9), (3, 4, 8, 8)]:
        x, w = normals(*shape), normals(6, 4, 3, 3)
        wanted = run(model, x, w)
        for found, other in zip(jitted(x, w), wanted, strict=True):
            np.testing.assert_array_equal(found, other)
        np.testing.assert_allclose(
            jitted(x, w)[4], x[:, :, -3:, 1:-1], err_msg=str(shape)
        )
    assert jitted.trace_count == 1


def test_stacks_broadcast_at_any_size() -> None:
    product = gingham.jit(device="reference")(op.matmul)
    for left, right in [(1, 5), (5, 1), (5, 5)]:
        a, b = normals(left, 3, 4), normals(right, 4, 2)
        np.testing.assert_allclose(product(a, b), a @ b, atol=1e-6)
    assert product.trace_count == 1


def test_programs_of_placeholders() -> None:
    x = Placeholder("float32", "N C")
    y = op.log_softmax(op.linear(x, normals(3, 4), np.ones(3, np.float32)))
    program = Program("classes", [x], [y])
    array = normals(5, 4)
    scores = array @ normals(3, 4).T + 1
    wanted = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    np.testing.assert_allclose(program(array), wanted, atol=1e-5)


def test_results_are_called_as_their_variables() -> None:
    x = Placeholder("float32", [4, 6], "x")
    weights = op.softmax(x)
    first, second = op.split(weights, 2, 1)
    same = op.transpose(x, (0, 1))
    program = Program("parts", [x], [weights, first, second])
    assert (weights.name, first.name, second.name) == ("weights", "first", "second")
    assert same.name == "x"
    assert '["weights", "first", "second"]' in str(program)
    # What is between has no name of the user's.
    assert "weights_1" not in str(program)


@pytest.mark.usefixtures("device")
def test_on_the_default_device() -> None:
    """At the sizes of a layer of a network."""
    x, w = normals(2, 32, 28, 28), normals(64, 32, 3, 3) * np.float32(0.1)

    def model(x: Any, w: Any) -> Any:
        y = op.max_pool(op.gelu(op.conv(x, w, padding=1)), 2)
        y = op.batch_norm(y, *op.batch_norm_training(y)[1:])
        return op.softmax(op.global_avg_pool(y), 1), op.pad(y, 1, "reflect", axes=[3])

    chances, padded = gingham.jit(model)(x, w)
    np.testing.assert_allclose(np.asarray(chances).sum(1), 1, atol=1e-5)
    image = np.asarray(padded)
    np.testing.assert_array_equal(image[..., 0], image[..., 2])
    np.testing.assert_allclose(image[..., 1:-1].mean((0, 2, 3)), 0, atol=1e-4)
    np.testing.assert_allclose(image[..., 1:-1].var((0, 2, 3)), 1, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8"])
def test_element_types_are_kept(dtype: str) -> None:
    def model(x: Any) -> list[Any]:
        image = op.reshape(x, 1, 1, 4, 4)
        kept = [
            op.pad(x, 1, value=1.5),
            op.tril(x),
            op.clip(x, 0, 3),
            op.cumprod(x, 0, exclusive=True),
            op.max_pool(image, 2),
            op.topk(x, 2)[0],
            op.scatter_elements(x, op.argsort(x, 0), x, 0, "max"),
        ]
        if dtype == "int8":
            return kept
        weights = op.tile(x, (4, 1))
        return [
            *kept,
            op.softmax(x),
            op.layer_norm(x),
            op.gelu(x),
            op.adaptive_avg_pool(image, 3),
            op.interpolate(image, (3, 3), mode="bilinear", antialias=True),
            op.scaled_dot_product_attention(x, x, x, is_causal=True),
            op.lstm(op.reshape(x, 2, 2, 4), weights, weights)[0],
        ]

    x = (np.arange(16).reshape(4, 4) % 5).astype(dtype)
    assert {str(np.asarray(each).dtype) for each in run(model, x)} == {dtype}


def test_gradients_by_transposed_tensors() -> None:
    def model(x: Tensor, w: Tensor) -> list[Tensor]:
        turned = op.transpose(w)
        loss = op.sum(op.sin(op.matmul(x, turned)))
        return gingham.gradient(loss, [turned, w])

    x, w = normals(3, 4), normals(5, 4)
    by_turned, by_w = run(model, x, w)
    expected = np.cos(x @ w.T).T @ x
    np.testing.assert_allclose(by_w, expected, atol=1e-5)
    np.testing.assert_allclose(by_turned, expected.T, atol=1e-5)


def test_tensors_seen_through_a_lens() -> None:
    def model(x: Tensor) -> list[Tensor]:
        seen = x.use(TensorLens("nhwc", "nchw"))
        turned = op.transpose(x, (2, 0, 1, 3)).use(TensorLens("abcd", "dcba"))
        return [
            op.sum(seen, (2, 3)),
            op.max_pool(seen, 2),
            op.transpose(seen, (1, 0, 3, 2)),
            op.sum(turned, 0),
        ]

    x = normals(2, 4, 6, 3)
    first = x.transpose(0, 3, 1, 2)
    wanted = [
        first.sum((2, 3)),
        first.reshape(2, 3, 2, 2, 3, 2).max((3, 5)),
        first.transpose(1, 0, 3, 2),
        x.transpose(2, 0, 1, 3).transpose(3, 2, 1, 0).sum(0),
    ]
    for found, other in zip(run(model, x), wanted, strict=True):
        np.testing.assert_allclose(found, other, atol=1e-5)

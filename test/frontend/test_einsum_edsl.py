"""Einsum of tensors of the eDSL: the same products, as part of a program."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.edsl import DType, Placeholder, Program, Tensor, TensorLens, einsum, jit
from gingham.errors import GinghamError


def small(*shape: int, dtype: str = "int32", seed: int = 0) -> NDArray[Any]:
    generator = np.random.default_rng([seed, len(shape), *shape])
    return generator.integers(-2, 3, shape).astype(dtype)


EQUATIONS: list[tuple[str, list[tuple[int, ...]], str]] = [
    ("ij,jk->ik", [(3, 4), (4, 5)], "int32"),
    ("ii", [(3, 3)], "float32"),
    ("...ij,jk,k", [(2, 3, 4), (4, 5), (5,)], "int32"),
    ("i...->...", [(3, 2, 4)], "float64"),
    ("ij,jk->ik", [(3, 4), (4, 5)], "bool"),
]


@pytest.mark.parametrize(("equation", "shapes", "dtype"), EQUATIONS)
@pytest.mark.parametrize("function", [einsum, gingham.einsum])
def test_in_a_function(
    function: Any, equation: str, shapes: list[tuple[int, ...]], dtype: str
) -> None:
    @jit(device="reference")
    def summed(*operands: Tensor) -> Tensor:
        return function(equation, *operands)

    arrays = [small(*shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes)]
    result = summed(*arrays)
    np.testing.assert_array_equal(result, np.einsum(equation, *arrays), strict=True)


def test_as_a_part_of_an_expression() -> None:
    @jit(device="reference")
    def distances(A: Tensor, B: Tensor) -> Tensor:
        squares = einsum("ik,ik->i", A, A)
        return squares.reshape(A.shape[0], 1) - 2 * einsum("ik,jk->ij", A, B)

    a, b = small(3, 4), small(5, 4, seed=1)
    wanted = (a * a).sum(axis=1)[:, None] - 2 * a @ b.T
    np.testing.assert_array_equal(distances(a, b), wanted)


def test_one_trace_serves_all_sizes() -> None:
    @jit(device="reference")
    def product(A: Tensor, B: Tensor) -> Tensor:
        return einsum("ij,jk", A, B)

    for sizes in [(2, 3, 4), (5, 1, 2), (1, 1, 1)]:
        a, b = small(*sizes[:2]), small(*sizes[1:])
        np.testing.assert_array_equal(product(a, b), a @ b)
    assert product.trace_count == 1


def test_axes_of_an_ellipsis_broadcast_in_one_trace() -> None:
    @jit(device="reference")
    def products(A: Tensor, B: Tensor, C: Tensor) -> list[Tensor]:
        return [A @ B, einsum("...ij,...jk,k->...i", A, B, C)]

    for first, second in [((1, 2), (5, 2)), ((5, 1), (5, 3)), ((4, 2), (1, 1))]:
        a, b, c = small(*first, 3, 4), small(*second, 4, 2, seed=1), small(2)
        product, summed = products(a, b, c)
        np.testing.assert_array_equal(product, a @ b, strict=True)
        np.testing.assert_array_equal(summed, a @ b @ c, strict=True)
    assert products.trace_count == 1
    with pytest.raises(GinghamError, match="broadcast"):
        products(small(2, 2, 3, 4), small(3, 2, 4, 2), small(2))


def test_gradients_of_what_is_repeated() -> None:
    @jit(device="reference")
    def slopes(A: Tensor, B: Tensor) -> list[Tensor]:
        return gingham.gradient(A @ B, [A, B])

    a, b = small(1, 3, 4, dtype="float32"), small(5, 4, 2, dtype="float32")
    ones = np.ones((5, 3, 2), np.float32)
    by_a, by_b = slopes(a, b)
    np.testing.assert_array_equal(by_a, (ones @ b.mT).sum(0, keepdims=True))
    np.testing.assert_array_equal(by_b, a.mT @ ones)


def test_a_lens_changes_the_axes_that_labels_are_for() -> None:
    @jit(device="reference")
    def summed(A: Tensor, B: Tensor) -> Tensor:
        return einsum("nhwc,c->hn", A.use(TensorLens("nchw", "nhwc")), B)

    a, b = small(2, 3, 4, 5), small(3)
    np.testing.assert_array_equal(summed(a, b), np.einsum("nchw,c->hn", a, b))


def test_lists_and_numbers() -> None:
    @jit(device="reference")
    def summed(A: Tensor) -> Tensor:
        return einsum(A, [0, 1], 3, [], [1])

    a = small(2, 3)
    np.testing.assert_array_equal(summed(a), 3 * a.sum(axis=0))


def test_tensordot_and_transpose() -> None:
    @jit(device="reference")
    def both(A: Tensor, B: Tensor) -> Tensor:
        return gingham.tensordot(A, gingham.transpose(B), 1)

    a, b = small(2, 3), small(4, 3)
    np.testing.assert_array_equal(both(a, b), a @ b.T)


def test_a_known_size_of_1_is_repeated() -> None:
    row, matrix = (Placeholder(DType.INT32, shape) for shape in ([1, 3], [4, 3]))
    program = Program("p", [row, matrix], [einsum("ij,ij->i", row, matrix)])
    a, b = small(1, 3), small(4, 3)
    result = program.compile("reference")(a, b)
    np.testing.assert_array_equal(result, np.einsum("ij,ij->i", a, b))


def test_sizes_that_differ_are_named_at_the_users_line() -> None:
    @jit(device="reference")
    def product(A: Tensor, B: Tensor) -> Tensor:
        return einsum("ij,jk", A, B)

    with pytest.raises(GinghamError, match="size J is 3 in A but 4 in B") as raised:
        product(small(2, 3), small(4, 5))
    assert raised.value.location is not None
    assert raised.value.location.file == __file__
    first = inspect.getsourcelines(test_sizes_that_differ_are_named_at_the_users_line)[
        1
    ]
    assert raised.value.location.line == first + 3


@pytest.mark.parametrize("function", [einsum, gingham.einsum])
def test_a_wrong_equation_is_an_error_at_the_users_line(function: Any) -> None:
    tensor = Placeholder(DType.FLOAT32, [2, 3])
    with pytest.raises(GinghamError, match="'i' has 1 label") as raised:
        function("i", tensor)
    assert raised.value.location is not None
    assert raised.value.location.file == __file__

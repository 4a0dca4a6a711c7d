"""NumPy: what the others are checked against, and a contender where it is fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ..cases import Case
from .prepared import Array, Inputs, Prepared, arrays_of

Computation: TypeAlias = Callable[[Case, Sequence[Array]], Any]


def prepare(case: Case, inputs: Inputs) -> Prepared:
    """The case as a person would write it with NumPy."""
    compute = COMPUTATIONS[case.kind]
    arguments = list(inputs.values())
    return Prepared(
        lambda: compute(case, arguments), lambda: arrays_of(compute(case, arguments))
    )


def _matmul(case: Case, inputs: Sequence[Array]) -> Array:
    return np.matmul(*inputs)


def _integer_matmul(case: Case, inputs: Sequence[Array]) -> Any:
    # NumPy has a library for products of these, which are as exact.
    a, b = (each.astype(np.float64) for each in inputs)
    return (a @ b).astype(np.int32)


def _matmul_transposed(case: Case, inputs: Sequence[Array]) -> Array:
    return inputs[0] @ inputs[1].T


def _tensor_contraction(case: Case, inputs: Sequence[Array]) -> Array:
    return np.einsum("aebf,dfce->abcd", *inputs, optimize=True)


def _windows(case: Case, image: Array, taps: int) -> Array:
    """Axes: batch, row, column, tap row, tap column, channel (or group and channel)."""
    pad, stride, dilation = (case.parameters[k] for k in ("pad", "stride", "dilation"))
    rest = [(0, 0)] * (image.ndim - 3)
    padded = np.pad(image, ((0, 0), (pad, pad), (pad, pad), *rest))
    reach = dilation * (taps - 1) + 1
    windows = sliding_window_view(padded, (reach, reach), (1, 2))
    windows = windows[:, ::stride, ::stride, ..., ::dilation, ::dilation]
    return np.moveaxis(windows, (-2, -1), (3, 4))


def _convolution(case: Case, inputs: Sequence[Array]) -> Array:
    image, kernel = inputs
    windows = _windows(case, image, kernel.shape[0])
    if case.parameters["groups"] > 1:
        return np.einsum("nxyijgc,ijgco->nxygo", windows, kernel, optimize=True)
    columns = windows.reshape(-1, kernel[..., 0].size)
    result = columns @ kernel.reshape(-1, kernel.shape[-1])
    return result.reshape(*windows.shape[:3], -1)


def _depthwise(case: Case, inputs: Sequence[Array]) -> Array:
    image, kernel = inputs
    windows = _windows(case, image, kernel.shape[0])
    return np.einsum("nxyijc,ijc->nxyc", windows, kernel)


def _transposed_convolution(case: Case, inputs: Sequence[Array]) -> Array:
    image, kernel = inputs
    taps, pad = kernel.shape[0], case.parameters["pad"]
    batch, rows, columns, _ = image.shape
    parts = np.einsum("nxyc,ijco->nxyijo", image, kernel, optimize=True)
    size = 2 * rows + taps, 2 * columns + taps
    result = np.zeros((batch, *size, kernel.shape[-1]), np.float32)
    for i, j in product(range(taps), repeat=2):
        result[:, i : i + 2 * rows : 2, j : j + 2 * columns : 2] += parts[:, :, :, i, j]
    return result[:, pad : pad + 2 * rows, pad : pad + 2 * columns]


def _channels_first(case: Case, inputs: Sequence[Array]) -> Array:
    image, kernel = (np.moveaxis(each, 1, -1) for each in inputs)
    taps = np.moveaxis(kernel, 0, -1)
    return np.moveaxis(_convolution(case, [image, taps]), -1, 1)


def _chain(case: Case, inputs: Sequence[Array]) -> Array:
    x, a, b = inputs
    for _ in range(case.parameters["calls"]):
        x = x * a + b
    return x


def _softmax(case: Case, inputs: Sequence[Array]) -> Array:
    (x,) = inputs
    result = x - x.max(axis=-1, keepdims=True)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result


def _log_softmax(case: Case, inputs: Sequence[Array]) -> Array:
    (x,) = inputs
    shifted = x - x.max(axis=-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return shifted


def _layer_norm(case: Case, inputs: Sequence[Array]) -> NDArray[Any]:
    x, scale, bias = inputs
    result = x - x.mean(axis=-1, keepdims=True)
    variance = np.einsum("mn,mn->m", result, result) / np.float32(x.shape[-1])
    result /= np.sqrt(variance + np.float32(1e-5))[:, None]
    result *= scale
    result += bias
    return result


def _max_pool(case: Case, inputs: Sequence[Array]) -> Array:
    (image,) = inputs
    taps, pad = case.parameters["taps"], case.parameters["pad"]
    _, rows, columns, _ = image.shape
    edges = (0, 0), (pad, taps), (pad, taps), (0, 0)
    padded = np.pad(image, edges, constant_values=-np.inf)
    result = padded[:, 0:rows:2, 0:columns:2].copy()
    for i, j in product(range(taps), repeat=2):
        np.maximum(result, padded[:, i : i + rows : 2, j : j + columns : 2], out=result)
    return result


def _gelu(case: Case, inputs: Sequence[Array]) -> NDArray[Any]:
    a, b, c = inputs
    x = a * b
    x += c
    result = x * x
    result *= np.float32(0.044715)
    result += np.float32(1)
    result *= x
    result *= np.float32(0.7978846)
    np.tanh(result, out=result)
    result += np.float32(1)
    result *= x
    result *= np.float32(0.5)
    return result


def _multiply_add(case: Case, inputs: Sequence[Array]) -> Array:
    a, b, c = inputs
    result = a * b
    result += c
    return result


def _attention(case: Case, inputs: Sequence[Array]) -> Array:
    query, key, value = inputs
    scores = query @ key.transpose(0, 2, 1)
    scores *= np.float32(query.shape[-1] ** -0.5)
    return _softmax(case, [scores]) @ value


def _bottleneck(case: Case, inputs: Sequence[Array]) -> Array:
    image, k1, b1, k2, b2, k3, b3 = inputs
    first = np.maximum(image @ k1 + b1, np.float32(0))
    padded = np.pad(first, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.moveaxis(sliding_window_view(padded, (3, 3), (1, 2)), (-2, -1), (3, 4))
    columns = windows.reshape(-1, k2[..., 0].size)
    second = (columns @ k2.reshape(-1, k2.shape[-1])).reshape(first.shape)
    second = np.maximum(second + b2, np.float32(0))
    return np.maximum(second @ k3 + b3 + image, np.float32(0))


def _lstm_cell(case: Case, inputs: Sequence[Array]) -> tuple[NDArray[Any], ...]:
    x, state, cell, w, u, bias = inputs
    hidden = state.shape[1]
    gates = x @ w.reshape(len(w), -1) + state @ u.reshape(len(u), -1) + bias.ravel()
    i, f, g, o = (gates[:, n * hidden : (n + 1) * hidden] for n in range(4))
    one = np.float32(1)
    new_cell = cell / (one + np.exp(-f)) + np.tanh(g) / (one + np.exp(-i))
    return np.tanh(new_cell) / (one + np.exp(-o)), new_cell


COMPUTATIONS: dict[str, Computation] = {
    "matmul": _matmul,
    "integer_matmul": _integer_matmul,
    "matmul_transposed": _matmul_transposed,
    "tensor_contraction": _tensor_contraction,
    "convolution": _convolution,
    "channels_first": _channels_first,
    "depthwise": _depthwise,
    "transposed_convolution": _transposed_convolution,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "sum": lambda case, inputs: inputs[0].sum(axis=case.parameters.get("axis")),
    "argmax": lambda case, inputs: inputs[0].argmax(axis=1),
    "cumulative_sum": lambda case, inputs: np.cumsum(inputs[0]),
    "cumulative_rows": lambda case, inputs: np.cumsum(inputs[0], axis=1),
    "transpose": lambda case, inputs: inputs[0].T.copy(),
    "turned": lambda case, inputs: inputs[0].transpose(2, 0, 1).copy(),
    "gather": lambda case, inputs: inputs[0].take(inputs[1].astype(np.int64), axis=0),
    "negation": lambda case, inputs: -inputs[0],
    "chain": _chain,
    "max_pool": _max_pool,
    "multiply_add": _multiply_add,
    "gelu": _gelu,
    "attention": _attention,
    "bottleneck": _bottleneck,
    "lstm_cell": _lstm_cell,
}

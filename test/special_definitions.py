"""What the special operations mean, cell by cell in loops over NumPy arrays.

Written from the documents of ONNX and PlaidML, not from the compiler: no function here
is faster than it is plain.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def cells(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All places of a tensor, in row-major order."""
    return list(product(*map(range, shape)))


def _clamped(index: int, size: int) -> int:
    return min(max(index, 0), size - 1)


def gather(
    values: Array, indices: Array, axis: int = 0, batch: int = 0, zero: bool = False
) -> Array:
    """The cells along an axis; both tensors begin with the same `batch` axes."""
    inner = indices.ndim - batch
    shape = (*values.shape[:axis], *indices.shape[batch:], *values.shape[axis + 1 :])
    result = np.zeros(shape, values.dtype)
    for cell in cells(shape):
        before, own, behind = (
            cell[:axis],
            cell[axis : axis + inner],
            cell[axis + inner :],
        )
        index = int(indices[(*cell[:batch], *own)])
        place = _clamped(index, values.shape[axis])
        if place == index or not zero:
            result[cell] = values[(*before, place, *behind)]
    return result


def gather_nd(
    values: Array, indices: Array, batch: int = 0, zero: bool = False
) -> Array:
    """ONNX GatherND."""
    depth = indices.shape[-1]
    shape = (*indices.shape[:-1], *values.shape[batch + depth :])
    result = np.zeros(shape, values.dtype)
    lead = indices.ndim - 1
    for cell in cells(shape):
        index = [int(i) for i in indices[cell[:lead]]]
        sizes = values.shape[batch : batch + depth]
        place = [_clamped(i, s) for i, s in zip(index, sizes, strict=True)]
        if place == index or not zero:
            result[cell] = values[(*cell[:batch], *place, *cell[lead:])]
    return result


def _nearest(x: float, mode: str) -> float:
    match mode:
        case "round_prefer_floor":
            return math.ceil(x - 0.5)
        case "round_prefer_ceil":
            return math.floor(x + 0.5)
        case "floor":
            return math.floor(x)
        case "ceil":
            return math.ceil(x)
        case _:
            return math.trunc(x)


def _cubic(s: float, a: float) -> float:
    s = abs(s)
    if s <= 1:
        return (a + 2) * s**3 - (a + 3) * s**2 + 1
    return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a


def _weights(
    x: float, interpolation: str, nearest_mode: str, cube_coefficient: float
) -> dict[int, float]:
    """The cells along an axis that a position is between, with their weights."""
    if interpolation == "nearest":
        return {int(_nearest(x, nearest_mode)): 1.0}
    floor = math.floor(x)
    if interpolation == "linear":
        return {floor: 1 - (x - floor), floor + 1: x - floor}
    return {floor + k: _cubic(x - floor - k, cube_coefficient) for k in (-1, 0, 1, 2)}


def _is_outside(x: float, size: int, interpolation: str, nearest_mode: str) -> bool:
    place = _nearest(x, nearest_mode) if interpolation == "nearest" else x
    return not 0 <= place <= size - 1


def interpolated_gather(
    values: Array,
    indices: Array,
    axis: int = 0,
    batch: int = 0,
    zero: bool = False,
    interpolation: str = "linear",
    nearest_mode: str = "round_prefer_floor",
    cube_coefficient: float = -0.75,
) -> Array:
    """Cells between those along an axis, in double precision."""
    inner = indices.ndim - batch
    size = values.shape[axis]
    shape = (*values.shape[:axis], *indices.shape[batch:], *values.shape[axis + 1 :])
    result = np.zeros(shape, np.float64)
    for cell in cells(shape):
        before, own, behind = (
            cell[:axis],
            cell[axis : axis + inner],
            cell[axis + inner :],
        )
        x = float(indices[(*cell[:batch], *own)])
        if zero and _is_outside(x, size, interpolation, nearest_mode):
            continue
        weights = _weights(x, interpolation, nearest_mode, cube_coefficient)
        result[cell] = sum(
            weight * float(values[(*before, _clamped(place, size), *behind)])
            for place, weight in weights.items()
        )
    return result


def interpolated_gather_nd(
    values: Array,
    indices: Array,
    batch: int = 0,
    zero: bool = False,
    interpolation: str = "linear",
    nearest_mode: str = "round_prefer_floor",
    cube_coefficient: float = -0.75,
) -> Array:
    """Cells between those along several axes, one axis after the other."""
    depth, lead = indices.shape[-1], indices.ndim - 1
    sizes = values.shape[batch : batch + depth]
    shape = (*indices.shape[:-1], *values.shape[batch + depth :])
    result = np.zeros(shape, np.float64)
    for cell in cells(shape):
        places = [float(x) for x in indices[cell[:lead]]]
        part = values[cell[:batch]].astype(np.float64)
        for x, size in zip(places, sizes, strict=True):
            weights = _weights(x, interpolation, nearest_mode, cube_coefficient)
            part = sum(
                (
                    weight * part[_clamped(place, size)]
                    for place, weight in weights.items()
                ),
                np.zeros(part.shape[1:]),
            )
            if zero and _is_outside(x, size, interpolation, nearest_mode):
                part = np.zeros_like(part)
        result[cell] = part[cell[lead:]]
    return result


def scatter_add(
    updates: Array, indices: Array, size: int, axis: int = 0, zero: bool = False
) -> Array:
    """The sums of the updates at each index along an axis of `size` cells."""
    behind = axis + indices.ndim
    shape = (*updates.shape[:axis], size, *updates.shape[behind:])
    result = np.zeros(shape, updates.dtype)
    for cell in cells(updates.shape):
        index = int(indices[cell[axis:behind]])
        place = _clamped(index, size)
        if place == index or not zero:
            with np.errstate(over="ignore"):  # Integers wrap around.
                result[(*cell[:axis], place, *cell[behind:])] += updates[cell]
    return result


def scatter_update(
    updates: Array, indices: Array, base: Array, axis: int = 0, zero: bool = False
) -> Array:
    """OpenVINO ScatterUpdate: slices of the base are overwritten, the last one wins."""
    result = base.copy()
    behind = axis + indices.ndim
    for cell in cells(updates.shape):
        index = int(indices[cell[axis:behind]])
        place = _clamped(index, base.shape[axis])
        if place == index or not zero:
            result[(*cell[:axis], place, *cell[behind:])] = updates[cell]
    return result


def scatter_elements(
    updates: Array, indices: Array, base: Array, axis: int = 0, zero: bool = False
) -> Array:
    """ONNX ScatterElements without reduction."""
    result = base.copy()
    for cell in cells(updates.shape):
        index = int(indices[cell])
        place = _clamped(index, base.shape[axis])
        if place == index or not zero:
            result[(*cell[:axis], place, *cell[axis + 1 :])] = updates[cell]
    return result


def scatter_nd(
    updates: Array, indices: Array, base: Array, zero: bool = False
) -> Array:
    """ONNX ScatterND without reduction."""
    result = base.copy()
    depth = indices.shape[-1]
    for lead in cells(indices.shape[:-1]):
        index = [int(i) for i in indices[lead]]
        sizes = base.shape[:depth]
        place = [_clamped(i, s) for i, s in zip(index, sizes, strict=True)]
        if place == index or not zero:
            result[tuple(place)] = updates[lead]
    return result


def argsort(values: Array, axis: int, descending: bool = False) -> Array:
    """Positions in sorted order: stable, NaNs last in both directions."""
    result = np.zeros(values.shape, np.int32)
    size = values.shape[axis]
    for cell in cells((*values.shape[:axis], *values.shape[axis + 1 :])):
        row = (*cell[:axis], slice(None), *cell[axis:])
        items = [v.item() for v in values[row]]

        def key(i: int, items: list[Any] = items) -> tuple[bool, Any]:
            is_nan = items[i] != items[i]
            order = 0 if is_nan else -items[i] if descending else items[i]
            return is_nan, order

        result[row] = sorted(range(size), key=key)
    return result


def prng(state: Array, count: int) -> tuple[Array, Array]:
    """Numbers of the combined Tausworthe generator, and the state behind them.

    Each number is that of the state before its step.
    """
    steps = ((4294967294, 12, 13, 19), (4294967288, 4, 2, 25), (4294967280, 17, 3, 11))
    words = [[int(w) for w in row] for row in state.reshape(3, -1)]
    lanes = len(words[0])
    numbers: list[float] = []
    for n in range(count):
        total = 0
        for row, (mask, up, first, down) in zip(words, steps, strict=True):
            s = row[n % lanes]
            total ^= s
            left = ((s & mask) << up) & 0xFFFFFFFF
            row[n % lanes] = left ^ ((((s << first) & 0xFFFFFFFF) ^ s) >> down)
        numbers.append(total)
    scaled = np.asarray(numbers, np.uint32).astype(np.float32) / np.float32(2.0**32)
    return scaled, np.asarray(words, np.uint32).reshape(state.shape)

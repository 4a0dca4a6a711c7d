"""Boxes of integer points: cut into parts of bounded size, and forms over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from ...affine.form import LinearForm
from .elements import Array

Box: TypeAlias = tuple[range, ...]
"""The points whose coordinates lie in these ranges."""

Coordinate: TypeAlias = Array | int
"""A number for each of many points; a plain int when it is the same for all."""


def parts(extents: Sequence[int], limit: int) -> Iterator[Box]:
    """Cut the box `0 <= d[i] < extents[i]` into boxes of at most `limit` points.

    In row-major order, each part a contiguous piece of it. No part is empty.
    """
    if 0 in extents:
        return
    axis, inner = len(extents), 1
    while axis and inner * extents[axis - 1] <= limit:
        axis -= 1
        inner *= extents[axis]
    whole = tuple(range(extent) for extent in extents[axis:])
    if not axis:
        yield whole
        return
    cut = axis - 1
    step = max(1, limit // inner)
    for outer in product(*(range(extent) for extent in extents[:cut])):
        for start in range(0, extents[cut], step):
            stop = min(start + step, extents[cut])
            fixed = tuple(range(value, value + 1) for value in outer)
            yield (*fixed, range(start, stop), *whole)


def mesh(box: Box) -> list[Array]:
    """The coordinates of a box as arrays that broadcast to its shape."""
    rank = len(box)
    return [
        np.arange(span.start, span.stop, dtype=np.int64).reshape(
            [-1 if axis == position else 1 for axis in range(rank)]
        )
        for position, span in enumerate(box)
    ]


def listed(box: Box) -> list[Array]:
    """The coordinates of all points of a box in row-major order, one array per axis."""
    shape = tuple(len(span) for span in box)
    return [np.broadcast_to(axis, shape).reshape(-1) for axis in mesh(box)]


def strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The distance of neighbours along each axis when rows are contiguous."""
    result: list[int] = []
    step = 1
    for size in reversed(sizes):
        result.insert(0, step)
        step *= size
    return tuple(result)


def evaluator(form: LinearForm) -> Callable[[Sequence[Coordinate]], Coordinate]:
    """An integer form as a function of the values that it ranges over.

    Each value is that of many points, and so is the result; an int stands for all.
    """
    constant = form.constant.numerator
    terms = [(number, form.coefficients[number].numerator) for number in form.support]

    def value_at(values: Sequence[Coordinate]) -> Coordinate:
        result: Coordinate = constant
        for number, factor in terms:
            result = result + values[number] * factor
        return result

    return value_at


def evaluate(form: LinearForm, values: Sequence[Coordinate]) -> Coordinate:
    """An integer form at many points at once: see `evaluator`."""
    return evaluator(form)(values)

"""Parts of tensors, and elements repeated or in another order along axes."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from ..edsl.functions import max as larger
from ..edsl.functions import min as smaller
from ..edsl.functions import select
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import (
    Axes,
    Size,
    axes_of,
    axis_of,
    indices,
    known_size,
    per_axis,
    replaced,
    size_list,
    sizes_of,
)
from .contractions import moved
from .operation import TensorLike, as_tensor, operation
from .shapes import flatten, reshape

__all__ = ["flip", "repeat", "roll", "select_index", "slice", "tile"]


@operation
def select_index(x: TensorLike, position: int, axis: int = 0) -> Tensor:
    """What stands at one place of an axis, which is gone, as torch.select.

    A negative place is counted from the end.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    sizes = sizes_of(x)
    size = known_size(sizes[place])
    if size is not None and not -size <= position < size:
        raise error(f"axis {axis} has size {size}, so there is no place {position}")
    places = indices(x.ndim)
    at = position if position >= 0 else sizes[place] + position
    return moved(
        x,
        [*sizes[:place], *sizes[place + 1 :]],
        [*places[:place], *places[place + 1 :]],
        replaced(places, place, at),
    )


@operation
def slice(
    x: TensorLike,
    starts: Size | Sequence[Size],
    ends: Any,
    axes: int | Sequence[int] | None = None,
    steps: int | Sequence[int] = 1,
) -> Tensor:
    """From starts to ends of some axes, the first ones by default, as ONNX's Slice.

    Starts and ends mean what they do in Python: negative ones are counted from the end,
    others limited to the axis; None as an end is the end of the axis in the direction
    of the step, which may be negative. Raises GinghamError where nothing is left.
    """
    x = as_tensor(x)
    firsts = size_list(starts)
    lasts = size_list(ends)
    chosen = axes if axes is not None else range(len(firsts))
    places = [axis_of(x, a) for a in ([chosen] if isinstance(chosen, int) else chosen)]
    strides = per_axis(steps, len(firsts), "the steps")
    if not len(firsts) == len(lasts) == len(places):
        raise error(
            f"{len(firsts)} starts, {len(lasts)} ends and {len(places)} axes to slice"
        )
    sizes = sizes_of(x)
    target, source = list[Size](sizes), list[Any](indices(x.ndim))
    result = list[Any](source)
    for place, first, last, step in zip(places, firsts, lasts, strides, strict=True):
        begin, count = _range(sizes[place], first, last, step)
        if known_size(count) == 0:
            raise error(
                f"axis {place} of size {sizes[place]} has nothing from {first} to "
                f"{last} in steps of {step}"
            )
        target[place] = count
        source[place] = begin + step * result[place]
    return moved(x, target, result, source)


def _range(size: Size, first: Size, last: Size | None, step: int) -> tuple[Size, Size]:
    """Where a slice begins, and how many elements it has."""
    if step == 0:
        raise error("the step of a slice is 0")
    number = known_size(size)
    ends = [known_size(end) for end in (first, last) if end is not None]
    if number is not None and None not in ends:
        end = None if last is None else known_size(last)
        taken = range(*builtins.slice(known_size(first), end, step).indices(number))
        return taken.start, len(taken)
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)
    begin = _limited(first, size, lowest, highest)
    end = highest if step > 0 else lowest
    if last is not None:
        end = _limited(last, size, lowest, highest)
    distance = end - begin if step > 0 else begin - end
    return begin, larger((distance + (abs(step) - 1)) // abs(step), 0)


def _limited(place: Size, size: Size, lowest: Size, highest: Size) -> Size:
    """A place of Python's slices within an axis."""
    number = known_size(place)
    if number is None:
        place = select(place < 0, place + size, place)
    elif number < 0:
        place = size + number
    return smaller(larger(place, lowest), highest)


@operation
def flip(x: TensorLike, axes: Axes = None) -> Tensor:
    """Some axes in the opposite order, all by default, as NumPy's flip."""
    x = as_tensor(x)
    chosen, sizes, places = axes_of(x, axes), sizes_of(x), indices(x.ndim)
    source = [
        size - 1 - place if axis in chosen else place
        for axis, (size, place) in enumerate(zip(sizes, places, strict=True))
    ]
    return moved(x, sizes, places, source)


@operation
def roll(x: TensorLike, shift: int | Sequence[int], axes: Axes = None) -> Tensor:
    """The elements moved along axes, those beyond the end at the start, as NumPy's.

    Without `axes` the elements are moved as if they were on one axis.
    """
    x = as_tensor(x)
    if axes is None:
        (steps,) = per_axis(shift, 1, "the shift")
        return reshape(_rolled(flatten(x), steps, 0), sizes_of(x))
    several = [axes] if isinstance(axes, int) else list(axes)
    for axis, steps in zip(
        several, per_axis(shift, len(several), "shift"), strict=True
    ):
        x = _rolled(x, steps, axis_of(x, axis))
    return x


def _rolled(x: Tensor, shift: int, axis: int) -> Tensor:
    sizes = sizes_of(x)
    size, source = sizes[axis], indices(x.ndim)
    steps = shift % size if isinstance(size, int) else (shift % size + size) % size
    first = moved(x, sizes, replaced(source, axis, source[axis] + steps), source)
    target = replaced(source, axis, source[axis] + steps - size)
    return moved(x, sizes, target, source, default=first)


@operation
def tile(x: TensorLike, repeats: int | Sequence[Size]) -> Tensor:
    """The whole tensor several times along each axis, as NumPy's tile."""
    x = as_tensor(x)
    counts = size_list(repeats)
    rank = max(len(counts), x.ndim)
    counts = [*[1] * (rank - len(counts)), *counts]
    x = x.reshape(*[1] * (rank - x.ndim), *sizes_of(x)) if x.ndim < rank else x
    sizes, source, turns = sizes_of(x), indices(rank), indices(rank)
    target = [s + n * t for s, n, t in zip(source, sizes, turns, strict=True)]
    return moved(
        x,
        [size * count for size, count in zip(sizes, counts, strict=True)],
        target,
        source,
        [turn < count for turn, count in zip(turns, counts, strict=True)],
    )


@operation
def repeat(x: TensorLike, repeats: Size, axis: int | None = None) -> Tensor:
    """Each element several times along an axis, as NumPy's repeat.

    Without an axis the elements are on one axis.
    """
    x = flatten(x) if axis is None else as_tensor(x)
    place = axis_of(x, axis or 0)
    sizes, source = sizes_of(x), indices(x.ndim)
    (turn,) = indices(1)
    target = replaced(source, place, source[place] * repeats + turn)
    whole = replaced(sizes, place, sizes[place] * repeats)
    return moved(x, whole, target, source, [turn < repeats])

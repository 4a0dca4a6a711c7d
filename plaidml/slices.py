"""Parts of tensors, `v[1:, 0]`, as Tile functions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..errors import GinghamError


def slice_text(dims: Sequence[Any], key: Any) -> tuple[str, tuple[Any, ...]]:
    """The function that takes a part of a tensor, and the sizes of its result.

    `dims` are the sizes, integers where they are known. A part is an integer or a slice
    for each of the first axes. Where a size is not known, bounds are cut when it is,
    and the size of the result is None, unless it is the same.
    """
    keys = _without_ellipsis([*key] if isinstance(key, tuple) else [key], len(dims))
    if len(keys) > len(dims):
        raise IndexError(f"{len(keys)} indices for a tensor of {len(dims)} axes")
    keys += [slice(None)] * (len(dims) - len(keys))
    accesses: list[str] = []
    indices: list[str] = []
    starts: list[str] = []
    extents: list[str] = []
    sizes: list[Any] = []
    for axis, (size, part) in enumerate(zip(dims, keys, strict=True)):
        known = size if isinstance(size, int) else None
        if not isinstance(part, slice):
            accesses.append(_position(axis, known, part))
            continue
        start, extent, step, length = _range(axis, known, part)
        indices.append(f"i{axis}")
        extents.append(extent)
        # A computed size is a statement: indices are polynomials.
        starts.append(f"  S{axis} = {start};\n")
        accesses.append(f"S{axis} + {step} * i{axis}")
        # The whole of an axis is as large as that, whatever that is.
        sizes.append(size if part == slice(None) else length)
    declared = ", ".join(f"D{axis}" for axis in range(len(dims)))
    output = f"{', '.join(indices)} : {', '.join(extents)}" if indices else ""
    text = (
        f"function (I[{declared}]) -> (O) {{\n"
        f"{''.join(starts)}  O[{output}] = =(I[{', '.join(accesses)}]);\n}}"
    )
    return text, tuple(sizes)


def _without_ellipsis(keys: list[Any], rank: int) -> list[Any]:
    places = [place for place, each in enumerate(keys) if each is Ellipsis]
    if not places:
        return keys
    if len(places) > 1:
        raise IndexError("'...' is there twice")
    (place,) = places
    others = [slice(None)] * (rank - len(keys) + 1)
    return [*keys[:place], *others, *keys[place + 1 :]]


def _position(axis: int, size: int | None, part: Any) -> str:
    try:
        number = operator.index(part)
    except TypeError:
        raise GinghamError(
            f"expected an integer or a slice for axis {axis}, got {part!r}"
        ) from None
    if size is not None and not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds: axis {axis} has {size}")
    return str(number) if number >= 0 else f"D{axis} - {-number}"


def _range(
    axis: int, size: int | None, part: slice
) -> tuple[str, str, int, int | None]:
    """Where a slice starts, how many elements it has, its step, and the number."""
    step = 1 if part.step is None else operator.index(part.step)
    if step == 0:
        raise GinghamError(f"the step of axis {axis} is 0")
    if size is not None:
        numbers = range(*part.indices(size))
        return str(numbers.start), str(len(numbers)), step, len(numbers)
    # As `slice.indices`: forwards from 0 to the size, backwards from the last to -1.
    low, high = ("0", f"D{axis}") if step > 0 else ("-1", f"D{axis} - 1")
    first, last = (low, high) if step > 0 else (high, low)
    start = first if part.start is None else _bound(axis, part.start, low, high)
    end = last if part.stop is None else _bound(axis, part.stop, low, high)
    if part.start is None and part.stop is None and step == 1:
        return "0", f"D{axis}", 1, None
    length = f"{end} - ({start})" if step > 0 else f"{start} - ({end})"
    return start, f"(max({length}, 0) + {abs(step) - 1}) / {abs(step)}", step, None


def _bound(axis: int, number: Any, low: str, high: str) -> str:
    position = operator.index(number)
    if position >= 0:
        return f"min({position}, {high})"
    return f"max(D{axis} - {-position}, {low})"

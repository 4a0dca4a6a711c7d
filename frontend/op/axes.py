"""Axes and sizes: what operations ask of their tensors and arguments."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from ...dialects.tile.special_shapes import normalized_axis
from ..edsl.axes import bind_sizes
from ..edsl.dims import is_integer, is_size
from ..edsl.indices import TensorIndex
from ..edsl.locations import error
from ..edsl.tensors import Tensor, TensorDim

Size: TypeAlias = int | TensorDim
"""A size that is known, or one that is known when the program runs."""
Axes: TypeAlias = int | Sequence[int] | None
"""One axis, several, or all; negative ones are counted from the last."""


def sizes_of(x: Tensor) -> list[Size]:
    """The sizes of the axes: integers as far as the program says them."""
    known: Sequence[int | None] = x.node.known_sizes or (None,) * x.ndim
    if x.lens is not None:
        known = x.lens.undo(list(known))
    numbers = [size for size in known if size is not None]
    if len(numbers) == x.ndim:
        return [*numbers]
    return [
        dim if size is None else size for size, dim in zip(known, x.shape, strict=True)
    ]


def product(sizes: Iterable[Size]) -> Size:
    """How many elements axes of these sizes have."""
    return reduce(operator.mul, sizes, 1)


def known_size(size: Size) -> int | None:
    """The number that a size is, where the program says it."""
    if isinstance(size, TensorDim):
        return size.node.known_number
    return int(size)


def known_sizes(sizes: Sequence[Size]) -> list[int | None]:
    """The numbers that sizes are, where the program says them."""
    return [known_size(size) for size in sizes]


def axis_of(x: Tensor, axis: int, further: int = 0) -> int:
    """The axis counted from 0, of a tensor that gets `further` axes more.

    Raises GinghamError for what is no axis of it.
    """
    if isinstance(axis, bool) or not is_integer(axis):
        raise error(
            f"expected the axis to be an integer, got {type(axis).__name__}",
            "an argument of gingham.jit is a tensor, unless it is static",
        )
    rank = x.ndim + further
    try:
        return normalized_axis(int(axis), rank, "the result" if further else _name(x))
    except ValueError as reason:
        raise error(str(reason)) from None


def _name(x: Tensor) -> str:
    return x.node.describe()


def axes_of(x: Tensor, axes: Axes, further: int = 0) -> list[int]:
    """The axes in order, each counted from 0; None stands for all.

    Raises GinghamError for what is no axis of it, and for one that is said twice.
    """
    if axes is None:
        return list(range(x.ndim + further))
    several = axis_list(axes)
    found = [axis_of(x, axis, further) for axis in several]
    if len(set(found)) < len(found):
        raise error(f"an axis is said twice: {tuple(several)}")
    return sorted(found)


def axis_list(axes: Any) -> list[Any]:
    """One axis, or those of a list."""
    is_one = isinstance(axes, str) or not isinstance(axes, Sequence)
    return [axes] if is_one else [*axes]


def indices(count: int) -> list[TensorIndex]:
    """So many new indices."""
    return [TensorIndex.make(None) for _ in range(count)]


def replaced(items: Sequence[Any], position: int, item: Any) -> list[Any]:
    """The items with another one at a position."""
    return [*items[:position], item, *items[position + 1 :]]


def require_size(x: Tensor, axis: int, size: Size, what: str) -> None:
    """Have an axis be of this size, now or when sizes are known.

    Raises GinghamError where both are known and differ; `what` the size is, in words.
    """
    own, wanted = known_size(sizes_of(x)[axis]), known_size(size)
    if own is not None and wanted is not None and own != wanted:
        raise error(f"axis {axis} of {_name(x)} has size {own}, not {wanted}: {what}")
    if own is None or wanted is None:
        bind_sizes(x.node, replaced([None] * x.ndim, axis, size))


def require_rank(x: Tensor, ranks: int | Sequence[int], what: str) -> None:
    """Raise GinghamError where the number of axes is none of these."""
    allowed = [ranks] if isinstance(ranks, int) else list(ranks)
    if x.ndim not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise error(f"expected {what} to have {wanted} axes, got {x.ndim}")


def require_choice(value: object, choices: Sequence[object], what: str) -> None:
    """Raise GinghamError where an argument is none of the choices."""
    if value not in choices:
        raise error(
            f"expected {what} to be one of {', '.join(map(str, choices))}, got {value}"
        )


def per_axis(value: Any, count: int, what: str, least: int | None = None) -> list[int]:
    """An integer for each of so many axes, from one for all or one for each.

    Raises GinghamError for another number of them, and for one below the least.
    """
    several: list[Any] = [value] * count if is_integer(value) else [*value]
    if len(several) != count or not all(map(is_integer, several)):
        raise error(f"expected {what} to be {count} integers or one, got {value}")
    numbers = [int(number) for number in several]
    if least is not None and any(number < least for number in numbers):
        raise error(f"expected {what} to be at least {least}, got {value}")
    return numbers


def pairs_per_axis(value: Any, count: int, what: str) -> list[tuple[Size, Size]]:
    """A size before and one behind each of so many axes.

    From one size for all, one for each axis or a pair for each. Raises GinghamError for
    another number of them.
    """
    several: list[Any] = [value] * count if is_size(value) else [*value]
    pairs = [(each, each) if is_size(each) else tuple(each) for each in several]
    if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
        raise error(
            f"expected {what} of {count} axes, got {value}",
            "a number for each, or a pair (before, behind) for each",
        )
    return [(before, behind) for before, behind in pairs]


def size_list(shape: Any) -> list[Any]:
    """One size, or those of a list; None may be among them.

    Raises GinghamError for what is no size.
    """
    is_one = is_size(shape) or isinstance(shape, str) or not hasattr(shape, "__iter__")
    several: list[Any] = [shape] if is_one else [*shape]
    for size in several:
        if size is not None and not is_size(size):
            raise error(f"expected sizes or integers, got {type(size).__name__}")
    return several


def require_some(sizes: Sequence[Size]) -> None:
    """Raise GinghamError where a tensor of these sizes has no element."""
    known = known_sizes(sizes)
    if any(number is not None and number < 1 for number in known):
        shown = ", ".join("?" if number is None else str(number) for number in known)
        raise error(f"a tensor of sizes ({shown}) has no element")


def integer_of(value: Any, what: str) -> int:
    """The integer. Raises GinghamError for what is none."""
    if isinstance(value, bool) or not is_integer(value):
        raise error(f"expected {what} to be an integer, got {type(value).__name__}")
    return int(value)

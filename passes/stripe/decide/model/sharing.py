"""How lanes share the points of a block, where each computes cells of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from .....dialects.stripe.binding import Binding
from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.tiling import Points, Tiles


@dataclass(frozen=True)
class Sharing:
    """The points of a block as loops of work-groups, of turns and of work-items.

    In each turn the work-items of a group have points next to each other. All is by the
    block's indices.
    """

    order: tuple[int, ...]
    """The shared indices, that along which neighbouring work-items lie last."""
    width: int
    """The points side by side that a work-item has in a turn, along the last of them.
    """
    items: tuple[int, ...]
    """The work-items of a group along each index."""
    turns: tuple[int, ...]
    """The turns along each index."""
    loops: tuple[int, ...]
    """The points that each work-item goes through in a turn along each index: all of an
    index that aggregates, 1 of most others."""
    kept: int | None = None
    """The input of which a work-item has all that it needs in a turn in registers, if
    there is one: the number of its refinement."""

    @property
    def unit(self) -> tuple[int, ...]:
        """The points of a work-item in a turn, along each index."""
        last = self.order[-1]
        return tuple(
            self.width if index == last else loop
            for index, loop in enumerate(self.loops)
        )

    @property
    def turn(self) -> tuple[int, ...]:
        """The points of a group in a turn, along each index."""
        return tuple(a * b for a, b in zip(self.unit, self.items, strict=True))

    @property
    def group(self) -> tuple[int, ...]:
        """The points of a group, along each index."""
        return tuple(a * b for a, b in zip(self.turn, self.turns, strict=True))

    def schedule(self, *, staged: bool = False) -> Schedule:
        """The loops. With `staged` there is a block around turns to copy inputs for.

        What is kept is copied in front of the innermost block, of which all loops are
        unrolled then.
        """
        levels = [self._tiles(self.group, Binding.GRID)]
        if staged:
            levels.append(self._tiles(self.group))
        if prod(self.turns) > 1:
            levels.append(self._tiles(self.turn, Binding.UNROLL))
        if self.width == 1 and not self._inside:
            points = Points(self._order, self._bound(Binding.GROUP))
            return Schedule(tuple(levels), points)
        levels.append(self._tiles(self.unit, Binding.GROUP))
        bind = [Binding.UNDECIDED] * len(self.items)
        if self.kept is not None:
            levels.append(self._tiles(self.unit))
            for index in self._inside:
                bind[index] = Binding.UNROLL
        if self.width > 1:
            bind[self.order[-1]] = Binding.VECTOR
        is_bound = any(each is not Binding.UNDECIDED for each in bind)
        points = Points(bind=tuple(bind) if is_bound else ())
        return Schedule(tuple(levels), points)

    def _tiles(self, sizes: tuple[int, ...], binding: Binding | None = None) -> Tiles:
        bind = () if binding is None else self._bound(binding)
        return Tiles(sizes, self._order, bind)

    def _bound(self, binding: Binding) -> tuple[Binding, ...]:
        """A binding of the indices that are shared."""
        undecided = Binding.UNDECIDED
        count = len(self.items)
        return tuple([binding if n in self.order else undecided for n in range(count)])

    @property
    def _inside(self) -> list[int]:
        """The indices that work-items loop over."""
        return [index for index, loop in enumerate(self.loops) if loop > 1]

    @property
    def _order(self) -> tuple[int, ...]:
        """The order of loops, where it is not the one that they have anyway."""
        return () if [*self.order] == sorted(self.order) else self.order

    def __str__(self) -> str:
        each = prod(self.turns)
        what = f"vectors of {self.width}" if self.width > 1 else "cells"
        count = f"{each} {what}" if each > 1 else what
        held = "" if self.kept is None else f", input {self.kept} in registers"
        return f"groups of {prod(self.items)} work-items, each with {count}{held}"


def shared(
    ranges: Sequence[int],
    order: Sequence[int],
    *,
    width: int,
    turns: int,
    most_items: int,
    lanes: int,
    loops: Sequence[int] = (),
    alone: Collection[int] = (),
    kept: int | None = None,
) -> Sharing:
    """At most so many work-items and turns along the last indices of an order.

    Where work-items do not reach the end of the last index, they are whole sub-groups
    of `lanes`. There is one along those of `alone`, which come first in the order.
    """
    tiled = [index for index in reversed(order) if index not in alone]
    each = tuple(loops) or (1,) * len(ranges)
    counts = [-(-extent // own) for extent, own in zip(ranges, each, strict=True)]
    counts[order[-1]] = -(-counts[order[-1]] // width)
    items = [1] * len(counts)
    left = most_items
    for index in tiled:
        unit = lanes if index == order[-1] else 1
        items[index] = _even_part(counts[index], left, unit)
        left //= items[index]
    own = [1] * len(counts)
    left = turns
    for index in tiled:
        own[index] = min(left, -(-counts[index] // items[index]))
        left //= own[index]
    return Sharing(tuple(order), width, tuple(items), tuple(own), each, kept)


def _even_part(count: int, most: int, unit: int) -> int:
    """How many values a part has at most, of as few parts of one size as there can be.

    Where there are several, it is a multiple of `unit` if it can be.
    """
    if count <= most:
        return count
    part = -(-count // -(-count // max(most, 1)))
    whole = -(-part // unit) * unit
    return whole if whole <= most else part

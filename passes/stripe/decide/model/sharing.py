"""How the points of a block in which nothing aggregates are shared by lanes."""

from __future__ import annotations

from collections.abc import Sequence
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
    """The indices, that along which neighbouring work-items lie last."""
    width: int
    """The points side by side that a work-item has in a turn, along the last index."""
    items: tuple[int, ...]
    """The work-items of a group along each index."""
    turns: tuple[int, ...]
    """The turns along each index."""

    @property
    def unit(self) -> tuple[int, ...]:
        """The points of a work-item in a turn, along each index."""
        last = self.order[-1]
        return tuple(
            self.width if index == last else 1 for index in range(len(self.order))
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
        """The loops. With `staged` there is a block around turns to copy inputs for."""
        levels = [self._tiles(self.group, Binding.GRID)]
        if staged:
            levels.append(self._tiles(self.group))
        if prod(self.turns) > 1:
            levels.append(self._tiles(self.turn, Binding.UNROLL))
        points = Points(self._loops, (Binding.GROUP,) * len(self.order))
        if self.width > 1:
            levels.append(self._tiles(self.unit, Binding.GROUP))
            bind = [Binding.UNDECIDED] * len(self.order)
            bind[self.order[-1]] = Binding.VECTOR
            points = Points(bind=tuple(bind))
        return Schedule(tuple(levels), points)

    def _tiles(self, sizes: tuple[int, ...], binding: Binding | None = None) -> Tiles:
        bind = () if binding is None else (binding,) * len(sizes)
        return Tiles(sizes, self._loops, bind)

    @property
    def _loops(self) -> tuple[int, ...]:
        """The order of loops, where it is not the one that they have anyway."""
        is_given = self.order != tuple(range(len(self.order)))
        return self.order if is_given else ()

    def __str__(self) -> str:
        each = prod(self.turns)
        what = f"vectors of {self.width}" if self.width > 1 else "cells"
        count = f"{each} {what}" if each > 1 else what
        return f"groups of {prod(self.items)} work-items, each with {count}"


def shared(
    ranges: Sequence[int],
    order: Sequence[int],
    *,
    width: int,
    turns: int,
    most_items: int,
    lanes: int,
) -> Sharing:
    """At most so many work-items and turns along the last indices of an order.

    Where work-items do not reach the end of the last index, they are whole sub-groups
    of `lanes`.
    """
    counts = [*ranges]
    counts[order[-1]] = -(-counts[order[-1]] // width)
    items = [1] * len(counts)
    left = most_items
    for index in reversed(order):
        unit = lanes if index == order[-1] else 1
        items[index] = _even_part(counts[index], left, unit)
        left //= items[index]
    own = [1] * len(counts)
    left = turns
    for index in reversed(order):
        own[index] = min(left, -(-counts[index] // items[index]))
        left //= own[index]
    return Sharing(tuple(order), width, tuple(items), tuple(own))


def _even_part(count: int, most: int, unit: int) -> int:
    """How many values a part has at most, of as few parts of one size as there can be.

    Where there are several, it is a multiple of `unit` if it can be.
    """
    if count <= most:
        return count
    part = -(-count // -(-count // max(most, 1)))
    whole = -(-part // unit) * unit
    return whole if whole <= most else part

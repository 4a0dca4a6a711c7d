"""`stripe-distribute`: let the work-items of a group share the points of nested blocks.

Applies to top-level blocks that use local memory, or have blocks inside that work-items
share already. Such a block's point is the work of one group: what allocates local
memory is run by the whole group together, and the points of all other blocks inside are
spread over at most `items` work-items. Their schedules say which indices are bound to
`group`, and where a block has more points than that, how many of them, neighbours, a
work-item has; `stripe-tile` applies it. The last index gets the most work-items, so
that those that follow each other access neighbouring cells.

Before, after `stripe-collect-outputs`:

```mlir
stripe.block [%y : 16, %x : 8]
    in %from = %a_1[%y, %x] : 1x1
    out %to = %t[%y, %x] : 1x1 { ... copy ... }
stripe.block [%i_1 : 8, %j_1 : 8]
    in %t_1 = %t[2 * %i_1, 0] : 2x8
    out %c_2 = %c_1[2 * %i_1, 2 * %j_1] : 2x2 add { ... }
```

After, with `items=64`:

```mlir
stripe.block [%y : 16, %x : 8]
    in %from = %a_1[%y, %x] : 1x1
    out %to = %t[%y, %x] : 1x1
    attributes {stripe.schedule = #stripe.schedule<
      tile [2, 1] bind [group, group] because "64 work-items of 64">} { ... copy ... }
stripe.block [%i_1 : 8, %j_1 : 8]
    in %t_1 = %t[2 * %i_1, 0] : 2x8
    out %c_2 = %c_1[2 * %i_1, 2 * %j_1] : 2x2 add
    attributes {stripe.schedule = #stripe.schedule<
      points bind [group, group] because "64 work-items of 64">} { ... }
```

Private memory that several blocks use is divided in the same way by all of them: as
nests cut it that are spread by their schedules, whose work-items then are those of the
group. With more than 32 `bits`, what goes to local memory is copied in turns, in each
of which neighbouring work-items have neighbouring cells, or vectors of up to so many
bits. Indices that only aggregate are not spread, nor those that are bound.
Blocks that are spread or scheduled already are left as they are. The barriers are for
`opencl-synchronize`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.binding import IN_GROUP, Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import Points, Tiles
from ....targets.hardware.description import LANE_BITS
from ...locations import check_positive
from ..analysis.lanes import vector_indices, vector_width
from ..analysis.nests import (
    absolute_access,
    all_blocks,
    is_leaf,
    nested_blocks,
    reduction_indices,
    root_buffer,
    top_level_blocks,
    windows_from,
)
from ..analysis.schedules import is_scheduled
from ..analysis.work_groups import (
    group_items,
    is_spread,
    shared_blocks,
    spread_blocks,
    wants_work_items,
)
from ..edit.split import tile_windows


@dataclass(frozen=True)
class StripeDistributePass(ModulePass):
    """Decide which work-items of a group have which points of nested blocks."""

    name = "stripe-distribute"

    items: int = 64
    """The most work-items that a group has, where the schedule does not say."""
    bits: int = 32
    """The most that a work-item loads or stores at once."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write on blocks inside of groups how work-items are to share their points.

        Raises GinghamError where groups are to have less than one item.
        """
        check_positive(op, items=self.items, bits=self.bits)
        for block in top_level_blocks(op):
            if wants_work_items(block):
                items = group_items(spread_blocks(block)) or self.items
                distribution = _Distribution(items, self.bits)
                distribution.distribute(shared_blocks(block))
                for spread in spread_blocks(block):
                    distribution.keep_in_registers(spread)


@dataclass(frozen=True)
class _Level:
    """How the work-items of a group cut a buffer once, along each of its axes."""

    sizes: tuple[int, ...]
    """Of a part."""
    bind: tuple[Binding, ...]
    """What the parts along each axis are bound to."""


@dataclass(frozen=True)
class _Cut:
    """How a buffer is cut into the parts of the work-items, outermost first."""

    levels: tuple[_Level, ...]
    points: tuple[Binding, ...]
    """What the cells along each axis of a part are bound to."""


class _Distribution:
    """Spreads blocks over work-items; knows who has which part of private memory."""

    def __init__(self, items: int, bits: int) -> None:
        self._items = items
        self._bits = bits
        self._parts: dict[SSAValue, _Cut] = {}

    def distribute(self, blocks: Sequence[BlockOp]) -> None:
        """Decide how the points of blocks are shared.

        Those that are spread have chosen. Then those that aggregate choose, then those
        with the most points.
        """
        spread = [block for block in blocks if is_spread(block)]
        for writes in (True, False):
            for block in spread:
                self._note_nest(block, writes=writes)
        for block in sorted(blocks, key=_weight, reverse=True):
            if is_spread(block) or is_scheduled(block):
                continue
            schedule = self._schedule_by_parts(block)
            if schedule is None:
                schedule = self._schedule(block)
            set_schedule(block, schedule)

    def keep_in_registers(self, spread: BlockOp) -> None:
        """Unroll the copies that each work-item of a block makes for itself."""
        for block in all_blocks(spread):
            bound = {*block.index_bindings} - {Binding.UNDECIDED}
            if block is spread or bound or is_scheduled(block):
                continue
            is_copy = _is_copy(block, MemorySpace.PRIVATE) and len(block.buffers) > 1
            if block.is_serial or not is_copy:
                continue
            points = [*_of_several(block.index_ranges, Binding.UNROLL)]
            vector = self._vector_of_points(block, block.index_ranges)
            if vector is not None:
                points[vector] = Binding.VECTOR
            set_schedule(block, Schedule(points=Points(bind=tuple(points))))

    def _note_nest(self, nest: BlockOp, *, writes: bool) -> None:
        """Note how a block that is spread already cuts private memory.

        That is as those that write it do: what one reads may have gaps.
        """
        for number, buffer in enumerate(nest.buffers):
            if nest.refinement(number).direction.writes is not writes:
                continue
            if nest.view_type(number).space.data is MemorySpace.PRIVATE:
                self._parts.setdefault(root_buffer(buffer), _cut(nest, number))

    def _note_tiles(self, block: BlockOp, sizes: Sequence[int]) -> None:
        """Note how tiles of a block, one for each work-item, cut private memory."""
        windows = tile_windows(block, sizes)
        for buffer, window in zip(block.buffers, windows, strict=True):
            if window.space.data is MemorySpace.PRIVATE:
                level = _Level(window.sizes, (Binding.GROUP,) * window.rank)
                cut = _Cut((level,), (Binding.UNDECIDED,) * window.rank)
                self._parts.setdefault(root_buffer(buffer), cut)

    def _schedule_by_parts(self, block: BlockOp) -> Schedule | None:
        """Tiles of a block as the private memory that it uses was cut before."""
        for number, buffer in enumerate(block.buffers):
            cut = self._parts.get(root_buffer(buffer))
            if cut is not None:
                return self._follow(block, number, cut)
        return None

    def _follow(self, block: BlockOp, number: int, cut: _Cut) -> Schedule:
        """Tiles that cut a window of a block as its buffer is cut."""
        sizes = [*block.index_ranges]
        tiles: list[Tiles] = []
        items = 1
        for level in cut.levels:
            around = tuple(sizes)
            for index, size in _of_indices(block, number, level.sizes):
                sizes[index] = min(size, sizes[index])
            counts = [-(-a // max(b, 1)) for a, b in zip(around, sizes, strict=True)]
            bind = [Binding.UNDECIDED] * len(sizes)
            for index, binding in _of_indices(block, number, level.bind):
                if counts[index] > 1:
                    bind[index] = binding
                    items *= counts[index] if binding in IN_GROUP else 1
            if prod(counts) > 1:
                tiles.append(Tiles(tuple(sizes), bind=tuple(bind)))
        if not tiles:
            return Schedule()
        reason = f"{items} work-items of {self._items}"
        if len(tiles) == 1 and all(size == 1 for size in sizes):
            return Schedule(points=Points(bind=tiles[0].bind, reason=reason))
        points = [Binding.UNDECIDED] * len(sizes)
        vectors = vector_indices(block, ())
        for index, binding in _of_indices(block, number, cut.points):
            is_vector = binding is Binding.VECTOR and index not in vectors
            points[index] = Binding.UNROLL if is_vector else binding
        if (vector := self._vector_of_points(block, sizes)) is not None:
            points[vector] = Binding.VECTOR
        is_said = any(binding is not Binding.UNDECIDED for binding in points)
        return Schedule(
            (*tiles[:-1], replace(tiles[-1], reason=reason)),
            Points(bind=tuple(points)) if is_said else Points(),
        )

    def _vector_of_points(self, block: BlockOp, sizes: Sequence[int]) -> int | None:
        """The index of which the points of a work-item are a vector, if any."""
        if self._bits <= LANE_BITS or reduction_indices(block):
            return None
        for index in vector_indices(block, ()):
            width = vector_width(block, index, self._bits)
            if 1 < sizes[index] == width and _has_whole_vectors(block, index, width):
                return index
        return None

    def _schedule(self, block: BlockOp) -> Schedule:
        """How the points of a block are shared that nothing is said about."""
        if self._bits > LANE_BITS and _is_copy(block):
            return self._in_turns(block)
        sizes = self._sizes(block)
        self._note_tiles(block, sizes)
        counts = [
            -(-extent // max(size, 1))
            for extent, size in zip(block.index_ranges, sizes, strict=True)
        ]
        if prod(counts) <= 1:
            return Schedule()
        bind = _of_several(counts, Binding.GROUP)
        reason = f"{prod(counts)} work-items of {self._items}"
        if all(size == 1 for size in sizes):
            return Schedule(points=Points(bind=bind, reason=reason))
        return Schedule((Tiles(tuple(sizes), bind=bind, reason=reason),))

    def _in_turns(self, block: BlockOp) -> Schedule:
        """Work-items with neighbouring vectors, or cells, which take turns at others.

        Neighbours copy to different banks of local memory, too.
        """
        ranges = block.index_ranges
        index, width = self._vectors(block)
        widths = [width if number == index else 1 for number in range(len(ranges))]
        parts = [n // width for n, width in zip(ranges, widths, strict=True)]
        counts = self._counts(parts, _whole(block))
        if prod(counts) <= 1:
            return Schedule()
        turn = tuple([n * width for n, width in zip(counts, widths, strict=True)])
        turns = [n // own for n, own in zip(ranges, turn, strict=True)]
        outer = Tiles(turn, bind=_of_several(turns, Binding.UNROLL))
        reason = f"{prod(counts)} work-items of {self._items}"
        bind = _of_several(counts, Binding.GROUP)
        if width == 1:
            return Schedule((outer,), Points(bind=bind, reason=reason))
        vectors = Tiles(tuple(widths), bind=bind, reason=reason)
        points = _of_several(widths, Binding.VECTOR)
        return Schedule((outer, vectors), Points(bind=points))

    def _vectors(self, block: BlockOp) -> tuple[int, int]:
        """The index of the vectors that are copied, and how long they are.

        All that sets the same memory has the same ones, so that each of its cells is
        one work-item's.
        """
        target = root_buffer(block.buffer(block.written[0]))
        others = [use.operation for use in target.uses]
        setting = [each for each in others if isinstance(each, BlockOp)]
        setting = [each for each in setting if _is_copy(each)]
        found = {self._vectors_of(each) for each in setting} or {(0, 1)}
        return found.pop() if len(found) == 1 else (0, 1)

    def _vectors_of(self, block: BlockOp) -> tuple[int, int]:
        """The same where a block is alone."""
        ranges = block.index_ranges
        for index in sorted(vector_indices(block, ()), key=lambda n: -ranges[n]):
            width = vector_width(block, index, self._bits)
            while width > 1 and not _has_whole_vectors(block, index, width):
                width //= 2
            if width > 1 and prod(ranges) >= self._items * width:
                return index, width
        return 0, 1

    def _sizes(self, block: BlockOp) -> list[int]:
        """The points of each work-item along each index."""
        ranges = block.index_ranges
        counts = self._counts(ranges, _whole(block))
        return [n // count for n, count in zip(ranges, counts, strict=True)]

    def _counts(self, parts: Sequence[int], whole: Collection[int]) -> list[int]:
        """The work-items along each index, the last one's the most."""
        left = self._items
        counts = [1] * len(parts)
        for number in reversed(range(len(parts))):
            if number in whole or parts[number] == 0:
                continue
            divisors = (n for n in range(1, left + 1) if parts[number] % n == 0)
            counts[number] = max(divisors)
            left //= counts[number]
        return counts


def _has_whole_vectors(block: BlockOp, index: int, width: int) -> bool:
    """Whether vectors along an index are whole, at multiples of their length.

    They lie so in global memory, and constraints hold for all numbers of a vector or
    for none.
    """
    for form in block.conditions:
        step = form.coefficients[index]
        others = [c for n, c in enumerate(form.coefficients) if n != index]
        # The last number of those for which it holds is followed by a whole vector.
        end = form.constant + (1 if step < 0 else 0)
        if step and (abs(step) != 1 or any(c % width for c in (*others, end))):
            return False
    for view in block.views:
        access = absolute_access(view)
        if access.buffer_type.space.data is not MemorySpace.GLOBAL:
            continue
        last = access.starts[-1]
        steps = [c for value, c in last.terms if value is not block.indices[index]]
        rows = access.buffer_type.sizes[-1] if len(access.starts) > 1 else width
        if any(number % width for number in (*steps, last.constant, rows)):
            return False
    return True


def _is_copy(block: BlockOp, space: MemorySpace = MemorySpace.LOCAL) -> bool:
    """Whether a block only stores to memory of a space."""
    spaces = [block.view_type(n).space.data for n in block.written]
    return is_leaf(block) and all(each is space for each in spaces)


def _of_several(counts: Sequence[int], binding: Binding) -> tuple[Binding, ...]:
    """A binding for indices of several values."""
    return tuple([binding if n > 1 else Binding.UNDECIDED for n in counts])


_Value = TypeVar("_Value")


def _of_indices(
    block: BlockOp, number: int, axes: Sequence[_Value]
) -> Iterator[tuple[int, _Value]]:
    """What is given for the axes of a buffer, for the indices that move along them."""
    rank = len(block.index_ranges)
    for form, value in zip(block.refinement(number).access, axes, strict=True):
        yield from ((index, value) for index in form.support if index < rank)


def _cut(nest: BlockOp, number: int) -> _Cut:
    """How a block, those around it and those inside cut a buffer."""
    path = [*windows_from(nest.view(number))][::-1]
    levels: list[_Level] = []
    for block, own in path:
        forms = block.refinement(own).access
        bind = tuple([_binding_of(block, form.support) for form in forms])
        levels.append(_Level(block.view_type(own).sizes, bind))
        inner = [
            (use.operation, use.index)
            for use in block.view(own).uses
            if isinstance(use.operation, BlockOp)
        ]
        if block is path[-1][0] and len(inner) == 1:
            path += inner
    block, _ = path[-1]
    if is_leaf(block) and block is not nest:
        return _Cut(tuple(levels[:-1]), levels[-1].bind)
    return _Cut(tuple(levels), (Binding.UNDECIDED,) * len(levels[-1].bind))


def _binding_of(block: BlockOp, indices: Iterable[int]) -> Binding:
    """What the first of some indices with several values is bound to."""
    ranges, bindings = block.index_ranges, block.index_bindings
    own = (bindings[n] for n in indices if n < len(ranges) and ranges[n] > 1)
    return next(own, Binding.UNDECIDED)


def _whole(block: BlockOp) -> set[int]:
    """The indices that are not spread: they only aggregate, or are bound."""
    bound = enumerate(block.index_bindings)
    return {n for n, binding in bound if binding is not Binding.UNDECIDED} | {
        *reduction_indices(block)
    }


def _weight(block: BlockOp) -> tuple[bool, int]:
    """How much a block has to say in how memory is divided."""
    refinements = block.refinement_list
    aggregates = any(r.aggregation is not Aggregation.ASSIGN for r in refinements)
    return aggregates, _points(block)


def _points(block: BlockOp) -> int:
    """The points of a block and of the largest nest of blocks inside it."""
    inner = max(map(_points, nested_blocks(block)), default=1)
    return prod(block.index_ranges) * inner

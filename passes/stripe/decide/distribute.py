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

Private memory that several blocks use is divided in the same way by all of them.
Indices that only aggregate are not spread, nor those that are bound. Blocks that are
spread or scheduled already are left as they are. The barriers are for
`opencl-synchronize`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import MemorySpace, ViewType
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import Points, Tiles
from ...locations import check_positive
from ..analysis.nests import (
    nested_blocks,
    reduction_indices,
    root_buffer,
    top_level_blocks,
)
from ..analysis.schedules import is_scheduled
from ..analysis.work_groups import is_spread, shared_blocks, wants_work_items
from ..edit.split import tile_windows


@dataclass(frozen=True)
class StripeDistributePass(ModulePass):
    """Decide which work-items of a group have which points of nested blocks."""

    name = "stripe-distribute"

    items: int = 64
    """The most work-items that a group has."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write on blocks inside of groups how work-items are to share their points.

        Raises GinghamError where groups are to have less than one item.
        """
        check_positive(op, items=self.items)
        for block in top_level_blocks(op):
            if wants_work_items(block):
                _Distribution(self.items).distribute(shared_blocks(block))


class _Distribution:
    """Spreads blocks over work-items; knows who has which part of private memory."""

    def __init__(self, items: int) -> None:
        self._items = items
        self._parts: dict[SSAValue, tuple[int, ...]] = {}
        """The sizes of the part that a work-item has of a buffer."""

    def distribute(self, blocks: Sequence[BlockOp]) -> None:
        """Decide how the points of blocks are shared.

        Those that are spread have chosen. Then those that aggregate choose, then those
        with the most points.
        """
        for block in blocks:
            if is_spread(block):
                numbers = range(len(block.views))
                self._note_parts(block, [block.view_type(n) for n in numbers])
        for block in sorted(blocks, key=_weight, reverse=True):
            if is_spread(block) or is_scheduled(block):
                continue
            sizes = self._sizes_by_parts(block) or self._sizes(block)
            self._note_parts(block, tile_windows(block, sizes))
            set_schedule(block, self._schedule(block, sizes))

    def _schedule(self, block: BlockOp, sizes: Sequence[int]) -> Schedule:
        """Tiles of so many points for each work-item, or single ones."""
        counts = [
            -(-extent // max(size, 1))
            for extent, size in zip(block.index_ranges, sizes, strict=True)
        ]
        bind = tuple(
            Binding.GROUP if count > 1 else Binding.UNDECIDED for count in counts
        )
        if prod(counts) <= 1:
            return Schedule()
        reason = f"{prod(counts)} work-items of {self._items}"
        if all(size == 1 for size in sizes):
            return Schedule(points=Points(bind=bind, reason=reason))
        return Schedule((Tiles(tuple(sizes), bind=bind, reason=reason),))

    def _sizes(self, block: BlockOp) -> list[int]:
        """The points of each work-item along each index."""
        left = self._items
        ranges = block.index_ranges
        sizes = list(ranges)
        whole = _whole(block)
        for number in reversed(range(len(ranges))):
            if number in whole or ranges[number] == 0:
                continue
            count = max(n for n in range(1, left + 1) if ranges[number] % n == 0)
            sizes[number] //= count
            left //= count
        return sizes

    def _sizes_by_parts(self, block: BlockOp) -> list[int] | None:
        """The same, as the private memory that it uses was divided before."""
        for number, buffer in enumerate(block.buffers):
            part = self._parts.get(root_buffer(buffer))
            if part is None:
                continue
            sizes = list(block.index_ranges)
            access = block.refinement(number).access
            for form, size in zip(access, part, strict=True):
                for index in form.support:
                    if index < len(sizes):
                        sizes[index] = min(size, sizes[index])
            return sizes
        return None

    def _note_parts(self, block: BlockOp, windows: Sequence[ViewType]) -> None:
        for buffer, type in zip(block.buffers, windows, strict=True):
            if type.space.data is MemorySpace.PRIVATE:
                self._parts.setdefault(root_buffer(buffer), type.sizes)


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

"""`stripe-distribute`: let the work-items of a group share the points of nested blocks.

Applies to top-level blocks that use local memory. Such a block's point is the work of
one group: what allocates local memory is run by the whole group together, and the
points of all other blocks inside are spread over at most `items` work-items, by indices
that are bound to `group`. Where a block's ranges are larger, it is tiled, so that each
work-item has neighbouring points; the last index gets the most work-items, so that
those that follow each other access neighbouring cells.

What the group aggregates over a loop is collected in private memory, of which each
work-item has the part that its points use.

Before:

```mlir
stripe.block "C" [%i : 4, %j : 4]
    in %a = %A[16 * %i, 0] : 16x64
    out %c = %C[16 * %i, 16 * %j] : 16x16 {
  stripe.block [%k : 8]
      in %a_1 = %a[0, 8 * %k] : 16x8
      out %c_1 = %c[0, 0] : 16x16 add init 0 {
    %t = stripe.alloc : !stripe.view<16x8xf32, local>
    stripe.block [%y : 16, %x : 8]
        in %from = %a_1[%y, %x] : 1x1
        out %to = %t[%y, %x] : 1x1 { ... copy ... }
    stripe.block [%i_1 : 8, %j_1 : 8]
        in %t_1 = %t[2 * %i_1, 0] : 2x8
        out %c_2 = %c_1[2 * %i_1, 2 * %j_1] : 2x2 add { ... }
  }
}
```

After, with `items=64`:

```mlir
stripe.block "C" [%i : 4, %j : 4]
    in %a = %A[16 * %i, 0] : 16x64
    out %c = %C[16 * %i, 16 * %j] : 16x16 {
  %c_acc = stripe.alloc : !stripe.view<16x16xf32, private>
  stripe.block [%e0 : 8 group, %e1 : 8 group]
      out %cell = %c_acc[2 * %e0, 2 * %e1] : 2x2 { ... set to 0 ... }
  stripe.block [%k : 8]
      in %a_1 = %a[0, 8 * %k] : 16x8
      out %c_1 = %c_acc[0, 0] : 16x16 add {
    %t = stripe.alloc : !stripe.view<16x8xf32, local>
    stripe.block [%y : 8 group, %x : 8 group]
        in %from = %a_1[2 * %y, %x] : 2x1
        out %to = %t[2 * %y, %x] : 2x1 { ... copy ... }
    stripe.block [%i_1 : 8 group, %j_1 : 8 group]
        in %t_1 = %t[2 * %i_1, 0] : 2x8
        out %c_2 = %c_1[2 * %i_1, 2 * %j_1] : 2x2 add { ... }
  }
  stripe.block [%e0 : 8 group, %e1 : 8 group]
      in %from = %c_acc[2 * %e0, 2 * %e1] : 2x2
      out %to = %c[2 * %e0, 2 * %e1] : 2x2 { ... copy ... }
}
```

Indices that only aggregate are not spread. Blocks with indices bound to `group` are
left as they are. The barriers are `opencl-synchronize`'s matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ...locations import check_positive
from ..analysis.nests import (
    nested_blocks,
    output_indices,
    reduction_indices,
    root_buffer,
    top_level_blocks,
)
from ..edit.work_items import (
    collect_outputs,
    spread,
)


@dataclass(frozen=True)
class StripeDistributePass(ModulePass):
    """Let the work-items of a group share the points of blocks with local memory."""

    name = "stripe-distribute"

    items: int = 64
    """The most work-items that a group has."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind indices of blocks to the items of a group, where there is local memory.

        Blocks that are distributed already are left alone. Raises GinghamError where
        groups are to have less than one item.
        """
        check_positive(op, items=self.items)
        for block in list(top_level_blocks(op)):
            if Binding.GROUP in block.index_bindings or not _allocates_local(block):
                continue
            for uniform in list(_uniform_blocks(block)):
                collect_outputs(uniform)
            _Distribution(self.items).distribute(_shared_blocks(block))


def _allocates_local(block: BlockOp) -> bool:
    return any(
        isinstance(op, AllocOp) and op.view.type.space.data is MemorySpace.LOCAL
        for op in block.walk()
    )


def _uniform_blocks(block: BlockOp) -> Iterator[BlockOp]:
    """A block that a whole group runs, and those inside it that it runs, too."""
    yield block
    for inner in nested_blocks(block):
        if inner.is_serial or _allocates_local(inner) or _is_wrapper(inner):
            yield from _uniform_blocks(inner)


def _is_wrapper(block: BlockOp) -> bool:
    """Whether a block has nothing to spread itself, but blocks inside that may have."""
    statements = list(block.body.block.ops)
    is_single = all(block.index_ranges[n] == 1 for n in output_indices(block))
    return is_single and all(isinstance(op, BlockOp) for op in statements)


def _shared_blocks(block: BlockOp) -> list[BlockOp]:
    """The blocks whose points the work-items of a group are to share."""
    uniform = list(_uniform_blocks(block))
    return [
        inner
        for outer in uniform
        for inner in nested_blocks(outer)
        if inner not in uniform and Binding.GROUP not in inner.index_bindings
    ]


# Outputs of the blocks that a whole group runs.


# Points of the blocks that the work-items share.


class _Distribution:
    """Spreads blocks over work-items; knows who has which part of private memory."""

    def __init__(self, items: int) -> None:
        self._items = items
        self._parts: dict[SSAValue, tuple[int, ...]] = {}
        """The sizes of the part that a work-item has of a buffer."""

    def distribute(self, blocks: Sequence[BlockOp]) -> None:
        """Spread the points of blocks.

        Those that aggregate choose first, then those with the most points.
        """
        for block in sorted(blocks, key=_weight, reverse=True):
            sizes = self._sizes_by_parts(block) or self._sizes(block)
            self._note_parts(spread(block, sizes))

    def _sizes(self, block: BlockOp) -> list[int]:
        """The points of each work-item along each index."""
        left = self._items
        ranges = block.index_ranges
        sizes = list(ranges)
        reductions = reduction_indices(block)
        for number in reversed(range(len(ranges))):
            if number in reductions or ranges[number] == 0:
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

    def _note_parts(self, block: BlockOp) -> None:
        for number, buffer in enumerate(block.buffers):
            type = block.view_type(number)
            if type.space.data is MemorySpace.PRIVATE:
                self._parts.setdefault(root_buffer(buffer), type.sizes)


def _weight(block: BlockOp) -> tuple[bool, int]:
    """How much a block has to say in how memory is divided."""
    refinements = block.refinement_list
    aggregates = any(r.aggregation is not Aggregation.ASSIGN for r in refinements)
    return aggregates, _points(block)


def _points(block: BlockOp) -> int:
    """The points of a block and of the largest nest of blocks inside it."""
    inner = max(map(_points, nested_blocks(block)), default=1)
    return prod(block.index_ranges) * inner

"""Nests of loops whose work-items each have values of one index, from block to block.

Where all blocks of a nest, those in serial loops as well, have an index along which
each of its values reads and writes only what is its own, work-items have these values,
and private memory is divided among them:

```mlir
stripe.block "R" [%group : 8] ... {
  %state = stripe.alloc : !stripe.view<3x256xui32, private>
  stripe.block [%word : 3, %lane : 256] ...
      out %state_1 = %state[%word, %lane] : 1x1
      attributes {stripe.schedule = #stripe.schedule<points bind [_, group]>} { ... }
  stripe.block serial [%step : 500] ... {
    stripe.block [%lane : 256]
        inout %state_2 = %state_1[0, %lane] : 1x1 ...
  }
}
```

One block says so by its schedule; `stripe-distribute` lets the others follow.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from .....dialects.index_sum import IndexSum
from .....dialects.stripe.attributes import MemorySpace
from .....dialects.stripe.binding import Binding
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp
from .....dialects.stripe.schedule import Schedule, schedule_of
from .....dialects.stripe.tiling import Points
from .....targets.hardware.description import Hardware
from ...analysis.nests import (
    absolute_access,
    axis_of,
    blocks_around,
    is_leaf,
    is_subscripted,
    root_buffer,
)
from ...analysis.work_groups import is_spread

_MOST_BLOCKS = 16
"""Of a nest that is looked at, once for each of them."""


def shared_inside(nest: BlockOp, hardware: Hardware) -> dict[BlockOp, Schedule]:
    """The schedules of the blocks of a nest whose work-items share them.

    Empty for other nests. Those of all but the first block are empty.
    """
    leaves = _leaves(nest)
    if not leaves or len(leaves) > _MOST_BLOCKS:
        return {}
    if is_spread(nest) or schedule_of(nest):
        return {}
    indices = [_own_index(leaf, hardware) for leaf in leaves]
    first = indices[0]
    if first is None or any(index is None for index in indices):
        return {}
    pairs = [(b, n) for b, n in zip(leaves, indices, strict=True) if n is not None]
    lengths = {leaf.index_ranges[index] for leaf, index in pairs}
    if len(lengths) > 1 or not _is_divided_once(pairs):
        return {}
    bind = [Binding.UNDECIDED] * len(leaves[0].index_ranges)
    bind[first] = Binding.GROUP
    reason = f"{lengths.pop()} work-items have values of their own in all blocks"
    own = Schedule(points=Points(bind=tuple(bind), reason=reason))
    found = dict.fromkeys(leaves, Schedule()) | {leaves[0]: own}
    # What has another schedule is somebody else's.
    is_free = all(schedule_of(b) in (Schedule(), own) for b, own in found.items())
    return found if is_free else {}


def nest_around(block: BlockOp) -> BlockOp:
    """The top-level block that a block is in."""
    *_, outermost = (block, *blocks_around(block))
    return outermost


def _leaves(nest: BlockOp) -> list[BlockOp] | None:
    """The innermost blocks; None where statements or blocks are not for all items."""
    found: list[BlockOp] = []
    for op in nest.body.block.ops:
        inner = _leaves_of(op)
        if inner is None:
            return None
        found += inner
    return found


def _leaves_of(op: Operation) -> list[BlockOp] | None:
    if isinstance(op, AllocOp):
        is_private = op.view.type.space.data is MemorySpace.PRIVATE
        return [] if is_private else None
    if not isinstance(op, BlockOp):
        return None
    if is_leaf(op):
        return None if op.is_serial else [op]
    return _leaves(op) if op.is_serial else None


def _own_index(leaf: BlockOp, hardware: Hardware) -> int | None:
    """The last index of which each value has cells of its own; None if there is none.

    There are as many values as work-items are worth having.
    """
    for index in reversed(range(len(leaf.index_ranges))):
        extent = leaf.index_ranges[index]
        if not hardware.items_at_once <= extent <= hardware.work_group_size:
            continue
        numbers = range(len(leaf.views))
        if all(_has_own(leaf, number, index) for number in numbers):
            return index
    return None


def _has_own(leaf: BlockOp, number: int, index: int) -> bool:
    """Whether a refinement shows each value of an index cells of its own.

    Memory that is only read, and by all work-items, may be any.
    """
    refinement = leaf.refinement(number)
    is_private = leaf.view_type(number).space.data is MemorySpace.PRIVATE
    if not refinement.direction.writes and not is_private:
        return True
    return (
        refinement.is_plain
        and not is_subscripted(leaf.view(number))
        and _own_axis(leaf, number, index) is not None
    )


def _own_axis(leaf: BlockOp, number: int, index: int) -> int | None:
    """The axis along which an index steps one by one, alone and from 0 on."""
    axis = axis_of(leaf, number, index)
    is_cell = axis is not None and leaf.view_type(number).sizes[axis] == 1
    return axis if is_cell else None


def _is_divided_once(pairs: list[tuple[BlockOp, int]]) -> bool:
    """Whether private memory is divided along one axis, and no other handed on."""
    axes: dict[SSAValue, int | None] = {}
    written: set[SSAValue] = set()
    read: set[SSAValue] = set()
    for leaf, index in pairs:
        for number, refinement in enumerate(leaf.refinement_list):
            root = root_buffer(leaf.buffer(number))
            if leaf.view_type(number).space.data is MemorySpace.PRIVATE:
                axis = _own_axis(leaf, number, index)
                if axis is None or axes.setdefault(root, axis) != axis:
                    return False
                if absolute_access(leaf.buffer(number)).starts[axis] != IndexSum():
                    return False
                continue
            if refinement.direction.writes:
                written.add(root)
            if refinement.direction.reads:
                read.add(root)
    return not written & read

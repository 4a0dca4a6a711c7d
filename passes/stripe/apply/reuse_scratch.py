"""`stripe-reuse-scratch`: let private buffers share memory.

A large private buffer of a block that is first used when another of its type is used no
more takes the other's memory. So does the output of an element-wise block whose points
read, of the other buffer, just the cell that they then write.

Before:

```mlir
%S = stripe.alloc : !stripe.view<8x1024xf32, private>
%E = stripe.alloc : !stripe.view<8x1024xf32, private>
stripe.block [%i : 8, %j : 1024, %k : 64] ...
    out %s = %S[%i, %j] : 1x1 add init 0 { ... }
stripe.block [%i : 8, %j : 1024]
    in %s = %S[%i, %j] : 1x1
    out %e = %E[%i, %j] : 1x1 { ... }
```

After:

```mlir
%S = stripe.alloc : !stripe.view<8x1024xf32, private>
stripe.block [%i : 8, %j : 1024, %k : 64] ...
    out %s = %S[%i, %j] : 1x1 add init 0 { ... }
stripe.block [%i : 8, %j : 1024]
    in %s = %S[%i, %j] : 1x1
    out %e = %S[%i, %j] : 1x1 { ... }
```

What a point holds then stays in a nearer cache. Left alone are buffers of fewer than
`least` bytes, which compilers keep in registers, and those of different types.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import Direction, MemorySpace
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import check_positive
from ..analysis.nests import all_blocks, has_own_windows, is_leaf, is_number


@dataclass(frozen=True)
class StripeReuseScratchPass(ModulePass):
    """Let private buffers that are not needed at the same time share memory."""

    name = "stripe-reuse-scratch"

    least: int = 2048
    """The smallest buffer, in bytes, that is worth sharing."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Let the allocations of each block share memory.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, least=self.least)
        for block in all_blocks(op):
            reuse_scratch(block.body.block, self.least)


@dataclass
class _Life:
    """From which statement to which a buffer is used."""

    allocation: AllocOp
    first: int
    last: int


def reuse_scratch(body: Block, least: int) -> None:
    """Share the memory of the buffers that the statements of one point allocate."""
    positions = {statement: number for number, statement in enumerate(body.ops)}
    lives = [
        life
        for statement in positions
        if isinstance(statement, AllocOp) and statement.view.type.bytes >= least
        if (life := _life(statement, positions)) is not None
    ]
    kept: list[_Life] = []
    for life in sorted(lives, key=lambda life: life.first):
        taken = next((other for other in kept if _may_take(life, other)), None)
        if taken is None:
            kept.append(life)
            continue
        _move_before(taken.allocation, life.allocation, positions)
        life.allocation.view.replace_all_uses_with(taken.allocation.view)
        Rewriter.erase_op(life.allocation)
        taken.last = max(taken.last, life.last)


def _life(allocation: AllocOp, positions: dict[Operation, int]) -> _Life | None:
    if allocation.view.type.space.data is not MemorySpace.PRIVATE:
        return None
    used = [positions[use.operation] for use in allocation.view.uses]
    return _Life(allocation, min(used), max(used)) if used else None


def _move_before(kept: AllocOp, gone: AllocOp, positions: dict[Operation, int]) -> None:
    """Let a buffer be there where the other one was."""
    parent = kept.parent
    if parent is not None and positions[gone] < positions[kept]:
        kept.detach()
        parent.insert_op_before(kept, gone)
        positions[kept] = positions[gone]


def _may_take(life: _Life, other: _Life) -> bool:
    """Whether a buffer can have the memory of another."""
    view, memory = life.allocation.view, other.allocation.view
    if view.type != memory.type or life.first < other.last:
        return False
    if life.first > other.last:
        return True
    users = [use.operation for use in view.uses]
    shared = [user for user in users if any(u.operation is user for u in memory.uses)]
    return all(
        isinstance(user, BlockOp) and _is_in_place(user, memory, view)
        for user in shared
    )


def _is_in_place(block: BlockOp, source: SSAValue, target: SSAValue) -> bool:
    """Whether each point reads its own cell of `source`, then writes that of `target`.

    Nobody else reads or writes that cell of either.
    """
    if not is_leaf(block) or block.is_serial:
        return False
    numbers = [n for n, b in enumerate(block.buffers) if b is source or b is target]
    if len({block.refinement(number).access for number in numbers}) != 1:
        return False
    for number in numbers:
        refinement = block.refinement(number)
        reads = block.buffer(number) is source
        if refinement.direction is not (Direction.IN if reads else Direction.OUT):
            return False
        if refinement.aggregation is not Aggregation.ASSIGN:
            return False
        if refinement.init is not None or not is_number(block.view_type(number)):
            return False
        if not has_own_windows(block, number):
            return False
    return _loads_come_first(block, numbers)


def _loads_come_first(block: BlockOp, numbers: list[int]) -> bool:
    """Whether no load through these windows follows a store through one of them."""
    views = [block.view(number) for number in numbers]
    stored = False
    for statement in block.body.ops:
        if not isinstance(statement, LoadOp | StoreOp):
            continue
        if not any(statement.view is view for view in views):
            continue
        if isinstance(statement, StoreOp):
            stored = True
        elif stored:
            return False
    return True

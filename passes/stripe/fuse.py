"""`stripe-fuse`: run two blocks over the same points as one.

A block joins an earlier one when both have the same index ranges and constraints,
assign all that they write, and share a buffer; and where one writes what the other
accesses, both do so through the same window at the same point. So an element-wise chain
becomes one block.

Before:

```mlir
stripe.block [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %w = %t[%i, %j] : 1x1 { ... }
stripe.block [%i : 64, %j : 64]
    in %r = %t[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 { ... }
```

After:

```mlir
stripe.block [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %w = %t[%i, %j] : 1x1
    in %r = %t[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 { ... }
```

`stripe-scalarize` and `stripe-dead-code-elimination` then remove the buffer between
them. Left alone: aggregations, nested blocks, blocks with tile sizes, and blocks with
something between them that depends on the first or that the second depends on. After
PlaidML's Fusion pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.aggregation import Aggregation
from ...dialects.stripe.attributes import Direction, Refinement, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp
from .nests import is_injective, is_leaf, move_statements, statements
from .tile import TILE_ATTRIBUTE


@dataclass(frozen=True)
class StripeFusePass(ModulePass):
    """Merge blocks over the same points that share a buffer."""

    name = "stripe-fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.walk():
            if isinstance(function, FuncOp):
                fuse_statements(function)


def fuse_statements(function: FuncOp) -> None:
    """Fuse each block of a function into the nearest earlier one that takes it."""
    done: list[BlockOp] = []
    for operation in statements(function):
        if isinstance(operation, BlockOp):
            partner = _partner(operation, done)
            if partner is None:
                done.append(operation)
            else:
                done[done.index(partner)] = fuse(partner, operation)
        elif not isinstance(operation, AllocOp):
            # No block is moved over a statement between them.
            done.clear()


def _partner(block: BlockOp, earlier: list[BlockOp]) -> BlockOp | None:
    for candidate in reversed(earlier):
        if can_fuse(candidate, block):
            return candidate
        if _depends(block, candidate):
            return None
    return None


def _written(block: BlockOp) -> set[SSAValue]:
    return {
        buffer
        for buffer, refinement in zip(block.buffers, block.refinement_list, strict=True)
        if refinement.direction is Direction.OUT
    }


def _depends(later: BlockOp, earlier: BlockOp) -> bool:
    """Whether the order of two blocks matters."""
    return bool(
        _written(earlier) & set(later.buffers) or _written(later) & set(earlier.buffers)
    )


def can_fuse(first: BlockOp, second: BlockOp) -> bool:
    """Whether one block may do the work of both, and has a reason to."""
    for block in (first, second):
        if not is_leaf(block) or block.captures:
            return False
        if TILE_ATTRIBUTE in block.attributes:
            return False
        if any(r.aggregation is not Aggregation.ASSIGN for r in block.refinement_list):
            return False
        if any(r.init is not None for r in block.refinement_list):
            return False
    same_points = (
        first.index_ranges == second.index_ranges
        and first.index_levels == second.index_levels
        and set(first.conditions) == set(second.conditions)
    )
    shared = set(first.buffers) & set(second.buffers)
    if not same_points or not shared:
        return False
    written = (_written(first) | _written(second)) & shared
    return all(_is_pointwise(buffer, first, second) for buffer in written)


def _is_pointwise(buffer: SSAValue, first: BlockOp, second: BlockOp) -> bool:
    """Whether each point has its own window of a buffer, the same in both blocks."""
    windows: set[tuple[object, ViewType]] = set()
    for block in (first, second):
        for number, candidate in enumerate(block.buffers):
            if candidate is not buffer:
                continue
            access = block.refinement_list[number].access
            windows.add((access, block.view_type(number)))
            if not is_injective(block, number):
                return False
    return len(windows) == 1


def fuse(first: BlockOp, second: BlockOp) -> BlockOp:
    """Replace two blocks by one at the place of the first; it does both in order."""
    refinements: list[Refinement] = []
    buffers: list[SSAValue] = []
    views: list[SSAValue] = []
    numbers: dict[tuple[SSAValue, Refinement, ViewType], int] = {}
    for block in (first, second):
        for number, refinement in enumerate(block.refinement_list):
            key = (block.buffers[number], refinement, block.view_type(number))
            if key not in numbers:
                numbers[key] = len(refinements)
                refinements.append(refinement)
                buffers.append(block.buffers[number])
                views.append(block.views[number])
    body = BlockOp.empty_body(
        [index.name_hint for index in first.indices],
        [
            (type, view.name_hint)
            for (_, _, type), view in zip(numbers, views, strict=True)
        ],
    )
    rank = len(first.index_ranges)
    arguments = body.block.args
    for block in (first, second):
        for old, new in zip(block.indices, arguments[:rank], strict=True):
            old.replace_all_uses_with(new)
        for number, refinement in enumerate(block.refinement_list):
            key = (block.buffers[number], refinement, block.view_type(number))
            block.views[number].replace_all_uses_with(arguments[rank + numbers[key]])
        move_statements(block.body.block, body.block)
    fused = BlockOp(
        first.index_ranges,
        buffers,
        refinements,
        body,
        constraints=first.conditions,
        levels=first.index_levels,
        block_name=_joined_name(first, second),
    )
    fused.attributes |= first.attributes | second.attributes
    fused.location = second.location
    parent = first.parent
    if parent is None:
        raise ValueError("the block is not in a function")
    parent.insert_op_before(fused, first)
    for buffer in second.buffers:
        owner = buffer.owner
        if isinstance(owner, AllocOp) and not owner.is_before_in_block(fused):
            owner.detach()
            parent.insert_op_before(owner, fused)
    for block in (first, second):
        block.detach()
        block.erase()
    return fused


def _joined_name(first: BlockOp, second: BlockOp) -> str | None:
    """The name of the last block that has one: it says what comes out."""
    name = second.block_name or first.block_name
    return None if name is None else name.data

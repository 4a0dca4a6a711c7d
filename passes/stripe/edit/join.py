"""Blocks over the same points as one block, and where it may stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue

from ....dialects.stripe.attributes import Refinement, ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ..analysis.nests import root_buffer
from .blocks import move_statements


def join_blocks(
    blocks: Sequence[BlockOp], orders: Sequence[Sequence[int]] | None = None
) -> BlockOp:
    """One block that does what `blocks` do, in order, at each point.

    Index `p` of the new block is index `orders[m][p]` of block `m`; without `orders`
    all blocks have the same indices. The blocks are left empty and nothing is inserted:
    the caller puts the new one in their place. Blocks capture no indices, and have the
    same constraints.
    """
    first = blocks[0]
    own = [*range(len(first.index_ranges))]
    orders = orders or [own] * len(blocks)
    body, buffers, refinements = _joined_body(blocks, orders)
    positions = {index: place for place, index in enumerate(orders[0])}
    joined = BlockOp(
        [first.index_ranges[index] for index in orders[0]],
        buffers,
        refinements,
        body,
        constraints=[form.remap(positions, len(own)) for form in first.conditions],
        bindings=[first.index_bindings[index] for index in orders[0]],
        block_name=_joined_name(blocks),
    )
    for block in blocks:
        joined.attributes |= block.attributes
    joined.location = blocks[-1].location
    return joined


def outer_memories(function: FuncOp) -> frozenset[SSAValue]:
    """The inputs and results of a function.

    They are buffers of each kernel that uses them, whatever becomes of other memories.
    """
    found: set[SSAValue] = set()
    for block in function.body.blocks:
        found.update(block.args)
        if isinstance(block.last_op, ReturnOp):
            found.update(map(root_buffer, block.last_op.operands))
    return frozenset(found)


def definitions(buffer: SSAValue) -> Iterator[Operation]:
    """The ops that define a buffer, the allocation last."""
    while isinstance(buffer.owner, ReshapeOp):
        yield buffer.owner
        buffer = buffer.owner.source
    if isinstance(buffer.owner, AllocOp):
        yield buffer.owner


def _joined_body(
    blocks: Sequence[BlockOp], orders: Sequence[Sequence[int]]
) -> tuple[Region, list[SSAValue], list[Refinement]]:
    """The statements of all blocks, and the buffers and refinements that they use."""
    rank = len(orders[0])
    numbers: dict[tuple[SSAValue, Refinement, ViewType], int] = {}
    names: list[str | None] = []
    views: list[list[int]] = []
    for block, order in zip(blocks, orders, strict=True):
        views.append([])
        positions = {index: place for place, index in enumerate(order)}
        refinements = zip(
            block.buffers, block.refinement_list, block.views, strict=True
        )
        for number, (buffer, refinement, view) in enumerate(refinements):
            access = tuple(form.remap(positions, rank) for form in refinement.access)
            moved = replace(refinement, access=access)
            key = (buffer, moved, block.view_type(number))
            if key not in numbers:
                numbers[key] = len(numbers)
                names.append(view.name_hint)
            views[-1].append(numbers[key])
    body = BlockOp.empty_body(
        [blocks[0].indices[index].name_hint for index in orders[0]],
        [(type, name) for (_, _, type), name in zip(numbers, names, strict=True)],
    )
    arguments = body.block.args
    for block, order, places in zip(blocks, orders, views, strict=True):
        for index, new in zip(order, arguments[:rank], strict=True):
            block.indices[index].replace_all_uses_with(new)
        for old, place in zip(block.views, places, strict=True):
            old.replace_all_uses_with(arguments[rank + place])
        move_statements(block.body.block, body.block)
    return body, [key[0] for key in numbers], [key[1] for key in numbers]


def _joined_name(blocks: Sequence[BlockOp]) -> str | None:
    """The name of the last block that has one: it says what comes out."""
    for block in reversed(blocks):
        if block.block_name is not None:
            return block.block_name.data
    return None

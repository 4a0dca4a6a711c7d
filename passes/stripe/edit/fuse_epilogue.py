"""An element-wise block computed where another one stores what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ....dialects.work import Work, work_of
from ...locations import located
from ..analysis.epilogues import Ending, Stores
from ..analysis.nests import blocks_around, root_buffer
from .blocks import Window, build_block


def fuse_epilogue(ending: Ending, found: Stores) -> BlockOp:
    """Compute a block where stores are, for the same cells; what does so then.

    It comes in their place unless somebody else needs what they store.
    """
    block, producer, stores = ending.block, ending.producer, found.block
    for number, buffer in enumerate(block.buffers):
        if number not in ending.inputs:
            _define_before(buffer, producer)
    point = ending.point_of(found.cell)
    windows = [
        Window(stores.buffer(0), stores.access(0), stores.refinement(0))
        if number in ending.inputs
        else _window(ending, number, point, stores)
        for number in range(len(block.buffers))
    ]
    names = [index.name_hint for index in stores.indices]
    types = [
        (view_type(window.buffer).cell, view.name_hint)
        for window, view in zip(windows, block.views, strict=True)
    ]
    body = BlockOp.empty_body(names, types)
    indices, views = body.block.args[: len(names)], body.block.args[len(names) :]
    pairs = zip(stores.indices, indices, strict=True)
    renamed: dict[SSAValue, IndexSum] = {old: IndexSum.value(new) for old, new in pairs}
    values: dict[SSAValue, SSAValue] = dict(zip(block.views, views, strict=True))
    body.block.add_ops([op.clone(values) for op in block.body.block.ops])
    fused = build_block(
        stores.index_ranges,
        [
            replace(w, starts=[start.substitute(renamed) for start in w.starts])
            for w in windows
        ],
        body,
        where=[condition.substitute(renamed) for condition in stores.where],
        bindings=stores.index_bindings,
    )
    fused = located(fused, block)
    if ending.is_last:
        levels = _levels(producer, stores)
        Rewriter.replace_op(stores, fused, [])
        for level in reversed(levels):
            level.drop(
                [
                    number
                    for number, buffer in enumerate(level.buffers)
                    if root_buffer(buffer) is ending.buffer
                    and level.view(number).first_use is None
                ]
            )
    else:
        Rewriter.insert_op(fused, InsertPoint.after(stores))
    _add_work(producer, block)
    Rewriter.erase_op(block)
    _erase_memory(ending.buffer)
    return fused


def _window(
    ending: Ending, number: int, point: Mapping[SSAValue, IndexSum], stores: BlockOp
) -> Window:
    """What `stores` is to see of a buffer of the block, in new windows around it."""
    block = ending.block
    refinement, buffer = block.refinement(number), block.buffer(number)
    starts = [start.substitute(point) for start in block.access(number)]
    levels = _levels(ending.producer, stores)
    for depth, level in enumerate(levels):
        inside = [i for each in (*levels[depth + 1 :], stores) for i in each.indices]
        within = [start - start.without(inside) for start in starts]
        bounds = [start.bounds(index_range) for start in within]
        pairs = zip(starts, within, bounds, strict=True)
        access = [start - inner + low for start, inner, (low, _) in pairs]
        type = view_type(buffer).resized([high - low + 1 for low, high in bounds])
        buffer = level.add_input(
            buffer,
            replace(
                refinement,
                access=tuple([start.form(level.form_values) for start in access]),
            ),
            type,
            block.view(number).name_hint,
        )
        starts = [start - low for start, (low, _) in zip(within, bounds, strict=True)]
    return Window(buffer, starts, refinement)


def _levels(producer: BlockOp, stores: BlockOp) -> list[BlockOp]:
    """The blocks around `stores`, from the producer on."""
    levels = [*blocks_around(stores)][::-1]
    return levels[levels.index(producer) :]


def _define_before(buffer: SSAValue, block: BlockOp) -> None:
    """Let memory, under its shape, be there before a block."""
    owner = buffer.owner
    if not isinstance(owner, AllocOp | ReshapeOp):
        return
    if isinstance(owner, ReshapeOp):
        _define_before(owner.source, block)
    if not owner.is_before_in_block(block):
        _move_before(owner, block)


def _move_before(op: Operation, block: BlockOp) -> None:
    op.detach()
    around = block.parent
    if around is not None:
        around.insert_op_before(op, block)


def _add_work(producer: BlockOp, block: BlockOp) -> None:
    """Count what both do, but for what one writes and the other reads."""
    first, second = work_of(producer), work_of(block)
    if first is None or second is None:
        return
    read = max(second.bytes_read - first.bytes_written, 0)
    flops = first.flops + second.flops
    Work(flops, first.bytes_read + read, second.bytes_written).write_to(producer)


def _erase_memory(buffer: SSAValue) -> None:
    """Erase memory that nobody uses, under any shape."""
    for use in [*buffer.uses]:
        if isinstance(use.operation, ReshapeOp):
            _erase_memory(use.operation.view)
    owner = buffer.owner
    if isinstance(owner, AllocOp | ReshapeOp) and buffer.first_use is None:
        Rewriter.erase_op(owner)

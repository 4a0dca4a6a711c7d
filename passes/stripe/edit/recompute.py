"""What a group has collected, computed again from memory where it is not a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    UNLESS_NUMBERS_ATTRIBUTE,
    view_type,
)
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ...locations import located
from ..analysis.nests import absolute_access, all_blocks, output_indices, windows_from
from ..analysis.scratch import Copied
from .blocks import Window, build_block
from .redirect import replace_cell, replace_window


def recompute_unless_numbers(
    loop: BlockOp,
    nest: Sequence[BlockOp],
    fill: BlockOp,
    scratches: Mapping[SSAValue, Copied],
) -> None:
    """Put a block behind `loop` that computes again what `nest`, in it, aggregates.

    `fill` sets the memory that is aggregated to, which is the loop's only output. The
    new block reads what `scratches` are copies of, and runs where that memory holds
    what is no number: see `UNLESS_NUMBERS_ATTRIBUTE`.
    """
    copies: dict[SSAValue, SSAValue] = {}
    outer = _wrapper(loop, copies)
    again = loop.clone(copies)
    outer.body.block.add_ops([fill.clone(copies), again])
    leaf = nest[-1]
    for view, scratch in scratches.items():
        _read_source(view, scratch, copies)
    for scratch in scratches.values():
        _erase_copies(copies[scratch.copy.buffer(1)])
    for block in all_blocks(again):
        _roll_up(block)
    outer.attributes[UNLESS_NUMBERS_ATTRIBUTE] = UnitAttr()
    Rewriter.insert_op(located(outer, leaf), InsertPoint.after(loop))


def _wrapper(loop: BlockOp, copies: dict[SSAValue, SSAValue]) -> BlockOp:
    """A block without indices that sees what a loop does; `copies` gets its views."""
    buffers = [*dict.fromkeys(loop.buffers)]
    types = [view_type(buffer) for buffer in buffers]
    hints = [buffer.name_hint for buffer in buffers]
    body = BlockOp.empty_body([], [*zip(types, hints, strict=True)])
    uses = dict(zip(loop.buffers, loop.refinement_list, strict=True))
    windows = [
        Window(
            buffer,
            (IndexSum(),) * type.rank,
            replace(uses[buffer], aggregation=Aggregation.ASSIGN, init=None),
        )
        for buffer, type in zip(buffers, types, strict=True)
    ]
    outer = build_block([], windows, body)
    copies.update(zip(buffers, outer.views, strict=True))
    return outer


def _read_source(
    view: SSAValue, scratch: Copied, copies: Mapping[SSAValue, SSAValue]
) -> None:
    """Let the copy of a block read what a scratch is a copy of, in place of that."""
    chosen = scratch.cell(absolute_access(view).starts)
    within = [start.substitute(chosen) for start in scratch.copy.access(0)]
    renamed = {old: IndexSum.value(new) for old, new in copies.items()}
    steps = [*windows_from(copies[view])][::-1]
    buffer = copies[scratch.copy.buffer(0)]
    for block, number in steps[:-1]:
        sizes = view_type(buffer).sizes
        buffer = replace_window(block, number, buffer, [IndexSum()] * len(sizes), sizes)
    block, number = steps[-1]
    starts = tuple([start.substitute(renamed) for start in within])
    replace_cell(block, number, buffer, starts)


def _erase_copies(scratch: SSAValue) -> None:
    """Erase memory, and the blocks that set it."""
    for use in [*scratch.uses]:
        if isinstance(use.operation, BlockOp):
            Rewriter.erase_op(use.operation)
    if isinstance(scratch.owner, AllocOp):
        Rewriter.erase_op(scratch.owner)


def _roll_up(block: BlockOp) -> None:
    """Loop over what only aggregates, and be no vector where a condition divides it.

    What runs seldom is to be short.
    """
    moving = output_indices(block)
    tested = {n for form in block.conditions for n in form.support}

    def rolled(number: int, own: Binding) -> Binding:
        if own is Binding.UNROLL and number not in moving:
            return Binding.UNDECIDED
        return Binding.UNROLL if own is Binding.VECTOR and number in tested else own

    bindings = enumerate(block.index_bindings)
    block.set_bindings(rolled(number, own) for number, own in bindings)

"""An output that is computed with another axis last, and copied afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ....affine.form import LinearForm
from ....dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import located
from ..analysis.facts import carried_indices
from .loop_order import lead_with


@dataclass(frozen=True)
class Transposed:
    """What takes the place of a block: scratch, a block that fills it, and a copy."""

    scratch: AllocOp
    block: BlockOp
    copy: BlockOp

    @staticmethod
    def of(block: BlockOp, order: Sequence[int]) -> Transposed:
        """With scratch that has an axis for each index of `order`."""
        (number,) = block.written
        sizes = [block.index_ranges[index] for index in order]
        element = block.view_type(number).element_type
        name = f"{block.buffer(number).name_hint or 'out'}_transposed"
        scratch = AllocOp(ViewType.of(sizes, element, MemorySpace.GLOBAL), name)
        copy = _copy(block, number, scratch, order)
        return Transposed(scratch, _filling(block, number, scratch, order), copy)

    def replace(self, block: BlockOp) -> None:
        """Take the place of the block that this was made of."""
        new = (self.scratch, self.block, self.copy)
        block.replace_by(*(located(operation, block) for operation in new))

    def discard(self) -> None:
        """Use nothing any more: it was only looked at."""
        for operation in (self.copy, self.block, self.scratch):
            operation.erase()


def transpose_output(block: BlockOp, order: Sequence[int]) -> None:
    """Let a block with one output write scratch with axes in an order, and copy it."""
    Transposed.of(block, order).replace(block)


def _filling(
    block: BlockOp, number: int, scratch: AllocOp, order: Sequence[int]
) -> BlockOp:
    """The block with its output in scratch."""
    transposed = block.clone()
    rank = len(transposed.form_values)
    access = tuple(LinearForm.dimension(index, rank) for index in order)
    refinements = [*transposed.refinement_list]
    refinements[number] = replace(refinements[number], access=access)
    transposed.operands[number] = scratch.view
    Rewriter.replace_value_with_new_type(
        transposed.view(number), scratch.view.type.cell
    )
    transposed.set_refinements(refinements)
    lead_with(transposed, order)
    return transposed


def _copy(
    block: BlockOp, number: int, scratch: AllocOp, order: Sequence[int]
) -> BlockOp:
    """The block that copies the cells of the scratch to where they belong.

    Where an index of its own steps through each axis of the output, it has the indices
    of an element-wise block over the output, so that `stripe-fuse` joins it with those.
    """
    output, buffer = block.refinement(number), block.buffer(number)
    kept = _axis_indices(block, number)
    kept = kept if {*order} <= {*kept} else sorted(order)
    places = {index: place for place, index in enumerate(kept) if index is not None}
    width = len(kept)
    source = tuple(LinearForm.dimension(places[index], width) for index in order)
    target = tuple(
        LinearForm.dimension(axis, width)
        if None in kept and not form.support
        else form.remap(places, width)
        for axis, form in enumerate(output.access)
    )
    hint = block.view(number).name_hint
    one = scratch.view.type.cell
    body = BlockOp.empty_body(
        [None if n is None else block.indices[n].name_hint for n in kept],
        [(one, "transposed"), (block.view_type(number), hint)],
    )
    *_, read, written = body.block.args
    load = LoadOp(read)
    body.block.add_ops([load, StoreOp(load.result, written)])
    ranges = [1 if n is None else block.index_ranges[n] for n in kept]
    return BlockOp(
        ranges,
        [scratch.view, buffer],
        [Refinement(Direction.IN, source), Refinement(Direction.OUT, target)],
        body,
        constraints=_inside(target, ranges, buffer),
        block_name=None if block.block_name is None else block.block_name.data,
    )


def _axis_indices(block: BlockOp, number: int) -> Sequence[int | None]:
    """The index of each axis of an output, None for axes of one cell.

    Empty where an axis is not stepped through from end to end by an index of its own.
    """
    carried = carried_indices(block, number)
    sizes = view_type(block.buffer(number)).sizes
    found = [carried.get(axis) for axis in range(len(sizes))]
    steps = [1 if index is None else block.index_ranges[index] for index in found]
    return found if steps == [*sizes] else []


def _inside(
    access: Sequence[LinearForm], ranges: Sequence[int], buffer: SSAValue
) -> list[LinearForm]:
    """The constraints that keep places within a buffer, where they may leave it."""
    found: list[LinearForm] = []
    for form, size in zip(access, view_type(buffer).sizes, strict=True):
        least, most = form.bounds(ranges)
        found += [form] if least < 0 else []
        found += [-form + (size - 1)] if most >= size else []
    return found

"""Buffers whose axes get another order, and the blocks that use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.stripe.attributes import ViewType, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from .loop_order import lead_with


@dataclass(frozen=True)
class Permuted:
    """A copy of a block over buffers with other orders of axes, to be looked at."""

    block: BlockOp
    buffers: tuple[AllocOp, ...]

    @staticmethod
    def of(block: BlockOp, orders: Mapping[int, Sequence[int]]) -> Permuted:
        """With the axes of these of its buffers, by their numbers, in these orders."""
        copy = block.clone()
        buffers: list[AllocOp] = []
        for number, order in orders.items():
            buffers.append(AllocOp(_permuted(block.buffer(number), order)))
            copy.operands[number] = buffers[-1].view
            _permute_window(copy, number, order)
        _lead_with_output(copy, orders)
        return Permuted(copy, tuple(buffers))

    def discard(self) -> None:
        """Take it away again."""
        for operation in (self.block, *self.buffers):
            operation.erase()


def permute_axes(buffer: AllocOp, order: Sequence[int]) -> None:
    """Let axis `order[n]` of a buffer be axis `n` for all who use it, in place.

    They are blocks that see a number of it at a time. Those that write it step through
    it in the order of its axes.
    """
    uses = [*buffer.view.uses]
    Rewriter.replace_value_with_new_type(buffer.view, _permuted(buffer.view, order))
    for use in uses:
        block = use.operation
        if isinstance(block, BlockOp):
            _permute_window(block, use.index, order)
            _lead_with_output(block, [use.index])


def _permuted(buffer: SSAValue, order: Sequence[int]) -> ViewType:
    type = view_type(buffer)
    return type.resized([type.sizes[axis] for axis in order])


def _permute_window(block: BlockOp, number: int, order: Sequence[int]) -> None:
    refinement = block.refinement(number)
    access = tuple([refinement.access[axis] for axis in order])
    block.set_refinement(number, replace(refinement, access=access))


def _lead_with_output(block: BlockOp, numbers: Iterable[int]) -> None:
    """Let the loops of a block be in the order of the axes that it writes."""
    for number in numbers:
        refinement = block.refinement(number)
        if refinement.direction.writes:
            rank = len(block.index_ranges)
            used = [index for form in refinement.access for index in form.support]
            lead_with(block, [*dict.fromkeys(n for n in used if n < rank)])

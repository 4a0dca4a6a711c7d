"""Windows of one buffer that differ in where they start, as one window.

Members of a nest may look at different parts of what another one has written: four
blocks of a row of gates, say. As long as each has a window of its own, the buffer can
not become private to the nest: all windows have to be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp


def widen_windows(block: BlockOp) -> None:
    """Let a block of blocks see one window of each buffer that it writes.

    Only of buffers that no other block uses, where all windows move alike. What is
    inside sees what it saw.
    """
    for buffer in dict.fromkeys(block.buffers):
        numbers = [n for n, other in enumerate(block.buffers) if other is buffer]
        if _may_widen(block, buffer, numbers):
            _widen(block, numbers)


def _may_widen(block: BlockOp, buffer: SSAValue, numbers: Sequence[int]) -> bool:
    if not isinstance(buffer.owner, AllocOp):
        return False
    if any(use.operation is not block for use in buffer.uses):
        return False
    refinements = [block.refinement(number) for number in numbers]
    if not any(refinement.direction.writes for refinement in refinements):
        return False
    if any(
        r.aggregation is not Aggregation.ASSIGN or r.init is not None
        for r in refinements
    ):
        return False
    if any(
        not isinstance(use.operation, BlockOp)
        for number in numbers
        for use in block.view(number).uses
    ):
        return False
    moves = {tuple(form.coefficients for form in r.access) for r in refinements}
    windows = {
        (r.access, block.view_type(n))
        for r, n in zip(refinements, numbers, strict=True)
    }
    return len(moves) == 1 and len(windows) > 1


def _widen(block: BlockOp, numbers: Sequence[int]) -> None:
    """Give all these refinements the window around theirs."""
    starts = [_starts(block.refinement(number).access) for number in numbers]
    sizes = [block.view_type(number).sizes for number in numbers]
    low = [min(axis) for axis in zip(*starts, strict=True)]
    ends = [
        [s + n for s, n in zip(*pair, strict=True)]
        for pair in zip(starts, sizes, strict=True)
    ]
    high = [max(axis) for axis in zip(*ends, strict=True)]
    wide = [end - start for start, end in zip(low, high, strict=True)]
    refinements = list(block.refinement_list)
    for number, own in zip(numbers, starts, strict=True):
        offsets = [start - least for start, least in zip(own, low, strict=True)]
        for use in block.view(number).uses:
            if isinstance(use.operation, BlockOp):
                _shift(use.operation, use.index, offsets)
        type = block.view_type(number)
        resized = ViewType.of(wide, type.element_type, type.space.data)
        Rewriter.replace_value_with_new_type(block.view(number), resized)
        access = refinements[number].access
        moved = tuple(
            form - offset for form, offset in zip(access, offsets, strict=True)
        )
        refinements[number] = replace(refinements[number], access=moved)
    block.set_refinements(refinements)


def _starts(access: Sequence[LinearForm]) -> list[int]:
    return [int(form.constant) for form in access]


def _shift(block: BlockOp, number: int, offsets: Sequence[int]) -> None:
    """Let a refinement start so much later along each axis."""
    refinements = list(block.refinement_list)
    access = refinements[number].access
    moved = tuple(form + offset for form, offset in zip(access, offsets, strict=True))
    refinements[number] = replace(refinements[number], access=moved)
    block.set_refinements(refinements)

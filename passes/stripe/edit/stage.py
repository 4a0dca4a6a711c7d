"""Copies of windows for the blocks of a nest: what `stripe-stage` applies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.index_sum import IndexSum, values_of
from ....dialects.stripe.attributes import MemorySpace, ViewType
from ....dialects.stripe.block import BlockOp, window_of
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.schedule import Schedule
from ....dialects.stripe.scheduled import note_done
from ....dialects.stripe.staging import Staging
from ....targets.hardware import Hardware
from ...locations import error_at, located
from ..analysis.nests import nested_blocks, root_buffer
from .copies import PackedCopies, Windows, windows_copy
from .copy_nests import build_copy
from .redirect import WindowShape, counts, redirect_input, redirect_window, steps_within


@dataclass(frozen=True)
class _Step:
    """A block between the copy and the windows, and its refinement of the buffer."""

    block: BlockOp
    number: int

    @property
    def access(self) -> tuple[IndexSum, ...]:
        return self.block.access(self.number)


def stage(
    blocks: Sequence[BlockOp],
    staging: Staging,
    packed: PackedCopies,
    hardware: Hardware,
) -> list[BlockOp]:
    """Apply one entry to the nest of these blocks, for the figures of a device.

    Returns the new blocks that set what windows have outside of the buffer.
    """
    steps = _steps(blocks, staging)
    outermost, last = steps[0].block, steps[-1]
    window = last.block.view_type(last.number)
    _check(steps[0], staging, window)
    added = window.rank - len(staging.order)
    order = (*range(added), *(added + axis for axis in staging.order))
    axes = _axes(steps)
    windows = _windows(steps, axes)
    sizes = [*windows.ranges, *(windows.sizes[axis] for axis in order)]
    if staging.padding:
        sizes[-1] += staging.padding
    type = ViewType.of(sizes, window.element_type, staging.space)
    fills: list[BlockOp] = []
    scratch = packed.find(windows, order, staging.fill, type, outermost)
    if scratch is None:
        scratch, fills = _copy(steps, staging, windows, order, type, hardware)
        packed.add(windows, order, staging.fill, scratch)
    _redirect(steps, axes, order, windows, scratch)
    return fills


def nest_blocks(nest: BlockOp) -> list[BlockOp]:
    """The blocks of a nest, outermost first: each is the only one in the one before."""
    blocks = [nest]
    while len(inner := nested_blocks(blocks[-1])) == 1:
        blocks += inner
    return blocks


def _steps(blocks: Sequence[BlockOp], staging: Staging) -> list[_Step]:
    """The blocks from `before` to `window`, outermost first."""
    nest = blocks[0]
    if staging.window >= len(blocks):
        raise error_at(
            nest,
            f"cannot stage windows of block {staging.window} of the nest: it has "
            f"{len(blocks)} block(s)",
        )
    block = blocks[max(staging.window, 0)]
    steps = [_Step(block, staging.refinement)]
    for _ in range(max(staging.window, 0) - staging.before):
        steps.insert(0, _outer_step(nest, steps[0]))
    return steps[: staging.window - staging.before + 1]


def _outer_step(nest: BlockOp, step: _Step) -> _Step:
    """The block around that cuts the window out of which `step` cuts its own."""
    view = step.block.buffer(step.number)
    window = window_of(view)
    if window is None:
        raise error_at(
            nest,
            "cannot stage: there is no such block around the nest, or the input comes "
            "from a buffer inside it",
        )
    return _Step(*window)


def _check(step: _Step, staging: Staging, window: ViewType) -> None:
    """Refuse what cannot be staged at this block."""
    block = step.block
    if len(staging.order) > window.rank:
        raise error_at(
            block,
            f"expected an order of at most {window.rank} axes to stage windows "
            f"{window}, got {list(staging.order)}",
        )
    is_at_top = isinstance(block.parent_op(), FuncOp)
    if is_at_top is not (staging.space is MemorySpace.GLOBAL):
        place = "in front of a top-level block" if is_at_top else "inside a block"
        allowed = "global" if is_at_top else "local or private"
        raise error_at(
            block,
            f"cannot stage into {staging.space.value} memory {place}",
            f"it can be {allowed} there",
        )
    root = root_buffer(block.buffer(step.number))
    written = zip(block.buffers, block.refinement_list, strict=True)
    if any(r.direction.writes and root_buffer(b) is root for b, r in written):
        raise error_at(block, "cannot stage a buffer that the nest writes")


def _axes(steps: Sequence[_Step]) -> list[BlockArgument]:
    """The indices of the steps that move the windows, outermost first."""
    moving = {*values_of(start for step in steps for start in step.access)}
    return [index for step in steps for index in step.block.indices if index in moving]


def _windows(steps: Sequence[_Step], axes: Sequence[BlockArgument]) -> Windows:
    """The windows of the last step in the buffer of the first."""
    first, last = steps[0], steps[-1]
    starts = [IndexSum()] * len(first.access)
    for step in steps:
        starts = [start + own for start, own in zip(starts, step.access, strict=True)]
    view = last.block.view(last.number)
    apart = steps_within(view)
    sizes = last.block.view_type(last.number).sizes
    return Windows(
        buffer=first.block.buffer(first.number),
        starts=tuple(starts),
        sizes=counts(sizes, apart),
        steps=apart,
        indices=tuple(axes),
        ranges=tuple(index_range(index) for index in axes),
        names=tuple(index.name_hint for index in axes),
    )


def _copy(
    steps: Sequence[_Step],
    staging: Staging,
    windows: Windows,
    order: Sequence[int],
    type: ViewType,
    hardware: Hardware,
) -> tuple[SSAValue, list[BlockOp]]:
    """Allocate the scratch and fill it, in front of the first step.

    With it are returned the blocks that set what lies outside of the buffer.
    """
    block, number = steps[0].block, steps[0].number
    hint = block.view(number).name_hint or "in"
    allocation = AllocOp(type, f"{hint}_stage")
    name = None
    if staging.space is MemorySpace.GLOBAL:
        name = f"{block.block_name.data if block.block_name else 'block'}_stage_{hint}"
    copy = windows_copy(windows, allocation.view, order, name)
    if staging.space is MemorySpace.GLOBAL:
        # It becomes a kernel of its own, which is to say why.
        note_done(copy, Schedule(stages=(staging,)))
    operations: list[Operation] = [allocation, copy]
    for operation in operations:
        Rewriter.insert_op(located(operation, block), InsertPoint.before(block))
    return allocation.view, build_copy(copy, staging.fill, hardware)


def _redirect(
    steps: Sequence[_Step],
    axes: Sequence[BlockArgument],
    order: Sequence[int],
    windows: Windows,
    scratch: SSAValue,
) -> None:
    """Let the blocks of all steps, and those inside, read the scratch."""
    last = steps[-1]
    window = windows.sizes
    fixed: set[SSAValue] = set()
    buffer = scratch
    for step in steps:
        block = step.block
        fixed |= set(block.indices)
        starts = [
            IndexSum.value(axis) if axis in block.indices else IndexSum()
            for axis in axes
        ]
        starts += [IndexSum()] * len(order)
        sizes = [1 if axis in fixed else index_range(axis) for axis in axes]
        sizes += [window[axis] for axis in order]
        if step is last:
            shape = WindowShape(order, windows.steps)
            redirect_window(block, step.number, buffer, starts, sizes, shape)
        else:
            buffer = redirect_input(block, step.number, buffer, starts, sizes)

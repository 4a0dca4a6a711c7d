"""What passes over nests of `stripe.block`s share: queries and rebuilding."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue, Use

from ....affine.form import LinearForm
from ....affine.radix import determined_indices
from ....dialects.aggregation import Aggregation
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    ViewType,
    view_type,
)
from ....dialects.stripe.block import BlockOp, window_of
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....dialects.stripe.reshape import ReshapeOp
from ...walking import functions, operations


def statements(function: FuncOp) -> list[Operation]:
    """The statements of a function, in order; none of a mere declaration."""
    return [operation for block in function.body.blocks for operation in block.ops]


def top_level_blocks(module: ModuleOp) -> Iterator[BlockOp]:
    """The blocks that are statements of a function, in order."""
    for function in functions(module):
        for operation in statements(function):
            if isinstance(operation, BlockOp):
                yield operation


def nested_blocks(block: BlockOp) -> list[BlockOp]:
    """The blocks that are statements of a block, in order."""
    return [op for op in block.regions[0].block.ops if isinstance(op, BlockOp)]


def is_leaf(block: BlockOp) -> bool:
    """Whether a block has no block inside."""
    return not any(isinstance(op, BlockOp) for op in block.regions[0].block.ops)


def is_top_level(block: BlockOp) -> bool:
    """Whether a block is a statement of a function, so that it becomes a kernel."""
    return not isinstance(block.parent_op(), BlockOp)


def blocks_around(op: Operation) -> Iterator[BlockOp]:
    """The blocks that an operation is in, the innermost first."""
    around = op.parent_op()
    while isinstance(around, BlockOp):
        yield around
        around = around.parent_op()


def points_around(block: BlockOp) -> int:
    """How many times the blocks around a block run it."""
    return prod(prod(each.index_ranges) for each in blocks_around(block))


def all_blocks(root: Operation) -> list[BlockOp]:
    """Every block in `root`, itself included, outer ones first."""
    return [each for each in operations(root) if isinstance(each, BlockOp)]


def output_indices(block: BlockOp) -> set[int]:
    """The indices that occur in the access of some refinement that is written."""
    rank = len(block.index_ranges)
    return {
        index
        for refinement in block.refinement_list
        if refinement.direction.writes
        for form in refinement.access
        for index in form.support
        if index < rank
    }


def reduction_indices(block: BlockOp) -> set[int]:
    """The indices whose values have the same windows of every output.

    Where the stores have no subscripts, they meet on the same cells.
    """
    return set(range(len(block.index_ranges))) - output_indices(block)


def is_number(window: ViewType) -> bool:
    """Whether a window shows one number."""
    is_vector = isinstance(window.element_type, VectorType)
    return not is_vector and window.sizes == (1,) * window.rank


@dataclass(frozen=True)
class AbsoluteAccess:
    """Where a window starts in the buffer that it was cut from in the end."""

    buffer: SSAValue
    starts: tuple[IndexSum, ...]
    """Along each axis of the buffer, over indices of the blocks around."""

    @property
    def buffer_type(self) -> ViewType:
        """The type of the whole buffer, not of a window."""
        return view_type(self.buffer)

    def is_inside(self, moved: Collection[SSAValue] | None = None) -> bool:
        """Whether all cells are in the buffer, whatever constraints say.

        With `moved` along the axes alone where these values move it.
        """
        for start, size in zip(self.starts, self.buffer_type.sizes, strict=True):
            if moved is not None and not any(value in moved for value in start.values):
                continue
            low, high = start.bounds(index_range)
            if low < 0 or high >= size:
                return False
        return True


def windows_from(view: SSAValue) -> Iterator[tuple[BlockOp, int]]:
    """The windows that a view is cut from, itself first: blocks, and their numbers."""
    while (window := window_of(view)) is not None:
        yield window
        block, number = window
        view = block.buffer(number)


def absolute_access(view: SSAValue) -> AbsoluteAccess:
    """Follow refinements from a view to the allocation or function argument."""
    window = window_of(view)
    if window is None:
        return AbsoluteAccess(view, (IndexSum(),) * view_type(view).rank)
    block, number = window
    outer = absolute_access(block.buffer(number))
    pairs = zip(outer.starts, block.access(number), strict=True)
    return AbsoluteAccess(outer.buffer, tuple([start + own for start, own in pairs]))


def root_buffer(view: SSAValue) -> SSAValue:
    """The allocation or function argument that a view shows a part of, in the end.

    Views of one memory, reshaped or not, have one root; memories of different roots
    never overlap.
    """
    while True:
        if isinstance(view.owner, ReshapeOp):
            view = view.owner.source
            continue
        window = window_of(view)
        if window is None:
            return view
        block, number = window
        view = block.buffer(number)


def users_of(memory: SSAValue) -> set[Operation]:
    """What uses a memory, under any shape."""
    users: set[Operation] = set()
    for use in memory.uses:
        if isinstance(use.operation, ReshapeOp):
            users |= users_of(use.operation.view)
        else:
            users.add(use.operation)
    return users


def is_subscripted(view: SSAValue) -> bool:
    """Whether statements choose places in a view, or a part of it, by subscripts."""
    return any(_is_subscripted(use) for use in view.uses)


def _is_subscripted(use: Use) -> bool:
    operation = use.operation
    if isinstance(operation, BlockOp):
        return is_subscripted(operation.view(use.index))
    return isinstance(operation, LoadOp | StoreOp) and operation.subscripts is not None


def axis_of(block: BlockOp, number: int, index: int) -> int | None:
    """The only axis along which an index moves a window, alone and step by step."""
    access = block.refinement(number).access
    axes = [axis for axis, form in enumerate(access) if form.coefficients[index]]
    if len(axes) != 1 or access[axes[0]].single_dimension != index:
        return None
    return axes[0]


def aggregates_from_nothing(block: BlockOp, number: int) -> bool:
    """Whether an output aggregates numbers, from what changes nothing."""
    refinement, window = block.refinement(number), block.view_type(number)
    aggregation = refinement.aggregation
    if aggregation is Aggregation.ASSIGN or not is_number(window):
        return False
    return refinement.init == aggregation.identity(window.element_type)


def is_injective(block: BlockOp, number: int) -> bool:
    """Whether different values of the output indices have disjoint windows.

    Decided axis by axis: see `determined_indices`.
    """
    return output_indices(block) <= _determined(block, number)


def has_own_windows(block: BlockOp, number: int) -> bool:
    """Whether different points of a block have disjoint windows, decided likewise."""
    return set(range(len(block.index_ranges))) <= _determined(block, number)


def _determined(block: BlockOp, number: int) -> frozenset[int]:
    """The indices that a cell of a window tells; all that have one value only."""
    access = block.refinement(number).access
    return _determined_by(access, block.view_type(number).sizes, block.index_ranges)


@lru_cache(maxsize=4096)
def _determined_by(
    access: tuple[LinearForm, ...], sizes: tuple[int, ...], ranges: tuple[int, ...]
) -> frozenset[int]:
    return frozenset(determined_indices(access, sizes, dict(enumerate(ranges))))


def owns_cells(block: BlockOp, number: int) -> bool:
    """Whether the cells of an output are only used through it.

    Each of them is used at one value of the output indices.
    """
    buffers = [root_buffer(buffer) for buffer in block.buffers]
    return buffers.count(buffers[number]) == 1 and is_injective(block, number)


def initializes_own_cells(block: BlockOp) -> bool:
    """Whether different values of the output indices set different cells."""
    return all(
        is_injective(block, number)
        for number, refinement in enumerate(block.refinement_list)
        if refinement.init is not None
    )


def assigns_at_subscripts(block: BlockOp, number: int) -> bool:
    """Whether subscripts choose the cells of an output, which different points assign.

    No two points of a block assign one cell, so that these need no order.
    """
    return block.refinement(number).is_plain and is_subscripted(block.view(number))

"""Small changes: move statements, put values in place of indices, narrow ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import FUNCTION_OPS, ConstantOp
from ....dialects.index_sum import IndexSum, values_of
from ....dialects.stripe.attributes import (
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import IndexOp
from ..analysis.nests import (
    all_blocks,
    nested_blocks,
)


@dataclass(frozen=True)
class Window:
    """What a block to be built sees of a buffer: where it starts, and its use."""

    buffer: SSAValue
    starts: Sequence[IndexSum]
    """Along each axis, over indices of the block and of blocks around it."""
    use: Refinement
    """Its direction, aggregation and initial value."""


def build_block(
    ranges: Sequence[int],
    windows: Sequence[Window],
    body: Region,
    where: Sequence[IndexSum] = (),
    bindings: Sequence[Binding] | None = None,
    like: BlockOp | None = None,
) -> BlockOp:
    """A block of these windows, called like another one.

    `body` has an argument for each index, then one for each window.
    """
    starts = [start for window in windows for start in window.starts]
    values = values_of([*starts, *where], first=body.block.args[: len(ranges)])
    refinements = [
        replace(
            window.use, access=tuple([start.form(values) for start in window.starts])
        )
        for window in windows
    ]
    name = None if like is None else like.block_name
    return BlockOp(
        ranges,
        [window.buffer for window in windows],
        refinements,
        body,
        captures=values[len(ranges) :],
        constraints=[condition.form(values) for condition in where],
        bindings=bindings,
        block_name=None if name is None else name.data,
    )


def substitute_captures(
    statements: Iterable[Operation], replacements: Mapping[SSAValue, IndexSum]
) -> None:
    """Put sums in place of index values that nested blocks capture."""
    for statement in statements:
        for block in all_blocks(statement):
            if any(capture in replacements for capture in block.captures):
                block.substitute(replacements)


def compute_indices(body: Block, replacements: Mapping[SSAValue, IndexSum]) -> None:
    """Let statements that use an index as a value compute it from other values.

    A `stripe.index` gets another form; for others the computation comes first in
    `body`. What blocks capture is not touched: that is for `substitute_captures`.
    """
    numbers = {
        use.operation: None
        for index in replacements
        for use in index.uses
        if isinstance(use.operation, IndexOp)
    }
    for number in numbers:
        number.rewrite(number.sum.substitute(replacements))
    for index, replacement in replacements.items():
        uses = [
            use
            for use in index.uses
            if not isinstance(use.operation, BlockOp | IndexOp)
        ]
        if not uses:
            continue
        operations, value = _computed(replacement)
        first = body.first_op
        for operation in operations:
            operation.location = uses[0].operation.location
            if first is not None:
                body.insert_op_before(operation, first)
        for use in uses:
            use.operation.operands[use.index] = value


def _computed(sum: IndexSum) -> tuple[list[Operation], SSAValue]:
    """Statements that compute a sum, and its value; none for a value itself."""
    if sum.single_value is not None:
        return [], sum.single_value
    operations: list[Operation] = []
    total: SSAValue | None = None

    def number(value: int) -> SSAValue:
        operations.append(ConstantOp(value, IndexType()))
        return operations[-1].results[0]

    def apply(function: str, *operands: SSAValue) -> SSAValue:
        operations.append(FUNCTION_OPS[function].build_typed(operands, IndexType()))
        return operations[-1].results[0]

    for value, coefficient in sum.terms:
        term = value if coefficient == 1 else apply("mul", value, number(coefficient))
        total = term if total is None else apply("add", total, term)
    if sum.constant or total is None:
        constant = number(sum.constant)
        total = constant if total is None else apply("add", total, constant)
    return operations, total


def move_statements(source: Block, target: Block) -> None:
    """Move all statements of `source` to the end of `target`."""
    for operation in list(source.ops):
        operation.detach()
        target.add_op(operation)


def retarget(view: SSAValue, replacement: SSAValue) -> None:
    """Use `replacement` in place of `view`, whose memory space may be another."""
    space = view_type(replacement).space.data
    view.replace_all_uses_with(replacement)
    _set_space(replacement, space)


def _set_space(view: SSAValue, space: MemorySpace) -> None:
    """Give all windows that are cut from `view` this memory space."""
    for use in view.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            continue
        window = block.view(use.index)
        type = view_type(window)
        if type.space.data is space:
            continue
        resized = ViewType.of(type.sizes, type.element_type, space)
        _set_space(Rewriter.replace_value_with_new_type(window, resized), space)


def push_constraints_inward(block: BlockOp) -> None:
    """Move the constraints of a block to the blocks inside it."""
    if not block.conditions:
        return
    for inner in nested_blocks(block):
        inner.add_where(*block.where)
    block.set_constraints([])


def leave_to_inside(block: BlockOp) -> None:
    """Let the blocks inside a block check its constraints, and aggregate."""
    push_constraints_inward(block)
    block.set_refinements(
        [replace(r, aggregation=Aggregation.ASSIGN) for r in block.refinement_list]
    )


def restrict_indices(
    block: BlockOp, starts: Mapping[int, int], extents: Mapping[int, int]
) -> None:
    """Let some indices run over so many values from their starts on."""
    block.set_ranges(
        extents.get(index, extent) for index, extent in enumerate(block.index_ranges)
    )
    shift_indices(block, starts)


def shift_indices(block: BlockOp, starts: Mapping[int, int]) -> None:
    """Put `index + start` in place of indices everywhere in a block."""
    moved = {index: start for index, start in starts.items() if start}
    if not moved:
        return
    replacements: dict[SSAValue, IndexSum] = {}
    for index, start in moved.items():
        own = block.indices[index]
        replacements[own] = IndexSum.value(own) + start
    substitute_captures(block.body.ops, replacements)
    compute_indices(block.body.block, replacements)
    block.substitute(replacements)

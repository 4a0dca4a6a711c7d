"""What passes over nests of `stripe.block`s share: queries and rebuilding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    ModuleOp,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....affine.form import LinearForm
from ....affine.radix import determined_indices
from ....dialects.eltwise.ops import FUNCTION_OPS, ConstantOp
from ....dialects.form_attribute import FormAttr
from ....dialects.stripe.attributes import (
    MemorySpace,
    Refinement,
    RefinementAttr,
    ViewType,
)
from ....dialects.stripe.block import BlockOp, index_range
from ....dialects.stripe.ops import IndexOp, LoadOp, StoreOp
from ....dialects.stripe.reshape import ReshapeOp
from ....dialects.syntax import compact
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
    return [op for op in block.body.ops if isinstance(op, BlockOp)]


def is_leaf(block: BlockOp) -> bool:
    """Whether a block has no block inside."""
    return not nested_blocks(block)


def is_top_level(block: BlockOp) -> bool:
    """Whether a block is a statement of a function, so that it becomes a kernel."""
    return not isinstance(block.parent_op(), BlockOp)


def points_around(block: BlockOp) -> int:
    """How many times the blocks around a block run it."""
    around = block.parent_op()
    count = 1
    while isinstance(around, BlockOp):
        count *= prod(around.index_ranges)
        around = around.parent_op()
    return count


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


@dataclass(frozen=True)
class ValueForm:
    """A linear form together with the index values it ranges over."""

    form: LinearForm
    values: tuple[SSAValue, ...]


def replace_forms(
    block: BlockOp,
    refinements: Sequence[Refinement],
    constraints: Sequence[LinearForm],
    captures: Sequence[SSAValue],
) -> None:
    """Give a block other refinements, constraints and captures, in place."""
    rank = len(block.index_ranges)
    forms = [form for refinement in refinements for form in refinement.access]
    values = [*block.indices, *captures]
    compacted, kept = compact([*forms, *constraints], values, fixed=rank)
    remaining = iter(compacted)
    accesses = [tuple([next(remaining) for _ in r.access]) for r in refinements]
    block.properties["refinements"] = ArrayAttr(
        [
            RefinementAttr(r if access == r.access else replace(r, access=access))
            for r, access in zip(refinements, accesses, strict=True)
        ]
    )
    block.properties["constraints"] = ArrayAttr([FormAttr(form) for form in remaining])
    block.set_operands(block.buffers, kept[rank:])


def substitute_captures(
    statements: Iterable[Operation], mapping: Mapping[SSAValue, ValueForm]
) -> None:
    """Replace index values that nested blocks capture by forms of other values."""
    for statement in statements:
        for block in all_blocks(statement):
            if any(capture in mapping for capture in block.captures):
                _substitute(block, mapping)


def _substitute(block: BlockOp, mapping: Mapping[SSAValue, ValueForm]) -> None:
    rank = len(block.index_ranges)
    captures: list[SSAValue] = []
    for capture in block.captures:
        replacement = mapping.get(capture)
        captures.extend((capture,) if replacement is None else replacement.values)
    width = rank + len(captures)
    replacements = [LinearForm.dimension(index, width) for index in range(rank)]
    position = rank
    for capture in block.captures:
        replacement = mapping.get(capture)
        if replacement is None:
            replacements.append(LinearForm.dimension(position, width))
            position += 1
            continue
        count = len(replacement.values)
        positions = {number: position + number for number in range(count)}
        replacements.append(replacement.form.remap(positions, width))
        position += count
    replace_forms(
        block,
        [
            replace(r, access=tuple(f.substitute(replacements) for f in r.access))
            for r in block.refinement_list
        ],
        [form.substitute(replacements) for form in block.conditions],
        captures,
    )


def compute_indices(body: Block, mapping: Mapping[SSAValue, ValueForm]) -> None:
    """Let statements that use an index as a value compute it from other values.

    A `stripe.index` gets another form; for others the computation comes first in
    `body`. What blocks capture is not touched: that is for `substitute_captures`.
    """
    numbers = {
        use.operation: None
        for index in mapping
        for use in index.uses
        if isinstance(use.operation, IndexOp)
    }
    for number in numbers:
        _substitute_form(number, mapping)
    for index, replacement in mapping.items():
        uses = [
            use
            for use in index.uses
            if not isinstance(use.operation, BlockOp | IndexOp)
        ]
        if not uses:
            continue
        operations = _form_statements(replacement)
        value = operations[-1].results[0] if operations else replacement.values[0]
        first = body.first_op
        for operation in operations:
            operation.location = uses[0].operation.location
            if first is not None:
                body.insert_op_before(operation, first)
        for use in uses:
            use.operation.operands[use.index] = value


def _substitute_form(op: IndexOp, mapping: Mapping[SSAValue, ValueForm]) -> None:
    """Replace indices in the form of a statement by forms of other values."""
    values: list[SSAValue] = []
    parts: list[ValueForm] = []
    for value in op.values:
        same = ValueForm(LinearForm.dimension(0, 1), (value,))
        parts.append(mapping.get(value, same))
        values.extend(parts[-1].values)
    replacements: list[LinearForm] = []
    first = 0
    for part in parts:
        positions = {number: first + number for number in range(part.form.rank)}
        replacements.append(part.form.remap(positions, len(values)))
        first += part.form.rank
    form = op.form.data
    if replacements:
        form = form.substitute(replacements)
    (compacted,), used = compact([form], values)
    op.operands = used
    op.properties["form"] = FormAttr(compacted)


def _form_statements(form: ValueForm) -> list[Operation]:
    """Statements of which the last computes a form; none for a value itself."""
    if form.form.single_dimension == 0:
        return []
    operations: list[Operation] = []
    total: SSAValue | None = None

    def number(value: int) -> SSAValue:
        operations.append(ConstantOp(value, IndexType()))
        return operations[-1].results[0]

    def apply(function: str, *operands: SSAValue) -> SSAValue:
        operations.append(FUNCTION_OPS[function].build_typed(operands, IndexType()))
        return operations[-1].results[0]

    for coefficient, value in zip(form.form.coefficients, form.values, strict=True):
        term = (
            value if coefficient == 1 else apply("mul", value, number(int(coefficient)))
        )
        total = term if total is None else apply("add", total, term)
    if form.form.constant or total is None:
        constant = number(int(form.form.constant))
        total = constant if total is None else apply("add", total, constant)
    return operations


def move_statements(source: Block, target: Block) -> None:
    """Move all statements of `source` to the end of `target`."""
    for operation in list(source.ops):
        operation.detach()
        target.add_op(operation)


def retarget(view: SSAValue, replacement: SSAValue) -> None:
    """Use `replacement` in place of `view`, whose memory space may be another."""
    space = _view_type(replacement).space.data
    view.replace_all_uses_with(replacement)
    _set_space(replacement, space)


def _set_space(view: SSAValue, space: MemorySpace) -> None:
    """Give all windows that are cut from `view` this memory space."""
    for use in view.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            continue
        window = block.view(use.index)
        type = _view_type(window)
        if type.space.data is space:
            continue
        resized = ViewType.of(type.sizes, type.element_type, space)
        _set_space(Rewriter.replace_value_with_new_type(window, resized), space)


def _view_type(value: SSAValue) -> ViewType:
    if not isinstance(value.type, ViewType):
        raise ValueError(f"expected a view, got {value.type}")
    return value.type


def is_number(window: ViewType) -> bool:
    """Whether a window shows one number."""
    is_vector = isinstance(window.element_type, VectorType)
    return not is_vector and window.sizes == (1,) * window.rank


def drop_refinements(block: BlockOp, numbers: set[int]) -> None:
    """Remove refinements that nothing uses any more; the body becomes another one.

    (To erase many arguments one by one takes a time quadratic in them.)
    """
    kept = [n for n in range(len(block.refinements)) if n not in numbers]
    refinements = [block.refinement(number) for number in kept]
    buffers = [block.buffer(number) for number in kept]
    arguments = [*block.indices, *(block.view(number) for number in kept)]
    old, body = block.body.block, Block(arg_types=[a.type for a in arguments])
    for argument, new in zip(arguments, body.args, strict=True):
        new.name_hint, new.location = argument.name_hint, argument.location
        argument.replace_all_uses_with(new)
    move_statements(old, body)
    block.body.insert_block(body, 0)
    block.body.erase_block(old)
    block.set_operands(buffers, block.captures)
    replace_forms(block, refinements, block.conditions, block.captures)


@dataclass(frozen=True)
class AbsoluteAccess:
    """Where a window starts in the buffer that it was cut from in the end."""

    buffer: SSAValue
    access: tuple[LinearForm, ...]
    """One form per axis of the buffer, over `values`."""
    values: tuple[SSAValue, ...]
    """Indices of the blocks around."""
    ranges: tuple[int, ...]
    """The range of each value."""

    @property
    def buffer_type(self) -> ViewType:
        return _view_type(self.buffer)


def absolute_access(view: SSAValue) -> AbsoluteAccess:
    """Follow refinements from a view to the allocation or function argument."""
    if not isinstance(view, BlockArgument):
        zero = LinearForm(())
        return AbsoluteAccess(view, (zero,) * _view_type(view).rank, (), ())
    block = view.block.parent_op()
    if not isinstance(block, BlockOp):
        zero = LinearForm(())
        return AbsoluteAccess(view, (zero,) * _view_type(view).rank, (), ())
    number = view.index - len(block.index_ranges)
    outer = absolute_access(block.buffer(number))
    values = [*outer.values]
    for value in block.form_values:
        if value not in values:
            values.append(value)
    width = len(values)
    positions = {n: values.index(v) for n, v in enumerate(block.form_values)}
    kept = {n: n for n in range(len(outer.values))}
    access = tuple(
        base.remap(kept, width) + form.remap(positions, width)
        for base, form in zip(
            outer.access, block.refinement(number).access, strict=True
        )
    )
    return AbsoluteAccess(
        outer.buffer, access, tuple(values), tuple(index_range(v) for v in values)
    )


def root_buffer(view: SSAValue) -> SSAValue:
    """The allocation or function argument that a view shows a part of, in the end.

    Views of one memory, reshaped or not, have one root; memories of different roots
    never overlap.
    """
    while True:
        if isinstance(view.owner, ReshapeOp):
            view = view.owner.source
            continue
        block = view.block.parent_op() if isinstance(view, BlockArgument) else None
        if not isinstance(block, BlockOp) or not isinstance(view, BlockArgument):
            return view
        view = block.buffer(view.index - len(block.index_ranges))


def is_subscripted(view: SSAValue) -> bool:
    """Whether statements choose places in a view, or a window cut from it, by
    subscripts.
    """
    for use in view.uses:
        operation = use.operation
        if isinstance(operation, BlockOp):
            if is_subscripted(operation.view(use.index)):
                return True
        elif isinstance(operation, LoadOp | StoreOp):
            if operation.subscripts is not None:
                return True
    return False


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
    """Whether the cells of an output are only used through it, each by one value of
    the output indices.
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


def push_constraints_inward(block: BlockOp) -> None:
    """Move the constraints of a block to the blocks inside it."""
    if not block.conditions:
        return
    values = block.form_values
    for inner in nested_blocks(block):
        own = len(inner.form_values)
        width = own + len(values)
        positions = {number: own + number for number in range(len(values))}
        pushed = [form.remap(positions, width) for form in block.conditions]
        kept = {number: number for number in range(own)}
        replace_forms(
            inner,
            [
                replace(r, access=tuple(f.remap(kept, width) for f in r.access))
                for r in inner.refinement_list
            ],
            [*(form.remap(kept, width) for form in inner.conditions), *pushed],
            [*inner.captures, *values],
        )
    replace_forms(block, block.refinement_list, [], block.captures)


def restrict_index(block: BlockOp, index: int, start: int, extent: int) -> None:
    """Let an index run over `extent` values from `start` on."""
    restrict_indices(block, {index: start}, {index: extent})


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
    mapping: dict[SSAValue, ValueForm] = {}
    for index, start in moved.items():
        own = block.indices[index]
        mapping[own] = ValueForm(LinearForm.of([1], start), (own,))
    substitute_captures(block.body.ops, mapping)
    compute_indices(block.body.block, mapping)

    def shifted(form: LinearForm) -> LinearForm:
        return form + sum(form.coefficients[n] * start for n, start in moved.items())

    replace_forms(
        block,
        [
            replace(r, access=tuple(map(shifted, r.access)))
            for r in block.refinement_list
        ],
        [*map(shifted, block.conditions)],
        block.captures,
    )

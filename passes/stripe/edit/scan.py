"""A running aggregation: its block, parts of its rows, and blocks over these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import FUNCTION_OPS
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    Direction,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import located
from ..analysis.nests import output_indices
from .blocks import compute_indices, move_statements
from .point_block import PointBlock


@dataclass(frozen=True)
class Scan:
    """A block in which cell `target` aggregates the values up to `source` = `target`.

    In a reversed one it aggregates those from there on. In a mirrored one the cell is
    the same number of cells away from the other end of its row.
    """

    block: BlockOp
    target: int
    source: int
    is_reversed: bool
    is_mirrored: bool = False
    lane: int | None = None
    """The index of rows whose values take turns."""

    @property
    def length(self) -> int:
        """The number of cells of a row."""
        return self.block.index_ranges[self.target]

    @property
    def others(self) -> list[int]:
        """The indices of rows, that of the lanes last."""
        rows = output_indices(self.block) - {self.target}
        return sorted(rows, key=lambda index: (index == self.lane, index))

    @property
    def inputs(self) -> list[int]:
        """The numbers of the refinements that are read."""
        return self._with(Direction.IN)

    @property
    def outputs(self) -> list[int]:
        """The numbers of the refinements that are written."""
        return self._with(Direction.OUT)

    def _with(self, direction: Direction) -> list[int]:
        refinements = enumerate(self.block.refinement_list)
        return [n for n, r in refinements if r.direction is direction]

    @property
    def row_shape(self) -> list[int]:
        """How many rows there are along each of their indices."""
        return [self.block.index_ranges[index] for index in self.others]

    def ends(self, walked: LinearForm) -> dict[int, LinearForm]:
        """The source and the target at a step of the walk along a row."""
        last = self.length - 1
        source = -walked + last if self.is_reversed else walked
        target = -source + last if self.is_mirrored else source
        return {self.source: source, self.target: target}

    def add(self, operation: Operation) -> None:
        """Add an operation before the block that is replaced."""
        Rewriter.insert_op(
            located(operation, self.block), InsertPoint.before(self.block)
        )

    def name(self, suffix: str = "") -> str | None:
        """What a block is called that does a part of the work."""
        name = self.block.block_name
        return None if name is None else f"{name.data}{suffix}"

    def allocate(self, number: int, shape: Sequence[int], suffix: str) -> SSAValue:
        """A buffer for values of an output."""
        element = self.block.view_type(number).element_type
        hint = self.block.buffer(number).name_hint or "out"
        allocation = AllocOp(ViewType.of(shape, element), f"{hint}_{suffix}")
        self.add(allocation)
        return allocation.view

    def with_values_first(self) -> Scan:
        """The same over values of which each place of a row has one.

        A block before this one aggregates what else meets there.
        """
        block = self.block
        kept = [n for n in range(len(block.index_ranges)) if n != self.target]
        ranges = [block.index_ranges[n] for n in kept]
        row = [kept.index(n) for n in (*self.others, self.source)]
        access = tuple(LinearForm.dimension(n, len(kept)) for n in row)
        forms = {n: LinearForm.dimension(kept.index(n), len(kept)) for n in kept}
        shape = [*self.row_shape, block.index_ranges[self.source]]
        buffers = {n: self.allocate(n, shape, "values") for n in self.outputs}
        targets = [
            Target(n, buffers[n], access, block.refinement(n)) for n in self.outputs
        ]
        names = [block.indices[n].name_hint for n in kept]
        space = Space(names, ranges, forms)
        self.add(derived(self, space, targets, "_values"))
        plain = self._of_values(buffers)
        self.add(plain)
        block.replace_by()
        rank = len(self.others)
        return Scan(plain, rank, rank + 1, self.is_reversed, self.is_mirrored)

    def _of_values(self, buffers: Mapping[int, SSAValue]) -> BlockOp:
        """The block over indices of rows, a cell and a value."""
        old = self.block
        numbers = [*self.others, self.target, self.source]
        width = len(numbers)
        positions = {index: place for place, index in enumerate(numbers)}
        names = [old.indices[n].name_hint or f"i{n}" for n in numbers]
        block = PointBlock([old.index_ranges[n] for n in numbers], names, old)
        row = [*range(width - 2), width - 1]
        place = tuple(LinearForm.dimension(n, width) for n in row)
        for number, buffer in buffers.items():
            output = old.refinement(number)
            access = tuple(form.remap(positions, width) for form in output.access)
            block.store(
                block.load(buffer, place),
                old.buffer(number),
                access,
                output.aggregation,
                output.init,
            )
        condition = old.conditions[0].remap(positions, width)
        return block.finish(self.name(), [condition])


@dataclass(frozen=True)
class Piece:
    """A part of each row: `chunks` chunks of `steps` steps each, from `first` on.

    `chains` chunks take turns in one work-item.
    """

    first: int
    chunks: int
    steps: int
    chains: int


@dataclass(frozen=True)
class Space:
    """Indices of a new block, and the form over them for each index of an old one."""

    names: Sequence[str | None]
    ranges: Sequence[int]
    forms: Mapping[int, LinearForm]

    def access(self, block: BlockOp, number: int) -> tuple[LinearForm, ...]:
        """That of an old block's window, over the new indices."""
        nothing = LinearForm.constant_of(0, len(self.ranges))
        count = len(block.index_ranges)
        forms = [self.forms.get(index, nothing) for index in range(count)]
        access = block.refinement(number).access
        return tuple(form.substitute(forms) for form in access)


@dataclass(frozen=True)
class Target:
    """Where output `number` goes; with `start`, the value there is added to it."""

    number: int
    buffer: SSAValue
    access: tuple[LinearForm, ...]
    how: Refinement
    """Its aggregation and initial value."""
    start: tuple[SSAValue, tuple[LinearForm, ...]] | None = None


def derived(
    scan: Scan, space: Space, targets: Sequence[Target], suffix: str = ""
) -> BlockOp:
    """A block that computes the values of a scan's block over other indices.

    Its refinements are the inputs, the starts if any, and the targets.
    """
    old = scan.block.clone()
    rank = len(space.ranges)
    nothing = LinearForm.constant_of(0, rank)
    forms = [space.forms.get(n, nothing) for n in range(len(old.index_ranges))]
    buffers: list[SSAValue] = []
    refinements: list[Refinement] = []
    views: list[tuple[ViewType, str | None]] = []
    for number in scan.inputs:
        refinement = old.refinement(number)
        access = tuple(form.substitute(forms) for form in refinement.access)
        buffers.append(old.buffer(number))
        refinements.append(replace(refinement, access=access))
        views.append((old.view_type(number), old.view(number).name_hint))
    for target in targets:
        if target.start is not None:
            buffer, access = target.start
            buffers.append(buffer)
            refinements.append(Refinement(Direction.IN, access))
            views.append((view_type(buffer).cell, "state"))
    for target in targets:
        buffers.append(target.buffer)
        refinements.append(replace(target.how, access=target.access))
        views.append((view_type(target.buffer).cell, old.view(target.number).name_hint))
    body = BlockOp.empty_body(space.names, views)
    arguments = body.block.args
    _move_statements(old, forms, arguments[:rank], body.block)
    inputs = arguments[rank : rank + len(scan.inputs)]
    for number, view in zip(scan.inputs, inputs, strict=True):
        old.view(number).replace_all_uses_with(view)
    starts = iter(arguments[rank + len(scan.inputs) :])
    outputs = arguments[len(arguments) - len(targets) :]
    for target, view in zip(targets, outputs, strict=True):
        start = None if target.start is None else next(starts)
        _retarget_store(old.view(target.number), view, start, target.how.aggregation)
    old.erase()
    block = BlockOp(
        space.ranges, buffers, refinements, body, block_name=scan.name(suffix)
    )
    return located(block, scan.block)


def _move_statements(
    old: BlockOp,
    forms: Sequence[LinearForm],
    indices: Sequence[SSAValue],
    body: Block,
) -> None:
    """Move the statements of a block, with forms of other indices for its own."""
    replacements: dict[SSAValue, IndexSum] = {
        index: IndexSum.of(form, indices)
        for index, form in zip(old.indices, forms, strict=True)
    }
    compute_indices(old.body.block, replacements)
    move_statements(old.body.block, body)


def _retarget_store(
    old: SSAValue, new: SSAValue, start: SSAValue | None, aggregation: Aggregation
) -> None:
    """Store through another view, what `start` shows included."""
    for use in list(old.uses):
        store = use.operation
        if not isinstance(store, StoreOp):
            raise ValueError("expected an output to be stored only")
        store.operands[use.index] = new
        if start is not None:
            before = LoadOp(start)
            store.operands[0] = _combined(before.result, store, aggregation, [before])


def _combined(
    before: SSAValue,
    store: StoreOp,
    aggregation: Aggregation,
    first: Sequence[Operation] = (),
) -> SSAValue:
    """What was there before aggregated with what is stored, computed ahead of it."""
    function = aggregation.function
    parent = store.parent
    if function is None or parent is None:
        raise ValueError("expected a store that aggregates")
    combine = FUNCTION_OPS[function].build_typed(
        [before, store.value], store.value.type
    )
    for operation in (*first, combine):
        parent.insert_op_before(located(operation, store), store)
    return combine.results[0]

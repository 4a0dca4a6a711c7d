"""Elements that are computed where they are read, instead of being stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....affine.counting import count_points
from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, Refinement
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, IndexOp, LoadOp, StoreOp
from ...arithmetic import weight_of
from ...locations import located
from ..analysis.effects import effects_of
from ..analysis.facts import carried_indices, reaches_each_cell_once
from ..analysis.lanes import unit_steps
from ..analysis.nests import is_leaf, is_number, root_buffer
from ..analysis.schedules import is_scheduled

_MOST_INPUTS = 8


@dataclass(frozen=True)
class Element:
    """How a block computes the elements of a buffer, one at each of its points."""

    block: BlockOp
    output: int
    """The number of the refinement that is written."""
    store: StoreOp
    """Where it is written."""
    needed: Mapping[Operation, int]
    """The statements of the block in order, see `_outputs_behind`."""

    @cached_property
    def statements(self) -> tuple[Operation, ...]:
        """Those that the stored value depends on, in order."""
        own = 1 << self.output
        found = [op for op, outputs in self.needed.items() if outputs & own]
        return tuple([op for op in found if op is not self.store])

    @property
    def buffer(self) -> SSAValue:
        """What holds the elements."""
        return self.block.buffer(self.output)

    @property
    def work(self) -> float:
        """Operations for an element."""
        return sum(map(weight_of, self.statements))

    @property
    def shared_work(self) -> float:
        """Operations for an element on which other outputs of the block depend, too."""
        own = 1 << self.output
        return sum(weight_of(op) for op in self.statements if self.needed[op] != own)

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of the refinements that are read."""
        used = {value for op in self.statements for value in op.operands}
        return tuple(n for n, view in enumerate(self.block.views) if view in used)

    @property
    def memories(self) -> set[SSAValue]:
        """The memories that are read."""
        return {root_buffer(self.block.buffer(number)) for number in self.inputs}

    @cached_property
    def _is_movable(self) -> bool:
        """Whether all that it takes is to load numbers and to compute with them.

        They lie in rows along those of the output, or are the same for a row.
        """
        known = ElementwiseOp | CastOp | ConstantOp | IndexOp | LoadOp
        numbers = (*self.inputs, self.output)
        return (
            len(self.inputs) <= _MOST_INPUTS
            and all(is_number(self.block.view_type(number)) for number in numbers)
            and all(
                isinstance(op, known) and not (isinstance(op, LoadOp) and op.subscripts)
                for op in self.statements
            )
            and self._keeps_rows
        )

    @property
    def _keeps_rows(self) -> bool:
        rank = len(self.block.index_ranges)
        access = self.block.refinement(self.output).access
        fast = access[-1].single_dimension if access else None
        return all(
            fast in unit_steps(refinement, rank)
            or all(fast not in form.support for form in refinement.access)
            for number in (*self.inputs, self.output)
            for refinement in [self.block.refinement(number)]
        )

    def may_move_to(self, reader: BlockOp) -> bool:
        """Whether a block may compute the elements itself, each of them once."""
        if not is_leaf(reader) or reader.is_serial or is_scheduled(reader):
            return False
        numbers = [n for n, b in enumerate(reader.buffers) if b is self.buffer]
        if len(reader.refinements) > _MOST_INPUTS:
            return False
        added = len(self.inputs) * len(numbers)
        if len(reader.refinements) + added > _MOST_INPUTS or not self._is_movable:
            return False
        is_plain = all(
            reader.refinement(n).direction is Direction.IN
            and is_number(reader.view_type(n))
            and _is_loaded_plainly(reader.view(n))
            for n in numbers
        )
        most = prod(self.block.index_ranges) // len(numbers)
        return is_plain and _has_points_up_to(most, reader)

    def move_to(self, reader: BlockOp) -> None:
        """Compute the elements in a block instead of reading them."""
        for number, buffer in enumerate(list(reader.buffers)):
            if buffer is self.buffer:
                self._replace_loads(reader, number)

    def _replace_loads(self, reader: BlockOp, number: int) -> None:
        block, read = self.block, reader.access(number)
        places: dict[SSAValue, IndexSum] = {}
        places |= dict.fromkeys(block.indices, IndexSum[SSAValue]())
        for axis, index in carried_indices(block, self.output).items():
            places[block.indices[index]] = read[axis]
        values = reader.form_values
        views: dict[SSAValue, SSAValue] = {}
        for position in self.inputs:
            view, starts = block.view(position), block.access(position)
            access = [start.substitute(places).form(values) for start in starts]
            views[view] = reader.add_input(
                block.buffer(position),
                Refinement(block.refinement(position).direction, tuple(access)),
                block.view_type(position),
                view.name_hint,
            )
        for use in list(reader.view(number).uses):
            self._compute(use.operation, views, reader, places)

    def _compute(
        self,
        load: Operation,
        views: dict[SSAValue, SSAValue],
        reader: BlockOp,
        places: Mapping[SSAValue, IndexSum],
    ) -> None:
        """Put the computation of an element in the place of its load.

        `places` are the indices of this block over those of the reader.
        """
        body = reader.body.block
        values = dict(views)
        for operation in self.statements:
            if isinstance(operation, IndexOp):
                sum, every = operation.sum.substitute(places), reader.form_values
                number = IndexOp(sum.form(every), every, operation.result.type)
                number.result.name_hint = operation.result.name_hint
                values[operation.result] = number.result
                body.insert_op_before(located(number, load), load)
            else:
                body.insert_op_before(operation.clone(values), load)
        load.results[0].replace_all_uses_with(values[self.store.value])
        Rewriter.erase_op(load)


def elements_of(block: BlockOp) -> Iterator[Element]:
    """The buffers of a function that a block sets, an element at each of its points."""
    if not _has_free_points(block):
        return
    needed = _outputs_behind(block)
    for output, view in enumerate(block.views):
        store = _only_store(view)
        if store is not None and _is_whole(block, output):
            yield Element(block, output, store, needed)


def _has_free_points(block: BlockOp) -> bool:
    """Whether points of a block do nothing but compute numbers of their own."""
    if not is_leaf(block) or block.is_serial:
        return False
    if block.captures or block.conditions or is_scheduled(block):
        return False
    uses = (use for index in block.indices for use in index.uses)
    if not all(isinstance(use.operation, IndexOp) for use in uses):
        return False
    windows = Counter(map(root_buffer, block.buffers))
    return all(windows[memory] == 1 for memory in effects_of(block).written)


def _outputs_behind(block: BlockOp) -> dict[Operation, int]:
    """The statements of a block in order, with the outputs that depend on each.

    Refinement `n` is bit `n`, so that a block of many outputs is looked at once.
    """
    numbers: dict[SSAValue, int] = {v: n for n, v in enumerate(block.views)}
    needed: dict[Operation, int] = {}
    for operation in reversed([*block.body.ops]):
        outputs = 0
        if isinstance(operation, StoreOp):
            number = numbers.get(operation.view)
            outputs = 0 if number is None else 1 << number
        for result in operation.results:
            for use in result.uses:
                outputs |= needed[use.operation]
        needed[operation] = outputs
    return dict(reversed(needed.items()))


def _only_store(view: SSAValue) -> StoreOp | None:
    """What stores through a view always and alone, at no subscripts."""
    operations = [use.operation for use in view.uses]
    store = operations[0] if len(operations) == 1 else None
    if not isinstance(store, StoreOp) or store.condition is not None:
        return None
    return store if store.subscripts is None else None


def _is_whole(block: BlockOp, output: int) -> bool:
    """Whether the points of a block set all cells of a buffer of its function."""
    refinement = block.refinement(output)
    return (
        refinement.direction is Direction.OUT
        and refinement.is_plain
        and isinstance(block.buffer(output).owner, AllocOp)
        and reaches_each_cell_once(block, output)
    )


def _has_points_up_to(most: int, block: BlockOp) -> bool:
    """Whether a block has so many points at most, as far as that is easy to count."""
    if prod(block.index_ranges) <= most:
        return True
    count = count_points(block.index_ranges, block.conditions)
    return count is not None and count <= most


def _is_loaded_plainly(view: SSAValue) -> bool:
    """Whether all uses load the one number that a view shows."""
    return all(
        isinstance(use.operation, LoadOp) and use.operation.subscripts is None
        for use in view.uses
    )

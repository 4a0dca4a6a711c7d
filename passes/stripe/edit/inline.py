"""Elements that are computed where they are read, instead of being stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ....affine.form import LinearForm
from ....dialects.stripe.attributes import Refinement
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import IndexOp, StoreOp
from ...locations import located


@dataclass(frozen=True)
class Element:
    """How a block computes the elements of a buffer, one at each of its points."""

    block: BlockOp
    output: int
    """The number of the refinement that is written, at indices of the block alone."""
    store: StoreOp
    """Where it is written."""
    statements: tuple[Operation, ...]
    """Those that the stored value depends on, in order."""
    inputs: tuple[int, ...]
    """The numbers of the refinements that these read."""

    def put_into(self, reader: BlockOp) -> None:
        """Compute the elements in a block instead of reading them."""
        source = self.block.buffer(self.output)
        for number, buffer in enumerate(list(reader.buffers)):
            if buffer is source:
                self._replace_loads(reader, number)

    def _replace_loads(self, reader: BlockOp, number: int) -> None:
        block = self.block
        places = reader.refinement(number).access
        own = [form.support[0] for form in block.refinement(self.output).access]
        replacements = [places[own.index(index)] for index in range(len(own))]
        views: dict[SSAValue, SSAValue] = {}
        for position in self.inputs:
            refinement, view = block.refinement(position), block.view(position)
            views[view] = reader.add_input(
                block.buffer(position),
                _substituted(refinement, replacements, len(reader.form_values)),
                block.view_type(position),
                view.name_hint,
            )
        for use in list(reader.view(number).uses):
            self._compute(use.operation, views, reader, replacements)

    def _compute(
        self,
        load: Operation,
        views: dict[SSAValue, SSAValue],
        reader: BlockOp,
        places: Sequence[LinearForm],
    ) -> None:
        """Put the computation of an element in the place of its load.

        `places` are the indices of this block over those of the reader.
        """
        parent = load.parent
        if parent is None:
            raise ValueError("the load is not in a block")
        values = dict(views)
        for operation in self.statements:
            if isinstance(operation, IndexOp):
                number = self._number(operation, reader, places)
                values[operation.result] = number.result
                parent.insert_op_before(located(number, load), load)
                continue
            parent.insert_op_before(operation.clone(values), load)
        load.results[0].replace_all_uses_with(values[self.store.value])
        load.detach()
        load.erase()

    def _number(
        self, operation: IndexOp, reader: BlockOp, places: Sequence[LinearForm]
    ) -> IndexOp:
        """An index as a number, over the indices of a reader."""
        own: list[SSAValue] = [*self.block.indices]
        rank = len(reader.form_values)
        used = [places[own.index(value)] for value in operation.values]
        form = operation.form.data
        if used:
            form = form.substitute(used)
        else:
            form = LinearForm.constant_of(form.constant, rank)
        number = IndexOp(form, reader.form_values, operation.result.type)
        number.result.name_hint = operation.result.name_hint
        return number


def _substituted(
    refinement: Refinement, replacements: Sequence[LinearForm], rank: int
) -> Refinement:
    """An access over other indices."""
    if not replacements:
        zero = (LinearForm.constant_of(f.constant, rank) for f in refinement.access)
        return Refinement(refinement.direction, tuple(zero))
    access = tuple(form.substitute(replacements) for form in refinement.access)
    return Refinement(refinement.direction, access)

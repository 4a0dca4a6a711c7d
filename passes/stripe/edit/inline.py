"""Elements that are computed where they are read, instead of being stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ....dialects.index_sum import IndexSum
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
        # The output is written at indices of the block alone.
        places = {
            own.values[0]: place
            for own, place in zip(
                block.access(self.output), reader.access(number), strict=True
            )
        }
        values = reader.form_values
        views: dict[SSAValue, SSAValue] = {}
        for position in self.inputs:
            refinement, view = block.refinement(position), block.view(position)
            starts = [start.substitute(places) for start in block.access(position)]
            access = tuple([start.form(values) for start in starts])
            views[view] = reader.add_input(
                block.buffer(position),
                Refinement(refinement.direction, access),
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
        parent = load.parent
        if parent is None:
            raise ValueError("the load is not in a block")
        values = dict(views)
        for operation in self.statements:
            if isinstance(operation, IndexOp):
                sum, every = operation.sum.substitute(places), reader.form_values
                number = IndexOp(sum.form(every), every, operation.result.type)
                number.result.name_hint = operation.result.name_hint
                values[operation.result] = number.result
                parent.insert_op_before(located(number, load), load)
                continue
            parent.insert_op_before(operation.clone(values), load)
        load.results[0].replace_all_uses_with(values[self.store.value])
        load.detach()
        load.erase()

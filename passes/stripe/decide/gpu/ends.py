"""What values of a step that there are not are set to, so that nothing tests for them.

The last step of a walk may have fewer values than the others. What aggregates them then
tests each of them; but where those beyond the end change nothing, as `-inf` in maxima,
it need not. They are set in front of it, in the last step alone. What reads other
memory, too, as products do, keeps its test until that is staged, and
`stripe-drop-constraints` drops it.

```mlir
stripe.block [%q : 64, %k : 64]
    out %cell = %S[0, %q, %k] : 1x1x1
    where 64 * %step - 1937 >= 0, 64 * %step + %k - 2000 >= 0 { ... -inf ... }
stripe.block [%q : 64, %k : 64]
    in %s = %S[0, %q, %k] : 1x1x1
    out %m = %M[0, %q, 0] : 1x1x1 max { ... }
```
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .....dialects.aggregation import Aggregation
from .....dialects.index_sum import IndexSum
from .....dialects.stripe.block import BlockOp, index_range
from ....locations import located
from ...analysis.nests import absolute_access, nested_blocks, reduction_indices
from ...analysis.scratch import Scratch, is_neutral
from ...edit.copies import fill_block


def set_ends(serial: BlockOp, memories: Collection[SSAValue]) -> None:
    """Set values beyond an end in front of the blocks of a step that aggregate them."""
    known = dict[SSAValue, int | float]()
    for block in nested_blocks(serial):
        for number, memory in enumerate(block.buffers):
            if memory not in memories:
                continue
            if number in block.written:
                known.pop(memory, None)
                continue
            end = _End.of(block, number)
            if end is not None:
                if known.get(memory) != end.identity:
                    end.set_beyond()
                    known[memory] = end.identity
                end.drop()


@dataclass(frozen=True)
class _End:
    """Where values end that a block aggregates along an axis of a buffer."""

    block: BlockOp
    number: int
    """Of the refinement that reads them."""
    axis: int
    index: SSAValue
    """The block's, along the axis."""
    condition: IndexSum
    """At least zero up to the end."""
    identity: int | float
    """What aggregates nothing."""

    @staticmethod
    def of(block: BlockOp, number: int) -> _End | None:
        """The same; None where they do not end, or not by one index alone."""
        written = [block.refinement(output).aggregation for output in block.written]
        if len(written) != 1 or written[0] is Aggregation.ASSIGN:
            return None
        sums = {block.indices[index] for index in reduction_indices(block)}
        axes = {start.single_value: n for n, start in enumerate(block.access(number))}
        found = [
            (axes[value], value, each)
            for each in block.where
            for value in sums.intersection(each.values, axes)
            if {*block.indices}.intersection(each.values) == {value}
        ]
        if len(found) != 1:
            return None
        (end,) = found
        element = block.view_type(number).element_type
        return _End(block, number, *end, written[0].identity(element))

    def set_beyond(self) -> None:
        """Set what is beyond it in front of the block."""
        memory, end = self.block.buffer(self.number), self.condition
        fill = located(fill_block(memory, self.identity), self.block)
        Rewriter.insert_op(fill, InsertPoint.before(self.block))
        place = fill.access(0)[self.axis]
        last = IndexSum((), index_range(self.index) - 1)
        # The first is the same for all cells: only the last step looks at each of them.
        for where in (last, place):
            fill.add_where(-end.substitute({self.index: where}) - 1)

    def drop(self) -> None:
        """Let the block go on beyond it, if that aggregates nothing."""
        block, view = self.block, self.block.view(self.number)
        starts = absolute_access(view).starts
        places = tuple([start.single_value for start in starts])
        scratch = Scratch(self.identity, ((self.condition,),), places)
        if is_neutral(block, self.condition, {view: scratch}):
            kept = zip(block.conditions, block.where, strict=True)
            block.set_constraints(
                [form for form, each in kept if each != self.condition]
            )

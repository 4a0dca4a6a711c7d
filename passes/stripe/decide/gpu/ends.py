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

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .....dialects.aggregation import Aggregation
from .....dialects.index_sum import IndexSum
from .....dialects.stripe.attributes import view_type
from .....dialects.stripe.block import BlockOp
from ....locations import located
from ...analysis.nests import absolute_access, nested_blocks, reduction_indices
from ...analysis.scratch import Scratch, is_neutral
from ...edit.copies import fill_block


def set_ends(serial: BlockOp, memories: Collection[SSAValue]) -> None:
    """Set values beyond an end in front of the blocks of a step that aggregate them.

    Only where all that use values stop at this end, so that nobody misses the others.
    """
    blocks = nested_blocks(serial)
    for memory in memories:
        uses = [use for each in blocks for use in _uses(each, memory)]
        needed = [_ends(*use).keys() for use in uses]
        known: int | float | None = None
        for block, number in uses:
            if number in block.written:
                known = None
                continue
            reader = _Reader.of(block, number)
            if reader is not None and all(reader.end in ends for ends in needed):
                if known != reader.identity:
                    reader.set_beyond()
                    known = reader.identity
                reader.drop()


def _uses(block: BlockOp, memory: SSAValue) -> Iterator[tuple[BlockOp, int]]:
    """A block with each of its refinements of a memory; not what just sets that."""
    first = block.refinement(0)
    if len(block.buffers) == 1 and first.aggregation is Aggregation.ASSIGN:
        return
    for number, buffer in enumerate(block.buffers):
        if buffer is memory:
            yield block, number


@dataclass(frozen=True)
class _End:
    """Where values end along an axis: where a sum is less than zero."""

    axis: int
    step: int
    """By how much the sum changes from one place along the axis to the next."""
    terms: frozenset[tuple[SSAValue, int]]
    """The sum without that."""
    constant: int

    def at(self, place: IndexSum) -> IndexSum:
        """The sum at a place along the axis."""
        return IndexSum((*self.terms,), self.constant) + place * self.step


def _ends(block: BlockOp, number: int) -> dict[_End, IndexSum]:
    """Where a block stops by a condition on the index along an axis alone."""
    found: dict[_End, IndexSum] = {}
    for axis, start in enumerate(block.access(number)):
        index = start.single_value
        if index is None:
            continue
        for condition in block.where:
            if {*block.indices}.intersection(condition.values) == {index}:
                rest = condition.substitute({index: IndexSum()})
                step = dict(condition.terms)[index]
                end = _End(axis, step, rest.direction, rest.constant)
                found[end] = condition
    return found


@dataclass(frozen=True)
class _Reader:
    """A block that aggregates values along an axis, up to their end."""

    block: BlockOp
    number: int
    """Of the refinement that reads them."""
    end: _End
    condition: IndexSum
    """The block's own, of the end."""
    identity: int | float
    """What aggregates nothing."""

    @staticmethod
    def of(block: BlockOp, number: int) -> _Reader | None:
        """The same; None where they do not end, or not by one index alone."""
        written = [block.refinement(output).aggregation for output in block.written]
        if len(written) != 1 or written[0] is Aggregation.ASSIGN:
            return None
        sums = {block.indices[index] for index in reduction_indices(block)}
        access = block.access(number)
        found = [
            (end, condition)
            for end, condition in _ends(block, number).items()
            if access[end.axis].single_value in sums
        ]
        if len(found) != 1:
            return None
        element = block.view_type(number).element_type
        return _Reader(block, number, *found[0], written[0].identity(element))

    def set_beyond(self) -> None:
        """Set what is beyond the end in front of the block."""
        memory = self.block.buffer(self.number)
        fill = located(fill_block(memory, self.identity), self.block)
        Rewriter.insert_op(fill, InsertPoint.before(self.block))
        place = fill.access(0)[self.end.axis]
        last = IndexSum((), view_type(memory).sizes[self.end.axis] - 1)
        # The first is the same for all cells: only the last step looks at each of them.
        for where in (last, place):
            fill.add_where(-self.end.at(where) - 1)

    def drop(self) -> None:
        """Let the block go on beyond the end, if that aggregates nothing."""
        block, view = self.block, self.block.view(self.number)
        places = tuple([start.single_value for start in absolute_access(view).starts])
        scratch = Scratch(self.identity, ((self.condition,),), places)
        if is_neutral(block, self.condition, {view: scratch}):
            block.drop_where(self.condition)

"""`stripe-inline`: compute the elements of a buffer where they are read.

An element-wise block whose output only other blocks read is computed inside these
blocks instead, so that the buffer is neither written nor read.

Before:

```mlir
%D = stripe.alloc : !stripe.view<64x64xf32>
stripe.block "D" [%p : 64, %q : 64]
    in %a = %A[%p, %q] : 1x1
    in %b = %B[%q] : 1
    out %d = %D[%p, %q] : 1x1 { ... subtract, store ... }
stripe.block "S" [%i : 64, %j : 64]
    in %d = %D[%i, %j] : 1x1
    out %s = %S[] add init 0 { ... load, multiply, store ... }
```

After, when `stripe-dead-code-elimination` has removed what nobody reads:

```mlir
stripe.block "S" [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    in %b = %B[%j] : 1
    out %s = %S[] add init 0 { ... load, load, subtract, multiply, store ... }
```

It is done where it saves traffic and adds little work: every block that reads the
buffer reads each element once, and either there is one such block, or computing an
element takes at most `operations` simple operations. Of a block that writes several
buffers each is looked at by itself; what they share is repeated then, which may be as
many operations. Left alone are buffers that are
returned or written in part, blocks with constraints or subscripts, those that read
across rows, so that vectors could no longer be loaded, and inputs that a statement
between overwrites.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
)
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from ....affine.counting import count_points
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ....dialects.stripe.attributes import Direction, ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, IndexOp, LoadOp, StoreOp
from ...arithmetic import weight_of
from ...dependences import Dependences
from ...locations import check_positive
from ...walking import functions
from ..analysis.effects import effects_of
from ..analysis.lanes import unit_steps
from ..analysis.nests import is_leaf, is_number, root_buffer, statements
from ..analysis.schedules import is_scheduled
from ..edit.inline import Element

_MOST_INPUTS = 8


@dataclass(frozen=True)
class StripeInlinePass(ModulePass):
    """Compute elements where they are read, if that costs less than to store them."""

    name = "stripe-inline"

    operations: int = 2
    """Operations that may be repeated for each block that reads the buffer."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Inline at the top of all functions; what nobody reads then is left behind.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, operations=self.operations)
        for function in functions(op):
            writers = _Writers(statements(function))
            for statement in statements(function):
                if isinstance(statement, BlockOp):
                    self._inline(statement, writers)

    def _inline(self, block: BlockOp, writers: _Writers) -> None:
        if not _is_plain(block):
            return
        body = _Body.of(block)
        for number, refinement in enumerate(block.refinement_list):
            if refinement.direction.writes:
                producer = _Producer.of(body, number, self.operations)
                if producer is not None:
                    self._move(producer, writers)

    def _move(self, producer: _Producer, writers: _Writers) -> None:
        """Compute what a producer writes where it is read, if that pays."""
        uses = [u for u in producer.buffer.uses if u.operation is not producer.block]
        readers = list(dict.fromkeys(use.operation for use in uses))
        if len(readers) > 1 and producer.work > self.operations:
            return
        blocks = [reader for reader in readers if isinstance(reader, BlockOp)]
        if len(blocks) != len(readers):
            return
        if not all(producer.may_move_to(reader, writers) for reader in blocks):
            return
        for reader in blocks:
            producer.move_to(reader)


class _Writers:
    """Where the statements of a function write memories, which does not change."""

    def __init__(self, statements: Sequence[Operation]) -> None:
        self._places = {statement: n for n, statement in enumerate(statements)}
        self._dependences = Dependences()
        for place, statement in enumerate(statements):
            self._dependences.add(place, effects_of(statement))

    def keep(self, memories: Iterable[SSAValue], first: BlockOp, last: BlockOp) -> bool:
        """Whether nothing behind `first` writes memories, up to `last` and with it."""
        start, end = self._places[first], self._places[last]
        return start < end and not self._dependences.are_written(memories, start, end)


@dataclass(frozen=True)
class _Slice:
    """What one of the values that a block stores is computed by."""

    statements: tuple[Operation, ...]
    """Those of the block that the stored value depends on, in order."""
    inputs: tuple[int, ...]
    """The numbers of the refinements that these read."""


@dataclass(frozen=True)
class _Body:
    """What the buffers that a block writes have in common, looked up once."""

    block: BlockOp
    statements: Sequence[Operation]
    """Those that some stored value depends on, and the stores, in order."""
    places: Mapping[Operation, int]
    """Where each of them is there."""
    numbers: Mapping[SSAValue, int]
    """The number of the refinement behind each view."""

    @staticmethod
    def of(block: BlockOp) -> _Body:
        needed: set[Operation] = set()
        for op in reversed([*block.body.ops]):
            if isinstance(op, StoreOp) or not needed.isdisjoint(_users(op)):
                needed.add(op)
        statements = [op for op in block.body.ops if op in needed]
        return _Body(
            block,
            statements,
            {operation: place for place, operation in enumerate(statements)},
            {view: number for number, view in enumerate(block.views)},
        )

    def slice(self, store: StoreOp, most_shared: int) -> _Slice | None:
        """What is computed for one store.

        None where other stores need more than `most_shared` operations of it, or where
        it reads more than any block may: that is found out early, so that the slices
        of all stores together are not much longer than the block.
        """
        found: list[Operation] = []
        inputs: set[int] = set()
        alone: set[Operation] = {store}
        shared = 0
        seen = {*self._sources(store)}
        waiting = [-place for place in seen]
        heapify(waiting)
        while waiting:
            statement = self.statements[-heappop(waiting)]
            found.append(statement)
            if all(user in alone for user in _users(statement) if user in self.places):
                alone.add(statement)
            else:
                shared += weight_of(statement)
            views = (value for value in statement.operands if value in self.numbers)
            inputs.update(self.numbers[view] for view in views)
            if shared > most_shared or len(inputs) > _MOST_INPUTS:
                return None
            for place in self._sources(statement):
                if place not in seen:
                    seen.add(place)
                    heappush(waiting, -place)
        return _Slice(tuple(reversed(found)), tuple(sorted(inputs)))

    def _sources(self, statement: Operation) -> Iterator[int]:
        """The places of the statements that one takes values of."""
        for operand in statement.operands:
            if isinstance(operand, OpResult) and operand.op in self.places:
                yield self.places[operand.op]


@dataclass(frozen=True)
class _Producer:
    """One of the buffers that an element-wise block writes, and how."""

    block: BlockOp
    output: int
    """The number of the refinement that is written."""
    store: StoreOp
    slice: _Slice

    @staticmethod
    def of(body: _Body, output: int, most_shared: int) -> _Producer | None:
        """None for one that cannot move, or shares too many operations with others."""
        block = body.block
        stores = [use.operation for use in block.view(output).uses]
        if len(stores) != 1 or not isinstance(stores[0], StoreOp):
            return None
        found = body.slice(stores[0], most_shared)
        if found is None:
            return None
        producer = _Producer(block, output, stores[0], found)
        is_movable = producer._is_whole and producer._is_elementwise
        return producer if is_movable else None

    @property
    def buffer(self) -> SSAValue:
        return self.block.buffer(self.output)

    @property
    def work(self) -> float:
        """Operations for an element."""
        return sum(map(weight_of, self.slice.statements))

    @property
    def _is_whole(self) -> bool:
        """Whether the points set all cells of a buffer of this function, once each."""
        refinement = self.block.refinement(self.output)
        if refinement.direction is not Direction.OUT or refinement.init is not None:
            return False
        if refinement.aggregation is not Aggregation.ASSIGN:
            return False
        axes = [form.single_dimension for form in refinement.access]
        buffer = self.buffer
        if not isinstance(buffer.owner, AllocOp) or None in axes:
            return False
        sizes = [self.block.index_ranges[axis] for axis in axes if axis is not None]
        return (
            sorted(axis for axis in axes if axis is not None)
            == [*range(len(self.block.index_ranges))]
            and isinstance(buffer.type, ViewType)
            and tuple(sizes) == buffer.type.sizes
        )

    @property
    def _is_elementwise(self) -> bool:
        """Whether numbers are loaded, computed with, and the result is stored."""
        if self.store.condition is not None or self.store.subscripts is not None:
            return False
        numbers = (*self.slice.inputs, self.output)
        if not all(is_number(self.block.view_type(n)) for n in numbers):
            return False
        known = ElementwiseOp | CastOp | ConstantOp | IndexOp | LoadOp
        return all(
            isinstance(op, known) and not (isinstance(op, LoadOp) and op.subscripts)
            for op in self.slice.statements
        )

    def may_move_to(self, reader: BlockOp, writers: _Writers) -> bool:
        """Whether a block may compute the elements itself."""
        if (
            not is_leaf(reader)
            or reader.is_serial
            or reader.parent is not (self.block.parent)
        ):
            return False
        if is_scheduled(reader):
            return False
        numbers = [n for n, b in enumerate(reader.buffers) if b is self.buffer]
        is_plain = all(
            reader.refinement(n).direction is Direction.IN
            and is_number(reader.view_type(n))
            and _is_loaded_plainly(reader.view(n))
            for n in numbers
        )
        if not is_plain or not self._keeps_rows():
            return False
        if _most_points(reader) * len(numbers) > prod(self.block.index_ranges):
            return False
        added = len(self.slice.inputs) * len(numbers)
        if len(reader.refinements) + added > _MOST_INPUTS:
            return False
        inputs = {root_buffer(self.block.buffer(n)) for n in self.slice.inputs}
        return writers.keep(inputs, self.block, reader)

    def _keeps_rows(self) -> bool:
        """Whether the inputs step along the rows of the output, or stay."""
        rank = len(self.block.index_ranges)
        access = self.block.refinement(self.output).access
        fast = access[-1].single_dimension if access else None
        return all(
            fast in unit_steps(refinement, rank)
            or all(fast not in form.support for form in refinement.access)
            for number in (*self.slice.inputs, self.output)
            for refinement in [self.block.refinement(number)]
        )

    def move_to(self, reader: BlockOp) -> None:
        """Compute the elements in a block instead of reading them."""
        statements, inputs = self.slice.statements, self.slice.inputs
        Element(self.block, self.output, self.store, statements, inputs).put_into(
            reader
        )


def _is_plain(block: BlockOp) -> bool:
    """Whether a block has points on their own, and one window of what it writes."""
    if not is_leaf(block) or block.is_serial:
        return False
    if block.captures or block.conditions or is_scheduled(block):
        return False
    if any(
        not isinstance(use.operation, IndexOp)
        for index in block.indices
        for use in index.uses
    ):
        return False
    windows = Counter(map(root_buffer, block.buffers))
    return all(windows[memory] == 1 for memory in effects_of(block).written)


def _most_points(block: BlockOp) -> int:
    """How many points a block has; where that is hard to count, of its whole box."""
    count = count_points(block.index_ranges, block.conditions)
    return prod(block.index_ranges) if count is None else count


def _users(statement: Operation) -> Iterator[Operation]:
    return (use.operation for result in statement.results for use in result.uses)


def _is_loaded_plainly(view: SSAValue) -> bool:
    """Whether all uses load the one number that a view shows."""
    return all(
        isinstance(use.operation, LoadOp) and use.operation.subscripts is None
        for use in view.uses
    )

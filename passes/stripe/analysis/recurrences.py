"""Aggregations that one walk over an index computes, though they use each other.

A sum of `exp(x - m)` uses the maximum `m` of the same values, and a sum of
`exp(x - m) / s * y` that sum. One after the other each is a walk over all values. But
where what is summed up changes by a factor when `m` does (see `covariance`), the sum so
far can be made the sum for another `m`, by that factor alone: one walk takes the
maximum so far, and the sums for it. A factor that is rational, as `1 / s`, is the same
for all values and can wait for the end of the walk: until then `s` is 1.

After Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), where
this is found for softmax; Dao and others, "FlashAttention" (2022), use it for products.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.element_types import Kind, kind
from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ....dialects.stripe.attributes import Direction
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, IndexOp, LoadOp, StoreOp
from .covariance import ITSELF, UNCHANGED, Changes, Term, changes_of, is_unchanged
from .nests import axis_of, is_leaf, is_number, output_indices, root_buffer

Place = tuple[int | None, ...]
"""Along which axes of a buffer those of another one lie; None for those of one cell."""


@dataclass(frozen=True)
class Dependence:
    """How values change with an aggregation that is not complete yet."""

    changes: Changes
    place: Place
    """Where the number is that a value was computed from: indices or axes."""


Dependences = Mapping[SSAValue, Dependence]
"""By the memories of the aggregations."""


@dataclass(frozen=True)
class Walked:
    """A block that a walk runs over a part of an index at a time."""

    block: BlockOp
    index: int
    output: int
    """The number of the refinement that is written."""
    dependences: Dependences
    """Of what it writes, on aggregations of the walk, over the axes of the output."""

    @property
    def memory(self) -> SSAValue:
        """What it writes."""
        return root_buffer(self.block.buffer(self.output))

    @property
    def aggregates(self) -> bool:
        """Whether each cell is the aggregation of values of the whole walk."""
        return self.index not in output_indices(self.block)


@dataclass(frozen=True)
class Recurrences:
    """The blocks of a walk, in order, and what is known of their aggregations."""

    blocks: tuple[Walked, ...]
    running: tuple[SSAValue, ...]
    """Memories of aggregations of which the value so far is used."""
    deferred: tuple[SSAValue, ...]
    """Those that may be 1 until the walk is over."""

    @cached_property
    def aggregations(self) -> dict[SSAValue, Walked]:
        """The blocks that aggregate over the walk, by their memories."""
        return {each.memory: each for each in self.blocks if each.aggregates}

    @cached_property
    def cells(self) -> set[SSAValue]:
        """The memories that hold values of the walk."""
        return {each.memory for each in self.blocks if not each.aggregates}

    def factors(self, walked: Walked) -> list[tuple[SSAValue, Term, Place]]:
        """By what a sum changes with each aggregation that its values come from."""
        return [
            (memory, term, dependence.place)
            for memory, dependence in walked.dependences.items()
            if (term := dependence.changes.get("mul")) is not None
        ]


def recurrences_of(
    blocks: Sequence[tuple[BlockOp, int]], around: Collection[Operation]
) -> Recurrences | str:
    """What one walk over an index of blocks computes; or why none can.

    Nothing but `around`, the blocks themselves or one around them, may use values of
    the walk.
    """
    found = _Finder({*around})
    for block, index in blocks:
        if (obstacle := found.add(block, index)) is not None:
            return obstacle
    return found.result()


@dataclass
class _Finder:
    """Goes through the blocks of a walk."""

    around: set[Operation]
    blocks: list[Walked] = field(default_factory=list[Walked])
    aggregations: dict[SSAValue, Walked] = field(default_factory=dict[SSAValue, Walked])
    cells: dict[SSAValue, tuple[Walked, int]] = field(
        default_factory=dict[SSAValue, tuple[Walked, int]]
    )
    """With the axis along which the values of the walk lie."""
    used: dict[SSAValue, list[Term]] = field(default_factory=dict[SSAValue, list[Term]])
    """By what sums change with an aggregation."""

    def add(self, block: BlockOp, index: int) -> str | None:
        """Take a block; why it can not be in the walk, if so."""
        written = block.written
        if not is_leaf(block) or block.is_serial or len(written) != 1:
            return "it does not write one buffer point by point"
        if not all(is_number(block.view_type(n)) for n in range(len(block.views))):
            return "it uses more than a number at a time"
        if any(r.direction is Direction.INOUT for r in block.refinement_list):
            return "it changes what it reads"
        (output,) = written
        memory = root_buffer(block.buffer(output))
        if memory in self.aggregations or memory in self.cells:
            return "another block writes its output, too"
        values = _Values(self, block, index)
        dependences = values.stored()
        if isinstance(dependences, str):
            return dependences
        walked = Walked(block, index, output, dependences)
        obstacle = self._note(walked, memory)
        self.blocks.append(walked)
        return obstacle

    def _note(self, walked: Walked, memory: SSAValue) -> str | None:
        block, refinement = walked.block, walked.block.refinement(walked.output)
        aggregation = refinement.aggregation
        element = block.view_type(walked.output).element_type
        if not walked.aggregates:
            axis = axis_of(block, walked.output, walked.index)
            if axis is None:
                return "its output has the index of the walk in no axis of its own"
            if not self._is_inside(memory):
                return "the values of the walk are used elsewhere"
            for dependence in walked.dependences.values():
                is_sum = aggregation in (Aggregation.ASSIGN, Aggregation.ADD)
                if not is_sum or "mul" not in dependence.changes:
                    return "its values change by no factor"
            self.cells[memory] = walked, axis
            return None
        if aggregation is Aggregation.ASSIGN or kind(element) is not Kind.FLOAT:
            return "it does not aggregate floats"
        if refinement.init != aggregation.identity(element):
            return "it begins with a number that counts"
        for source, dependence in walked.dependences.items():
            factor = dependence.changes.get("mul")
            if aggregation is not Aggregation.ADD or factor is None:
                return "what it aggregates changes by no factor"
            self.used.setdefault(source, []).append(factor)
        self.aggregations[memory] = walked
        return None

    def _is_inside(self, memory: SSAValue) -> bool:
        users = {use.operation for use in memory.uses}
        return isinstance(memory.owner, AllocOp) and users <= self.around

    def result(self) -> Recurrences | str:
        """All that was found."""
        running: list[SSAValue] = []
        deferred: list[SSAValue] = []
        for memory, terms in self.used.items():
            walked = self.aggregations[memory]
            if all(term.is_rational for term in terms):
                deferred.append(memory)
                continue
            if walked.dependences:
                return "an aggregation that others need in between needs another one"
            refinement = walked.block.refinement(walked.output)
            none = refinement.init
            if none is None or any(term.evaluate(none, 0.0) != 0.0 for term in terms):
                return "what came before the first value would count"
            running.append(memory)
        return Recurrences(tuple(self.blocks), tuple(running), tuple(deferred))


class _Values:
    """The values that a block computes, with what they depend on."""

    def __init__(self, finder: _Finder, block: BlockOp, index: int) -> None:
        self._finder = finder
        self._block = block
        self._index = index
        self._found: dict[SSAValue, Dependences] = {}
        self._constants: dict[SSAValue, float] = {}

    def stored(self) -> Dependences | str:
        """What the stored value depends on, by axes of the output; or an obstacle."""
        result: Dependences | str = "it stores nothing"
        for op in self._block.body.block.ops:
            match op:
                case ConstantOp():
                    self._found[op.result] = {}
                    self._constants[op.result] = float(op.number)
                case IndexOp():
                    self._found[op.results[0]] = {}
                case LoadOp() if op.subscripts is None:
                    loaded = self._loaded(op)
                    if isinstance(loaded, str):
                        return loaded
                    self._found[op.results[0]] = loaded
                case ElementwiseOp() | CastOp():
                    if isinstance(op, CastOp) and op.operands[0] in self._constants:
                        self._constants[op.results[0]] = self._constants[op.operands[0]]
                    computed = self._computed(op)
                    if computed is None:
                        return "its values depend on several numbers of one kind"
                    self._found[op.results[0]] = computed
                case StoreOp() if op.subscripts is None and op.condition is None:
                    result = self._placed(self._found[op.operands[0]])
                case _:
                    return f"it has a statement '{op.name}'"
        return result

    def _loaded(self, op: LoadOp) -> Dependences | str:
        """What a number that is loaded depends on, by indices of the block."""
        number = self._block.views.index(op.view)
        access = self._block.refinement(number).access
        memory = root_buffer(self._block.buffer(number))
        if memory in self._finder.aggregations:
            place = _indices_of(access, self._block.index_ranges)
            if place is None or self._index in place:
                return "it reads an aggregation at other cells than its own"
            return {memory: Dependence(ITSELF, place)}
        if memory not in self._finder.cells:
            return {}
        walked, axis = self._finder.cells[memory]
        if axis_of(self._block, number, self._index) != axis:
            return "it reads values of other points of the walk"
        place = _indices_of(access, self._block.index_ranges)
        found: dict[SSAValue, Dependence] = {}
        for source, dependence in walked.dependences.items():
            if place is None:
                return "it reads values at places that are no index"
            own = [None if a is None else place[a] for a in dependence.place]
            found[source] = Dependence(dependence.changes, tuple(own))
        return found

    def _computed(self, op: Operation) -> Dependences | None:
        """What a value depends on; None where several places of one memory matter."""
        operands = [self._found[operand] for operand in op.operands]
        constants = [self._constants.get(operand) for operand in op.operands]
        name = op.name.rsplit(".", 1)[-1]
        found: dict[SSAValue, Dependence] = {}
        for memory in dict.fromkeys(m for each in operands for m in each):
            own = [each.get(memory) for each in operands]
            places = {each.place for each in own if each is not None}
            changes = [UNCHANGED if each is None else each.changes for each in own]
            if len(places) != 1:
                return None
            after = changes_of(name, changes, constants)
            if not is_unchanged(after):
                found[memory] = Dependence(after, places.pop())
        return found

    def _placed(self, found: Dependences) -> Dependences | str:
        """The same by axes of the output."""
        output = self._block.written[0]
        placed: dict[SSAValue, Dependence] = {}
        for memory, dependence in found.items():
            axes = [
                None if index is None else axis_of(self._block, output, index)
                for index in dependence.place
            ]
            if any(
                axis is None and index is not None
                for axis, index in zip(axes, dependence.place, strict=True)
            ):
                return "its output does not have all cells of an aggregation"
            placed[memory] = Dependence(dependence.changes, tuple(axes))
        return placed


def _indices_of(access: Sequence[LinearForm], ranges: Sequence[int]) -> Place | None:
    """The index along each axis, None for the first cell; None for other places."""
    found: list[int | None] = []
    for form in access:
        index = form.single_dimension
        if index is None and (form.support or form.constant):
            return None
        moves = index is not None and index < len(ranges) and ranges[index] > 1
        found.append(index if moves else None)
    return tuple(found)

"""Putting an instruction in the place of a leaf block: what `stripe-instruct` applies.

The block becomes one of a single point, whose windows show the operands. They are
loaded as scalars and vectors, a function that stands for the instruction is called, and
what it gives is stored. Where a block around has no other statement, it is that point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.element_types import vector_of
from ....dialects.eltwise.ops import ConstantOp
from ....dialects.eltwise.shuffle import ShuffleOp
from ....dialects.index_sum import IndexSum
from ....dialects.opencl.functions import CallOp
from ....dialects.stripe.attributes import view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....targets.hardware.instruction_block import InstructionBlock
from ...locations import located
from ..analysis.unification import Cells, Place, Unified
from .blocks import Window, build_block, move_statements


def instruct(
    leaf: BlockOp, pattern: InstructionBlock, cells: Unified, name: str
) -> None:
    """Let a call of a function compute what a block does."""
    point = _Point.of(leaf, (*cells.inputs, cells.output))
    arguments = [point.load(each) for each in cells.inputs]
    aggregation, type = pattern.aggregation, pattern.output.type
    if aggregation is not Aggregation.ASSIGN:
        identity = aggregation.identity(pattern.output.element)
        arguments.append(point.add(ConstantOp(identity, type)))
    point.store(point.add(CallOp(name, arguments, type)), cells.output)
    located(point.block, leaf)
    leaf.replace_by(point.block)
    _merge_with_parent(point.block)


@dataclass(frozen=True)
class _Window:
    """The cells of a leaf's window that operands are, as a box around them."""

    first: Place
    sizes: Place

    @staticmethod
    def of(places: Sequence[Place]) -> _Window:
        axes = [*zip(*places, strict=True)]
        first = tuple(map(min, axes))
        last = map(max, axes)
        sizes = [b - a + 1 for a, b in zip(first, last, strict=True)]
        return _Window(first, tuple(sizes))

    def place(self, place: Place) -> Place:
        """A cell's place in the box."""
        return tuple(at - first for at, first in zip(place, self.first, strict=True))


@dataclass(frozen=True)
class _Point:
    """A block of one point, whose windows show all cells of a leaf's."""

    block: BlockOp
    windows: dict[int, tuple[SSAValue, _Window]]
    """By the numbers of the leaf's windows."""

    @staticmethod
    def of(leaf: BlockOp, cells: Sequence[Cells]) -> _Point:
        places: dict[int, list[Place]] = {}
        for each in cells:
            places.setdefault(each.view, []).extend(each.places)
        boxes = {number: _Window.of(places[number]) for number in sorted(places)}
        views = [
            (leaf.view_type(number).resized(box.sizes), leaf.view(number).name_hint)
            for number, box in boxes.items()
        ]
        windows: list[Window] = []
        for number, box in boxes.items():
            # What blocks around add to the place, and the first cell.
            starts = [
                IndexSum(start.without(leaf.indices).terms, start.constant + first)
                for start, first in zip(leaf.access(number), box.first, strict=True)
            ]
            windows.append(Window(leaf.buffer(number), starts, leaf.refinement(number)))
        block = build_block([], windows, BlockOp.empty_body([], views), like=leaf)
        block.attributes |= leaf.attributes
        pairs = zip(block.views, boxes.values(), strict=True)
        return _Point(block, dict(zip(boxes, pairs, strict=True)))

    def add(self, op: Operation) -> SSAValue:
        """Another statement; its result."""
        self.block.body.block.add_op(op)
        return op.results[0]

    def load(self, cells: Cells) -> SSAValue:
        """The cells as a scalar or a vector."""
        view, places = self._cells(cells)
        if _is_row(places):
            return self._load(view, places[0], len(places))
        return self.add(ShuffleOp([self._load(view, place, 1) for place in places]))

    def store(self, value: SSAValue, cells: Cells) -> None:
        """Write a scalar or a vector to the cells."""
        view, places = self._cells(cells)
        if _is_row(places):
            self._store(value, view, places[0])
            return
        for lane, place in enumerate(places):
            self._store(self.add(ShuffleOp([value], [lane])), view, place)

    def _cells(self, cells: Cells) -> tuple[SSAValue, list[Place]]:
        view, box = self.windows[cells.view]
        return view, [box.place(place) for place in cells.places]

    def _load(self, view: SSAValue, place: Place, lanes: int) -> SSAValue:
        element = view_type(view).element_type
        type = vector_of(element, lanes) if lanes > 1 else element
        shown = view_type(view).value_type == type
        return self.add(LoadOp(view) if shown else LoadOp(view, place, type))

    def _store(self, value: SSAValue, view: SSAValue, place: Place) -> None:
        shown = view_type(view).value_type == value.type
        self.block.body.block.add_op(StoreOp(value, view, None if shown else place))


def _is_row(places: Sequence[Place]) -> bool:
    """Whether cells are neighbours along the last axis."""
    return all(
        other == (*place[:-1], place[-1] + 1) for place, other in pairwise(places)
    )


def _merge_with_parent(block: BlockOp) -> None:
    """Let the block around be that point, if there is nothing else in it."""
    parent = block.parent_op()
    if not isinstance(parent, BlockOp) or [*parent.body.ops] != [block]:
        return
    if any(start != IndexSum() for access in block.accesses for start in access):
        return
    numbers = [parent.views.index(buffer) for buffer in block.buffers]
    for number, view in zip(numbers, block.views, strict=True):
        if parent.view_type(number) != view.type:
            return
    if len({*numbers}) != len(numbers):
        return
    for own, number in zip(block.refinement_list, numbers, strict=True):
        around = parent.refinement(number)
        if (own.direction, own.aggregation) != (around.direction, around.aggregation):
            return
    for view, buffer in zip(block.views, block.buffers, strict=True):
        view.replace_all_uses_with(buffer)
    block.detach()
    move_statements(block.body.block, parent.body.block)
    block.erase()

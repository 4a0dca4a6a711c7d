"""Whether a leaf block is what an instruction computes, in all but names.

Both have the same ranges, in any order, the same conditions, statements, aggregation
and types. The accesses agree where points that meet on one element of an operand of the
instruction meet on one cell of a window of the block, and on different ones for
different elements of the output: where these lie in memory does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from xdsl.ir import SSAValue

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....targets.hardware.instruction_block import (
    InstructionBlock,
    Operand,
    points_of,
)
from .nests import is_number

_COMMUTATIVE = {each.function for each in Aggregation}

Place = tuple[int, ...]
"""Where a window starts along each axis, what blocks around add to it left out."""
_Binding = frozenset[tuple[int, int]]
"""Pairs of windows, the instruction's and the block's, that are one."""


class Mismatch(Exception):
    """Why a block is not what an instruction computes."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Cells:
    """The cells of a window of the block that the lanes of an operand are."""

    view: int
    """The window's number."""
    places: tuple[Place, ...]
    """Of each lane, where the window starts."""


@dataclass(frozen=True)
class Unified:
    """How the operands of an instruction lie in the windows of a block."""

    inputs: tuple[Cells, ...]
    output: Cells


def unify(leaf: BlockOp, pattern: InstructionBlock) -> Unified:
    """Find the cells of a block that are the operands of an instruction.

    Raises Mismatch, which says what differs.
    """
    block = pattern.block
    wanted = [extent for extent in block.index_ranges if extent != 1]
    own = [n for n, extent in enumerate(leaf.index_ranges) if extent != 1]
    ranges = [leaf.index_ranges[number] for number in own]
    if sorted(wanted) != sorted(ranges):
        raise Mismatch(f"its ranges are {ranges}, not {wanted}")
    bindings = _Statements(leaf, block).bindings(pattern.output.view)
    orders = [
        order
        for order in permutations(own)
        if [leaf.index_ranges[number] for number in order] == wanted
    ]
    sequences = [_points(leaf, block, order) for order in orders]
    if not any(sequences):
        raise Mismatch(
            "its points have other conditions than the instruction's",
            "tiles of sizes that divide the ranges leave none at borders",
        )
    for points, binding in product(sequences, bindings):
        found = _unified(leaf, pattern, points, binding) if points else None
        if found is not None:
            return found
    raise Mismatch("in no order of its indices its accesses are the instruction's")


def _points(leaf: BlockOp, block: BlockOp, order: Sequence[int]) -> list[Place]:
    """The leaf's points in the order of the instruction's; none if these are others.

    Number `n` in `order` is the leaf's index that the instruction's n-th is, those of
    one value left out.
    """
    rank = len(leaf.index_ranges)
    if any(number >= rank for form in leaf.conditions for number in form.support):
        return []
    conditions = [
        LinearForm(form.coefficients[:rank], form.constant) for form in leaf.conditions
    ]
    wide = [n for n, extent in enumerate(block.index_ranges) if extent != 1]
    points: list[Place] = []
    for point in points_of(block.index_ranges, block.conditions):
        own = [0] * rank
        for number, index in zip(order, wide, strict=True):
            own[number] = point[index]
        points.append(tuple(own))
    is_same = {*points} == {*points_of(leaf.index_ranges, conditions)}
    return points if is_same else []


def _unified(
    leaf: BlockOp,
    pattern: InstructionBlock,
    points: Sequence[Place],
    binding: _Binding,
) -> Unified | None:
    """The cells of all operands, if each lane has one."""
    bound = dict(binding)
    found: list[Cells] = []
    for operand in (*pattern.inputs, pattern.output):
        cells = _cells(leaf, operand, points, bound[operand.view])
        if cells is None:
            return None
        found.append(cells)
    output = found.pop()
    is_apart = len({*output.places}) == len(output.places)
    return Unified(tuple(found), output) if is_apart else None


def _cells(
    leaf: BlockOp, operand: Operand, points: Sequence[Place], view: int
) -> Cells | None:
    """The cell of each lane; None where points disagree."""
    rank = len(leaf.index_ranges)
    forms = [
        LinearForm(form.coefficients[:rank]) for form in leaf.refinement(view).access
    ]
    known: dict[int, Place] = {}
    for lane, point in zip(operand.places, points, strict=True):
        place = tuple([int(form.evaluate(point)) for form in forms])
        if known.setdefault(lane, place) != place:
            return None
    return Cells(view, tuple([known[lane] for lane in range(operand.lanes)]))


class _Statements:
    """Compares the statements of a leaf with those of an instruction's block."""

    def __init__(self, leaf: BlockOp, block: BlockOp) -> None:
        self._leaf = leaf
        self._block = block
        self._known: dict[
            tuple[SSAValue, SSAValue, _Binding], tuple[_Binding, ...]
        ] = {}

    def bindings(self, output: int) -> tuple[_Binding, ...]:
        """The ways in which they are the same. Raises Mismatch where there is none."""
        leaf = self._leaf
        stores = [op for op in leaf.body.ops if isinstance(op, StoreOp)]
        if len(stores) != 1:
            raise Mismatch(f"it has {len(stores)} stores, the instruction one")
        (own,) = stores
        (wanted,) = (op for op in self._block.body.ops if isinstance(op, StoreOp))
        is_plain = own.condition is None and own.subscripts is None
        if not is_plain or own.view not in leaf.views:
            raise Mismatch("it stores under a condition or at a computed place")
        refinement = leaf.refinement(leaf.views.index(own.view))
        aggregation = self._block.refinement(output).aggregation
        if refinement.aggregation is not aggregation:
            raise Mismatch(
                f"it aggregates by '{refinement.aggregation.value}', the instruction "
                f"by '{aggregation.value}'"
            )
        if refinement.init is not None:
            raise Mismatch("it also sets its cells first, which a block around can do")
        start = self._bound(own.view, wanted.view, frozenset())
        found = () if start is None else self._same(own.value, wanted.value, start)
        if not found:
            raise Mismatch(
                "its statements differ from the instruction's, or their types"
            )
        return found

    def _bound(
        self, own: SSAValue, wanted: SSAValue, binding: _Binding
    ) -> _Binding | None:
        """The binding with two windows that are one, too; None if they cannot be."""
        leaf, block = self._leaf, self._block
        if own not in leaf.views:
            return None
        number, other = leaf.views.index(own), block.views.index(wanted)
        type = leaf.view_type(number)
        if not is_number(type):
            return None
        if type.element_type != block.view_type(other).element_type:
            return None
        if dict(binding).get(other, number) != number:
            return None
        return binding | {(other, number)}

    def _same(
        self, own: SSAValue, wanted: SSAValue, binding: _Binding
    ) -> tuple[_Binding, ...]:
        """The ways in which two values are the same, beside what is bound already."""
        key = own, wanted, binding
        if key not in self._known:
            found = (
                self._compared(own, wanted, binding) if own.type == wanted.type else ()
            )
            self._known[key] = tuple(dict.fromkeys(found))
        return self._known[key]

    def _compared(
        self, own: SSAValue, wanted: SSAValue, binding: _Binding
    ) -> Iterable[_Binding]:
        match own.owner, wanted.owner:
            case LoadOp() as load, LoadOp() as other:
                bound = self._bound(load.view, other.view, binding)
                if load.subscripts is None and bound is not None:
                    return [bound]
            case ConstantOp() as constant, ConstantOp() as other:
                if constant.number == other.number:
                    return [binding]
            case CastOp() as cast, CastOp() as other:
                return self._same(cast.argument, other.argument, binding)
            case ElementwiseOp() as op, ElementwiseOp() as other:
                if op.function is other.function:
                    return self._applied(op, other, binding)
            case _:
                pass
        return ()

    def _applied(
        self, op: ElementwiseOp, other: ElementwiseOp, binding: _Binding
    ) -> Iterator[_Binding]:
        """The ways in which the operands of one function are the same."""
        orders = [[*op.arguments]]
        if op.function.name in _COMMUTATIVE:
            orders.append([*reversed(op.arguments)])
        for arguments in orders:
            found: Iterable[_Binding] = (binding,)
            for own, wanted in zip(arguments, other.arguments, strict=True):
                found = [
                    more for each in found for more in self._same(own, wanted, each)
                ]
            yield from found

"""Rewrites the statements of a block so that one point computes a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import IntegerAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from .....dialects.eltwise.element_types import vector_of
from .....dialects.eltwise.ops import (
    FUNCTION_OPS,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
)
from .....dialects.eltwise.shuffle import ShuffleOp
from .....dialects.index_sum import IndexSum
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import IndexOp, LoadOp, StoreOp
from .....dialects.stripe.subscripts import Subscript
from ....locations import located
from ...analysis.lanes import VectorPlan
from ...analysis.varying import varying_values

_LONGEST_STEP = 4
"""Lanes this far apart are picked from vectors that are loaded whole."""


def apply_plan(block: BlockOp, plan: VectorPlan) -> None:
    """Let one point of a block compute `width` values of the plan's index."""
    windows = [_Window.of(block, number, plan) for number in _numbers(block)]
    statements = list(block.body.ops)
    for window in windows:
        window.widen(block, plan)
    varying = varying_values(block, plan.index)
    copied: set[SSAValue] = set()
    if plan.across is not None:
        copied = varying_values(block, plan.across)
    _set_space(block, windows, plan)
    views: dict[SSAValue, _Window] = dict(zip(block.views, windows, strict=True))
    rewriting = _Statements(block, plan, views, varying, copied)
    for operation in statements:
        rewriting.rewrite(operation)
    for operation in reversed(statements):
        Rewriter.erase_op(operation)


def _numbers(block: BlockOp) -> range:
    return range(len(block.refinements))


def _set_space(block: BlockOp, windows: Sequence[_Window], plan: VectorPlan) -> None:
    """Let the indices count vectors, and the windows start where vectors do."""
    ranges = list(block.index_ranges)
    scaled: dict[SSAValue, IndexSum] = {}
    for number in [n for n in (plan.index, plan.across) if n is not None]:
        ranges[number] //= plan.width
        index = block.indices[number]
        scaled[index] = IndexSum.value(index) * plan.width
    accesses = [
        [start.substitute(scaled) + first for start, first in zip(*pair, strict=True)]
        for pair in zip(block.accesses, (w.firsts for w in windows), strict=True)
    ]
    block.set_ranges(ranges)
    block.rewrite(accesses, block.where)


@dataclass(frozen=True)
class _Window:
    """What the lanes and copies of a point see of a buffer.

    `lane` and `copy` are how far one value of the index moves the old window along each
    axis, and `firsts` where the new one starts in relation to the old.
    """

    number: int
    lane: tuple[int, ...]
    copy: tuple[int, ...]
    firsts: tuple[int, ...]

    @staticmethod
    def of(block: BlockOp, number: int, plan: VectorPlan) -> _Window:
        access = block.refinement(number).access
        lane = tuple(int(form.coefficients[plan.index]) for form in access)
        copy = (0,) * len(access)
        if plan.across is not None:
            copy = tuple(int(form.coefficients[plan.across]) for form in access)
        firsts = tuple(
            min(a, 0) * (plan.width - 1) + min(b, 0) * (plan.copies - 1)
            for a, b in zip(lane, copy, strict=True)
        )
        return _Window(number, lane, copy, firsts)

    def widen(self, block: BlockOp, plan: VectorPlan) -> None:
        """Make the window show all that the lanes and copies see."""
        window = block.view_type(self.number)
        sizes = tuple(
            size + abs(a) * (plan.width - 1) + abs(b) * (plan.copies - 1)
            for size, a, b in zip(window.sizes, self.lane, self.copy, strict=True)
        )
        if sizes != window.sizes:
            view = block.view(self.number)
            Rewriter.replace_value_with_new_type(view, window.resized(sizes))

    @property
    def is_moved(self) -> bool:
        """Whether the lanes are at different places."""
        return any(self.lane)

    @property
    def is_contiguous(self) -> bool:
        """Whether the lanes are neighbours along the last axis."""
        return self.is_moved and self.lane[-1] == 1 and not any(self.lane[:-1])

    @cached_property
    def short_step(self) -> int | None:
        """How far apart the lanes are, if not far and along the last axis only."""
        step = self.lane[-1]
        if any(self.lane[:-1]) or any(self.copy) or abs(step) > _LONGEST_STEP:
            return None
        return step

    def place(self, lane: int, copy: int) -> tuple[int, ...]:
        """Where a lane of a copy begins in the window."""
        steps = zip(self.lane, self.copy, self.firsts, strict=True)
        return tuple(a * lane + b * copy - first for a, b, first in steps)


class _Statements:
    """Writes the new statements behind the old ones, in their order.

    A value that differs between lanes becomes a vector, one that differs between copies
    has a value for each of them.
    """

    def __init__(
        self,
        block: BlockOp,
        plan: VectorPlan,
        windows: dict[SSAValue, _Window],
        varying: set[SSAValue],
        copied: set[SSAValue],
    ) -> None:
        self._block = block
        self._plan = plan
        self._windows = windows
        self._varying = varying
        self._copied = copied
        self._values: dict[tuple[SSAValue, int], SSAValue] = {}

    def rewrite(self, operation: Operation) -> None:
        """Add what a statement becomes."""
        is_copied = isinstance(operation, StoreOp) or self._is_copied(operation)
        copies = self._plan.copies if is_copied else 1
        if isinstance(operation, LoadOp) and self._crosses(operation):
            self._bind_all(operation, self._transposed(operation))
            return
        if isinstance(operation, StoreOp) and not self._has_places(operation):
            self._store_all(operation, copies)
            return
        for copy in range(copies):
            if isinstance(operation, StoreOp):
                self._store(operation, copy)
            else:
                value = self._computed(operation, copy)
                value.name_hint = operation.results[0].name_hint
                self._values[operation.results[0], copy] = value

    def _is_copied(self, operation: Operation) -> bool:
        return self._plan.across is not None and any(
            value in self._copied for value in operation.operands
        )

    def _bind_all(self, operation: LoadOp, values: Sequence[SSAValue]) -> None:
        for copy, value in enumerate(values):
            value.name_hint = operation.result.name_hint
            self._values[operation.result, copy] = value

    def _add(self, operation: Operation, origin: Operation) -> SSAValue:
        self._block.body.block.add_op(located(operation, origin))
        return operation.results[0]

    def _value(self, value: SSAValue, copy: int) -> SSAValue:
        """What an operand became; indices and views stay what they are."""
        known = self._values.get((value, copy))
        return self._values.get((value, 0), value) if known is None else known

    def _vector(self, value: SSAValue, copy: int, origin: Operation) -> SSAValue:
        """An operand as a vector."""
        known = self._value(value, copy)
        if isinstance(known.type, VectorType):
            return known
        type = vector_of(known.type, self._plan.width)
        owner = value.owner
        if isinstance(owner, ConstantOp):
            widened = self._add(ConstantOp(owner.number, type), origin)
        else:
            widened = self._add(BroadcastOp(known, type), origin)
        widened.name_hint = value.name_hint
        return widened

    def _lanes_of(self, type: Attribute) -> VectorType:
        return vector_of(type, self._plan.width)

    def _computed(self, operation: Operation, copy: int) -> SSAValue:
        """The value of a statement, a vector where it differs between lanes."""
        differs = operation.results[0] in self._varying
        match operation:
            case IndexOp():
                return self._number(operation, copy, differs)
            case LoadOp():
                return self._load(operation, copy, differs)
            case ElementwiseOp() if differs:
                operands = [
                    self._vector(o, copy, operation) for o in operation.operands
                ]
                type = self._lanes_of(operation.result.type)
                function = FUNCTION_OPS[operation.function.name]
                return self._add(function.build_typed(operands, type), operation)
            case CastOp() if differs:
                operand = self._vector(operation.argument, copy, operation)
                type = self._lanes_of(operation.result.type)
                return self._add(CastOp(operand, type), operation)
            case _:
                operands = {o: self._value(o, copy) for o in operation.operands}
                return self._add(operation.clone(operands), operation)

    def _number(self, operation: IndexOp, copy: int, differs: bool) -> SSAValue:
        """An index as a number, or one for each lane."""
        plan, indices = self._plan, self._block.indices
        lane = indices[plan.index]
        scaled: dict[SSAValue, IndexSum] = {lane: IndexSum.value(lane) * plan.width}
        if plan.across is not None:
            across = indices[plan.across]
            scaled[across] = IndexSum.value(across) * plan.width + copy
        step = operation.sum.coefficient(lane)
        new = operation.clone()
        new.rewrite(operation.sum.substitute(scaled))
        result = self._add(new, operation)
        if not differs:
            return result
        new.properties["step"] = IntegerAttr(step, i64)
        type = self._lanes_of(operation.result.type)
        return Rewriter.replace_value_with_new_type(result, type)

    # Memory.

    def _has_places(self, operation: StoreOp) -> bool:
        """Whether lanes and copies are stored each at its own place, or one is."""
        window = self._windows.get(operation.view)
        if self._plan.folds:
            return False
        if operation.condition is not None or window is None:
            return True
        return self._plan.across is None or any(window.copy)

    def _store_all(self, operation: StoreOp, copies: int) -> None:
        """Aggregate all that meets on one cell, or one vector of them, and store it."""
        values = [self._vector(operation.value, n, operation) for n in range(copies)]
        number = self._windows[operation.view].number
        function = self._block.refinement(number).aggregation.function
        if function is None:
            raise ValueError("expected an output that aggregates")

        def combine(left: SSAValue, right: SSAValue) -> SSAValue:
            pair = FUNCTION_OPS[function].build_typed([left, right], left.type)
            return self._add(pair, operation)

        while len(values) > 1:
            half = len(values) // 2
            pairs = zip(values[:half], values[half:], strict=True)
            values = [combine(left, right) for left, right in pairs]
        (value,) = values
        width = self._plan.width if self._plan.folds else 1
        while width > 1:
            width //= 2
            low = self._add(ShuffleOp([value], range(width)), operation)
            high = self._add(ShuffleOp([value], range(width, 2 * width)), operation)
            value = combine(low, high)
        condition = operation.condition
        if condition is not None:
            condition = self._value(condition, 0)
        place = self._whole_place(operation, 0)
        store = StoreOp(value, operation.view, place, condition)
        self._block.body.block.add_op(located(store, operation))

    def _store(self, operation: StoreOp, copy: int) -> None:
        value = self._vector(operation.value, copy, operation)
        condition = operation.condition
        if condition is not None:
            condition = self._value(condition, copy)
        place = self._whole_place(operation, copy)
        store = StoreOp(value, operation.view, place, condition)
        self._block.body.block.add_op(located(store, operation))

    def _load(self, operation: LoadOp, copy: int, differs: bool) -> SSAValue:
        type = operation.result.type
        if not differs:
            place = self._whole_place(operation, copy)
            return self._add(LoadOp(operation.view, place, type), operation)
        window = self._windows.get(operation.view)
        if window is None or not self._has_one_place(operation):
            return self._collected(operation, copy)
        if window.is_contiguous:
            place = self._whole_place(operation, copy)
            vector = self._lanes_of(type)
            return self._add(LoadOp(operation.view, place, vector), operation)
        if operation.subscripts is None and window.short_step is not None:
            return self._picked(operation, window, window.short_step)
        return self._collected(operation, copy)

    def _has_one_place(self, operation: LoadOp) -> bool:
        return self._varying.isdisjoint(operation.positions)

    def _whole_place(
        self, operation: LoadOp | StoreOp, copy: int
    ) -> list[Subscript] | None:
        """The subscripts of what a copy accesses, if it takes any to say."""
        if operation.subscripts is not None:
            return [
                self._value(s, copy) if isinstance(s, SSAValue) else s
                for s in operation.subscripts
            ]
        window = self._windows.get(operation.view)
        if window is None or not any(window.copy):
            return None
        return [*window.place(0, copy)]

    def _picked(self, operation: LoadOp, window: _Window, step: int) -> SSAValue:
        """Lanes that are a few elements apart, of the vectors that hold them all."""
        width = self._plan.width
        extent = abs(step) * (width - 1) + 1
        count = -(-extent // width)
        starts = [min(n * width, extent - width) for n in range(count)]
        vector = self._lanes_of(operation.result.type)
        others = [0] * (len(window.lane) - 1)
        vectors = [
            self._add(LoadOp(operation.view, [*others, s], vector), operation)
            for s in starts
        ]
        places = [step * lane - window.firsts[-1] for lane in range(width)]
        lanes = [
            min(place // width, count - 1) * width
            + place
            - starts[min(place // width, count - 1)]
            for place in places
        ]
        return self._add(ShuffleOp(vectors, lanes), operation)

    def _collected(self, operation: LoadOp, copy: int) -> SSAValue:
        """A vector of scalars that are loaded one by one."""
        window = self._windows.get(operation.view)
        scalars: list[SSAValue] = []
        for lane in range(self._plan.width):
            subscripts = operation.subscripts
            place = None if window is None else window.place(lane, copy)
            if subscripts is None:
                chosen: list[Subscript] = [*(place or ())]
            else:
                offsets = place or (0,) * len(subscripts)
                chosen = [
                    self._lane(subscript, lane, copy, operation)
                    if isinstance(subscript, SSAValue)
                    else subscript + offset
                    for subscript, offset in zip(subscripts, offsets, strict=True)
                ]
            type = operation.result.type
            scalars.append(self._add(LoadOp(operation.view, chosen, type), operation))
        return self._add(ShuffleOp(scalars), operation)

    def _lane(
        self, value: SSAValue, lane: int, copy: int, origin: Operation
    ) -> SSAValue:
        """One lane of a value."""
        known = self._value(value, copy)
        if not isinstance(known.type, VectorType):
            return known
        return self._add(ShuffleOp([known], [lane]), origin)

    # Transposition.

    def _crosses(self, operation: LoadOp) -> bool:
        """Whether rows along the copies are loaded and transposed."""
        window = self._windows.get(operation.view)
        if self._plan.across is None or window is None:
            return False
        return window.is_moved and not window.is_contiguous

    def _transposed(self, operation: LoadOp) -> list[SSAValue]:
        """For each copy the vector of what its lanes see."""
        window = self._windows[operation.view]
        vector = self._lanes_of(operation.result.type)
        rows = [
            self._add(LoadOp(operation.view, window.place(lane, 0), vector), operation)
            for lane in range(self._plan.width)
        ]
        return self._transpose(rows, operation)

    def _transpose(self, rows: list[SSAValue], origin: Operation) -> list[SSAValue]:
        """The columns of a square of vectors.

        Each round interleaves the first half of the vectors with the second one; after
        as many rounds as the width has binary digits, these have changed places.
        """
        width = self._plan.width
        halves = (range(width // 2), range(width // 2, width))
        for _ in range(width.bit_length() - 1):
            pairs = zip(rows[: width // 2], rows[width // 2 :], strict=True)
            rows = [
                self._add(
                    ShuffleOp(pair, [x for n in half for x in (n, width + n)]), origin
                )
                for pair in pairs
                for half in halves
            ]
        return rows

"""Contractions by enumeration of integer points, as `definition.py` defines them.

A box of index values that contains every valid point is enumerated in parts of bounded
size. At each point every access and every constraint is evaluated exactly, in integers
(a fractional access `1/2 * i` as `i` with denominator 2); what is valid is combined and
aggregated into the cell that the output access names. Nothing that `tile-flatten` knows
is used here. A property test holds it against the definition.

Within a part, a value that does not depend on an index is computed once for all values
of that index: arrays are broadcast, as `numpy.ogrid` has them. Floats are aggregated in
double precision and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd, lcm, prod

import numpy as np
from xdsl.ir import Attribute

from ...affine.form import LinearForm, Rational
from ...affine.inequalities import components, within
from ...affine.isl import extremes
from ...affine.multiplicity import multiplicity
from ...dialects.aggregation import Aggregation, Combination
from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.table import FUNCTIONS
from ...errors import GinghamError
from ...limits import LARGEST_INTEGER
from .boxes import Box, Coordinate, evaluate, mesh, parts, strides
from .elements import Array, literal

PART = 2**20
"""Points that are enumerated at once."""

_LONG = 64
"""How much longer a point takes whose numbers are Python's."""


@dataclass(frozen=True)
class Condition:
    """`0 <= numerator / denominator < end / denominator`, the quotient an integer.

    Without `end` there is no upper bound. A constraint, which need not be an integer,
    has denominator 1.
    """

    numerator: LinearForm
    denominator: int
    end: int | None

    @staticmethod
    def constraint(form: LinearForm, bound: Rational | None) -> Condition:
        """The constraint `0 <= form`, and `form < bound` when there is a bound."""
        last = () if bound is None else (bound,)
        scale = lcm(
            *(c.denominator for c in (*form.coefficients, form.constant, *last))
        )
        end = None if bound is None else (bound * scale).numerator
        form = form * scale
        divisor = gcd(*(c.numerator for c in form.coefficients))
        if divisor > 1:
            # Of 6i + 5 >= 0 remains i + 0 >= 0, so that numbers are no longer than they
            # have to be.
            shift = form.constant.numerator // divisor
            if end is not None:
                end = (end - 1 - form.constant.numerator) // divisor + shift + 1
            terms = [c.numerator // divisor for c in form.coefficients]
            form = LinearForm.of(terms, shift)
        return Condition(form, 1, end)

    @staticmethod
    def access(form: LinearForm, size: int) -> Condition:
        """The condition that an access along an axis of this size is in bounds."""
        scale = lcm(*(c.denominator for c in (*form.coefficients, form.constant)))
        return Condition(form * scale, scale, scale * (size - 1) + 1)

    def inequalities(self) -> list[LinearForm]:
        """Forms that are >= 0 where it holds."""
        if self.end is None:
            return [self.numerator]
        return [self.numerator, -self.numerator + (self.end - 1)]


@dataclass(frozen=True)
class Contraction:
    """A contraction with known sizes.

    `accesses` and `shapes` are those of the output, then of the inputs. `ranges` are
    given for a contraction that was flattened: its points are in that box.
    """

    aggregation: Aggregation
    combination: Combination
    indices: tuple[str, ...]
    accesses: tuple[tuple[LinearForm, ...], ...]
    shapes: tuple[tuple[int, ...], ...]
    constraints: tuple[Condition, ...]
    element: Attribute
    ranges: tuple[int, ...] | None = None

    @property
    def rank(self) -> int:
        """How many indices there are."""
        return len(self.indices)

    @cached_property
    def in_bounds(self) -> tuple[tuple[Condition, ...], ...]:
        """The conditions of every access, one per axis."""
        return tuple(
            tuple(map(Condition.access, access, shape))
            for access, shape in zip(self.accesses, self.shapes, strict=True)
        )

    @cached_property
    def box(self) -> Box | None:
        """A box that contains all valid points; None when there are none.

        Raises GinghamError for an index that has no bound.
        """
        if any(0 in shape for shape in self.shapes) or 0 in (self.ranges or ()):
            return None
        if self.ranges is not None:
            return tuple(range(extent) for extent in self.ranges)
        conditions = [c for access in self.in_bounds for c in access]
        conditions += self.constraints
        limits = _limits([f for c in conditions for f in c.inequalities()], self.rank)
        if limits is None:
            return None
        box: list[range] = []
        for name, (low, high) in zip(self.indices, limits, strict=True):
            if low is None or high is None:
                side = "below" if low is None else "above"
                raise GinghamError(
                    f"index '{name}' has no bound {side}",
                    hint=f"use '{name}' to access a tensor, or constrain it",
                )
            if max(-low, high) > LARGEST_INTEGER:
                raise GinghamError(f"values of index '{name}' do not fit 64 bits")
            box.append(range(low, high + 1))
        return tuple(box)

    @property
    def points(self) -> int:
        """The points that are enumerated; raises GinghamError as `box` does.

        Those with numbers that int64 is short for count as often as they take longer.
        """
        count, once = self.without_repetition
        box = once.box
        if box is None or not count:
            return 0
        forms = [c.numerator for access in once.in_bounds for c in access]
        forms += [c.numerator for c in once.constraints]
        is_long = any(
            max(map(abs, _bounds(form, box))) > LARGEST_INTEGER for form in forms
        )
        return prod(map(len, box)) * (_LONG if is_long else 1)

    @cached_property
    def without_repetition(self) -> tuple[int, Contraction]:
        """How often each point occurs, and the contraction that has each of them once.

        That is for indices that no tensor is accessed with. Of an assignment all points
        are looked at, as two of them are an error.
        """
        box = self.box
        if box is None or self.aggregation is Aggregation.ASSIGN:
            return 1, self
        forms = [
            form + (form.evaluate([span.start for span in box]) - form.constant)
            for condition in self.constraints
            for form in condition.inequalities()
        ]
        used = [form for access in self.accesses for form in access]
        count, kept = multiplicity([len(span) for span in box], used, forms)
        if len(kept) == self.rank:
            return 1, self
        return count, replace(
            self,
            indices=tuple(self.indices[d] for d in kept),
            accesses=tuple(tuple(within(f, kept) for f in a) for a in self.accesses),
            constraints=tuple(
                replace(c, numerator=within(c.numerator, kept))
                for c in self.constraints
                if set(c.numerator.support) <= set(kept)
            ),
            ranges=self.ranges and tuple(self.ranges[d] for d in kept),
        )

    def parts(self) -> Iterator[PointGrid]:
        """The box in parts of at most `PART` points."""
        box = self.box or ()
        for piece in parts([len(span) for span in box], PART):
            spans = (
                range(span.start + inner.start, span.start + inner.stop)
                for span, inner in zip(box, piece, strict=True)
            )
            yield PointGrid(self, tuple(spans))

    def show(self, point: Sequence[int]) -> str:
        """A point for a message: `(i = 3, k = 0)`."""
        pairs = zip(self.indices, point, strict=True)
        return "(" + ", ".join(f"{name} = {value}" for name, value in pairs) + ")"


class PointGrid:
    """A part of index space: the points of a box, as arrays that broadcast to it.

    Arrays have the rank of the box, and size 1 along indices that they do not depend
    on. Where a mask is None, it holds everywhere.
    """

    def __init__(self, contraction: Contraction, box: Box) -> None:
        self.contraction = contraction
        self.box = box
        self.shape = tuple(len(span) for span in box)
        self.coordinates = mesh(box)

    def valid(self) -> Array | None:
        """Where every constraint holds and every access is in bounds.

        Of a flattened contraction the latter follows from the former; raises
        GinghamError when it does not.
        """
        constrained = _all(self._holds(c) for c in self.contraction.constraints)
        accessible = _all(
            self._holds(c) for access in self.contraction.in_bounds for c in access
        )
        if self.contraction.ranges is not None and accessible is not None:
            wrong = ~accessible if constrained is None else constrained & ~accessible
            for point in self.points(wrong):
                raise GinghamError(
                    f"the flattened contraction has the point "
                    f"{self.contraction.show(point)}, where an access is out of bounds"
                )
        return _all([constrained, accessible])

    def positions(self, number: int) -> Array:
        """The cell that access `number` (0: the output) names, in row-major order.

        Some cell where the point is not valid.
        """
        shape = self.contraction.shapes[number]
        position: Coordinate = 0
        for condition, stride in zip(
            self.contraction.in_bounds[number], strides(shape), strict=True
        ):
            value = self._values(condition.numerator)
            position = position + value // condition.denominator * stride
        clipped = np.clip(np.asarray(position), 0, prod(shape) - 1).astype(np.int64)
        return clipped.reshape(clipped.shape or (1,) * len(self.box))

    def combined(self, inputs: Sequence[Array]) -> Array:
        """The combination of the operands; some value where the point is not valid."""
        operands = [
            operand.reshape(-1)[self.positions(number)]
            for number, operand in enumerate(inputs, start=1)
        ]
        combination = self.contraction.combination
        with np.errstate(all="ignore"):
            if combination is Combination.COND:
                left, right, chosen = operands
                return np.where(left == right, chosen, np.zeros_like(chosen))
            if combination.function is None:
                return operands[0]
            return FUNCTIONS[combination.function].evaluate(np, *operands)

    def points(self, mask: Array) -> list[tuple[int, ...]]:
        """The first points, at most two, where a mask holds."""
        places = np.argwhere(np.broadcast_to(mask, self.shape))[:2]
        return [
            tuple(span[int(i)] for span, i in zip(self.box, place, strict=True))
            for place in places
        ]

    def _values(self, form: LinearForm) -> Coordinate:
        """The values of an integer form, as Python's integers where int64 is short."""
        low, high = _bounds(form, self.box)
        if max(-low, high) <= LARGEST_INTEGER:
            return evaluate(form, self.coordinates)
        return evaluate(form, [each.astype(object) for each in self.coordinates])

    def _holds(self, condition: Condition) -> Array | None:
        low, high = _bounds(condition.numerator, self.box)
        value = np.asarray(self._values(condition.numerator))
        masks: list[Array] = []
        if low < 0:
            masks.append(value >= 0)
        if condition.end is not None and high >= condition.end:
            masks.append(value < condition.end)
        if condition.denominator != 1:
            masks.append(value % condition.denominator == 0)
        return _all(masks)


def _limits(
    forms: Sequence[LinearForm], rank: int
) -> list[tuple[int | None, int | None]] | None:
    """The least and the greatest value of each index; None when there is no point.

    Indices that nothing ties to each other are asked for one by one.
    """
    limits: list[tuple[int | None, int | None]] = [(None, None)] * rank
    for form in forms:
        if form.is_constant and form.constant < 0:
            return None
    for dimensions, own in components(forms, rank):
        found = extremes(len(dimensions), [within(form, dimensions) for form in own])
        if found is None:
            return None
        for dimension, pair in zip(dimensions, found, strict=True):
            limits[dimension] = pair
    return limits


def _bounds(form: LinearForm, box: Box) -> tuple[int, int]:
    """Smallest and largest value of an integer form over a box that is not empty."""
    low = high = form.constant.numerator
    for coefficient, span in zip(form.coefficients, box, strict=True):
        ends = coefficient.numerator * span[0], coefficient.numerator * span[-1]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _all(masks: Iterator[Array | None] | Sequence[Array | None]) -> Array | None:
    result: Array | None = None
    for mask in masks:
        if mask is not None:
            result = mask if result is None else result & mask
    return result


def contract(
    contraction: Contraction, inputs: Sequence[Array], default: Array | None
) -> Array:
    """The result of a contraction; raises GinghamError where it has no meaning.

    Inputs have the element types of the combination, f16 and bf16 already as f32.
    """
    shape = contraction.shapes[0]
    if default is None:
        default = literal(0, contraction.element)
    elif default.shape != shape:
        raise GinghamError(f"expected a default of shape {shape}, got {default.shape}")
    if contraction.box is None:
        return np.broadcast_to(default, shape).copy()
    count, contraction = contraction.without_repetition
    if not count:
        return np.broadcast_to(default, shape).copy()
    result = _Result(contraction)
    for part in contraction.parts():
        valid = part.valid()
        if valid is None or valid.any():
            result.add(part, part.combined(inputs), valid)
    with np.errstate(all="ignore"):
        values = _repeated(result.values, contraction.aggregation, count)
        values = values.astype(default.dtype)
    return np.where(result.touched.reshape(shape), values.reshape(shape), default)


def _repeated(values: Array, aggregation: Aggregation, count: int) -> Array:
    """The aggregation of so many equal values, instead of one."""
    match aggregation:
        case Aggregation.ADD if values.dtype.kind == "f":
            return values * float(count)
        case Aggregation.ADD:
            # Integers wrap around.
            return values * np.array(count % 2**64, np.uint64).astype(values.dtype)
        case Aggregation.MUL:
            result = np.ones_like(values)
            while count:
                if count & 1:
                    result = result * values
                values, count = values * values, count >> 1
            return result
        case _:
            return values


class _Result:
    """The cells of the output, aggregated so far."""

    def __init__(self, contraction: Contraction) -> None:
        self.contraction = contraction
        aggregation, element = contraction.aggregation, contraction.element
        floating = kind(element) is Kind.FLOAT
        self.dtype = np.dtype(np.float64) if floating else numpy_dtype(element)
        self.identity = np.array(aggregation.identity(element), self.dtype)
        cells = prod(contraction.shapes[0])
        self.values = np.full(cells, self.identity)
        self.touched = np.zeros(cells, np.bool_)

    def add(self, part: PointGrid, values: Array, valid: Array | None) -> None:
        """Aggregate the values of a part at its valid points."""
        cells = part.positions(0)
        values = np.broadcast_to(values, part.shape)
        # Small where everything is valid, so that it costs nothing.
        mask = np.ones((1,) * len(part.shape), np.bool_)
        if valid is not None or self.contraction.aggregation is Aggregation.ASSIGN:
            mask = np.broadcast_to(mask if valid is None else valid, part.shape)
        if self.contraction.aggregation is Aggregation.ASSIGN:
            self._assign(np.broadcast_to(cells, part.shape)[mask], values[mask])
            return
        ufunc = aggregating_function(self.contraction.aggregation)
        # First over the indices that do not change the cell.
        inner = tuple(axis for axis, size in enumerate(cells.shape) if size == 1)
        with np.errstate(all="ignore"):
            if valid is not None:
                values = np.where(mask, values.astype(self.dtype), self.identity)
            reduced = ufunc.reduce(values, axis=inner, dtype=self.dtype, keepdims=True)
            reached = np.broadcast_to(mask.any(axis=inner, keepdims=True), cells.shape)
            ufunc.at(self.values, cells[reached], reduced[reached])
        self.touched[cells[reached]] = True

    def _assign(self, cells: Array, values: Array) -> None:
        order = np.arange(cells.size, dtype=np.int64)
        writer = np.empty(self.values.size, np.int64)
        writer[cells] = order
        twice = self.touched[cells] | (writer[cells] != order)
        if twice.any():
            raise self._collision(int(cells[twice.argmax()]))
        self.values[cells] = values
        self.touched[cells] = True

    def _collision(self, cell: int) -> GinghamError:
        points: list[tuple[int, ...]] = []
        for part in self.contraction.parts():
            hits = _all([part.positions(0) == cell, part.valid()])
            points += [] if hits is None else part.points(hits)
            if len(points) >= 2:
                break
        first, second = (self.contraction.show(point) for point in points[:2])
        shape = self.contraction.shapes[0]
        place = ", ".join(map(str, np.unravel_index(cell, shape)))
        return GinghamError(
            f"two points assign the cell [{place}]: {first} and {second}",
            hint="aggregate with another function, or constrain the indices",
        )


def aggregating_function(aggregation: Aggregation) -> np.ufunc:
    """The NumPy function behind an aggregation other than `assign`."""
    if aggregation.function is None:
        raise ValueError(f"'{aggregation.value}' combines no values")
    function = getattr(np, str(FUNCTIONS[aggregation.function].meaning))
    if not isinstance(function, np.ufunc):
        raise ValueError(f"'{aggregation.function}' is not a function of NumPy")
    return function

"""Contractions on some cells: what the points behind these aggregate to.

The points are enumerated as in `..contraction`; sums of products of floats, of which
there are most points, are left to `numpy.einsum`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ....dialects.aggregation import Aggregation, Combination
from ....dialects.eltwise.element_types import Kind, kind
from ....dialects.eltwise.numpy_types import numpy_dtype
from ....dialects.eltwise.ops import element_of
from ....dialects.eltwise.table import FUNCTIONS
from ..boxes import evaluate, parts
from ..contraction import PART, Contraction, aggregating_function
from ..elements import Array
from .estimate import Estimate, apply, equality, given, precision, rounded, storage
from .grid import Grid
from .points import INDEX_NAMES, Points


def contract_cells(
    points: Points,
    operands: Sequence[tuple[Estimate, Grid]],
    default: Estimate | None,
    wanted: Grid,
) -> Estimate:
    """The wanted cells of the result.

    `operands` are known on grids that hold what the points read, `default` on the
    wanted cells.
    """
    element = points.contraction.element
    if default is None:
        default = given(np.zeros(wanted.shape, numpy_dtype(element)), element)
    if 0 in points.shape:
        return default
    is_known = all(operand.is_finite for operand, _ in operands)
    if points.is_sum_of_products and is_known:
        found, reached = _by_einsum(points, operands)
    else:
        found, reached = _by_enumeration(points, operands)
    return _placed(points, found, reached, default, wanted)


def _read(
    points: Points, number: int, operand: tuple[Estimate, Grid], box: Sequence[slice]
) -> Estimate:
    """An operand at a part of the points; some value where a point is not valid."""
    estimate, grid = operand
    access = points.contraction.accesses[1 + number]
    rank = len(points.values)
    places: list[Array] = []
    for form, axis in zip(access, grid.axes, strict=True):
        if not len(axis):
            return Estimate(np.zeros((1,) * rank, estimate.values.dtype))
        place = np.searchsorted(axis, points.numbers(form, box))
        places.append(np.minimum(place, len(axis) - 1))
    if not places:
        return estimate.reshaped((1,) * rank)
    return estimate.at(tuple(places))


def _by_einsum(
    points: Points, operands: Sequence[tuple[Estimate, Grid]]
) -> tuple[Estimate, Array]:
    """Sums of products by their first indices, and which of them have points."""
    rank = len(points.values)
    everything = [slice(None)] * rank
    conditions = points.contraction.constraints
    masks = [points.holds(condition, everything) for condition in conditions]
    read: list[Estimate] = []
    for number, operand in enumerate(operands):
        estimate = _read(points, number, operand, everything)
        own = points.supports[number]
        for condition, mask in zip(conditions, masks, strict=True):
            if own.issuperset(condition.numerator.support):
                errors = estimate.errors
                if errors is not None:
                    errors = np.where(mask, errors, 0.0)
                estimate = Estimate(np.where(mask, estimate.values, 0.0), errors)
        read.append(estimate)

    def summed(*factors: Array) -> Array:
        return _einsum(points, factors)

    magnitudes = [np.abs(each.values) for each in read]
    element, chain = points.contraction.element, _chain(points)
    values = summed(*(each.values for each in read))
    own = chain * precision(element) * summed(*magnitudes)
    if chain:
        own = own + storage(element) * np.abs(values)
    for number, each in enumerate(read):
        if each.errors is None:
            continue
        others = [m for n, m in enumerate(magnitudes) if n != number]
        if points.supports[number].issuperset(points.reduced):
            squares = summed(each.errors**2, *(m**2 for m in others))
            own = own + np.sqrt(squares)
        else:
            # One error that is in several terms.
            own = own + summed(each.errors, *others)
    counted = [np.ones((1,) * rank), *(mask.astype(np.float64) for mask in masks)]
    return rounded(values, None, element, own), summed(*counted) > 0


def _einsum(points: Points, factors: Sequence[Array]) -> Array:
    """The sums of products of arrays that broadcast to the points."""
    rank, shape = len(points.values), points.shape
    kept = range(points.op.flat_output_rank)
    arrays: list[Array] = []
    names: list[str] = []
    met: set[int] = set()
    for factor in factors:
        axes = [n for n in range(rank) if factor.shape[n] != 1]
        met.update(axes)
        arrays.append(factor.reshape([shape[n] for n in axes]))
        names.append("".join(INDEX_NAMES[n] for n in axes))
    there = "".join(INDEX_NAMES[n] for n in kept if n in met)
    subscripts = f"{','.join(names)}->{there}"
    total: Array = np.einsum(subscripts, *arrays, optimize="greedy")
    # Indices that nothing depends on count how often.
    total = total * prod(shape[n] for n in points.reduced if n not in met)
    total = total.reshape([shape[n] if n in met else 1 for n in kept])
    return np.broadcast_to(total, [shape[n] for n in kept])


def _chain(points: Points) -> float:
    """How many errors of one addition a sum is taken to be off by.

    As many as there are additions in the worst case, about the root of that otherwise,
    as some cancel others.
    """
    count = prod(points.shape[n] for n in points.reduced)
    if count == 1 and points.contraction.combination is Combination.NONE:
        return 0.0
    return 2.0 + min(float(count), 4.0 * float(count) ** 0.5)


def _by_enumeration(
    points: Points, operands: Sequence[tuple[Estimate, Grid]]
) -> tuple[Estimate, Array]:
    """What the points aggregate to, by their first indices; which of them have any."""
    kept = points.shape[: points.op.flat_output_rank]
    rules = _rules(points.contraction)
    totals = [np.full(kept, rule.identity, rule.dtype) for rule in rules]
    reached = np.zeros(kept, np.bool_)
    for box in parts(points.shape, PART):
        slices = [slice(span.start, span.stop) for span in box]
        read = [
            _read(points, number, operand, slices)
            for number, operand in enumerate(operands)
        ]
        value = _combined(points, read)
        valid = np.ones((1,) * len(slices), np.bool_)
        for condition in points.contraction.constraints:
            valid = valid & points.holds(condition, slices)
        shape = tuple(len(span) for span in box)
        place = tuple(slices[: len(kept)])
        for rule, total in zip(rules, totals, strict=True):
            terms = np.where(valid, rule.term(value), rule.identity)
            terms = np.broadcast_to(terms, shape).astype(rule.dtype, copy=False)
            with np.errstate(all="ignore"):
                axes = points.reduced
                part = rule.function.reduce(terms, axis=axes, dtype=rule.dtype)
                total[place] = rule.function(total[place], part)
        valid = np.broadcast_to(valid, shape)
        reached[place] |= valid.any(axis=points.reduced)
    return _finished(points, totals), reached


def _combined(points: Points, read: Sequence[Estimate]) -> Estimate:
    """The combination of the operands at each point."""
    combination = points.contraction.combination
    elements = [element_of(operand.type) for operand in points.op.inputs]
    match combination:
        case Combination.NONE:
            return read[0]
        case Combination.COND:
            chosen = read[2]
            nothing = Estimate(np.zeros((), chosen.values.dtype))
            return apply(
                np.where,
                [equality(read[0], read[1]), chosen, nothing],
                elements[2],
                rounds=False,
                selects=True,
            )
        case Combination.EQ:
            return equality(read[0], read[1])
        case _:
            function = FUNCTIONS[str(combination.function)]
            return apply(
                lambda *values: function.evaluate(np, *values), read, elements[0]
            )


@dataclass(frozen=True)
class _Rule:
    """Something that is aggregated of all points of a cell."""

    function: np.ufunc
    identity: float | int
    dtype: np.dtype[Any]
    term: Callable[[Estimate], Array]


_DOUBLE = np.dtype(np.float64)


def _values(estimate: Estimate) -> Array:
    return estimate.values


def _bounds(estimate: Estimate) -> Array:
    return estimate.bounds


def _squares(estimate: Estimate) -> Array:
    return estimate.bounds**2


def _magnitudes(estimate: Estimate) -> Array:
    return np.abs(estimate.values)


def _relative_squares(estimate: Estimate) -> Array:
    with np.errstate(all="ignore"):
        relative = estimate.bounds / np.abs(estimate.values)
    return np.where(estimate.bounds == 0, 0.0, relative) ** 2


def _upper(estimate: Estimate) -> Array:
    return estimate.values + estimate.bounds


def _lower(estimate: Estimate) -> Array:
    return estimate.values - estimate.bounds


def _rules(contraction: Contraction) -> list[_Rule]:
    """What `_finished` needs to know of the points: the values come first."""
    aggregation, element = contraction.aggregation, contraction.element
    identity, own = aggregation.identity(element), numpy_dtype(element)
    # One point at most assigns a cell.
    is_assigned = aggregation is Aggregation.ASSIGN
    function = np.add if is_assigned else aggregating_function(aggregation)
    if kind(element) is not Kind.FLOAT:
        if is_assigned and own == np.bool_:
            function = np.logical_or
        unknown = _Rule(np.maximum, 0, _DOUBLE, _bounds)
        return [_Rule(function, identity, own, _values), unknown]
    values = _Rule(function, identity, _DOUBLE, _values)
    if aggregation is Aggregation.MUL:
        return [values, _Rule(np.add, 0, _DOUBLE, _relative_squares)]
    if aggregation in (Aggregation.MAX, Aggregation.MIN):
        ends = (_upper, _lower)
        return [values, *(_Rule(function, identity, _DOUBLE, end) for end in ends)]
    squares = _Rule(np.add, 0, _DOUBLE, _squares)
    return [values, _Rule(np.add, 0, _DOUBLE, _magnitudes), squares]


def _finished(points: Points, totals: Sequence[Array]) -> Estimate:
    """What was aggregated as an estimate."""
    element = points.contraction.element
    values, first, *rest = totals
    with np.errstate(all="ignore"):
        if kind(element) is not Kind.FLOAT:
            return Estimate(values, first)
        match points.contraction.aggregation:
            case Aggregation.MUL:
                count = prod(points.shape[n] for n in points.reduced)
                units = count * precision(element) + storage(element)
                own = units * np.abs(values)
                return rounded(values, np.abs(values) * np.sqrt(first), element, own)
            case Aggregation.MAX | Aggregation.MIN:
                errors = np.maximum(np.abs(first - values), np.abs(values - rest[0]))
                # Where all are the same infinity.
                return Estimate(values, np.where(first == rest[0], 0.0, errors))
            case _:
                own = _chain(points) * precision(element) * first
                if _chain(points):
                    own = own + storage(element) * np.abs(values)
                return rounded(values, np.sqrt(rest[0]), element, own)


def _placed(
    points: Points, found: Estimate, reached: Array, default: Estimate, wanted: Grid
) -> Estimate:
    """What was found in its cells, the default in the others."""
    kept = found.values.shape
    if not wanted.axes:
        return found.reshaped(()) if reached.all() else default
    inside = reached
    places: list[Array] = []
    own = points.values[: len(kept)]
    mesh = np.ix_(*own) if own else ()
    for form, axis in zip(points.contraction.accesses[0], wanted.axes, strict=True):
        if not len(axis):
            return default
        numbers = np.asarray(evaluate(form, [*mesh, *[0] * len(points.reduced)]))
        place = np.minimum(np.searchsorted(axis, numbers), len(axis) - 1)
        inside = inside & (axis[place] == numbers)
        places.append(place)
    cells = tuple(np.broadcast_to(place, kept)[inside] for place in places)
    values = default.values.copy()
    values[cells] = found.values[inside]
    errors = np.broadcast_to(default.bounds, values.shape).copy()
    errors[cells] = np.broadcast_to(found.bounds, kept)[inside]
    return Estimate(values, errors)

"""Tests of flattening against an enumeration of the semantics, written on its own.

A point of a contraction is valid when all accesses are integers inside their tensors
and all constraints hold. Here the valid points come from rational elimination: a point
is decided by the values of as many independent forms as there are indices, and each of
those forms has finitely many values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from gingham.affine.flatten import FlatContraction, UnboundedIndex, flatten_contraction
from gingham.affine.form import LinearForm

Point = tuple[int, ...]
Row = list[Fraction]


@dataclass(frozen=True)
class Contraction:
    """The arguments of `flatten_contraction`."""

    rank: int
    accesses: list[list[LinearForm]]
    shapes: list[list[int]]
    constraints: list[tuple[LinearForm, int]]

    def flatten(self) -> FlatContraction:
        output, *inputs = self.accesses
        return flatten_contraction(
            self.rank, output, inputs, self.shapes, self.constraints
        )

    @property
    def bounded(self) -> list[tuple[LinearForm, int]]:
        pairs = zip(self.accesses, self.shapes, strict=True)
        accesses = [b for a, s in pairs for b in zip(a, s, strict=True)]
        return accesses + self.constraints

    def is_valid(self, point: Sequence[int]) -> bool:
        values = ((f.evaluate(point), bound) for f, bound in self.bounded)
        return all(v.denominator == 1 and 0 <= v < bound for v, bound in values)

    def cells(self, point: Sequence[int]) -> tuple[tuple[object, ...], ...]:
        return tuple(tuple(f.evaluate(point) for f in a) for a in self.accesses)


def reduced(rows: Sequence[Row], row: Sequence[Fraction | int]) -> Row:
    """`row` without its parts along `rows`, which are reduced themselves."""
    rest = [Fraction(entry) for entry in row]
    for other in rows:
        pivot = next(i for i, entry in enumerate(other) if entry)
        factor = rest[pivot] / other[pivot]
        rest = [a - factor * b for a, b in zip(rest, other, strict=True)]
    return rest


def independent(contraction: Contraction) -> tuple[list[int], list[Row]]:
    """Which bounded forms are a basis of the row space, and their reduced rows."""
    chosen: list[int] = []
    rows: list[Row] = []
    bounded = contraction.bounded
    for position in sorted(range(len(bounded)), key=lambda i: bounded[i][1]):
        rest = reduced(rows, bounded[position][0].coefficients)
        if any(rest):
            chosen.append(position)
            rows.append(rest)
    return chosen, rows


def solve(matrix: Sequence[Sequence[Fraction | int]], right: Sequence[Fraction]) -> Row:
    """The x with `matrix @ x = right` for a square regular matrix."""
    rows = [
        [Fraction(e) for e in row] + [value]
        for row, value in zip(matrix, right, strict=True)
    ]
    for step in range(len(rows)):
        pivot = next(r for r in range(step, len(rows)) if rows[r][step])
        rows[step], rows[pivot] = rows[pivot], rows[step]
        rows[step] = [entry / rows[step][step] for entry in rows[step]]
        for r in range(len(rows)):
            if r != step:
                factor = rows[r][step]
                pairs = zip(rows[r], rows[step], strict=True)
                rows[r] = [a - factor * b for a, b in pairs]
    return [row[-1] for row in rows]


def valid_points(contraction: Contraction) -> set[Point]:
    """All valid points of a contraction whose bounded forms have full rank."""
    chosen, _ = independent(contraction)
    forms = [contraction.bounded[i][0] for i in chosen]
    bounds = [contraction.bounded[i][1] for i in chosen]
    matrix = [form.coefficients for form in forms]
    unit = [[Fraction(i == j) for j in range(len(forms))] for i in range(len(forms))]
    inverse = list(zip(*(solve(matrix, column) for column in unit), strict=True))
    found: set[Point] = set()
    for values in product(*map(range, bounds)):
        shifted = [v - f.constant for v, f in zip(values, forms, strict=True)]
        exact = [
            sum((a * b for a, b in zip(row, shifted, strict=True)), Fraction(0))
            for row in inverse
        ]
        if any(value.denominator != 1 for value in exact):
            continue
        point = tuple(value.numerator for value in exact)
        if contraction.is_valid(point):
            found.add(point)
    return found


def flat_points(flat: FlatContraction) -> Iterator[Point]:
    """All points of the box that satisfy the constraints."""
    for point in product(*map(range, flat.ranges)):
        if all(form.evaluate(point) >= 0 for form in flat.constraints):
            yield point


def check(contraction: Contraction, flat: FlatContraction) -> None:
    """Compare with the enumeration, and check every promise of the data class."""
    expected = valid_points(contraction)
    points = list(flat_points(flat))
    originals = [tuple(f.evaluate(p) for f in flat.substitution) for p in points]
    assert Counter(originals) == Counter(expected)
    assert flat.is_empty == (not expected)

    cells = [
        tuple(tuple(f.evaluate(p) for f in a) for a in flat.accesses) for p in points
    ]
    assert Counter(cells) == Counter(contraction.cells(x) for x in expected)
    forms = [f for access in flat.accesses for f in access]
    forms += [*flat.constraints, *flat.substitution]
    assert all(f.is_integral and f.rank == len(flat.ranges) for f in forms)

    # The output index decides the output cell and nothing else does.
    head = slice(flat.output_rank)
    owners = {(point[head], cell[0]) for point, cell in zip(points, cells, strict=True)}
    assert len({point for point, _ in owners}) == len(owners)
    assert len({cell for _, cell in owners}) == len(owners)
    for form in flat.accesses[0]:
        assert not any(form.coefficients[flat.output_rank :])

    # So it is in the whole box, where constraints exclude points too.
    rest = (0,) * (len(flat.ranges) - flat.output_rank)
    heads = list(product(*map(range, flat.ranges[head])))
    outputs = {tuple(f.evaluate(p + rest) for f in flat.accesses[0]) for p in heads}
    assert len(outputs) == len(heads)

    if points:
        for values, extent in zip(zip(*points, strict=True), flat.ranges, strict=True):
            assert (min(values), max(values)) == (0, extent - 1)
            assert extent > 1
    for idle in flat.constraints:
        others = [f for f in flat.constraints if f is not idle]
        excluded = (
            point
            for point in product(*map(range, flat.ranges))
            if idle.evaluate(point) < 0 and all(f.evaluate(point) >= 0 for f in others)
        )
        assert next(excluded, None) is not None
    assert len(flat.names_of) == len(flat.ranges)
    for index, name in enumerate(flat.names_of):
        if name is not None:
            rest = flat.substitution[name] - flat.substitution[name].constant
            assert rest.single_dimension == index


PLAIN = st.sampled_from([0, 0, 0, 1, 1, -1])
NUMBERS = (
    PLAIN
    | st.integers(-3, 3)
    | st.builds(Fraction, st.integers(-3, 3), st.sampled_from([2, 2, 3, 4]))
)
EXTENTS = st.sampled_from([1, 2, 3, 3, 4, 4, 5, 6])


@st.composite
def contractions(draw: st.DrawFn) -> Contraction:
    rank = draw(st.integers(1, 4))
    center = draw(st.tuples(*[st.integers(-3, 3)] * rank))
    kinds = draw(st.sampled_from([[PLAIN], [PLAIN, PLAIN, NUMBERS], [NUMBERS]]))

    def bounded(form: LinearForm) -> tuple[LinearForm, int]:
        """The form with a bound, and mostly with an offset that `center` satisfies."""
        extent = draw(EXTENTS)
        if draw(st.sampled_from([True] * 19 + [False])):
            value = draw(st.integers(0, extent - 1))
            return form + (value - form.evaluate(center)), extent
        return form + draw(NUMBERS), draw(st.integers(0, 6))

    def pair() -> tuple[LinearForm, int]:
        if draw(st.booleans()):
            return bounded(LinearForm.dimension(draw(st.integers(0, rank - 1)), rank))
        kind = draw(st.sampled_from(kinds))
        terms = draw(st.lists(kind, min_size=rank, max_size=rank))
        return bounded(LinearForm.of(terms))

    tensors = [
        [pair() for _ in range(draw(st.integers(0, 3)))]
        for _ in range(draw(st.integers(1, 3)))
    ]
    constraints = [pair() for _ in range(draw(st.sampled_from([0, 0, 1, 2])))]
    if draw(st.sampled_from([True] * 5 + [False])):
        # Most contractions bound all of their indices.
        for index in range(rank):
            value = bounded(LinearForm.dimension(index, rank))
            (constraints if draw(st.booleans()) else tensors[-1]).append(value)
    accesses = [[form for form, _ in tensor] for tensor in tensors]
    shapes = [[extent for _, extent in tensor] for tensor in tensors]
    return Contraction(rank, accesses, shapes, constraints)


@st.composite
def transposed(draw: st.DrawFn) -> Contraction:
    """Windows with a stride, mostly in the output, as gradients have them."""
    axes = draw(st.integers(1, 2))
    rank = 2 * axes + 1
    output: list[tuple[LinearForm, int]] = []
    image: list[tuple[LinearForm, int]] = []
    kernel: list[tuple[LinearForm, int]] = []
    for axis in range(axes):
        x = LinearForm.dimension(2 * axis, rank)
        tap = LinearForm.dimension(2 * axis + 1, rank)
        stride = draw(st.sampled_from([2, 2, 3, -2, 1, 4, 5, 0]))
        taps = draw(st.sampled_from([3, 4, 2, 1, 5, 7] if axes == 1 else [3, 4, 2, 1]))
        size = draw(st.sampled_from([4, 5, 3, 6, 2, 1] if axes == 1 else [3, 2, 1]))
        offset, margin = draw(st.integers(-2, 3)), draw(st.integers(-2, 3))
        scale = draw(st.sampled_from([1, 1, 1, 1, 2, Fraction(1, 2)]))
        form = (x * stride + tap * draw(st.sampled_from([1, 1, 1, 2])) + offset) * scale
        reach = abs(stride) * (size - 1) + taps
        output.append((form, max(reach + margin, 1)))
        image.append((x, size))
        kernel.append((tap, taps))
    channel = (LinearForm.dimension(rank - 1, rank), draw(st.integers(1, 2)))
    where = draw(st.sampled_from([output, image, kernel]))
    where.insert(draw(st.integers(0, len(where))), channel)
    tensors = [output, image, kernel]
    if draw(st.sampled_from([False, False, False, True])):
        tensors = [image, output, kernel]
    constraints = kernel if draw(st.booleans()) else []
    tensors = [tensor for tensor in tensors if tensor is not constraints]
    accesses = [[form for form, _ in tensor] for tensor in tensors]
    shapes = [[extent for _, extent in tensor] for tensor in tensors]
    return Contraction(rank, accesses, shapes, constraints)


@given(transposed())
@settings(deadline=None, max_examples=300)
def test_windows_with_strides(contraction: Contraction) -> None:
    flat = contraction.flatten()
    assume(prod(flat.ranges) <= 10_000)
    has_digits = any(len(form.support) > 1 for form in flat.accesses[0])
    event("digits" if has_digits else "no digits")
    check(contraction, flat)


@given(contractions())
@settings(deadline=None, max_examples=600)
def test_flat_points_are_the_valid_points(contraction: Contraction) -> None:
    chosen, _ = independent(contraction)
    assume(len(chosen) == contraction.rank)
    flat = contraction.flatten()
    assume(prod(flat.ranges) <= 10_000)
    check(contraction, flat)


@given(contractions())
@settings(deadline=None, max_examples=200)
def test_infinitely_many_points_are_an_error(contraction: Contraction) -> None:
    """One more index moves with the first: only their difference is bounded."""

    def widened(form: LinearForm) -> LinearForm:
        return LinearForm((*form.coefficients, -form.coefficients[0]), form.constant)

    assume(len(independent(contraction)[0]) == contraction.rank)
    free = Contraction(
        contraction.rank + 1,
        [[widened(f) for f in access] for access in contraction.accesses],
        contraction.shapes,
        [(widened(form), bound) for form, bound in contraction.constraints],
    )
    if not valid_points(contraction):
        assert free.flatten().is_empty
        return
    with pytest.raises(UnboundedIndex) as caught:
        free.flatten()
    _, rows = independent(free)
    units = [LinearForm.dimension(i, free.rank).coefficients for i in range(free.rank)]
    expected = tuple(i for i, unit in enumerate(units) if any(reduced(rows, unit)))
    assert caught.value.indices == expected
    assert caught.value.index == expected[0]

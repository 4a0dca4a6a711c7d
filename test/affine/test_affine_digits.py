"""Tests of taking variables apart into digits, against an enumeration."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import prod

from hypothesis import assume, event, given
from hypothesis import strategies as st

from gingham.affine.digits import Digits, Row, split_into_digits
from gingham.affine.form import LinearForm

Point = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """Rows over a basis in echelon form, and all points of a box that satisfy them."""

    rows: list[Row]
    points: set[Point]

    @staticmethod
    def of(rows: list[Row], box: list[tuple[int, int]]) -> Case:
        ranges = (range(low, high + 1) for low, high in box)
        points = {
            point
            for point in product(*ranges)
            if all(row.low <= row.form.evaluate(point) <= row.high for row in rows)
        }
        return Case(rows, points)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        return [(min(v), max(v)) for v in zip(*self.points, strict=True)]

    def digits(self) -> Digits:
        return split_into_digits(self.rows, self.bounds)


def row(low: int, high: int, *terms: int) -> Row:
    return Row(LinearForm(terms[:-1], terms[-1]), low, high)


def check(case: Case) -> Digits:
    """The new variables are in their ranges and reach every point, each once."""
    digits = case.digits()
    found: Counter[Point] = Counter()
    for values in product(*map(range, digits.extents)):
        if any(not 0 <= form.evaluate(values) < end for form, end in digits.limits):
            continue
        found[tuple(int(form.evaluate(values)) for form in digits.change)] += 1
    assert case.points <= set(found)
    assert set(found.values()) == {1}
    whole = [high - low + 1 for low, high in case.bounds]
    assert prod(digits.extents) <= prod(whole)
    assert list(digits.parents) == sorted(digits.parents)
    return digits


def test_a_window_with_a_stride() -> None:
    # o = y0, i = 2*y1 + y0 with four values: two for each parity of o.
    case = Case.of([row(0, 15, 1, 0, 0), row(0, 3, 1, 2, 0)], [(0, 15), (-8, 8)])
    digits = check(case)
    assert digits.extents == (8, 2, 2)
    assert digits.parents == (0, 0, 1)


def test_a_window_of_the_other_parity() -> None:
    # With an offset of 1 the sign of the digit does what a shift would do.
    case = Case.of([row(0, 15, 1, 0, 0), row(0, 3, 1, 2, 1)], [(0, 15), (-8, 8)])
    assert check(case).extents == (8, 2, 2)


def test_a_window_that_starts_between() -> None:
    # Three taps with a stride of 3, from 1 on: the digit starts one cell early.
    case = Case.of([row(0, 29, 1, 0, 0), row(0, 2, 1, 3, 1)], [(0, 29), (-10, 10)])
    assert sorted(check(case).extents) == [1, 3, 11]


def test_nothing_to_split() -> None:
    case = Case.of([row(0, 9, 1, 0, 0), row(0, 2, 0, 1, 0)], [(0, 9), (0, 2)])
    digits = check(case)
    assert not digits.is_changed
    assert digits.extents == (10, 3)


def test_digits_that_save_nothing() -> None:
    # The two values of y0 differ in parity anyway.
    case = Case.of([row(0, 1, 1, 0, 0), row(0, 3, 1, 2, 0)], [(0, 1), (-1, 1)])
    assert check(case).parents == (0, 1)


def test_digits_of_digits() -> None:
    # y0 = 24a + 8b + 4c + d, the strides of a number with four digits.
    rows = [
        row(0, 167, 1, 0, 0, 0, 0),
        row(0, 3, 1, 4, 0, 0, 0),
        row(0, 1, 0, -1, 2, 0, 0),
        row(0, 2, 0, 0, -1, 3, 0),
    ]
    points = {
        (24 * a + 8 * b + 4 * c + d, -(6 * a + 2 * b + c), -(3 * a + b), -a)
        for a, b, c, d in product(range(7), range(3), range(2), range(4))
    }
    digits = check(Case(rows, points))
    assert prod(digits.extents) == 168


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank = draw(st.integers(1, 3))
    rows: list[Row] = []
    for variable in range(rank):
        pivot = draw(st.sampled_from([1, 1, 2, 2, 3, 4, 5]))
        before = [draw(st.integers(0, pivot - 1)) for _ in range(variable)]
        after = [0] * (rank - variable - 1)
        form = LinearForm((*before, pivot, *after), draw(st.integers(-3, 3)))
        low = draw(st.integers(-2, 2))
        rows.append(Row(form, low, low + draw(st.sampled_from([0, 1, 2, 3, 4, 7, 12]))))
    # The first variable is as wide as its row allows, the others follow.
    return Case.of(rows, [(-16, 16)] * rank)


@given(cases())
def test_points_are_kept(case: Case) -> None:
    assume(case.points)
    digits = check(case)
    event("split" if digits.limits else "whole")

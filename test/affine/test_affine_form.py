"""Linear forms: exact, canonical arithmetic, against evaluation at points."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.affine.form import LinearForm, Rational

RANK = 3

rationals = st.fractions(-5, 5, max_denominator=4)
integers = st.integers(-5, 5)
points = st.tuples(*[rationals] * RANK)


def forms(
    rank: int = RANK, numbers: st.SearchStrategy[Rational] = rationals
) -> st.SearchStrategy[LinearForm]:
    terms = st.lists(numbers, min_size=rank, max_size=rank)
    return st.builds(LinearForm.of, terms, numbers)


@given(forms(), forms(), rationals, points)
def test_arithmetic_is_that_of_values(
    left: LinearForm, right: LinearForm, factor: Fraction, point: tuple[Fraction, ...]
) -> None:
    a, b = left.evaluate(point), right.evaluate(point)
    assert (left + right).evaluate(point) == a + b
    assert (left - right).evaluate(point) == a - b
    assert (left + factor).evaluate(point) == a + factor
    assert (left - factor).evaluate(point) == a - factor
    assert (-left).evaluate(point) == -a
    assert (left * factor).evaluate(point) == a * factor


@given(forms(), forms())
def test_equal_values_are_equal_objects(left: LinearForm, right: LinearForm) -> None:
    assert left + right == right + left
    assert hash(left + right) == hash(right + left)
    assert left - left == LinearForm.constant_of(0, RANK)
    assert (left + right) - right == left
    assert (left == right) == (left - right == LinearForm.constant_of(0, RANK))


@given(forms())
def test_integers_are_stored_as_int(form: LinearForm) -> None:
    for number in ((form * 12).coefficients, form.coefficients):
        assert all(isinstance(n, int) == (n.denominator == 1) for n in number)
    assert (form * 12).is_integral
    assert form.is_integral == all(
        isinstance(n, int) for n in (*form.coefficients, form.constant)
    )


@given(forms(), st.lists(forms(2), min_size=RANK, max_size=RANK), points)
def test_substitution_is_composition(
    form: LinearForm, replacements: list[LinearForm], point: tuple[Fraction, ...]
) -> None:
    inner = point[:2]
    values = [replacement.evaluate(inner) for replacement in replacements]
    assert form.substitute(replacements).evaluate(inner) == form.evaluate(values)


@given(forms(), st.tuples(*[st.integers(0, 4)] * RANK), st.tuples(*[rationals] * 5))
def test_remap_moves_dimensions(
    form: LinearForm, places: tuple[int, ...], point: tuple[Fraction, ...]
) -> None:
    moved = form.remap(dict(enumerate(places)), 5)
    assert moved.rank == 5
    assert moved.evaluate(point) == form.evaluate([point[place] for place in places])


@given(forms(numbers=integers), st.tuples(*[st.integers(1, 4)] * RANK))
def test_bounds_are_reached(form: LinearForm, ranges: tuple[int, ...]) -> None:
    values = [form.evaluate(point) for point in product(*map(range, ranges))]
    assert form.bounds(ranges) == (min(values), max(values))


@given(forms(), points)
def test_text_means_the_form(form: LinearForm, point: tuple[Fraction, ...]) -> None:
    names = ["x", "y", "z"]
    text = form.format(names)
    parts = text.replace(" - ", " + -").split(" + ")
    total = Fraction(0)
    for part in parts:
        sign = -1 if part.startswith("-") else 1
        number, _, name = part.removeprefix("-").rpartition(" * ")
        value = point[names.index(name)] if name in names else Fraction(name)
        total += sign * Fraction(number or 1) * value
    assert total == form.evaluate(point)


def test_text() -> None:
    names = ["i", "j", "k"]
    assert LinearForm.of([2, -1, 0], 3).format(names) == "2 * i - j + 3"
    assert LinearForm.of([-1, 0, 0], -1).format(names) == "-i - 1"
    assert LinearForm.of([0, 0, 0]).format(names) == "0"
    assert LinearForm.of([0, 0, 0], -2).format(names) == "-2"
    assert LinearForm(()).format([]) == "0"


@given(forms())
def test_support_and_constants(form: LinearForm) -> None:
    assert form.support == tuple(i for i in range(RANK) if form.coefficients[i] != 0)
    assert form.is_constant == (not form.support)


def test_single_dimension() -> None:
    assert LinearForm.dimension(1, RANK).single_dimension == 1
    assert LinearForm.dimension(1, RANK, 2).single_dimension is None
    assert (LinearForm.dimension(1, RANK) + 1).single_dimension is None
    assert LinearForm.of([1, 1, 0]).single_dimension is None
    assert LinearForm.constant_of(0, RANK).single_dimension is None


def test_ranks_must_agree() -> None:
    with pytest.raises(ValueError, match="cannot add forms of rank 1 and 2"):
        _ = LinearForm.dimension(0, 1) + LinearForm.dimension(0, 2)
    with pytest.raises(ValueError, match="expected 2 replacements, got 1"):
        LinearForm.dimension(0, 2).substitute([LinearForm.dimension(0, 1)])

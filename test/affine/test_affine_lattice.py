"""Tests of the lattices on which rational forms are integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.affine.lattice import identity_forms, integer_points

HALF = Fraction(1, 2)


@st.composite
def rational_forms(draw: st.DrawFn, rank: int, most: int) -> list[LinearForm]:
    number = st.builds(Fraction, st.integers(-3, 3), st.sampled_from([1, 1, 2, 3, 4]))
    numbers = st.lists(number, min_size=rank, max_size=rank)
    forms = st.builds(LinearForm.of, numbers, number)
    return draw(st.lists(forms, max_size=most))


def coordinates(forms: Sequence[LinearForm], point: Sequence[int]) -> list[int] | None:
    """The z with `forms(z) = point`, or None; needs the echelon form, and so tests it.

    Reading downwards, a form brings in at most one new variable.
    """
    known: dict[int, Fraction] = {}
    for form, value in zip(forms, point, strict=True):
        rest = Fraction(value) - form.constant
        new = [d for d in form.support if d not in known]
        rest -= sum(form.coefficients[d] * known[d] for d in form.support if d in known)
        assert len(new) <= 1
        if new:
            assert 0 <= form.constant < form.coefficients[new[0]]
            known[new[0]] = rest / form.coefficients[new[0]]
        elif rest:
            return None
    if any(value.denominator != 1 for value in known.values()):
        return None
    return [known[d].numerator for d in sorted(known)]


@given(st.data(), st.integers(1, 3))
@settings(deadline=None, max_examples=300)
def test_just_the_integral_points(data: st.DataObject, rank: int) -> None:
    integral = data.draw(rational_forms(rank, 3))
    zero = data.draw(rational_forms(rank, 1))
    result = integer_points(rank, integral, zero)

    points = [
        x
        for x in product(range(-6, 7), repeat=rank)
        if all(form.evaluate(x).denominator == 1 for form in integral)
        and not any(form.evaluate(x) for form in zero)
    ]
    if result is None:
        assert not points
        return
    size = result[0].rank
    assert all(form.is_integral for form in result)
    for z in product(range(-2, 3), repeat=size):
        x = [form.evaluate(z) for form in result]
        assert all(form.evaluate(x).denominator == 1 for form in integral)
        assert not any(form.evaluate(x) for form in zero)
    for x in points:
        found = coordinates(result, x)
        assert found is not None
        assert len(found) == size


@given(st.data(), st.integers(1, 3))
@settings(deadline=None, max_examples=200)
def test_none_means_no_point(data: st.DataObject, rank: int) -> None:
    """Forms that are integers at one point at least always have a lattice."""
    point = data.draw(st.tuples(*[st.integers(-5, 5)] * rank))
    forms = data.draw(rational_forms(rank, 3))
    integral = [form - form.evaluate(point) for form in forms]
    zero = [form - form.evaluate(point) for form in data.draw(rational_forms(rank, 1))]
    result = integer_points(rank, integral, zero)
    assert result is not None
    assert coordinates(result, point) is not None


def test_integral_forms_change_nothing() -> None:
    forms = [LinearForm.of([1, 2, 0], 3), LinearForm.of([0, 0, -1])]
    assert integer_points(3, forms) == identity_forms(3)
    assert integer_points(0, []) == ()


def test_even_sum() -> None:
    # i/2 + k/2: i = z0, k = z0 + 2 z1. The index between them is left alone.
    result = integer_points(3, [LinearForm.of([HALF, 0, HALF])])
    assert result == (
        LinearForm.of([1, 0, 0]),
        LinearForm.of([0, 1, 0]),
        LinearForm.of([1, 0, 2]),
    )


def test_odd_numbers() -> None:
    result = integer_points(1, [LinearForm.of([HALF], -HALF)])
    assert result == (LinearForm.of([2], 1),)


def test_equation_takes_a_variable() -> None:
    # 2 i = 3 j, and k stays.
    result = integer_points(3, [], [LinearForm.of([2, -3, 0])])
    assert result == (
        LinearForm.of([3, 0]),
        LinearForm.of([2, 0]),
        LinearForm.of([0, 1]),
    )


def test_no_point() -> None:
    # i/2 and (i + 1)/2 are never both integers; 2i + 4j is never 1; neither is 1/2.
    halves = [LinearForm.of([HALF]), LinearForm.of([HALF], HALF)]
    assert integer_points(1, halves) is None
    assert integer_points(2, [], [LinearForm.of([2, 4], -1)]) is None
    assert integer_points(1, [LinearForm.constant_of(HALF, 1)]) is None
    assert integer_points(1, [], [LinearForm.constant_of(3, 1)]) is None

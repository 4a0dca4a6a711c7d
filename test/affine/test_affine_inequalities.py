"""Tests of integer inequalities, against an enumeration of the points of a box."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.affine.inequalities import (
    components,
    direction,
    negated,
    opposite,
    primitive,
    strongest,
    tightened,
    within,
)

BOX = list(product(range(-5, 6), repeat=2))


def form(*terms: int) -> LinearForm:
    return LinearForm(terms[:-1], terms[-1])


FORMS = st.builds(form, st.integers(-4, 4), st.integers(-4, 4), st.integers(-9, 9))


def points(*forms: LinearForm) -> set[tuple[int, ...]]:
    return {p for p in BOX if all(f.evaluate(p) >= 0 for f in forms)}


def test_parallel_inequalities_are_merged() -> None:
    # 2i >= 3, 3i >= 1 and i >= 0 say i >= 2; -i >= -7 is the other side.
    forms = [form(2, 0, -3), form(3, 0, -1), form(1, 0, 0), form(-1, 0, 7)]
    assert strongest(forms) == (form(1, 0, -2), form(-1, 0, 7))


def test_sides_that_do_not_meet() -> None:
    # 2 <= 2i <= 3 holds for i = 1; 3 <= 2i + 2j <= 3 for no integers.
    assert strongest([form(2, 0, -2), form(-2, 0, 3)]) == (
        form(1, 0, -1),
        form(-1, 0, 1),
    )
    assert strongest([form(2, 2, -3), form(-2, -2, 3)]) is None
    assert strongest([form(0, 0, -1)]) is None
    assert strongest([form(0, 0, 4)]) == ()


def test_fractions_are_refused() -> None:
    with pytest.raises(ValueError, match="integer coefficients"):
        direction(form(1, 2, 0) * Fraction(1, 2))


@given(FORMS)
def test_one_inequality(f: LinearForm) -> None:
    tight = tightened(f)
    assert points(tight) == points(f)
    assert gcd(*direction(tight)) <= 1
    assert points(negated(f)) == set(BOX) - points(f)
    assert opposite(f) == direction(-f)
    row = primitive(f)
    divisor = gcd(*direction(f))
    assert tuple(divisor * entry for entry in row) == direction(f)


@given(st.lists(FORMS, max_size=6))
def test_the_strongest_have_the_same_points(forms: list[LinearForm]) -> None:
    kept = strongest(forms)
    if kept is None:
        assert not points(*forms)
        return
    assert points(*kept) == points(*forms)
    rows = [direction(f) for f in kept]
    assert len(set(rows)) == len(rows)
    assert all(gcd(*row) == 1 for row in rows)


@given(
    st.lists(
        st.lists(st.sampled_from([0, 0, 0, 1, -2]), min_size=5, max_size=5), max_size=5
    )
)
def test_components_share_no_form(rows: list[list[int]]) -> None:
    forms = [form(*row, 1) for row in rows]
    parts = components(forms, 5)
    assert sorted(d for dimensions, _ in parts for d in dimensions) == list(range(5))
    assert sum(len(own) for _, own in parts) == sum(any(row) for row in rows)
    for dimensions, own in parts:
        assert all({*f.support} <= {*dimensions} for f in own)
        assert all(within(f, dimensions).rank == len(dimensions) for f in own)
        # Finest: what is reached from one dimension over the forms is all of it.
        reached = {dimensions[0]}
        for _ in dimensions:
            reached.update(i for f in own if reached & {*f.support} for i in f.support)
        assert reached == {*dimensions}

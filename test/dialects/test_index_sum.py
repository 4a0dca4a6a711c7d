"""Sums over index values against their values at points."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import reduce
from itertools import product
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.dialects.index_sum import IndexSum, values_of

Sum: TypeAlias = IndexSum[str]

NAMES = "ijkl"
NUMBERS = st.integers(-5, 5)


def total(terms: list[tuple[str, int]], constant: int) -> Sum:
    parts = [Sum.value(name) * factor for name, factor in terms]
    return reduce(operator.add, parts, Sum((), constant))


SUMS = st.builds(
    total, st.lists(st.tuples(st.sampled_from(NAMES), NUMBERS), max_size=6), NUMBERS
)
POINTS = st.fixed_dictionaries({name: st.integers(0, 7) for name in NAMES})


def at(sum: Sum, point: Mapping[str, int]) -> int:
    found = sum.constant
    for name, coefficient in sum.terms:
        found += coefficient * point[name]
    return found


@given(SUMS, SUMS, NUMBERS, POINTS)
def test_arithmetic(
    one: Sum, other: Sum, factor: int, point: Mapping[str, int]
) -> None:
    first, second = at(one, point), at(other, point)
    assert at(one + other, point) == first + second
    assert at(one - other, point) == first - second
    assert at(one * factor, point) == first * factor
    assert at(-one + factor, point) == factor - first
    for found in (one + other, one - other, one * factor):
        names = [name for name, _ in found.terms]
        assert len({*names}) == len(names), "each value once"
        assert all(c for _, c in found.terms), "no coefficient zero"


@given(SUMS, st.dictionaries(st.sampled_from(NAMES), SUMS), POINTS)
def test_substitution(
    one: Sum,
    replacements: Mapping[str, Sum],
    point: Mapping[str, int],
) -> None:
    moved = {n: at(s, point) for n, s in replacements.items()}
    assert at(one.substitute(replacements), point) == at(one, {**point, **moved})
    rest = at(one, {**point, **dict.fromkeys(replacements, 0)})
    assert at(one.without(replacements), point) == rest


@given(SUMS, POINTS)
def test_forms(one: Sum, point: Mapping[str, int]) -> None:
    form, names = one.as_form()
    assert form.evaluate([point[name] for name in names]) == at(one, point)
    assert Sum.of(form, names) == one
    whole = one.form(NAMES)
    assert whole.evaluate([point[name] for name in NAMES]) == at(one, point)
    assert [whole.coefficients[NAMES.index(n)] for n in NAMES] == [
        one.coefficient(n) for n in NAMES
    ]


@given(SUMS, POINTS)
def test_bounds(one: Sum, extents: Mapping[str, int]) -> None:
    extents = {name: extent % 3 + 1 for name, extent in extents.items()}
    box = product(*(range(extents[name]) for name in NAMES))
    found = [at(one, dict(zip(NAMES, point, strict=True))) for point in box]
    assert one.bounds(extents.__getitem__) == (min(found), max(found))


def test_what_a_sum_is_of() -> None:
    i, j = Sum.value("i"), Sum.value("j")
    assert i.single_value == "i"
    assert [(i + 1).single_value, (i * 2).single_value] == [None, None]
    assert (i - i) == Sum()
    assert values_of([j + i, i * 3], first="k") == ["k", "j", "i"]
    assert (i + j).direction == (j + i).direction
    assert Sum.of(LinearForm((0, 2), 1), "ij") == j * 2 + 1

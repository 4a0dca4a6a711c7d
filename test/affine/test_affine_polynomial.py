"""Index expressions with symbols, against their values for numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.affine.polynomial import NonLinearError, Polynomial

INDICES, SYMBOLS = 2, 2

rationals = st.fractions(-4, 4, max_denominator=3)
powers = st.dictionaries(
    st.integers(0, SYMBOLS - 1), st.sampled_from((-2, -1, 1, 2)), max_size=SYMBOLS
).map(lambda chosen: tuple(sorted(chosen.items())))


def polynomials(
    indices: st.SearchStrategy[int | None],
) -> st.SearchStrategy[Polynomial]:
    monomials = st.tuples(indices, powers)
    return st.lists(st.tuples(monomials, rationals), max_size=4).map(Polynomial.of)


with_indices = polynomials(st.sampled_from((None, *range(INDICES))))
sizes = polynomials(st.none())
terms = st.tuples(powers, rationals.filter(bool)).map(
    lambda term: Polynomial.of([((None, term[0]), term[1])])
)
symbol_values = st.tuples(*[st.integers(1, 5)] * SYMBOLS)
points = st.tuples(*[rationals] * INDICES)


def value(
    polynomial: Polynomial, symbols: tuple[int, ...], point: tuple[Fraction, ...]
) -> Fraction:
    return Fraction(polynomial.bind(symbols, INDICES).evaluate(point))


@given(with_indices, with_indices, symbol_values, points)
def test_sums(
    left: Polynomial,
    right: Polynomial,
    symbols: tuple[int, ...],
    point: tuple[Fraction, ...],
) -> None:
    a, b = value(left, symbols, point), value(right, symbols, point)
    assert value(left + right, symbols, point) == a + b
    assert value(left - right, symbols, point) == a - b
    assert value(-left, symbols, point) == -a


@given(with_indices, sizes, terms, symbol_values, points)
def test_products_and_quotients(
    left: Polynomial,
    factor: Polynomial,
    divisor: Polynomial,
    symbols: tuple[int, ...],
    point: tuple[Fraction, ...],
) -> None:
    a, b = value(left, symbols, point), value(factor, symbols, point)
    assert value(left * factor, symbols, point) == a * b
    assert value(factor * left, symbols, point) == a * b
    assert value(left / divisor, symbols, point) == a / value(divisor, symbols, point)


@given(with_indices, with_indices, terms)
def test_equal_values_are_equal_objects(
    left: Polynomial, right: Polynomial, term: Polynomial
) -> None:
    assert left + right == right + left
    assert left - left == Polynomial()
    assert left * term / term == left
    assert hash(left + right) == hash(right + left)
    assert (left == right) == (left - right == Polynomial())


@given(with_indices, with_indices)
def test_two_indices_are_not_multiplied(left: Polynomial, right: Polynomial) -> None:
    assume(left.indices and right.indices)
    with pytest.raises(NonLinearError, match="product of two indices"):
        _ = left * right
    with pytest.raises(NonLinearError, match="division by an index"):
        _ = left / right


def test_divisors_are_one_term() -> None:
    one, size = Polynomial.constant(1), Polynomial.symbol(0)
    with pytest.raises(ZeroDivisionError):
        _ = size / Polynomial()
    with pytest.raises(NonLinearError, match="division by a sum of sizes"):
        _ = one / (size + one)
    with pytest.raises(ZeroDivisionError):
        (one / size).bind([0], 0)


@given(with_indices)
def test_what_occurs(polynomial: Polynomial) -> None:
    for symbol in range(SYMBOLS):
        shifted = polynomial.rename_symbols(
            {s: s + SYMBOLS if s == symbol else s for s in range(SYMBOLS)}
        )
        assert (shifted != polynomial) == (symbol in polynomial.symbols)
    for (index, _), _ in polynomial.terms:
        assert index is None or index in polynomial.indices


@given(with_indices, symbol_values, points)
def test_renaming_symbols(
    polynomial: Polynomial, symbols: tuple[int, ...], point: tuple[Fraction, ...]
) -> None:
    swapped = polynomial.rename_symbols({0: 1, 1: 0})
    first, second = symbols
    assert value(swapped, (second, first), point) == value(polynomial, symbols, point)
    together = polynomial.rename_symbols({0: 0, 1: 0})
    assert value(together, (first, 7), point) == value(
        polynomial, (first, first), point
    )


@given(st.lists(rationals, min_size=INDICES, max_size=INDICES), rationals)
def test_forms_are_polynomials_without_symbols(
    coefficients: list[Fraction], constant: Fraction
) -> None:
    form = LinearForm.of(coefficients, constant)
    polynomial = Polynomial.from_form(form)
    assert polynomial.form(INDICES) == form
    assert not polynomial.symbols
    assert polynomial.indices == set(form.support)


def test_symbols_are_not_in_a_form() -> None:
    with pytest.raises(ValueError, match="symbols"):
        Polynomial.symbol(0).form(1)


def test_text() -> None:
    i, k, p = Polynomial.index(0), Polynomial.index(1), Polynomial.symbol(0)
    half = Polynomial.constant(Fraction(1, 2))
    three = Polynomial.constant(3)
    names = ("ik".__getitem__, "PQ".__getitem__)
    shown = {
        "0": Polynomial(),
        "3": three,
        "-i": -i,
        "i - k": i - k,
        "3 * i + 1 / 2": three * i + half,
        "i / 2 + 3": half * i + three,
        "P * i / 2 - k / P": half * p * i - k / p,
        "i + P * P * k": p * p * k + i,
    }
    for text, polynomial in shown.items():
        assert polynomial.format(*names) == text

"""Index expressions whose coefficients may be symbolic: `s0*d0 + 1/2*d1 - s1 + 3`.

A Tile access is linear in its indices, but before shapes are known a coefficient may be
a size (`x*S`) or the inverse of one (`x/S`, an exact division). A `Polynomial` is a sum
of monomials, each a rational number times at most one index `d<i>` times powers of
symbols `s<j>`. Binding the symbols to numbers gives a `LinearForm`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from .form import LinearForm, Rational, normalized

Powers: TypeAlias = tuple[tuple[int, int], ...]
"""Symbols with their powers, ascending by symbol: `((0, 1), (2, -1))` is `s0 / s2`."""

Monomial: TypeAlias = tuple[int | None, Powers]
"""The index (None for a term without one) and the powers of symbols of one term."""


class NonLinearError(ValueError):
    """An operation whose result is not linear in the indices."""


def _multiply_powers(left: Powers, right: Powers) -> Powers:
    powers = dict(left)
    for symbol, power in right:
        powers[symbol] = powers.get(symbol, 0) + power
    return tuple(sorted((s, p) for s, p in powers.items() if p))


def _order(monomial: Monomial) -> tuple[bool, int, Powers]:
    index, powers = monomial
    return (index is None, -1 if index is None else index, powers)


@dataclass(frozen=True)
class Polynomial:
    """A canonical sum of monomials: terms are sorted, none has coefficient zero."""

    terms: tuple[tuple[Monomial, Rational], ...] = ()

    @staticmethod
    def of(terms: Iterable[tuple[Monomial, Rational]]) -> Polynomial:
        """The sum of these terms, equal monomials merged."""
        sums: dict[Monomial, Rational] = {}
        for monomial, coefficient in terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        kept = sorted((m for m, c in sums.items() if c), key=_order)
        return Polynomial(tuple((m, normalized(sums[m])) for m in kept))

    @staticmethod
    def constant(value: Rational) -> Polynomial:
        """The polynomial of a number alone; for 0 the one without terms."""
        return Polynomial.of([((None, ()), value)])

    @staticmethod
    def index(number: int) -> Polynomial:
        """The index `d<number>`."""
        return Polynomial.of([((number, ()), 1)])

    @staticmethod
    def symbol(number: int) -> Polynomial:
        """The symbol `s<number>`."""
        return Polynomial.of([((None, ((number, 1),)), 1)])

    @staticmethod
    def from_form(form: LinearForm) -> Polynomial:
        """The polynomial without symbols that equals a linear form."""
        terms: list[tuple[Monomial, Rational]] = [((None, ()), form.constant)]
        terms += [((i, ()), c) for i, c in enumerate(form.coefficients)]
        return Polynomial.of(terms)

    @property
    def indices(self) -> frozenset[int]:
        """The numbers of the indices that occur."""
        return frozenset(i for (i, _), _ in self.terms if i is not None)

    @property
    def symbols(self) -> frozenset[int]:
        """The numbers of the symbols that occur."""
        return frozenset(s for (_, powers), _ in self.terms for s, _ in powers)

    def __add__(self, other: Polynomial) -> Polynomial:
        if len(other.terms) == 1:
            return self._with_term(*other.terms[0])
        return Polynomial.of((*self.terms, *other.terms))

    def _with_term(self, monomial: Monomial, coefficient: Rational) -> Polynomial:
        """The sum with one term, which long sums are made of one by one."""
        key = _order(monomial)
        place = bisect_left(self.terms, key, key=lambda term: _order(term[0]))
        before, behind = self.terms[:place], self.terms[place:]
        if behind and behind[0][0] == monomial:
            coefficient = normalized(behind[0][1] + coefficient)
            behind = behind[1:]
        term = ((monomial, coefficient),) if coefficient else ()
        return Polynomial(before + term + behind)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + (-other)

    def __mul__(self, other: Polynomial) -> Polynomial:
        """The product; at most one factor may have indices, else `NonLinearError`."""
        if self.indices and other.indices:
            raise NonLinearError("the product of two indices is not linear")
        return Polynomial.of(
            (
                (i if i is not None else j, _multiply_powers(left, right)),
                a * b,
            )
            for (i, left), a in self.terms
            for (j, right), b in other.terms
        )

    def __truediv__(self, other: Polynomial) -> Polynomial:
        """The exact quotient by one term without an index, else `NonLinearError`."""
        if other.indices:
            raise NonLinearError("division by an index is not linear")
        if not other.terms:
            raise ZeroDivisionError("division of an index expression by zero")
        ((_, powers), coefficient), *rest = other.terms
        if rest:
            raise NonLinearError("division by a sum of sizes")
        inverse = tuple((s, -p) for s, p in powers)
        return Polynomial.of(
            ((i, _multiply_powers(p, inverse)), Fraction(c) / coefficient)
            for (i, p), c in self.terms
        )

    def bind(self, values: Sequence[int], rank: int) -> LinearForm:
        """The linear form over `rank` indices with `s<j>` replaced by `values[j]`.

        Raises ZeroDivisionError when a symbol in a denominator is zero.
        """
        coefficients: list[Rational] = [0] * rank
        constant: Rational = 0
        for (index, powers), coefficient in self.terms:
            value = Fraction(coefficient)
            for symbol, power in powers:
                value *= Fraction(values[symbol]) ** power
            if index is None:
                constant += value
            else:
                coefficients[index] += value
        return LinearForm.of(coefficients, constant)

    def form(self, rank: int) -> LinearForm:
        """The polynomial as a linear form; it must have no symbols."""
        if self.symbols:
            raise ValueError("a polynomial with symbols is not a linear form")
        return self.bind((), rank)

    def rename_symbols(self, numbers: Mapping[int, int]) -> Polynomial:
        """The polynomial with `s<j>` renamed to `s<numbers[j]>`; they may coincide."""
        result: list[tuple[Monomial, Rational]] = []
        for (index, powers), coefficient in self.terms:
            renamed: Powers = ()
            for symbol, power in powers:
                renamed = _multiply_powers(renamed, ((numbers[symbol], power),))
            result.append(((index, renamed), coefficient))
        return Polynomial.of(result)

    def format(
        self, index_name: Callable[[int], str], symbol_name: Callable[[int], str]
    ) -> str:
        """The polynomial as text, for example `2 * i + 1 / 2 * k - %P + 3`."""
        if not self.terms:
            return "0"
        text = ""
        for (index, powers), coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            factors = self._factors(
                abs(coefficient), index, powers, index_name, symbol_name
            )
            if text:
                text += f" {sign} {factors}"
            else:
                text = f"-{factors}" if sign == "-" else factors
        return text

    @staticmethod
    def _factors(
        magnitude: Rational,
        index: int | None,
        powers: Powers,
        index_name: Callable[[int], str],
        symbol_name: Callable[[int], str],
    ) -> str:
        names = [symbol_name(s) for s, p in powers for _ in range(max(p, 0))]
        if index is not None:
            names.append(index_name(index))
        if magnitude.numerator != 1 or not names:
            names.insert(0, str(magnitude.numerator))
        text = " * ".join(names)
        if magnitude.denominator != 1:
            text += f" / {magnitude.denominator}"
        for symbol, power in powers:
            text += f" / {symbol_name(symbol)}" * max(-power, 0)
        return text

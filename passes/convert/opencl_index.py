"""Index expressions of a kernel: linear forms over its SSA index values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...affine.form import LinearForm


@dataclass(frozen=True)
class IndexExpression:
    """`sum(coefficient * value) + constant`, each value once, no coefficient zero."""

    terms: tuple[tuple[SSAValue, int], ...] = ()
    constant: int = 0

    @staticmethod
    def value(value: SSAValue) -> IndexExpression:
        """The expression that is just one index value."""
        return IndexExpression(((value, 1),))

    @staticmethod
    def apply(
        form: LinearForm, arguments: Sequence[IndexExpression]
    ) -> IndexExpression:
        """An integer form with an expression in place of each dimension."""
        constant = form.constant.numerator
        terms: list[tuple[SSAValue, int]] = []
        for number in form.support:
            factor, argument = form.coefficients[number].numerator, arguments[number]
            constant += argument.constant * factor
            terms += [(value, c * factor) for value, c in argument.terms]
        return _sum(terms, constant)

    def __add__(self, other: IndexExpression) -> IndexExpression:
        return _sum((*self.terms, *other.terms), self.constant + other.constant)

    def __mul__(self, factor: int) -> IndexExpression:
        terms = ((value, c * factor) for value, c in self.terms)
        return _sum(terms, self.constant * factor)

    def __neg__(self) -> IndexExpression:
        return self * -1

    def plus(self, number: int) -> IndexExpression:
        """The expression with a number added."""
        return IndexExpression(self.terms, self.constant + number)

    def without(self, values: Collection[SSAValue]) -> IndexExpression:
        """The expression without the terms of some values."""
        terms = tuple((value, c) for value, c in self.terms if value not in values)
        return IndexExpression(terms, self.constant)

    @property
    def direction(self) -> frozenset[tuple[SSAValue, int]]:
        """The terms without their order: equal for expressions that are parallel."""
        return frozenset(self.terms)

    def bounds(self, extents: Mapping[SSAValue, int]) -> tuple[int, int]:
        """Least and greatest value while every value runs from 0 to its extent."""
        low = high = self.constant
        for value, coefficient in self.terms:
            reach = coefficient * (extents[value] - 1)
            low += min(reach, 0)
            high += max(reach, 0)
        return low, high

    def as_form(self) -> tuple[LinearForm, list[SSAValue]]:
        """A linear form and the values that it ranges over."""
        form = LinearForm(tuple(c for _, c in self.terms), self.constant)
        return form, [value for value, _ in self.terms]


def _sum(terms: Iterable[tuple[SSAValue, int]], constant: int) -> IndexExpression:
    sums: dict[SSAValue, int] = {}
    for value, coefficient in terms:
        sums[value] = sums.get(value, 0) + coefficient
    return IndexExpression(tuple((v, c) for v, c in sums.items() if c), constant)


@dataclass(frozen=True)
class KnownConditions:
    """Expressions that are at least zero wherever the surrounding code runs."""

    least: Mapping[frozenset[tuple[SSAValue, int]], int]
    """For each direction the smallest constant with which it is known to be >= 0."""

    @staticmethod
    def none() -> KnownConditions:
        return KnownConditions({})

    def and_also(self, conditions: Iterable[IndexExpression]) -> KnownConditions:
        """These and further conditions."""
        least = dict(self.least)
        for condition in conditions:
            constant = least.get(condition.direction, condition.constant)
            least[condition.direction] = min(constant, condition.constant)
        return KnownConditions(least)

    def imply(self, condition: IndexExpression) -> bool:
        """Whether a known condition is the same or stronger."""
        constant = self.least.get(condition.direction)
        return constant is not None and constant <= condition.constant

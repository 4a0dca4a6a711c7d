"""Sums over index values: `2 * %i - %k + 3`.

A `LinearForm` knows its dimensions by number only, and the op that it belongs to says
which values they are. What moves forms from one op to another, or adds those of several
blocks, works with sums, which carry their values along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar
from xdsl.ir import SSAValue

from ..affine.form import LinearForm

Value = TypeVar("Value", bound=Hashable, default=SSAValue)
"""What a sum is over: SSA values mostly."""


@dataclass(frozen=True)
class IndexSum(Generic[Value]):
    """`sum(coefficient * value) + constant`, each value once, no coefficient zero."""

    terms: tuple[tuple[Value, int], ...] = ()
    constant: int = 0

    @staticmethod
    def value(value: Value) -> IndexSum[Value]:
        """The sum that is just one index value."""
        return IndexSum(((value, 1),))

    @staticmethod
    def of(form: LinearForm, values: Sequence[Value]) -> IndexSum[Value]:
        """An integer form over values, which are all different."""
        coefficients = form.coefficients
        terms = tuple([(values[n], coefficients[n].numerator) for n in form.support])
        return IndexSum(terms, form.constant.numerator)

    def __add__(self, other: IndexSum[Value] | int) -> IndexSum[Value]:
        if isinstance(other, int):
            return IndexSum(self.terms, self.constant + other)
        return _sum((*self.terms, *other.terms), self.constant + other.constant)

    def __sub__(self, other: IndexSum[Value] | int) -> IndexSum[Value]:
        return self + (-other)

    def __mul__(self, factor: int) -> IndexSum[Value]:
        if factor == 0:
            return IndexSum()
        terms = tuple((value, c * factor) for value, c in self.terms)
        return IndexSum(terms, self.constant * factor)

    def __neg__(self) -> IndexSum[Value]:
        return self * -1

    def substitute(
        self, replacements: Mapping[Value, IndexSum[Value]]
    ) -> IndexSum[Value]:
        """The sum with another one in place of some of its values."""
        if not any(value in replacements for value, _ in self.terms):
            return self
        constant = self.constant
        terms: list[tuple[Value, int]] = []
        for value, coefficient in self.terms:
            replacement = replacements.get(value)
            if replacement is None:
                terms.append((value, coefficient))
                continue
            constant += replacement.constant * coefficient
            terms += [(v, c * coefficient) for v, c in replacement.terms]
        return _sum(terms, constant)

    def without(self, values: Collection[Value]) -> IndexSum[Value]:
        """The sum without the terms of some values."""
        terms = tuple((value, c) for value, c in self.terms if value not in values)
        return IndexSum(terms, self.constant)

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that occur."""
        return tuple([value for value, _ in self.terms])

    def coefficient(self, value: Value) -> int:
        """How much the sum grows where a value grows by one."""
        return next((c for each, c in self.terms if each is value), 0)

    @property
    def single_value(self) -> Value | None:
        """`%i` when the sum is exactly `%i`, else None."""
        if self.constant or len(self.terms) != 1:
            return None
        ((value, coefficient),) = self.terms
        return value if coefficient == 1 else None

    @property
    def direction(self) -> frozenset[tuple[Value, int]]:
        """The terms without their order: equal for sums that are parallel."""
        return frozenset(self.terms)

    def bounds(self, extent_of: Callable[[Value], int]) -> tuple[int, int]:
        """Least and greatest value while every value runs from 0 to its extent."""
        low = high = self.constant
        for value, coefficient in self.terms:
            reach = coefficient * (extent_of(value) - 1)
            low += min(reach, 0)
            high += max(reach, 0)
        return low, high

    def as_form(self) -> tuple[LinearForm, tuple[Value, ...]]:
        """A form, and the values that it is over."""
        form = LinearForm(tuple([c for _, c in self.terms]), self.constant)
        return form, self.values

    def form(self, values: Sequence[Value]) -> LinearForm:
        """The sum as a form over values, of which those that occur must be some."""
        coefficients = dict(self.terms)
        return LinearForm(
            tuple([coefficients.get(value, 0) for value in values]), self.constant
        )


def values_of(
    sums: Iterable[IndexSum[Value]], first: Iterable[Value] = ()
) -> list[Value]:
    """The values of sums, each once, behind those that come first anyway."""
    occurring = (value for each in sums for value, _ in each.terms)
    return [*dict.fromkeys((*first, *occurring))]


def _sum(terms: Iterable[tuple[Value, int]], constant: int) -> IndexSum[Value]:
    sums: dict[Value, int] = {}
    for value, coefficient in terms:
        sums[value] = sums.get(value, 0) + coefficient
    return IndexSum(tuple([(v, c) for v, c in sums.items() if c]), constant)

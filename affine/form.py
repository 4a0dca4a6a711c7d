"""Linear forms with exact rational coefficients: `c0*d0 + c1*d1 + ... + constant`.

The working representation of every index expression. xDSL's `AffineExpr` compares
structurally and simplifies little; a `LinearForm` is canonical, so that equal forms are
equal objects, and arithmetic on it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

Rational: TypeAlias = int | Fraction

Owner = TypeVar("Owner")
T = TypeVar("T")


def normalized(value: Rational) -> Rational:
    """`value` as an int where it is one."""
    if type(value) is int:
        return value
    return value.numerator if value.denominator == 1 else Fraction(value)


class Kept(Generic[Owner, T]):
    """`functools.cached_property` without the lock that it has before Python 3.12.

    The lock takes twice as long as what is computed here, for each of many forms.
    """

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Owner, kind: type[Owner]) -> T:
        value = owner.__dict__[self._compute.__name__] = self._compute(owner)
        return value


@dataclass(frozen=True)
class LinearForm:
    """The value `sum(coefficients[i] * d[i]) + constant` over `rank` dimensions."""

    coefficients: tuple[Rational, ...]
    constant: Rational = 0

    @staticmethod
    def of(coefficients: Sequence[Rational], constant: Rational = 0) -> LinearForm:
        """The form with these coefficients, integers stored as int."""
        return LinearForm(tuple(map(normalized, coefficients)), normalized(constant))

    @staticmethod
    def constant_of(value: Rational, rank: int) -> LinearForm:
        """The form of `rank` dimensions that always has this value."""
        return LinearForm((0,) * rank, normalized(value))

    @staticmethod
    def dimension(index: int, rank: int, coefficient: Rational = 1) -> LinearForm:
        """The form `coefficient * d[index]`."""
        terms: list[Rational] = [0] * rank
        terms[index] = coefficient
        return LinearForm.of(terms)

    @property
    def rank(self) -> int:
        """How many dimensions the form is over, those with coefficient 0 included."""
        return len(self.coefficients)

    @property
    def is_constant(self) -> bool:
        """Whether no dimension has a coefficient other than 0."""
        return not any(self.coefficients)

    @Kept
    def is_integral(self) -> bool:
        """Whether all coefficients and the constant are integers."""
        return all([c.denominator == 1 for c in (*self.coefficients, self.constant)])

    @Kept
    def support(self) -> tuple[int, ...]:
        """The dimensions with a coefficient other than zero, ascending."""
        return tuple([i for i, c in enumerate(self.coefficients) if c])

    @property
    def single_dimension(self) -> int | None:
        """`i` when the form is exactly `d[i]`, else None."""
        if self.constant or len(self.support) != 1:
            return None
        (index,) = self.support
        return index if self.coefficients[index] == 1 else None

    def __add__(self, other: LinearForm | Rational) -> LinearForm:
        if not isinstance(other, LinearForm):
            return LinearForm(self.coefficients, normalized(self.constant + other))
        if self.rank != other.rank:
            raise ValueError(f"cannot add forms of rank {self.rank} and {other.rank}")
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return LinearForm.of([a + b for a, b in pairs], self.constant + other.constant)

    def __neg__(self) -> LinearForm:
        return self * -1

    def __sub__(self, other: LinearForm | Rational) -> LinearForm:
        return self + (-other)

    def __mul__(self, factor: Rational) -> LinearForm:
        return LinearForm.of(
            [c * factor for c in self.coefficients], self.constant * factor
        )

    def evaluate(self, point: Sequence[Rational]) -> Rational:
        """The value at a point of `rank` coordinates."""
        pairs = zip(self.coefficients, point, strict=True)
        return normalized(sum((c * x for c, x in pairs), self.constant))

    def substitute(self, replacements: Sequence[LinearForm]) -> LinearForm:
        """The form with every `d[i]` replaced by `replacements[i]`.

        All replacements share one rank, which is the rank of the result. A form of rank
        zero stays one.
        """
        if len(replacements) != self.rank:
            raise ValueError(
                f"expected {self.rank} replacements, got {len(replacements)}"
            )
        terms: list[Rational] = [0] * (replacements[0].rank if replacements else 0)
        constant = self.constant
        for dimension in self.support:
            coefficient, replacement = (
                self.coefficients[dimension],
                replacements[dimension],
            )
            constant += coefficient * replacement.constant
            for index in replacement.support:
                terms[index] += coefficient * replacement.coefficients[index]
        return LinearForm.of(terms, constant)

    def remap(self, positions: Mapping[int, int], rank: int) -> LinearForm:
        """The form over `rank` dimensions with `d[i]` moved to `d[positions[i]]`.

        Every dimension of the support must have a position; several may share one.
        """
        terms: list[Rational] = [0] * rank
        for index in self.support:
            terms[positions[index]] += self.coefficients[index]
        return LinearForm.of(terms, self.constant)

    def bounds(self, ranges: Sequence[int]) -> tuple[Rational, Rational]:
        """Smallest and largest value over the box `0 <= d[i] < ranges[i]`.

        The box must not be empty.
        """
        low = high = self.constant
        for coefficient, extent in zip(self.coefficients, ranges, strict=True):
            reach = coefficient * (extent - 1)
            low += min(reach, 0)
            high += max(reach, 0)
        return normalized(low), normalized(high)

    def format(self, names: Sequence[str]) -> str:
        """The form as text, terms in order of dimension: `2 * %i - %k + 3`."""
        terms = [
            (c, f"{n}" if abs(c) == 1 else f"{abs(c)} * {n}")
            for c, n in zip(self.coefficients, names, strict=True)
            if c
        ]
        if self.constant or not terms:
            terms.append((self.constant, f"{abs(self.constant)}"))
        sign, first = terms[0]
        text = f"-{first}" if sign < 0 else first
        for sign, term in terms[1:]:
            text += f" - {term}" if sign < 0 else f" + {term}"
        return text

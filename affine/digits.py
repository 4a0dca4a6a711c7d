"""Digits: variables taken apart so that a strided form leaves few values.

    O[2*x + i : 100] = +(I[x : 50]), i < 4      o = 2*x + i decides the cell
    i = o - 2*x                                 of four values, two have the parity of o

A box over `o` and `x` has 100 * 50 points, of which 198 are valid. The parity of `o` is
not linear in `o`, but it is a digit: with `o = 2*a + b`, where `0 <= b < 2`,

    i = 2*w + b,    x = a - w                   50 * 2 * 2 points

In general a basis in column Hermite normal form gives forms, one for each variable,

    f[i] = d[i]*y[i] + e[i,0]*y[0] + ... + e[i,i-1]*y[i-1] + c,    0 <= e[i,j] < d[i]

and a form that stays within narrow limits leaves `y[i]` as many values as the limits
are wide, divided by `d[i]`, if the other terms are small. So each `y[j]` with a
coefficient that `d[i]` does not divide is written `m*high + low`, where `m` is
`d[i] / gcd(d[i], e[i,j])`: now `d[i]` divides the coefficient of `high`, and `y[i]`
absorbs that term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from .form import LinearForm
from .inequalities import direction

_MOST_SHIFTS = 16
"""So many places for the first value of a low digit are tried."""


@dataclass(frozen=True)
class Row:
    """What a variable was chosen for: `low <= form <= high` at every point.

    `form` is an integer form over the basis. The variable's own coefficient is positive
    and the last that is not zero.
    """

    form: LinearForm
    low: int
    high: int


@dataclass(frozen=True)
class Digits:
    """New variables `0 <= v[k] < extents[k]` that contain every point of a basis."""

    change: tuple[LinearForm, ...]
    """Each variable of the basis as an integer form of the new ones."""

    extents: tuple[int, ...]

    parents: tuple[int, ...]
    """For each new variable the variable of the basis in whose place it stands. Those
    of one parent are neighbours, the highest digit first."""

    limits: tuple[tuple[LinearForm, int], ...] = ()
    """`0 <= form < limit` for each low digit as it was split off, in the new variables.
    With these, the points of the basis and of the new variables are in bijection."""

    @staticmethod
    def of(bounds: Sequence[tuple[int, int]]) -> Digits:
        """Every variable a single digit, counted from its least value."""
        rank = len(bounds)
        change = (
            LinearForm.dimension(j, rank) + low for j, (low, _) in enumerate(bounds)
        )
        extents = tuple(high - low + 1 for low, high in bounds)
        return Digits(tuple(change), extents, tuple(range(rank)))

    @property
    def is_changed(self) -> bool:
        """Whether there is more to it than counting from the least value."""
        return any(len(form.support) > 1 for form in self.change)

    def split(self, place: int, modulus: int, shift: int) -> Digits:
        """Write variable `place` as `modulus * high + low - shift`."""
        rank = len(self.extents)
        places = {k: k if k <= place else k + 1 for k in range(rank)}
        replacements = [
            LinearForm.dimension(places[k], rank + 1, modulus if k == place else 1)
            for k in range(rank)
        ]
        low = LinearForm.dimension(place + 1, rank + 1)
        replacements[place] = replacements[place] + (low - shift)
        extent = -(-(self.extents[place] + shift) // modulus)
        parent = self.parents[place]

        def spliced(values: tuple[int, ...], *two: int) -> tuple[int, ...]:
            return (*values[:place], *two, *values[place + 1 :])

        return Digits(
            tuple(form.substitute(replacements) for form in self.change),
            spliced(self.extents, extent, modulus),
            spliced(self.parents, parent, parent),
            (*self._limits(replacements), (low, modulus)),
        )

    def absorb(
        self, place: int, terms: Sequence[int], first: int, count: int
    ) -> Digits:
        """Put `v[place] + first - terms . v` in the place of `v[place]`.

        `count` is the number of values of the new variable.
        """
        rank = len(self.extents)
        replacements = [LinearForm.dimension(k, rank) for k in range(rank)]
        own = replacements[place] + first
        replacements[place] = own - LinearForm.of(terms)
        extents = (*self.extents[:place], count, *self.extents[place + 1 :])
        change = tuple(form.substitute(replacements) for form in self.change)
        return Digits(change, extents, self.parents, self._limits(replacements))

    def _limits(
        self, replacements: Sequence[LinearForm]
    ) -> tuple[tuple[LinearForm, int], ...]:
        return tuple((form.substitute(replacements), end) for form, end in self.limits)


def split_into_digits(rows: Sequence[Row], bounds: Sequence[tuple[int, int]]) -> Digits:
    """Digits of the variables of a basis in which few points are left to each row.

    `rows[i]` is the row of variable `i`; there may be fewer rows than variables.
    `bounds` has the least and the greatest value of every variable, taken by points of
    a set that is not empty. Where digits would not make the box smaller there are none.
    """
    digits = Digits.of(bounds)
    for variable, row in enumerate(rows):
        if len(row.form.support) > 1:
            digits = _aligned(digits, variable, row)
    return digits


def _aligned(digits: Digits, variable: int, row: Row) -> Digits:
    """The digits with those split that the row of a variable wants to be split."""
    place = digits.parents.index(variable)
    whole: set[int] = set()
    while True:
        terms = _Terms.of(row, digits, place)
        strided = [k for k in terms.strided(digits.extents) if k not in whole]
        if not strided:
            break
        position = strided[0]
        best = _best_shift(terms, digits, position)
        if best is None:
            whole.add(position)
            continue
        place += position < place
        whole = {k + 1 if k > position else k for k in whole}
        digits = digits.split(position, terms.modulus(position), best)
    terms = terms.reduced(digits.extents)
    first, count = terms.pivot_values(digits.extents)
    if count >= digits.extents[place]:
        return digits
    quotients = [
        (old - new) // terms.pivot
        for old, new in zip(_original(row, digits), terms.coefficients, strict=True)
    ]
    quotients[place] = 0
    return digits.absorb(place, quotients, first, count)


def _original(row: Row, digits: Digits) -> tuple[int, ...]:
    return direction(row.form.substitute(digits.change))


def _best_shift(terms: _Terms, digits: Digits, position: int) -> int | None:
    """Where the low digit of a variable should start; None to leave it whole.

    What counts is the number of points of the box; of equals the least shift.
    """
    modulus, extent = terms.modulus(position), digits.extents[position]
    best = None
    _, count = terms.reduced(digits.extents).pivot_values(digits.extents)
    least = extent * min(count, digits.extents[terms.place])
    for shift in range(min(modulus, _MOST_SHIFTS)):
        high = -(-(extent + shift) // modulus)
        extents = [*digits.extents]
        extents[position] = modulus
        shifted = terms.shifted(position, shift).reduced(extents)
        points = high * modulus * max(shifted.pivot_values(extents)[1], 1)
        if points < least:
            best, least = shift, points
    return best


@dataclass(frozen=True)
class _Terms:
    """A row over digits: `low <= coefficients . v + constant <= high`."""

    coefficients: tuple[int, ...]
    constant: int
    place: int
    """The pivot: the variable that is to take few values."""
    low: int
    high: int

    @staticmethod
    def of(row: Row, digits: Digits, place: int) -> _Terms:
        form = row.form.substitute(digits.change)
        constant = form.constant.numerator
        return _Terms(direction(form), constant, place, row.low, row.high)

    @property
    def pivot(self) -> int:
        return self.coefficients[self.place]

    def modulus(self, position: int) -> int:
        """The row depends on this variable modulo this, but for the pivot's term."""
        return self.pivot // gcd(self.pivot, self.coefficients[position])

    def strided(self, extents: Sequence[int]) -> list[int]:
        """The variables that have more values than the row tells apart."""
        return [
            k
            for k, coefficient in enumerate(self.coefficients)
            if coefficient % self.pivot and extents[k] > self.modulus(k)
        ]

    def shifted(self, position: int, shift: int) -> _Terms:
        """With `v - shift` in the place of a variable."""
        constant = self.constant - self.coefficients[position] * shift
        return _Terms(self.coefficients, constant, self.place, self.low, self.high)

    def reduced(self, extents: Sequence[int]) -> _Terms:
        """With all other coefficients less than the pivot, of either sign.

        The sign is chosen that leaves fewer values to the pivot's variable.
        """
        found = self._with([c % self.pivot for c in self.coefficients])
        for position, coefficient in enumerate(found.coefficients):
            if not coefficient or position == self.place:
                continue
            terms = [*found.coefficients]
            terms[position] -= self.pivot
            other = self._with(terms)
            if other.pivot_values(extents)[1] < found.pivot_values(extents)[1]:
                found = other
        return found

    def pivot_values(self, extents: Sequence[int]) -> tuple[int, int]:
        """First value and number of values of the pivot's variable in this row."""
        least = greatest = self.constant
        for position, coefficient in enumerate(self.coefficients):
            if position != self.place:
                reach = coefficient * (extents[position] - 1)
                least, greatest = least + min(reach, 0), greatest + max(reach, 0)
        first = -((greatest - self.low) // self.pivot)
        return first, max((self.high - least) // self.pivot - first + 1, 1)

    def _with(self, coefficients: list[int]) -> _Terms:
        coefficients[self.place] = self.pivot
        return _Terms(
            tuple(coefficients), self.constant, self.place, self.low, self.high
        )

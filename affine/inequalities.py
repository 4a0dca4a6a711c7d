"""Integer inequalities `form >= 0`: tightening, merging and taking apart.

All that can be said about a system of inequalities without solving it. Over integer
points `2i - 3 >= 0` says the same as `i - 2 >= 0`; of two inequalities with one
direction one is redundant; of two with opposite directions the sum tells whether they
meet in nothing, in an equation or in a slab.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from .form import LinearForm
from .matrix import Vector


def direction(form: LinearForm) -> Vector:
    """The coefficients of an integer form; ValueError when one is a fraction."""
    if not form.is_integral:
        raise ValueError(f"expected integer coefficients, got {form}")
    return tuple([c.numerator for c in form.coefficients])


def primitive(form: LinearForm) -> Vector:
    """The coefficients divided by what divides them all."""
    terms = direction(form)
    divisor = gcd(*terms) or 1
    return tuple(term // divisor for term in terms)


def tightened(form: LinearForm) -> LinearForm:
    """The strongest inequality with the same integer points as `form >= 0`.

    Its coefficients have no common divisor. A constant form is returned as it is.
    """
    terms = direction(form)
    divisor = gcd(*terms)
    if divisor <= 1:
        return form
    constant = form.constant.numerator // divisor
    return LinearForm(tuple(c // divisor for c in terms), constant)


def opposite(form: LinearForm) -> Vector:
    """The direction of the other side of the slab that `form >= 0` is one side of."""
    return tuple(-c for c in direction(form))


def negated(form: LinearForm) -> LinearForm:
    """The inequality that holds at just those integer points where `form < 0`."""
    return -form - 1


def strongest(forms: Iterable[LinearForm]) -> tuple[LinearForm, ...] | None:
    """The forms tightened, one for each direction, in order of first appearance.

    None when the system has no point for a plain reason: a constant is negative, or two
    opposite sides do not meet. Constants that are not negative are dropped.
    """
    constants: dict[Vector, int] = {}
    for form in forms:
        tight = tightened(form)
        terms, constant = direction(tight), tight.constant.numerator
        if any(terms):
            constants[terms] = min(constant, constants.get(terms, constant))
        elif constant < 0:
            return None
    for terms, constant in constants.items():
        if constant + constants.get(tuple(-c for c in terms), -constant) < 0:
            return None
    return tuple(LinearForm(terms, c) for terms, c in constants.items())


def components(
    forms: Sequence[LinearForm], rank: int
) -> list[tuple[tuple[int, ...], list[LinearForm]]]:
    """The finest split of the dimensions so that no form spans two parts.

    Pairs of dimensions, ascending, and the forms over them, still of rank `rank`. The
    solutions of the whole are the product of the solutions of the parts. Constant forms
    belong to no part.
    """
    part = list(range(rank))  # of each dimension, the smallest one connected to it
    for form in forms:
        touched = {part[i] for i in form.support}
        if len(touched) > 1:
            part = [min(touched) if p in touched else p for p in part]
    members: dict[int, list[int]] = {}
    for dimension, name in enumerate(part):
        members.setdefault(name, []).append(dimension)
    owned: dict[int, list[LinearForm]] = {name: [] for name in members}
    for form in forms:
        if form.support:
            owned[part[form.support[0]]].append(form)
    return [(tuple(members[name]), owned[name]) for name in members]


def within(form: LinearForm, dimensions: Sequence[int]) -> LinearForm:
    """`form` over only these dimensions, which must contain its support."""
    coefficients = tuple(form.coefficients[d] for d in dimensions)
    return LinearForm(coefficients, form.constant)


def interval(forms: Sequence[LinearForm]) -> tuple[int | None, int | None]:
    """Lower and upper bound that forms of one dimension `+-d + c >= 0` give; or None.

    The forms are tightened: their coefficient is 1 or -1.
    """
    low = [-f.constant.numerator for f in forms if f.coefficients[0] > 0]
    high = [f.constant.numerator for f in forms if f.coefficients[0] < 0]
    return max(low, default=None), min(high, default=None)

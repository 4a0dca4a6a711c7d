"""The integer points at which rational forms are integers or zero: affine lattices.

An access such as `I[i/2 + k/2]` is valid only where its value is an integer. The points
where that holds are an affine lattice `x = x0 + D z`, and in the variables `z` no
fraction is left ("defractionalization"):

    i/2 + k/2 integer      i = z0,  k = z0 + 2 z1     (i and k have one parity)

Equations between indices cut the lattice down to fewer variables in the same step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import lcm

from .form import LinearForm
from .matrix import Vector, column_hermite_normal_form, pivots, solve_integer, transpose


@cache
def identity_forms(rank: int) -> tuple[LinearForm, ...]:
    """The substitution that changes nothing."""
    return tuple(LinearForm.dimension(i, rank) for i in range(rank))


def integer_points(
    rank: int, integral: Sequence[LinearForm], zero: Sequence[LinearForm] = ()
) -> tuple[LinearForm, ...] | None:
    """The integer points where all `integral` forms are integers and all `zero` are 0.

    The result gives each of the `rank` variables as an integer form of new variables z:
    every integer z yields one of the points and every point comes from one z. None when
    there is no point. There are as many new variables as old ones, less the number of
    independent equations.

    The matrix D is in column Hermite normal form and `x0` reduced by it, so a variable
    is written with those before it, and one that no fractional form and no equation
    mentions stays itself. The identity when there is nothing to do.
    """
    fractional = [form for form in integral if not form.is_integral]
    equations = [form for form in zero if form.constant or not form.is_constant]
    if not fractional and not equations:
        return identity_forms(rank)
    involved = sorted({i for form in (*fractional, *equations) for i in form.support})
    solved = _solve(fractional, equations, involved)
    if solved is None:
        return None
    return _substitution(rank, involved, *solved)


def _solve(
    fractional: Sequence[LinearForm],
    equations: Sequence[LinearForm],
    involved: Sequence[int],
) -> tuple[Vector, tuple[Vector, ...]] | None:
    """Point and basis of the lattice over the involved variables alone.

    `a x + b` is a multiple of q when `a x - q w = -b` for some integer w: one more
    unknown for each fractional form, dropped again from the solution. It is decided by
    x, so the basis stays independent.
    """
    rows: list[Vector] = []
    right: list[int] = []
    for position, form in enumerate((*fractional, *equations)):
        scale = lcm(*(c.denominator for c in (*form.coefficients, form.constant)))
        scaled = form * scale
        quotient = [0] * len(fractional)
        if position < len(fractional):
            quotient[position] = -scale
        terms = [scaled.coefficients[i].numerator for i in involved]
        rows.append((*terms, *quotient))
        right.append(-scaled.constant.numerator)
    solution = solve_integer(rows, right)
    if solution is None:
        return None
    point, basis = solution
    size = len(involved)
    return point[:size], tuple(vector[:size] for vector in basis)


def _substitution(
    rank: int,
    involved: Sequence[int],
    point: Vector,
    basis: tuple[Vector, ...],
) -> tuple[LinearForm, ...]:
    """`x = x0 + D z` with D in Hermite form; z keeps the order of the variables."""
    matrix = transpose(basis) if basis else ((),) * len(involved)
    echelon, _ = column_hermite_normal_form(matrix)
    columns = transpose(echelon)
    rows = pivots(echelon)
    origin = list(point)
    for column, row in zip(columns, rows, strict=True):
        factor = origin[row] // column[row]
        origin = [a - factor * b for a, b in zip(origin, column, strict=True)]

    # A new variable stands where the old variable of its pivot stood.
    kept = sorted(set(range(rank)) - set(involved) | {involved[row] for row in rows})
    slots = [kept.index(involved[row]) for row in rows]
    forms: list[LinearForm] = []
    for variable in range(rank):
        if variable not in involved:
            forms.append(LinearForm.dimension(kept.index(variable), len(kept)))
            continue
        row = involved.index(variable)
        terms = [0] * len(kept)
        for slot, entry in zip(slots, echelon[row], strict=True):
            terms[slot] = entry
        forms.append(LinearForm.of(terms, origin[row]))
    return tuple(forms)

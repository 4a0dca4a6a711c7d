"""Bases: the variables in which a contraction is flattened.

The first variables of a basis decide the output cell, each cell by one value; the
others do not touch it. They come from the rows of the output access, and then from
slabs `low <= form <= high` that leave few values, as the columns of a Hermite normal
form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .digits import Row
from .form import LinearForm
from .inequalities import direction, opposite, primitive, strongest
from .matrix import EchelonBasis, Vector

Slabs: TypeAlias = dict[Vector, tuple[int, int]]
"""Least and greatest value of integer forms without a constant, by coefficients."""


@dataclass(frozen=True)
class Points:
    """Old indices in terms of current ones, and what limits these (`strongest`)."""

    substitution: tuple[LinearForm, ...]
    inequalities: tuple[LinearForm, ...]
    rank: int

    def under(
        self,
        change: tuple[LinearForm, ...],
        rank: int,
        limits: Sequence[LinearForm] = (),
    ) -> Points | None:
        """The same points in new variables; None when there are plainly none.

        `limits` are further inequalities, for changes that have more variables.
        """
        changed = (form.substitute(change) for form in self.inequalities)
        inequalities = strongest((*changed, *limits))
        if inequalities is None:
            return None
        forms = tuple(form.substitute(change) for form in self.substitution)
        return Points(forms, inequalities, rank)


@dataclass(frozen=True)
class Basis:
    """Points in variables of which the first `output_rank` decide the output cell.

    `rows` are the forms that the variables were chosen for, in the order of these.
    """

    points: Points
    output_rank: int
    rows: tuple[Row, ...]


def output_bases(points: Points, output: Sequence[LinearForm]) -> list[Basis]:
    """Choices of variables: without strided forms and, where there are any, with them.

    None at all when there is plainly no point.
    """
    settled = EchelonBasis(points.rank)
    outputs = [
        row
        for form in output
        if settled.add(row := primitive(form.substitute(points.substitution)))
    ]
    slabs = _slabs(points.inequalities)
    divisors = {row: settled.free_divisor(row) for row in slabs}
    found: list[Basis] = []
    for strided in (False, True):
        if strided and max(divisors.values(), default=0) <= 1:
            break
        basis, rows = settled.copy(), [*outputs]
        for row in _reduction_candidates(slabs, divisors if strided else {}):
            divisor = basis.free_divisor(row)
            if divisor == 1 or (strided and divisor):
                basis.add(row)
                rows.append(row)
        change = tuple(LinearForm(row) for row in basis.matrix)
        changed = points.under(change, points.rank)
        if changed is None:
            return []
        echelon = (
            Row(LinearForm(row).substitute(change), *_limits(slabs, row))
            for row in rows
        )
        found.append(Basis(changed, len(outputs), tuple(echelon)))
    return found


def _slabs(inequalities: Sequence[LinearForm]) -> Slabs:
    """The limits of each direction; of two opposite ones, of the first or positive."""
    constants = {direction(f): f.constant.numerator for f in inequalities}
    slabs: Slabs = {}
    for form in inequalities:
        row, other = direction(form), opposite(form)
        is_variable = len(form.support) == 1
        if other not in slabs and not (is_variable and min(row) < 0):
            slabs[row] = (-constants[row], constants[other])
    return slabs


def _limits(slabs: Slabs, row: Vector) -> tuple[int, int]:
    """Least and greatest value of a direction; the slab may be that of its opposite."""
    if row in slabs:
        return slabs[row]
    low, high = slabs[tuple(-entry for entry in row)]
    return -high, -low


def _reduction_candidates(slabs: Slabs, divisors: Mapping[Vector, int]) -> list[Vector]:
    """Directions of slabs that could be reduction indices, the best first.

    Few values are good, as they leave a small box; a variable is better than another
    form that has not less than half of its values; of equals the later one is taken.
    A row with a divisor has so many times fewer values to each output cell.
    """

    def weight(row: Vector) -> int:
        low, high = slabs[row]
        divisor = divisors.get(row, 1) or 1
        is_variable = divisor == 1 and sum(map(bool, row)) == 1
        values = (high - low) // divisor + 1
        return values if is_variable else 2 * values

    return sorted(reversed(slabs), key=weight)

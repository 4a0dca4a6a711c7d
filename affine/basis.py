"""Bases: the variables in which a contraction is flattened.

The first variables of a basis decide the output cell, each cell by one value; the
others do not touch it. They come from the rows of the output access, and then from
slabs `low <= form <= high` that leave few values, as the columns of a Hermite normal
form. Rows and form do not depend on the variables that the slabs are written in, so
that there is one basis for all ways to write a contraction. Of slabs that leave equally
many values the axes of tensors come first, then:

* of axes of which only one can be chosen, that one in which fewer indices of accesses
  run backward, then the later one: `x` for `I[x + i] * D[x]`, as with `y = x + i` there
  were `D[y - i]`;
* of such constraints, the one that is shorter in terms of the axes.

Source: the column Hermite normal form of a matrix of rows is unique (H. Cohen, A Course
in Computational Algebraic Number Theory, section 2.4), and where the rows have full
rank, so is the unimodular matrix that leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from .digits import Row
from .form import LinearForm
from .inequalities import primitive
from .matrix import EchelonBasis, Vector, dot
from .slabs import Points, Slab


@dataclass(frozen=True)
class Basis:
    """Points in variables of which the first `output_rank` decide the output cell.

    `rows` are the forms that the variables were chosen for, in the order of these.
    """

    points: Points
    output_rank: int
    rows: tuple[Row, ...]

    @property
    def bounds(self) -> list[tuple[int, int]] | None:
        """The exact bounds of the variables, where each is the form of its row."""
        if len(self.rows) < self.points.rank or any(
            row.form.single_dimension != j for j, row in enumerate(self.rows)
        ):
            return None
        return [(row.low, row.high) for row in self.rows]


def output_bases(points: Points, slabs: Sequence[Slab]) -> list[Basis]:
    """Choices of variables: without strided forms and, where there are any, with them.

    `slabs` are all that limits the points. None at all when there is plainly no point.
    """
    settled = EchelonBasis(points.rank)
    outputs = [row for row in map(primitive, points.accesses[0]) if settled.add(row)]
    divisors = {slab.row: settled.free_divisor(slab.row) for slab in slabs}
    choice = _Choice(slabs)
    found: list[Basis] = []
    for strided in (False, True):
        if strided and max(divisors.values(), default=0) <= 1:
            break
        basis = settled.copy()
        rows = [*outputs, *choice.extend(basis, divisors if strided else None)]
        # No variable is left that only the kernel of the other rows says.
        choice.extend(basis, divisors)
        change = tuple(LinearForm(row) for row in basis.matrix)
        changed = points.under(change, points.rank)
        if changed is None:
            return []
        echelon = (
            Row(LinearForm(row).substitute(change), *choice.limits(row)) for row in rows
        )
        found.append(Basis(changed, len(outputs), tuple(echelon)))
    return found


class _Choice:
    """Which slabs become indices of the reduction."""

    def __init__(self, slabs: Sequence[Slab]) -> None:
        self._slabs = {slab.row: slab for slab in slabs}
        axes = [slab for slab in slabs if slab.is_axis]
        self._in_order = [*reversed(axes), *slabs[len(axes) :]]

    def limits(self, row: Vector) -> tuple[int, int]:
        """Least and greatest value of a direction, or of the opposite of a slab's."""
        if row in self._slabs:
            return self._slabs[row].low, self._slabs[row].high
        slab = self._slabs[tuple(-entry for entry in row)]
        return -slab.high, -slab.low

    def extend(
        self, basis: EchelonBasis, divisors: Mapping[Vector, int] | None
    ) -> list[Vector]:
        """Extend a basis by the best slabs that it lacks, in this order.

        `divisors` tell how many times fewer values a row has to each output cell. Where
        there are none, only rows with a pivot of 1 are taken.
        """

        def weight(slab: Slab) -> tuple[int, bool]:
            return slab.weight(divisors[slab.row] or 1 if divisors else 1)

        is_strided = divisors is not None
        rows: list[Vector] = []
        for _, group in groupby(sorted(self._in_order, key=weight), weight):
            tied = [*group]
            while tied := [s for s in tied if _fits(basis, s, is_strided)]:
                best = _best(basis, tied, is_strided)
                basis.add(best.row)
                rows.append(best.row)
            if basis.rank == len(basis.columns):
                break
        return rows


def _fits(basis: EchelonBasis, slab: Slab, is_strided: bool) -> bool:
    divisor = basis.free_divisor(slab.row)
    return divisor == 1 or (is_strided and divisor > 1)


def _best(basis: EchelonBasis, tied: Sequence[Slab], is_strided: bool) -> Slab:
    """The first of slabs of one weight, or one that it excludes and that is better."""
    first = tied[0]
    if len(tied) == 1 or not first.is_axis:
        return first
    trial = basis.copy()
    trial.add(first.row)
    rivals = [slab for slab in tied if not _fits(trial, slab, is_strided)]
    if len(rivals) == 1:
        return first
    return min(rivals, key=lambda slab: _backward(basis, slab, rivals))


def _backward(basis: EchelonBasis, slab: Slab, others: Sequence[Slab]) -> int:
    """How many indices would run backward in others that a slab settles."""
    trial = basis.copy()
    trial.add(slab.row)
    return sum(
        dot(other.row, column) < 0
        for other in others
        if not trial.free_divisor(other.row)
        for column in trial.columns[: trial.rank]
    )

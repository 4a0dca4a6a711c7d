"""Slabs: what limits the points of a contraction, as `low <= form <= high`.

A contraction limits its points by the axes of its tensors and by constraints. Written
with other indices it has the same slabs, once their ends are exact: what a form is
less than and what only other inequalities imply makes no difference any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from . import isl
from .form import LinearForm
from .inequalities import components, direction, primitive, strongest, within
from .lattice import identity_forms, integer_points
from .matrix import EchelonBasis, Vector, dot
from .polyhedron import Polyhedron

AccessMap: TypeAlias = Sequence[LinearForm]
"""One form for each dimension of a tensor."""


@dataclass(frozen=True)
class Slab:
    """`low <= row . x <= high` at every point; some points have these very values."""

    row: Vector
    low: int
    high: int
    is_axis: bool
    """Whether the row is the place along an axis of a tensor, and not a constraint."""

    @property
    def sides(self) -> tuple[LinearForm, LinearForm]:
        """The two inequalities."""
        form = LinearForm(self.row)
        return form - self.low, -form + self.high

    @property
    def turned(self) -> Slab:
        """The same, along the opposite direction."""
        row = tuple(-entry for entry in self.row)
        return Slab(row, -self.high, -self.low, self.is_axis)

    def weight(self, divisor: int) -> tuple[int, bool]:
        """Less is better as an index of the reduction.

        Few values are, as they leave a small box. There are `divisor` times fewer to
        each output cell, but it has its price to step over cells. Of equals the place
        along an axis is better, where an access has one index less than with another.
        """
        values = (self.high - self.low) // divisor + 1
        return (values if divisor == 1 else 2 * values), not self.is_axis


@dataclass(frozen=True)
class Points:
    """Old indices and accesses in terms of current ones, and what limits these."""

    substitution: tuple[LinearForm, ...]
    accesses: tuple[tuple[LinearForm, ...], ...]
    """Integer forms; the output is first."""
    inequalities: tuple[LinearForm, ...]
    """As `strongest` gives them."""
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
        if change == identity_forms(rank) and not limits:
            return self
        changed = (form.substitute(change) for form in self.inequalities)
        inequalities = strongest((*changed, *limits))
        if inequalities is None:
            return None
        forms = tuple(form.substitute(change) for form in self.substitution)
        return Points(forms, moved(self.accesses, change), inequalities, rank)


def moved(
    accesses: Sequence[AccessMap], change: tuple[LinearForm, ...]
) -> tuple[tuple[LinearForm, ...], ...]:
    """Accesses in terms of other indices."""
    return tuple(tuple(f.substitute(change) for f in access) for access in accesses)


def exact_slabs(points: Points) -> tuple[Points, list[Slab]] | None:
    """Points without equations, limited by exact slabs; None when there is none.

    There is a slab for the axes of the tensors, in their order, then for what else is
    limited. Forms that have only one value, for whatever reason, cost a variable each.
    """
    while True:
        rows = _rows(points)
        forms = [LinearForm(row) for row in rows]
        ends = Polyhedron(points.rank, points.inequalities).extremes(forms)
        if ends is None:
            return None
        slabs = [
            Slab(row, low, high, is_axis)
            for (row, is_axis), (low, high) in zip(rows.items(), ends, strict=True)
            if low is not None and high is not None
        ]
        equal = [slab.sides[0] for slab in slabs if slab.low == slab.high]
        if not equal:
            return _with_needed(points, slabs)
        changed = _without(points, equal)
        if changed is None:
            return None
        points = changed


def _with_needed(points: Points, slabs: Sequence[Slab]) -> tuple[Points, list[Slab]]:
    """Exact limits in place of the old, without constraints that others imply.

    Axes are first; then constraints, those with the fewest values first, of equals the
    shortest in terms of the axes.
    """
    axes = [slab for slab in slabs if slab.is_axis]
    sides = tuple(side for slab in axes for side in slab.sides)
    if len(axes) == len(slabs):
        return replace(points, inequalities=sides), axes
    frame = EchelonBasis(points.rank)
    pivots: list[int] = []
    for axis in axes:
        pivots.append(frame.free_divisor(axis.row))
        frame.add(axis.row)

    def terms(slab: Slab) -> Vector:
        return tuple(dot(slab.row, column) for column in frame.columns[: frame.rank])

    def size(slab: Slab) -> tuple[int, int, Vector]:
        place = terms(slab)
        return slab.high - slab.low, sum(map(abs, place)), place

    constraints = [max(s, s.turned, key=terms) for s in slabs if not s.is_axis]
    constraints.sort(key=size)
    needed: list[LinearForm] | None = None
    if pivots == [1] * points.rank:
        needed = _needed_in_box(axes, [(slab, terms(slab)) for slab in constraints])
    if needed is None:
        needed = _needed(points, constraints)
    constraints = [s for s in constraints if any(side in needed for side in s.sides)]
    return replace(points, inequalities=(*sides, *needed)), [*axes, *constraints]


def _needed(points: Points, constraints: Sequence[Slab]) -> list[LinearForm]:
    """The sides of constraints that do not follow from other inequalities.

    That is asked of the inequalities as they were, which have not been rounded.
    """
    rows = {direction(side) for slab in constraints for side in slab.sides}
    found: set[Vector] = set()
    for dimensions, forms in components(points.inequalities, points.rank):
        if rows.isdisjoint(map(direction, forms)):
            continue
        narrow = [within(form, dimensions) for form in forms]
        kept = {*isl.irredundant(len(dimensions), narrow)}
        pairs = zip(forms, narrow, strict=True)
        found |= {direction(form) for form, each in pairs if each in kept}
    sides = (side for slab in constraints for side in slab.sides)
    return [side for side in sides if direction(side) in found]


def _needed_in_box(
    axes: Sequence[Slab], constraints: Sequence[tuple[Slab, Vector]]
) -> list[LinearForm] | None:
    """The sides of constraints that say something, where axes are all that there is.

    Each constraint comes with its coefficients in terms of the axes, which have all
    combinations of their values. None where two constraints share an axis.
    """
    sides: list[LinearForm] = []
    shared: set[int] = set()
    for slab, terms in constraints:
        support = {place for place, term in enumerate(terms) if term}
        if support & shared:
            return None
        shared |= support
        ends = [
            sorted((term * axis.low, term * axis.high))
            for term, axis in zip(terms, axes, strict=True)
        ]
        low, high = slab.sides
        sides += [low] if sum(least for least, _ in ends) < slab.low else []
        sides += [high] if sum(most for _, most in ends) > slab.high else []
    return sides


def _without(points: Points, equal: Sequence[LinearForm]) -> Points | None:
    """Points in fewer variables, since some forms are zero; None without a point."""
    change = integer_points(points.rank, (), equal)
    if change is None:
        return None
    return points.under(change, change[0].rank if change else 0)


def _rows(points: Points) -> dict[Vector, bool]:
    """The directions of axes, then those of constraints, and whether it is an axis."""
    found: dict[Vector, bool] = {}
    axes = [primitive(form) for access in points.accesses for form in access]
    for number, row in enumerate((*axes, *map(direction, points.inequalities))):
        if row not in found and any(row) and tuple([-c for c in row]) not in found:
            found[row] = number < len(axes)
    return found

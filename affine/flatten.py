"""Flattening: the points of a contraction as a box of new indices and few constraints.

A point of a contraction is an integer value for each of its indices such that every
access is an integer within its tensor and every constraint holds. Flattening finds new
indices, as many as needed, that run over ranges `0 <= y[j] < ranges[j]` and reach the
same points by integer forms:

    O[2*x + i : 100] = +(I[x : 50]), i < 4      output cell and input cell
      x = y0 - y2,  i = y1 + 2*y2               the old indices in terms of the new
      y0 < 50,  y1 < 2,  y2 < 2                 the ranges
      0 <= y0 - y2                              what remains of all bounds
      O[2*y0 + y1] = I[y0 - y2]                 y0, y1 decide the cell, y2 is reduced

The steps, each a change of variables that keeps exactly the valid points:

1. The lattice of the points where all accesses are integers and all equations hold,
   those that only bounds imply included (`integer_points`, `exact_slabs`).
2. A basis in which the first indices decide the output cell, each cell by one value,
   and the others do not touch it (`output_bases`). These are places along axes where
   they can be, or constraints that take fewer values.
3. Digits of these where a form that is to have few values has a stride
   (`split_into_digits`); of several bases the one with the smaller box.
4. Exact bounds (`Polyhedron.bounds`); the indices are shifted to start at zero, those
   with one value disappear.
5. The inequalities that the ranges and the other inequalities do not imply.

The result is a normal form: what indices are called, in which order they are written,
from where and in which direction they count, and whether one is written as the sum of
another and a third makes no difference, nor do constraints that follow from others. It
is not promised for indices that no access depends on, which only count points, and
where a constraint or an equation follows from others only because points are integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from ..errors import GinghamError
from .basis import Basis, output_bases
from .digits import split_into_digits
from .form import LinearForm
from .inequalities import direction, strongest
from .isl import one_limit
from .lattice import identity_forms, integer_points
from .matrix import solve_integer
from .polyhedron import Polyhedron, without_implied
from .slabs import AccessMap, Points, exact_slabs, moved

_Bounded: TypeAlias = tuple[LinearForm, int]
"""`(form, bound)` asks for an integer `0 <= form < bound`."""


class UnboundedIndex(GinghamError):
    """An index of a contraction that takes infinitely many values.

    `index` is the first such index, `indices` are all of them, as numbers from 0.
    """

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__(
            f"index {indices[0]} of the contraction is unbounded",
            hint="use it in an access, or limit it by a constraint `index < bound`",
        )
        self.index = indices[0]
        self.indices = tuple(indices)


@dataclass(frozen=True)
class FlatContraction:
    """The valid points of a contraction, each once, over new indices.

    A point is a value `0 <= y[j] < ranges[j]` for every new index such that all
    `constraints` are >= 0. All forms are integer forms over the new indices. A
    contraction without a valid point has one index, of range 0; all ranges of another
    are at least 2.
    """

    substitution: tuple[LinearForm, ...]
    """Each old index in terms of the new ones."""

    ranges: tuple[int, ...]
    """Extents; the least and the greatest value of each index occur in some point."""

    accesses: tuple[tuple[LinearForm, ...], ...]
    """The cell of each tensor, output first, as the caller ordered them."""

    constraints: tuple[LinearForm, ...]
    """Forms >= 0; none is implied by the ranges and the other constraints."""

    output_rank: int
    """So many first indices decide the output cell, each cell by one value of them. The
    output does not depend on the others: they are the reduction indices."""

    names_of: tuple[int | None, ...]
    """For each new index the old one that it equals up to a constant, if any."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no valid point."""
        return not all(self.ranges)


def flatten_contraction(
    rank: int,
    output: AccessMap,
    inputs: Sequence[AccessMap],
    shapes: Sequence[Sequence[int]],
    constraints: Sequence[tuple[LinearForm, int]] = (),
) -> FlatContraction:
    """The flat form of a contraction over `rank` indices.

    Accesses are rational forms over the indices; `shapes` has the extents of the
    output, then of each input. A constraint `(form, bound)` says that `form` is an
    integer and `0 <= form < bound`. An index that occurs in constraints only counts
    points: it is a reduction index.

    Raises `UnboundedIndex` when there are infinitely many points, and `GinghamError`
    when the bounds are too hard to find. No point at all is not an error.
    """
    accesses = (output, *inputs)
    points = _lattice(rank, accesses, shapes, constraints)
    if points is None:
        return _empty(rank, accesses)
    with one_limit():
        _require_bounds(points)
        return _best_form(points) or _empty(rank, accesses)


def _best_form(points: Points) -> FlatContraction | None:
    """The best of the forms over a box; None without a point."""
    limited = exact_slabs(points)
    bases = output_bases(*limited) if limited else []
    plain = _box(bases[0]) if bases else None
    if plain is None:
        return None
    # What makes the box smaller may make the questions too hard.
    with suppress(GinghamError):
        for strided in filter(None, map(_box, bases[1:])):
            if 4 * strided.volume <= 3 * plain.volume:
                return _finished(strided)
            # Strided cells and more loops have their price: this does not pay it.
            flat, other = _finished(plain), _finished(strided)
            is_simpler = len(other.constraints) < len(flat.constraints)
            return other if is_simpler and strided.volume <= plain.volume else flat
    return _finished(plain)


def _lattice(
    rank: int,
    accesses: Sequence[AccessMap],
    shapes: Sequence[Sequence[int]],
    constraints: Sequence[_Bounded],
) -> Points | None:
    """Variables in which every bounded form is an integer form.

    None when there is plainly no point. A form with a bound of 1 is an equation, which
    costs a variable.
    """
    bounded = _bounded(accesses, shapes, constraints)
    change = integer_points(
        rank,
        [form for form, _ in bounded],
        [form for form, bound in bounded if bound == 1],
    )
    if change is None:
        return None
    if change != identity_forms(rank):
        accesses = moved(accesses, change)
        limits = [(form.substitute(change), bound) for form, bound in constraints]
        bounded = _bounded(accesses, shapes, limits)
    inequalities = strongest(
        side for form, bound in bounded for side in (form, -form + (bound - 1))
    )
    if inequalities is None:
        return None
    new_rank = change[0].rank if change else 0
    return Points(change, tuple(map(tuple, accesses)), inequalities, new_rank)


def _bounded(
    accesses: Sequence[AccessMap],
    shapes: Sequence[Sequence[int]],
    constraints: Sequence[_Bounded],
) -> list[_Bounded]:
    """Every `(form, bound)` that asks for an integer `0 <= form < bound`."""
    found = [
        pair
        for access, shape in zip(accesses, shapes, strict=True)
        for pair in zip(access, shape, strict=True)
    ]
    return list(dict.fromkeys((*found, *constraints)))


def _require_bounds(points: Points) -> None:
    """Raise `UnboundedIndex` for points that are infinitely many.

    All inequalities are sides of slabs `0 <= form < bound`. So the points, if there are
    any, are infinitely many just when some direction is zero in all forms.
    """
    single = {f.support for f in points.inequalities if len(f.support) == 1}
    if len(single) == points.rank:
        return
    rows = [direction(form) for form in points.inequalities]
    solution = solve_integer(rows, [0] * len(rows), points.rank)
    kernel = solution[1] if solution is not None else ()
    if not kernel or Polyhedron(points.rank, points.inequalities).is_empty():
        return
    raise UnboundedIndex(
        [
            index
            for index, form in enumerate(points.substitution)
            if any(form.evaluate(v) != form.constant for v in kernel)
        ]
    )


@dataclass(frozen=True)
class _Box:
    """Points in variables with exact bounds; the first ones decide the output cell."""

    points: Points
    output_rank: int
    bounds: Sequence[tuple[int, int]]

    @property
    def volume(self) -> int:
        return prod(high - low + 1 for low, high in self.bounds)


def _box(basis: Basis) -> _Box | None:
    """The box of a basis, with digits of its variables; None without a point."""
    points = basis.points
    bounds = basis.bounds or Polyhedron(points.rank, points.inequalities).bounds()
    if bounds is None:
        return None
    whole = _Box(points, basis.output_rank, bounds)
    digits = split_into_digits(basis.rows, bounds)
    if not digits.is_changed:
        return whole
    limits = [side for form, end in digits.limits for side in (form, -form + (end - 1))]
    split = points.under(digits.change, len(digits.parents), limits)
    # What makes the box smaller may make its exact bounds too hard to find.
    with suppress(GinghamError):
        narrow = split and Polyhedron(split.rank, split.inequalities).bounds()
        if split is None or narrow is None:
            return None
        output_rank = sum(parent < basis.output_rank for parent in digits.parents)
        return _Box(split, output_rank, narrow)
    return whole


def _finished(box: _Box) -> FlatContraction:
    """Indices from zero and in order, none with a single value, no idle constraint."""
    points, output_rank, bounds = box.points, box.output_rank, box.bounds
    signs = _signs([form for access in points.accesses for form in access])
    # Reduction indices that no access uses come last: they only count points.
    places = {j: place for place, j in enumerate(signs)}
    live = [j for j, (low, high) in enumerate(bounds) if low < high]
    reductions = [j for j in live if j >= output_rank]
    reductions.sort(key=lambda j: places.get(j, len(places)))
    order = [*(j for j in live if j < output_rank), *reductions]

    change: list[LinearForm] = []
    for j, (low, high) in enumerate(bounds):
        if low == high:
            change.append(LinearForm.constant_of(low, len(order)))
            continue
        value = LinearForm.dimension(order.index(j), len(order))
        # Forward in memory is the fast way to go.
        falls = j in reductions and signs.get(j, 1) < 0
        change.append(-value + high if falls else value + low)

    substitution = tuple(form.substitute(change) for form in points.substitution)
    ranges = tuple(bounds[j][1] - bounds[j][0] + 1 for j in order)
    coupled = [f.substitute(change) for f in points.inequalities if len(f.support) > 1]
    return FlatContraction(
        substitution,
        ranges,
        moved(points.accesses, tuple(change)),
        tuple(without_implied(coupled, Polyhedron.box(ranges))),
        len(order) - len(reductions),
        _names(substitution, len(order)),
    )


def _signs(forms: Sequence[LinearForm]) -> dict[int, int]:
    """The variables in order of first use, each with the direction that it has.

    That is the one along the first axis that it is alone on, and else of its first use.
    """
    signs: dict[int, int] = {}
    alone: dict[int, int] = {}
    for form in forms:
        for dimension in form.support:
            sign = 1 if form.coefficients[dimension] > 0 else -1
            signs.setdefault(dimension, sign)
            if len(form.support) == 1:
                alone.setdefault(dimension, sign)
    return {**signs, **alone}


def _names(substitution: Sequence[LinearForm], rank: int) -> tuple[int | None, ...]:
    """For each variable the first form that is this variable plus a constant."""
    names: list[int | None] = [None] * rank
    for index, form in enumerate(substitution):
        dimension = (form - form.constant).single_dimension
        if dimension is not None and names[dimension] is None:
            names[dimension] = index
    return tuple(names)


def _empty(rank: int, accesses: Sequence[AccessMap]) -> FlatContraction:
    """A contraction without points: one index with no value."""
    zero = LinearForm.constant_of(0, 1)
    return FlatContraction(
        substitution=(zero,) * rank,
        ranges=(0,),
        accesses=tuple((zero,) * len(access) for access in accesses),
        constraints=(),
        output_rank=0,
        names_of=(None,),
    )

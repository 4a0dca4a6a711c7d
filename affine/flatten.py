"""Flattening: the points of a contraction as a box of new indices and few constraints.

A point of a contraction is an integer value for each of its indices such that every
access is an integer within its tensor and every constraint holds. Flattening finds new
indices, as many as needed, that run over ranges `0 <= y[j] < ranges[j]` and reach the
same points by integer forms:

    O[2*x + i : 100] = I[x : 50], i < 4        output cell and input cell
      x = y1,  i = y0 - 2*y1                   the old indices in terms of the new
      y0 < 100,  y1 < 50                       the ranges
      0 <= y0 - 2*y1 < 4                       what remains of all bounds
      O[y0] = I[y1]                            y0 decides the output cell, y1 is reduced

The steps, each a change of variables that keeps exactly the valid points:

1. The lattice of the points where all accesses are integers and all equations hold,
   those that only bounds imply included (`integer_points`).
2. A basis in which the first indices decide the output cell, each cell by one value,
   and the others do not touch it (`EchelonBasis`). These are old indices where they can
   be, or accesses that take few values.
3. Exact bounds (`Polyhedron.bounds`); the indices are shifted to start at zero, those
   with one value disappear.
4. The inequalities that the ranges and the other inequalities do not imply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import GinghamError
from .form import LinearForm
from .inequalities import direction, equations, opposite, strongest
from .lattice import identity_forms, integer_points
from .matrix import EchelonBasis, solve_integer, transpose
from .polyhedron import Polyhedron, without_implied

Access = Sequence[LinearForm]
"""One form for each dimension of a tensor."""


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
    `constraints` are >= 0. All forms but those of `names_of` are integer forms over the
    new indices. An empty contraction has a range of 0, and no other a point.
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


@dataclass(frozen=True)
class _Points:
    """Old indices in terms of current ones, and what limits these (`strongest`)."""

    substitution: tuple[LinearForm, ...]
    inequalities: tuple[LinearForm, ...]
    rank: int

    def under(self, change: tuple[LinearForm, ...], rank: int) -> _Points | None:
        """The same points in new variables; None when there are plainly none."""
        inequalities = strongest(f.substitute(change) for f in self.inequalities)
        if inequalities is None:
            return None
        forms = tuple(form.substitute(change) for form in self.substitution)
        return _Points(forms, inequalities, rank)


def flatten_contraction(
    rank: int,
    output: Access,
    inputs: Sequence[Access],
    shapes: Sequence[Sequence[int]],
    constraints: Sequence[tuple[LinearForm, int]] = (),
) -> FlatContraction:
    """The flat form of a contraction over `rank` indices.

    Accesses are rational forms over the indices; `shapes` has the extents of the output,
    then of each input. A constraint `(form, bound)` says that `form` is an integer and
    `0 <= form < bound`. An index that occurs in constraints only counts points: it is a
    reduction index.

    Raises `UnboundedIndex` when there are infinitely many points, and `GinghamError`
    when the bounds are too hard to find. No point at all is not an error.
    """
    bounded = _bounded_forms(output, inputs, shapes, constraints)
    points = _lattice(rank, bounded)
    accesses = (output, *inputs)
    if points is None:
        return _empty(rank, accesses)
    _require_bounds(points)
    basis = _output_basis(points, output)
    if basis is None:
        return _empty(rank, accesses)
    points, output_rank = basis
    bounds = Polyhedron(points.rank, points.inequalities).bounds()
    if bounds is None:
        return _empty(rank, accesses)
    return _finished(points, output_rank, bounds, accesses)

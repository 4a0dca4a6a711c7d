"""Polyhedra: the integer points at which integer linear forms are not negative.

Every answer is exact over the integer points. A polyhedron falls apart into groups of
dimensions that no inequality connects. A group of one dimension is an interval and is
decided here; the others go to isl one by one, so a box with a few constraints costs
little however many dimensions it has. A question that is too hard is a `GinghamError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import GinghamError
from . import isl
from .form import LinearForm
from .inequalities import components, direction, interval, negated, strongest, within
from .lattice import identity_forms
from .matrix import Vector, solve_integer


class Unbounded(GinghamError):
    """A dimension takes infinitely many values where a bound was asked for."""

    def __init__(self, dimension: int) -> None:
        super().__init__(
            f"dimension {dimension} of the index set is unbounded",
            hint="limit it by a constraint, or by an access to a tensor",
        )
        self.dimension = dimension


def box_constraints(ranges: Sequence[int]) -> list[LinearForm]:
    """The inequalities `0 <= d[i] < ranges[i]`, two for each dimension."""
    values = identity_forms(len(ranges))
    return [
        side
        for value, extent in zip(values, ranges, strict=True)
        for side in (value, -value + (extent - 1))
    ]


@dataclass(frozen=True)
class Polyhedron:
    """The integer points of `rank` dimensions that satisfy all constraints.

    All `inequalities` are >= 0 there and all `equalities` are 0. The forms have integer
    coefficients (ValueError otherwise, at the first question).
    """

    rank: int
    inequalities: tuple[LinearForm, ...] = ()
    equalities: tuple[LinearForm, ...] = ()

    @staticmethod
    def box(
        ranges: Sequence[int], constraints: Iterable[LinearForm] = ()
    ) -> Polyhedron:
        """The points of `0 <= d[i] < ranges[i]` with all `constraints >= 0`."""
        return Polyhedron(len(ranges), (*box_constraints(ranges), *constraints))

    def contains(self, point: Sequence[int]) -> bool:
        """Whether a point satisfies all constraints."""
        return all(f.evaluate(point) >= 0 for f in self.inequalities) and not any(
            f.evaluate(point) for f in self.equalities
        )

    def is_empty(self) -> bool:
        """Whether there is no integer point."""
        return self._facets is None or any(
            len(dimensions) > 1
            and isl.is_empty(len(dimensions), [within(f, dimensions) for f in forms])
            for dimensions, forms in components(self._facets, self.rank)
        )

    def bounds(self) -> list[tuple[int, int]] | None:
        """Least and greatest value of each dimension; None for a polyhedron of no point.

        Both values are taken by points. Raises `Unbounded` for the first dimension that
        has no least or no greatest value.
        """
        if self._facets is None:
            return None
        found: dict[int, tuple[int | None, int | None]] = {}
        for dimensions, forms in components(self._facets, self.rank):
            part = _extremes([within(f, dimensions) for f in forms], len(dimensions))
            if part is None:
                return None
            found.update(zip(dimensions, part, strict=True))
        bounds: list[tuple[int, int]] = []
        for dimension in range(self.rank):
            low, high = found[dimension]
            if low is None or high is None:
                raise Unbounded(dimension)
            bounds.append((low, high))
        return bounds

    def sample(self) -> Vector | None:
        """Some integer point, or None when there is none."""
        if self._facets is None:
            return None
        point = [0] * self.rank
        for dimensions, forms in components(self._facets, self.rank):
            part = _sample([within(f, dimensions) for f in forms], len(dimensions))
            if part is None:
                return None
            for dimension, value in zip(dimensions, part, strict=True):
                point[dimension] = value
        return tuple(point)

    def image_covers_box(
        self, outputs: Sequence[LinearForm], shape: Sequence[int]
    ) -> bool:
        """Whether every cell of a tensor is hit.

        A cell with `0 <= cell[d] < shape[d]` is hit when some point has the value
        `cell[d]` for each of the integer forms `outputs[d]`. All cells of a tensor
        without cells are.
        """
        return self._image_contains(outputs, [(0, extent - 1) for extent in shape])

    def reaches_every(
        self, kept: Sequence[int], ranges: Sequence[int] | None = None
    ) -> bool:
        """Whether each combination of values of the dimensions `kept` has a point.

        The combinations are those with `0 <= d[kept[i]] < ranges[i]`, or without
        `ranges` all between the bounds of each dimension (which raise `Unbounded`).
        """
        if ranges is not None:
            box = [(0, extent - 1) for extent in ranges]
        else:
            bounds = self.bounds()
            box = [(0, -1) if bounds is None else bounds[d] for d in kept]
        values = identity_forms(self.rank)
        return self._image_contains([values[d] for d in kept], box)

    def find_collision(
        self, outputs: Sequence[LinearForm]
    ) -> tuple[Vector, Vector] | None:
        """Two different points with equal values of all integer forms `outputs`.

        None when no two points share an output cell: the map is injective on the
        polyhedron.
        """
        if self._facets is None:
            return None
        solution = solve_integer(
            [direction(form) for form in outputs], [0] * len(outputs), self.rank
        )
        kernel = solution[1] if solution is not None else ()
        # Two points p and q = p + sum(c[e] * kernel[e]), where c is not zero. The first
        # entry of c that is not zero may be taken positive: p and q can be exchanged.
        joint = self.rank + len(kernel)
        p = identity_forms(joint)[: self.rank]
        q = tuple(
            value + LinearForm.of([0] * self.rank + [vector[i] for vector in kernel])
            for i, value in enumerate(p)
        )
        facets = [f.substitute(point) for f in self._facets for point in (p, q)]
        factors = identity_forms(joint)[self.rank :]
        for leading in range(len(kernel)):
            pair = Polyhedron(
                joint, (*facets, factors[leading] - 1), factors[:leading]
            ).sample()
            if pair is not None:
                other = tuple(form.evaluate(pair).numerator for form in q)
                return pair[: self.rank], other
        return None

    @cached_property
    def _facets(self) -> tuple[LinearForm, ...] | None:
        """The constraints as `strongest` gives them; None when they are plainly empty."""
        both_sides = [side for e in self.equalities for side in (e, -e)]
        return strongest((*self.inequalities, *both_sides))

    def _image_contains(
        self, outputs: Sequence[LinearForm], box: Sequence[tuple[int, int]]
    ) -> bool:
        wanted = list(zip(outputs, box, strict=True))
        if any(low > high for low, high in box):
            return True
        if self._facets is None:
            return False
        if any(
            form.is_constant and (low, high) != (form.constant, form.constant)
            for form, (low, high) in wanted
        ):
            return False
        joined = [*self._facets, *outputs]
        for dimensions, _ in components(joined, self.rank):
            inside = set(dimensions)
            part = Polyhedron(
                len(dimensions),
                tuple(within(f, dimensions) for f in self._facets if f.support and f.support[0] in inside),
            )
        return True


def _extremes(
    forms: Sequence[LinearForm], rank: int
) -> Sequence[tuple[int | None, int | None]] | None:
    return [interval(forms)] if rank == 1 else isl.extremes(rank, forms)


def _sample(forms: Sequence[LinearForm], rank: int) -> Vector | None:
    if rank > 1:
        return isl.sample(rank, forms)
    low, high = interval(forms)
    if low is not None:
        return (low,)
    return (high if high is not None else 0,)

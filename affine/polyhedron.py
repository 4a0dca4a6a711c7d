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
from typing import TypeAlias

from ..errors import GinghamError
from . import isl
from .form import LinearForm
from .inequalities import (
    components,
    direction,
    interval,
    negated,
    opposite,
    strongest,
    within,
)
from .lattice import identity_forms
from .matrix import Vector, solve_integer

_Ends: TypeAlias = tuple[int | None, int | None]
"""Least and greatest value, None where there is none."""


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

    def is_empty(self) -> bool:
        """Whether there is no integer point."""
        return self.facets is None or any(
            len(dimensions) > 1
            and isl.is_empty(len(dimensions), [within(f, dimensions) for f in forms])
            for dimensions, forms in components(self.facets, self.rank)
        )

    def bounds(self) -> list[tuple[int, int]] | None:
        """Least and greatest value of each dimension; None when there is no point.

        Both values are taken by points. Raises `Unbounded` for the first dimension that
        has no least or no greatest value.
        """
        found = self.extremes(identity_forms(self.rank))
        if found is None:
            return None
        bounds: list[tuple[int, int]] = []
        for dimension, (low, high) in enumerate(found):
            if low is None or high is None:
                raise Unbounded(dimension)
            bounds.append((low, high))
        return bounds

    def extremes(self, forms: Sequence[LinearForm]) -> list[_Ends] | None:
        """Least and greatest value of each of some integer forms at the points.

        None in place of a value that there is not, None altogether without a point.
        """
        if self.facets is None:
            return None
        parts: list[list[_Ends]] = [[] for _ in forms]
        for dimensions, facets in components(self.facets, self.rank):
            inside = set(dimensions)
            numbers = [n for n, form in enumerate(forms) if inside & {*form.support}]
            found = _extremes(
                [within(facet, dimensions) for facet in facets],
                len(dimensions),
                [_part(forms[n], dimensions) for n in numbers],
            )
            if found is None:
                return None
            for number, ends in zip(numbers, found, strict=True):
                parts[number].append(ends)
        pairs = zip(parts, forms, strict=True)
        return [_added(part, form.constant.numerator) for part, form in pairs]

    def sample(self) -> Vector | None:
        """Some integer point, or None when there is none."""
        if self.facets is None:
            return None
        point = [0] * self.rank
        for dimensions, forms in components(self.facets, self.rank):
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
        self,
        kept: Sequence[int],
        ranges: Sequence[int] | None = None,
        where: Sequence[LinearForm] = (),
    ) -> bool:
        """Whether each combination of values of the dimensions `kept` has a point.

        The combinations are those with `0 <= d[kept[i]] < ranges[i]`, or without
        `ranges` all between the bounds of each dimension (which raise `Unbounded`); of
        these, those where all forms `where` are >= 0, which use kept dimensions only.
        """
        if ranges is not None:
            box = [(0, extent - 1) for extent in ranges]
        else:
            bounds = self.bounds()
            box = [(0, -1) if bounds is None else bounds[d] for d in kept]
        values = identity_forms(self.rank)
        return self._image_contains([values[d] for d in kept], box, where)

    def find_collision(
        self, outputs: Sequence[LinearForm]
    ) -> tuple[Vector, Vector] | None:
        """Two different points with equal values of all integer forms `outputs`.

        None when no two points share an output cell: the map is injective on the
        polyhedron.
        """
        if self.facets is None:
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
        facets = [f.substitute(point) for f in self.facets for point in (p, q)]
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
    def facets(self) -> tuple[LinearForm, ...] | None:
        """The constraints as `strongest` gives them; None when plainly empty."""
        both_sides = [side for e in self.equalities for side in (e, -e)]
        return strongest((*self.inequalities, *both_sides))

    def _image_contains(
        self,
        outputs: Sequence[LinearForm],
        box: Sequence[tuple[int, int]],
        where: Sequence[LinearForm] = (),
    ) -> bool:
        """Whether every cell of a box is hit.

        With `where`, `outputs` are dimensions, and only the cells are asked for where
        these forms over them are >= 0.
        """
        if any(low > high for low, high in box) or _nothing_is_asked(
            outputs, box, where
        ):
            return True
        if self.facets is None:
            return False
        wanted = list(zip(outputs, box, strict=True))
        if any(
            form.is_constant and not low == form.constant == high
            for form, (low, high) in wanted
        ):
            return False
        connecting = [*self.facets, *outputs, *where]
        for dimensions, _ in components(connecting, self.rank):
            inside = set(dimensions)
            forms = [
                within(f, dimensions) for f in self.facets if inside & {*f.support}
            ]
            images = [
                (within(f, dimensions), cells)
                for f, cells in wanted
                if inside & {*f.support}
            ]
            cells = [f.support[0] for f in outputs if inside & {*f.support}]
            wanted_cells = [within(f, cells) for f in where if inside & {*f.support}]
            if not _covers(len(dimensions), forms, images, wanted_cells):
                return False
        return True


def without_implied(
    constraints: Iterable[LinearForm], context: Polyhedron
) -> list[LinearForm]:
    """The constraints (>= 0) that still say something, given the others and `context`.

    Together with `context` they have the same points as before; each one kept is
    tightened to its strongest form and rules out a point that the rest allow. Of
    several choices the earlier constraint stays. When they leave no point of those that
    `context` has, the one form that is kept is the constant -1.
    """
    known = context.facets
    if known is None:
        return []
    false = LinearForm.constant_of(-1, context.rank)
    merged = strongest(constraints)
    if merged is None:
        return [] if context.is_empty() else [false]
    limits = {direction(form): form.constant for form in known}
    box = _outer_box(known, context.rank)
    informative = [
        form
        for form in merged
        if form.constant < limits.get(direction(form), form.constant + 1)
        and not _holds_in(box, form)
    ]
    kept: set[LinearForm] = set()
    for dimensions, forms in components([*known, *informative], context.rank):
        inside = set(dimensions)
        here = [f for f in informative if inside & {*f.support}]
        facets = [f for f in forms if f not in here]
        kept.update(_independent(dimensions, here, facets))
    if kept and Polyhedron(context.rank, (*known, *kept)).is_empty():
        return [] if context.is_empty() else [false]
    return [form for form in informative if form in kept]


def _independent(
    dimensions: Sequence[int], forms: list[LinearForm], known: Sequence[LinearForm]
) -> list[LinearForm]:
    """`forms` without those that the others and `known` imply, the latest first."""
    lines = {frozenset((direction(f), opposite(f))) for f in forms}
    if len(lines) <= 1 and all(len(f.support) == 1 for f in known):
        # A corner of the box violates the form, and satisfies the opposite side.
        return forms
    kept = [within(form, dimensions) for form in forms]
    facets = [within(form, dimensions) for form in known]
    result = list(forms)
    for position in reversed(range(len(forms))):
        others = kept[:position] + kept[position + 1 :]
        contrary = negated(kept[position])
        if isl.is_empty(len(dimensions), [*facets, *others, contrary]):
            kept, result = others, result[:position] + result[position + 1 :]
    return result


def _nothing_is_asked(
    outputs: Sequence[LinearForm],
    box: Sequence[tuple[int, int]],
    where: Sequence[LinearForm],
) -> bool:
    """Whether the forms `where` leave no cell of a box; `outputs` are dimensions."""
    if not where:
        return False
    cells = [form.support[0] for form in outputs]
    sides = [
        side
        for value, (low, high) in zip(identity_forms(len(box)), box, strict=True)
        for side in (value - low, -value + high)
    ]
    asked = (*sides, *(within(form, cells) for form in where))
    return Polyhedron(len(cells), asked).is_empty()


def _outer_box(
    facets: Sequence[LinearForm], rank: int
) -> list[tuple[int | None, int | None]]:
    """The bounds that the facets over a single dimension give."""
    single: list[list[LinearForm]] = [[] for _ in range(rank)]
    for form in facets:
        if len(form.support) == 1:
            single[form.support[0]].append(within(form, form.support))
    return [interval(forms) for forms in single]


def _holds_in(box: Sequence[tuple[int | None, int | None]], form: LinearForm) -> bool:
    """Whether `form >= 0` in the whole box."""
    least = form.constant
    for dimension in form.support:
        coefficient = form.coefficients[dimension]
        worst = box[dimension][0 if coefficient > 0 else 1]
        if worst is None:
            return False
        least += coefficient * worst
    return least >= 0


def _covers(
    rank: int,
    forms: Sequence[LinearForm],
    images: Sequence[tuple[LinearForm, tuple[int, int]]],
    where: Sequence[LinearForm],
) -> bool:
    """`Polyhedron._image_contains` for one group of connected dimensions."""
    if not images:
        return rank == 1 or not isl.is_empty(rank, forms)
    image, (first, last) = images[0]
    if rank == len(images) == 1 and abs(image.coefficients[0]) == 1 and not where:
        sign, constant = image.coefficients[0], image.constant
        ends = [sign * (first - constant), sign * (last - constant)]
        low, high = interval(forms)
        return (low is None or low <= min(ends)) and (high is None or max(ends) <= high)
    outputs, box = zip(*images, strict=True)
    return isl.image_contains(rank, forms, outputs, box, where)


def _extremes(
    facets: Sequence[LinearForm], rank: int, forms: Sequence[LinearForm]
) -> Sequence[_Ends] | None:
    """Ends of forms over one group of connected dimensions."""
    if rank > 1:
        return isl.extremes(rank, facets, forms)
    ends = interval(facets)
    return [_scaled(ends, form) for form in forms]


def _part(form: LinearForm, dimensions: Sequence[int]) -> LinearForm:
    """The terms of a form over some of its dimensions."""
    return LinearForm(tuple(form.coefficients[d] for d in dimensions))


def _scaled(ends: _Ends, form: LinearForm) -> _Ends:
    """Ends of a form of one dimension, without a constant, given the dimension's."""
    factor = form.coefficients[0].numerator
    low, high = ends if factor > 0 else ends[::-1]
    return (
        None if low is None else factor * low,
        None if high is None else factor * high,
    )


def _added(parts: Sequence[_Ends], constant: int) -> _Ends:
    """Ends of a sum of forms over different dimensions."""
    lows, highs = [low for low, _ in parts], [high for _, high in parts]
    return _sum(lows, constant), _sum(highs, constant)


def _sum(values: Sequence[int | None], constant: int) -> int | None:
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else sum(known, constant)


def _sample(forms: Sequence[LinearForm], rank: int) -> Vector | None:
    if rank > 1:
        return isl.sample(rank, forms)
    low, high = interval(forms)
    if low is not None:
        return (low,)
    return (high if high is not None else 0,)

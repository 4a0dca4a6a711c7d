"""Counts integer points that inequalities leave of a box, and cells reached from them.

A cell is what linear forms make of a point. Both counts fall apart into parts that
share no inequality and no form, which multiply. In a part of two dimensions, points are
counted as those of a polygon; in another one, those along its longest dimension by
their ends, for all points of the other dimensions. Cells are counted without looking at
points where forms and inequalities are simple, which they are in programs that people
write: a form alone reaches every multiple of its step, inequalities on the very form
cut that short, and forms that tell all of their dimensions reach as many cells as there
are points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, Any

from .form import LinearForm
from .inequalities import components, direction, strongest, within
from .matrix import EchelonBasis
from .polygon import count_in_polygon

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST = 1 << 21
"""So many points are looked at, where there is no other way."""

_LARGEST = 1 << 62
"""Numbers that arrays of 64 bits can be added up to."""


@dataclass(frozen=True)
class Steps:
    """The numbers `first`, `first + step`, ... up to `last`."""

    first: int
    last: int
    step: int = 1

    def __len__(self) -> int:
        return max((self.last - self.first) // self.step + 1, 0)

    def within(self, low: int, high: int) -> Steps:
        """Those from `low` to `high`."""
        first = self.first + max(-((self.first - low) // self.step), 0) * self.step
        last = self.last - max(-((high - self.last) // self.step), 0) * self.step
        return Steps(first, last, self.step)


@dataclass(frozen=True)
class Cells:
    """Places in a buffer of some axes, or an upper bound of them."""

    count: int
    box: tuple[Steps, ...]
    """Steps along each axis, whose product has all of the cells."""
    is_exact: bool = True

    @property
    def is_box(self) -> bool:
        """Whether it is all of its box."""
        return self.count == prod(map(len, self.box))


def count_points(ranges: Sequence[int], forms: Sequence[LinearForm]) -> int | None:
    """How many points of the box `0 <= d[i] < ranges[i]` have all `forms >= 0`.

    None where that would take too long to find out.
    """
    if not all(ranges):
        return 0
    needed = _that_matter(ranges, forms)
    if needed is None:
        return 0
    total = 1
    for dimensions, own in components(needed, len(ranges)):
        extents = [ranges[d] for d in dimensions]
        count = _points_of(extents, [within(form, dimensions) for form in own])
        if count is None:
            return None
        total *= count
    return total


def reached_cells(
    ranges: Sequence[int],
    forms: Sequence[LinearForm],
    access: Sequence[LinearForm],
    windows: Sequence[int],
    sizes: Sequence[int],
) -> Cells:
    """The cells of a buffer of these `sizes` that windows show from points of a box.

    The points are those of `count_points`; the window of a point starts at `access`,
    one form for each axis, and has the size `windows`. What lies outside of the buffer
    does not count.
    """
    extents, moved = [*ranges], [*access]
    for axis, window in enumerate(windows):
        if window > 1:
            # A window is one more dimension, along which neighbours are reached.
            extents.append(window)
            moved[axis] = _with_dimension(moved[axis], len(extents))
    width = len(extents)
    nothing = Cells(0, tuple(Steps(0, -1) for _ in sizes))
    if not all(extents):
        return nothing
    own = {d: d for d in range(width)}
    needed = _that_matter(extents, [form.remap(own, width) for form in forms])
    if needed is None:
        return nothing
    moved = [form.remap(own, width) for form in moved]
    count, is_exact = 1, True
    box = [Steps(0, 0)] * len(sizes)
    for axes, part in _parts(extents, needed, moved):
        cells = part.cells([sizes[axis] for axis in axes])
        count *= cells.count
        is_exact &= cells.is_exact
        for axis, steps in zip(axes, cells.box, strict=True):
            box[axis] = steps
    return Cells(count, tuple(box), is_exact) if count else nothing


def united(cells: Sequence[Cells], sizes: Sequence[int]) -> Cells:
    """All cells that any of them has, of a buffer of these sizes."""
    left: list[Cells] = []
    for each in sorted(cells, key=lambda one: -one.count):
        # What lies in a box that is full adds nothing.
        if not any(box.is_box and _contains(box, each) for box in left):
            left.append(each)
    if len(left) == 1:
        return left[0]
    axes = zip(*(each.box for each in left), strict=True)
    box = tuple(
        Steps(min(s.first for s in axis), max(s.last for s in axis)) for axis in axes
    )
    total = sum(each.count for each in left)
    is_exact = all(each.is_exact for each in left)
    if _are_disjoint(left):
        return Cells(total, box, is_exact)
    if all(each.is_box and all(s.step == 1 for s in each.box) for each in left):
        return Cells(_area(left), box, is_exact)
    return Cells(min(total, prod(map(len, box))), box, is_exact=False)


def _that_matter(
    ranges: Sequence[int], forms: Sequence[LinearForm]
) -> list[LinearForm] | None:
    """The inequalities that do not hold in all of a box; None where one never does."""
    tight = strongest(forms)
    if tight is None:
        return None
    kept: list[LinearForm] = []
    for form in tight:
        low, high = form.bounds(ranges)
        if high < 0:
            return None
        if low < 0:
            kept.append(form)
    return kept


def _points_of(ranges: Sequence[int], forms: Sequence[LinearForm]) -> int | None:
    """`count_points` of a part: along the longest dimension by the ends."""
    if not forms:
        return prod(ranges)
    if len(ranges) == 2:
        return count_in_polygon(forms, ranges[0], ranges[1])
    reached = (abs(end) for form in forms for end in form.bounds(ranges))
    if max(*reached, prod(ranges)) > _LARGEST:
        return None
    import numpy as np

    longest = max(range(len(ranges)), key=lambda d: ranges[d])
    others = [d for d in range(len(ranges)) if d != longest]
    extents = [ranges[d] for d in others]
    if prod(extents) > _MOST:
        return None
    low = np.zeros(extents, np.int64)
    high = np.full(extents, ranges[longest] - 1, np.int64)
    for form in forms:
        rest = _values(within(form, others), extents)
        step = direction(form)[longest]
        if step > 0:
            np.maximum(low, -(rest // step), out=low)
        elif step < 0:
            np.minimum(high, rest // -step, out=high)
        else:
            high[np.broadcast_to(rest < 0, high.shape)] = -1
    return int(np.maximum(high - low + 1, 0).sum())


def _values(form: LinearForm, ranges: Sequence[int]) -> NDArray[Any]:
    """The values of a form at all points of a box, as far as they differ."""
    import numpy as np

    values = np.full((1,) * len(ranges), form.constant, np.int64)
    for dimension in form.support:
        shape = [1] * len(ranges)
        shape[dimension] = ranges[dimension]
        steps = np.arange(ranges[dimension], dtype=np.int64).reshape(shape)
        values = values + steps * int(form.coefficients[dimension])
    return values


def _with_dimension(form: LinearForm, width: int) -> LinearForm:
    """A form plus one more dimension, the last of `width`."""
    missing = (0,) * (width - form.rank - 1)
    return LinearForm((*form.coefficients, *missing, 1), form.constant)


def _parts(
    ranges: Sequence[int],
    forms: Sequence[LinearForm],
    access: Sequence[LinearForm],
) -> Iterator[tuple[tuple[int, ...], _Component]]:
    """Axes that share dimensions, or inequalities on them, apart from all others."""
    for dimensions, tied in components([*forms, *access], len(ranges)):
        axes = tuple(a for a, form in enumerate(access) if form in tied)
        own = [form for form in forms if form.support and form in tied]
        yield (
            axes,
            _Component(
                [ranges[d] for d in dimensions],
                [within(form, dimensions) for form in own],
                [within(access[axis], dimensions) for axis in axes],
            ),
        )
    for axis, form in enumerate(access):
        if not form.support:
            yield (axis,), _Component([], [], [LinearForm((), form.constant)])


@dataclass(frozen=True)
class _Component:
    """Axes, the dimensions that move along them, and inequalities on those."""

    ranges: list[int]
    forms: list[LinearForm]
    access: list[LinearForm]

    def cells(self, sizes: Sequence[int]) -> Cells:
        """See `reached_cells`."""
        part = self._without_others()
        box = tuple(
            _steps(form, part.ranges).within(0, size - 1)
            for form, size in zip(part.access, sizes, strict=True)
        )
        if any(form.is_constant for form in part.forms):
            return Cells(0, box)
        if not part.access:
            points = count_points(part.ranges, part.forms)
            return Cells(
                1 if points is None else min(points, 1), (), points is not None
            )
        found = part._exact(box, sizes)
        if found is not None:
            return found
        count = min(prod(map(len, box)), prod(part.ranges))
        return Cells(count, box, is_exact=False)

    def _exact(self, box: tuple[Steps, ...], sizes: Sequence[int]) -> Cells | None:
        (first, *more), steps = self.access, box[0]
        if not more and _has_no_gaps(first, self.ranges):
            cut = _cut(first, self.forms, steps)
            if cut is not None:
                return Cells(len(cut), (cut,))
        if _rank(self.access) == len(self.ranges):
            inside = [
                side
                for form, size in zip(self.access, sizes, strict=True)
                for side in (form, -form + (size - 1))
            ]
            count = count_points(self.ranges, [*self.forms, *inside])
            if count is not None:
                return Cells(count, box)
        return self._enumerated(box, sizes)

    def _enumerated(self, box: tuple[Steps, ...], sizes: Sequence[int]) -> Cells | None:
        """By looking at every point."""
        if prod(self.ranges) > _MOST:
            return None
        import numpy as np

        is_valid = np.ones(self.ranges, np.bool_)
        for form in self.forms:
            is_valid &= _values(form, self.ranges) >= 0
        place = np.zeros((1,) * len(self.ranges), np.int64)
        for form, size in zip(self.access, sizes, strict=True):
            values = _values(form, self.ranges)
            is_valid &= (values >= 0) & (values < size)
            place = place * size + values
        places = np.broadcast_to(place, is_valid.shape)[is_valid]
        return Cells(len(np.unique(places)), box)

    def _without_others(self) -> _Component:
        """Without the dimensions that no axis sees, where that is exact.

        A dimension with coefficients of 1 and -1 only has a value between its bounds
        just where each lower bound is at most each upper one.
        """
        part = self
        while (dimension := part._superfluous()) is not None:
            part = part._without(dimension)
        return part

    def _superfluous(self) -> int | None:
        seen = {d for form in self.access for d in form.support}
        for dimension in range(len(self.ranges)):
            if dimension not in seen and all(
                abs(form.coefficients[dimension]) <= 1 for form in self.forms
            ):
                return dimension
        return None

    def _without(self, dimension: int) -> _Component:
        rank = len(self.ranges)
        value = LinearForm.dimension(dimension, rank)
        sides = [*self.forms, value, -value + (self.ranges[dimension] - 1)]
        lower = [form for form in sides if form.coefficients[dimension] > 0]
        upper = [form for form in sides if form.coefficients[dimension] < 0]
        forms = [form for form in self.forms if not form.coefficients[dimension]]
        forms += [one + other for one in lower for other in upper]
        kept = [d for d in range(rank) if d != dimension]
        ranges = [self.ranges[d] for d in kept]
        left = [within(form, kept) for form in forms]
        needed = _that_matter(ranges, left)
        if needed is None:
            needed = [LinearForm.constant_of(-1, len(kept))]
        return _Component(ranges, needed, [within(form, kept) for form in self.access])


def _steps(form: LinearForm, ranges: Sequence[int]) -> Steps:
    """From the least value of a form to the greatest, by what divides all steps."""
    low, high = form.bounds(ranges)
    moving = [abs(c) for c, n in zip(direction(form), ranges, strict=True) if n > 1]
    return Steps(int(low), int(high), gcd(*moving) or 1)


def _has_no_gaps(form: LinearForm, ranges: Sequence[int]) -> bool:
    """Whether a form takes all values that `_steps` says."""
    step = _steps(form, ranges).step
    reach = step
    moving = zip(direction(form), ranges, strict=True)
    for size, extent in sorted((abs(c), n) for c, n in moving if c and n > 1):
        if size > reach:
            return False
        reach += size * (extent - 1)
    return True


def _cut(form: LinearForm, sides: Sequence[LinearForm], steps: Steps) -> Steps | None:
    """The values of a form that has all of `steps`, under inequalities on itself only.

    None where an inequality is on something else.
    """
    divisor = gcd(*direction(form)) or 1
    own = tuple(c // divisor for c in direction(form))
    for side in sides:
        # Inequalities are tightened: their coefficients have no common divisor.
        terms, constant = direction(side), int(side.constant)
        if terms == own:
            steps = steps.within(int(form.constant) - constant * divisor, steps.last)
        elif terms == tuple(-c for c in own):
            steps = steps.within(steps.first, int(form.constant) + constant * divisor)
        else:
            return None
    return steps


def _rank(access: Sequence[LinearForm]) -> int:
    basis = EchelonBasis(access[0].rank)
    for form in access:
        basis.add(direction(form))
    return basis.rank


def _contains(outer: Cells, inner: Cells) -> bool:
    """Whether a full box has all cells of another."""
    return all(
        own.first <= other.first
        and other.last <= own.last
        and other.step % own.step == 0
        and (other.first - own.first) % own.step == 0
        for own, other in zip(outer.box, inner.box, strict=True)
    )


def _are_disjoint(cells: Sequence[Cells]) -> bool:
    """Whether each two are apart along some axis."""
    return all(
        any(
            a.last < b.first
            or b.last < a.first
            or (b.first - a.first) % gcd(a.step, b.step) != 0
            for a, b in zip(one.box, other.box, strict=True)
        )
        for number, one in enumerate(cells)
        for other in cells[:number]
    )


def _area(boxes: Sequence[Cells]) -> int:
    """The cells of overlapping boxes: the grid of all their sides, piece by piece."""
    import numpy as np

    axes = [*zip(*(each.box for each in boxes), strict=True)]
    sides = [
        sorted({end for s in axis for end in (s.first, s.last + 1)}) for axis in axes
    ]
    is_in = np.zeros([len(ends) - 1 for ends in sides], np.bool_)
    for each in boxes:
        is_in[
            tuple(
                slice(ends.index(s.first), ends.index(s.last + 1))
                for ends, s in zip(sides, each.box, strict=True)
            )
        ] = True
    sizes = np.array(1, np.int64)
    for ends in sides:
        sizes = np.multiply.outer(sizes, np.diff(np.array(ends, np.int64)))
    return int(sizes[is_in].sum())

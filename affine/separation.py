"""Cutting a box so that inequalities need not be checked at each of its points.

A loop nest over a box of own dimensions runs once for each value of some outer ones. An
inequality over both is free where it always holds, and where it only shortens the range
of one own dimension. So the box is cut into pieces in which that is so: first by
conditions that are tested rarely and tell whether an inequality matters at all, then
along those own dimensions that may be cut. This is index-set splitting (Griebl,
Feautrier and Lengauer, 2000) with boxes.

With 64 values of `c` between them, `ky` and `y` tell for `ky + y1 + 14*y - 1 >= 0`,
where `0 <= y1 < 14` and `0 <= ky < 3`:

    ky + 14*y >= 1      nothing to check
    y <= 0, ky = 0      1 <= y1 < 14

and if it is not worth it to test anything in a loop, `y` alone does:

    y >= 1                  nothing to check
    y <= 0, ky = 0          1 <= y1 < 14
    y <= 0, 1 <= ky < 3     nothing to check
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TypeAlias

from .form import LinearForm

Costly: TypeAlias = "Callable[[Piece, LinearForm], bool]"
"""Whether a form is tested often, in the loops of a piece."""

_Cut: TypeAlias = "Callable[[Piece, Sequence[LinearForm]], list[Piece]]"
"""The parts of a piece by one of some forms; none if there are none."""

_ROUNDS = 8
"""How often intervals shrink each other: inequalities could go on step by step."""

_MOST_PIECES = 64
"""The most pieces that vital forms make."""

_MOST_CUTS = 8
"""How often the piece of the most points is cut, whatever the limit."""

_MOST_VALUES = 64
"""The longest dimension that is cut where limits of another change."""


@dataclass(frozen=True)
class Piece:
    """A part of a box: intervals per dimension, conditions, and what is to be checked.

    Its points are those in the intervals where all forms are >= 0.
    """

    lows: tuple[int, ...]
    highs: tuple[int, ...]
    """The greatest values, which are in the piece."""
    conditions: tuple[LinearForm, ...]
    """Forms that are tested rarely: what the piece was cut by."""
    pending: tuple[LinearForm, ...]
    """The other forms, all of which depend on own dimensions."""

    def extent(self, dimension: int) -> int:
        """How many values the interval of a dimension has; 0 or less if it is empty."""
        return self.highs[dimension] - self.lows[dimension] + 1

    def volume(self) -> int:
        """The number of points in the intervals."""
        return prod(map(self.extent, range(len(self.lows))))

    def bounds(self, form: LinearForm, fixed: Collection[int] = ()) -> tuple[int, int]:
        """Least and greatest value of a form, with 0 for the `fixed` dimensions."""
        low = high = form.constant.numerator
        for dimension in form.support:
            if dimension in fixed:
                continue
            step = form.coefficients[dimension].numerator
            ends = step * self.lows[dimension], step * self.highs[dimension]
            low += min(ends)
            high += max(ends)
        return low, high

    def where(self, form: LinearForm) -> Piece:
        """The piece with a condition added."""
        return replace(self, conditions=(*self.conditions, form))

    def cut(self, dimension: int, value: int) -> list[Piece]:
        """The parts below `value` and from it on."""
        below, above = [*self.highs], [*self.lows]
        below[dimension], above[dimension] = value - 1, value
        return [replace(self, highs=tuple(below)), replace(self, lows=tuple(above))]


@dataclass(frozen=True)
class Nest:
    """A loop nest: own dimensions in the order of the loops, then outer ones."""

    extents: tuple[int, ...]
    """The ranges of all dimensions."""
    own: int
    """How many of them are own."""
    forms: tuple[LinearForm, ...]
    """The inequalities, over all dimensions."""
    cuttable: frozenset[int]
    """The own dimensions that may be cut."""

    def whole(self) -> Piece:
        """All points."""
        highs = tuple(extent - 1 for extent in self.extents)
        return self._sorted(Piece((0,) * len(highs), highs, (), self.forms))

    def _sorted(self, piece: Piece) -> Piece:
        """Forms that do not depend on own dimensions are tested rarely."""
        outer = [form for form in piece.pending if self.last_own(form) is None]
        pending = tuple(form for form in piece.pending if form not in outer)
        return replace(piece, conditions=(*piece.conditions, *outer), pending=pending)

    def last_own(self, form: LinearForm) -> int | None:
        """The innermost loop that a form depends on."""
        return max((d for d in form.support if d < self.own), default=None)


def separate(
    nest: Nest,
    is_costly: Costly,
    limit: int,
    least: float = 0.0,
    vital: Collection[int] = (),
    weight: Callable[[Piece], float] = lambda piece: 1,
) -> list[Piece]:
    """Cut a nest into disjoint pieces that have all its points.

    First all pieces are cut by the forms that depend on own dimensions in `vital`, then
    that of the most points by others that `is_costly` wants. The rest is for the limit:
    the piece of the most points first, none that has less than the share `least` of all
    points, and such that the pieces' weights together stay below `limit`; except where
    they become less.
    """
    whole = _reduced(nest.whole())
    if whole is None:
        return []

    def is_vital(_: Piece, form: LinearForm) -> bool:
        return any(form.coefficients[dimension] for dimension in vital)

    cut = partial(_parts, nest, is_costly)
    pieces = _cut_all([whole], is_vital, cut, 0, _MOST_PIECES, lambda piece: 1)
    if limit > 1:
        pieces.sort(key=Piece.volume, reverse=True)
        pieces = [*_cut_out(pieces[0], is_costly, cut), *pieces[1:]]
    smallest = least * whole.volume()
    pieces = _cut_all(pieces, is_costly, cut, smallest, limit, weight)
    return [_with_needed_conditions(nest, piece) for piece in pieces]


def _cut_out(piece: Piece, is_wanted: Costly, cut: _Cut) -> list[Piece]:
    """Cut the largest part of a piece, if it can be, until it has no wanted forms."""
    rest: list[Piece] = []
    for _ in range(_MOST_CUTS):
        forms = [form for form in piece.pending if is_wanted(piece, form)]
        parts = cut(piece, forms)
        if not parts:
            break
        piece, *others = sorted(parts, key=Piece.volume, reverse=True)
        rest += others
    return [piece, *rest]


def _cut_all(
    pieces: Sequence[Piece],
    is_wanted: Costly,
    cut: _Cut,
    smallest: float,
    limit: int,
    weight: Callable[[Piece], float],
) -> list[Piece]:
    """Cut pieces by wanted forms, those of the most points first."""
    pieces = [*pieces]
    total = sum(map(weight, pieces))
    done: list[Piece] = []
    while pieces:
        pieces.sort(key=Piece.volume, reverse=True)
        piece = pieces.pop(0)
        forms = [form for form in piece.pending if is_wanted(piece, form)]
        parts = cut(piece, forms) if piece.volume() >= smallest else []
        added = sum(map(weight, parts)) - weight(piece)
        if parts and (added <= 0 or total + added <= limit):
            pieces += parts
            total += added
        else:
            done.append(piece)
    return done


def _parts(
    nest: Nest, is_costly: Costly, piece: Piece, forms: Sequence[LinearForm]
) -> list[Piece]:
    """The parts of a piece after one useful cut by a form; none if there is none."""
    for cutter in (_cut_by_condition, _cut_inside, _cut_outer_value):
        for form in forms:
            parts = cutter(nest, piece, form, is_costly)
            if parts:
                reduced = (_reduced(part) for part in parts)
                return [part for part in reduced if part is not None]
    return []


def _cut_by_condition(
    nest: Nest, piece: Piece, form: LinearForm, is_costly: Costly
) -> list[Piece]:
    """Cut by a condition, cheap to test, under which a form holds for the tile.

    The condition is over outer dimensions and those own ones that may be cut, as far as
    the loop of each contains enough work.
    """
    rank = len(nest.extents)
    kept = [
        d
        for d in form.support
        if d >= nest.own
        or (d in nest.cuttable and not is_costly(piece, LinearForm.dimension(d, rank)))
    ]
    if not kept or len(kept) == len(form.support):
        return []
    steps = [c if d in kept else 0 for d, c in enumerate(form.coefficients)]
    rest = LinearForm(tuple(steps))
    inside = rest + (piece.bounds(form)[0] - piece.bounds(rest)[0])
    low, high = piece.bounds(inside)
    if low >= 0 or high < 0 or _implied_by(piece, -inside - 1):
        return []
    return [piece.where(inside), piece.where(-inside - 1)]


def _cut_inside(
    nest: Nest, piece: Piece, form: LinearForm, is_costly: Costly
) -> list[Piece]:
    """Cut along an own dimension where a form begins or ceases to hold always.

    Where it never holds always, where it limits another dimension differently.
    """
    for dimension in form.support:
        if dimension not in nest.cuttable or piece.extent(dimension) == 1:
            continue
        value = _threshold(piece, form, dimension)
        if value is not None:
            return piece.cut(dimension, value)
    return []


def _threshold(piece: Piece, form: LinearForm, dimension: int) -> int | None:
    """A value of a dimension at which it is useful to cut."""
    step = form.coefficients[dimension].numerator
    least, _ = piece.bounds(form, (dimension,))
    low, high = piece.lows[dimension], piece.highs[dimension]
    # The values with `step * value + least >= 0`.
    value = -(least // step) if step > 0 else least // -step + 1
    if low < value <= high:
        return value
    if high - low >= _MOST_VALUES:
        return None
    others = [d for d in form.support if d != dimension and piece.extent(d) > 1]
    if len(others) != 1:
        return low + 1
    factor = abs(form.coefficients[others[0]].numerator)
    free = piece.bounds(form, (dimension, *others))[0]
    # From the end where the form is strictest, as far as the other's limit is the same.
    limits = [(step * each + free) // factor for each in range(low, high + 1)]
    changes = (n for n in range(1, len(limits)) if limits[n] != limits[n - 1])
    first = next(changes, None)
    return None if first is None else low + first


def _cut_outer_value(
    nest: Nest, piece: Piece, form: LinearForm, is_costly: Costly
) -> list[Piece]:
    """Cut off one value of an outer dimension, so that what is left is constant."""
    if sum(piece.extent(d) > 1 for d in form.support if d < nest.own) != 1:
        return []
    for dimension in form.support:
        if dimension >= nest.own and 1 < piece.extent(dimension) <= 4:
            return piece.cut(dimension, piece.lows[dimension] + 1)
    return []


def _reduced(piece: Piece) -> Piece | None:
    """The piece with tight intervals and without forms that always hold.

    None when it has no points.
    """
    tight = _tightened(piece, (*piece.conditions, *piece.pending))
    if tight is None:
        return None
    pending = tuple(form for form in tight.pending if not _implied_by(tight, form))
    return replace(tight, pending=pending)


def _tightened(piece: Piece, forms: Iterable[LinearForm]) -> Piece | None:
    """Shrink intervals to what single forms leave of them; None if that is nothing."""
    forms = tuple(forms)
    lows, highs = [*piece.lows], [*piece.highs]
    for _ in range(_ROUNDS):
        changed = False
        for form in forms:
            current = replace(piece, lows=tuple(lows), highs=tuple(highs))
            for dimension in form.support:
                step = form.coefficients[dimension].numerator
                _, most = current.bounds(form, (dimension,))
                if step > 0 and -(most // step) > lows[dimension]:
                    lows[dimension] = -(most // step)
                    changed = True
                elif step < 0 and most // -step < highs[dimension]:
                    highs[dimension] = most // -step
                    changed = True
                if lows[dimension] > highs[dimension]:
                    return None
            if form.is_constant and form.constant < 0:
                return None
        if not changed:
            break
    return replace(piece, lows=tuple(lows), highs=tuple(highs))


def _implied_by(piece: Piece, form: LinearForm) -> bool:
    """Whether a form holds at all points of the piece.

    It does by the piece's intervals, or because a condition with parts of it does.
    """
    if piece.bounds(form)[0] >= 0:
        return True
    for condition in piece.conditions:
        if not condition.is_constant and piece.bounds(form - condition)[0] >= 0:
            return True
    return False


def _with_needed_conditions(nest: Nest, piece: Piece) -> Piece:
    """The piece with those conditions that its intervals and other forms do not imply.

    What else is known of its intervals of outer dimensions becomes conditions.
    """
    several = [form for form in piece.conditions if len(form.support) > 1]
    needed = [form for form in dict.fromkeys(several) if piece.bounds(form)[0] < 0]
    free = replace(
        piece,
        lows=(*piece.lows[: nest.own], *(0 for _ in nest.extents[nest.own :])),
        highs=(
            *piece.highs[: nest.own],
            *(extent - 1 for extent in nest.extents[nest.own :]),
        ),
    )
    wide = _tightened(free, (*needed, *piece.pending))
    rank = len(nest.extents)
    for dimension in range(nest.own, rank):
        value = LinearForm.dimension(dimension, rank)
        if wide is None or piece.lows[dimension] > wide.lows[dimension]:
            needed.append(value - piece.lows[dimension])
        if wide is None or piece.highs[dimension] < wide.highs[dimension]:
            needed.append(-value + piece.highs[dimension])
    return replace(piece, conditions=tuple(needed))

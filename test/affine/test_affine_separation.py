"""The pieces of a nest have each of its points once, and check what they say."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.affine.separation import Nest, Piece, separate

Point = tuple[int, ...]


def points_of(nest: Nest) -> set[Point]:
    """All points at which the inequalities of a nest hold."""
    box = product(*map(range, nest.extents))
    return {p for p in box if all(form.evaluate(p) >= 0 for form in nest.forms)}


def points_in(nest: Nest, piece: Piece) -> list[Point]:
    """The points of a piece as a loop nest runs them: outer intervals do not count."""
    own = [
        range(low, high + 1) for low, high in zip(piece.lows, piece.highs, strict=True)
    ][: nest.own]
    outer = [range(extent) for extent in nest.extents[nest.own :]]
    forms = (*piece.conditions, *piece.pending)
    return [
        point
        for point in product(*own, *outer)
        if all(form.evaluate(point) >= 0 for form in forms)
    ]


def random_nest(random: Random) -> Nest:
    own = random.randint(1, 3)
    rank = own + random.randint(0, 2)
    extents = tuple(random.randint(1, 6) for _ in range(rank))
    forms: list[LinearForm] = []
    for _ in range(random.randint(1, 3)):
        steps = [random.choice((0, 0, 1, -1, 2, -3, 5)) for _ in extents]
        low, high = LinearForm.of(steps).bounds(extents)
        forms.append(LinearForm.of(steps, -random.randint(int(low) - 1, int(high) + 1)))
    cuttable = frozenset(d for d in range(own) if random.random() < 0.6)
    return Nest(extents, own, tuple(forms), cuttable)


@given(seed=st.integers(0, 2**32), limit=st.sampled_from([1, 2, 3, 8, 100]))
@settings(max_examples=300)
def test_pieces_are_disjoint_and_cover(seed: int, limit: int) -> None:
    random = Random(seed)
    nest = random_nest(random)
    costly = {d for d in range(nest.own) if random.random() < 0.8}
    pieces = separate(nest, lambda _, form: bool(costly & {*form.support}), limit)
    assert len(pieces) <= limit + 8
    counts = Counter(point for piece in pieces for point in points_in(nest, piece))
    assert set(counts) == points_of(nest)
    assert set(counts.values()) <= {1}


def conditions(piece: Piece) -> set[str]:
    names = ["ky", "c", "y1", "y"]
    return {form.format(names) for form in piece.conditions}


def test_border_of_a_convolution() -> None:
    """No piece checks anything, and there are as many as the border has cases."""
    low = LinearForm.of([1, 0, 1, 14], -1)
    high = LinearForm.of([-1, 0, -1, -14], 56)
    nest = Nest((3, 64, 14, 4), 3, (low, high), frozenset({0, 1}))
    pieces = separate(nest, lambda _, form: bool(form.coefficients[2]), 12)
    assert not any(piece.pending for piece in pieces)
    found = [
        (
            piece.lows[0],
            piece.highs[0],
            piece.lows[2],
            piece.highs[2],
            conditions(piece),
        )
        for piece in pieces
    ]
    assert found == [
        (0, 2, 0, 13, {"ky + 14 * y - 1", "-ky - 14 * y + 43"}),
        (0, 0, 1, 13, {"-y"}),
        (2, 2, 0, 12, {"y - 3"}),
    ]


def test_tests_in_short_loops() -> None:
    """Where no loop contains enough work, conditions are over outer dimensions."""
    low = LinearForm.of([1, 1, 14], -1)
    nest = Nest((3, 14, 4), 2, (low,), frozenset({0}))
    pieces = separate(nest, lambda _, form: bool(form.coefficients[0]), 12)
    found = {(p.lows[0], p.highs[0], p.lows[1], p.lows[2]) for p in pieces}
    assert found == {(0, 2, 0, 1), (0, 0, 1, 0), (1, 2, 0, 0)}


def test_rest_of_a_range() -> None:
    """Two levels of tiles over 1000 = 4 * 240 + 3 * 12 + 4 rows."""
    rest = LinearForm.of([0, -1, -240, -12], 999)
    nest = Nest((7, 12, 5, 20), 2, (rest,), frozenset({0}))
    whole, last = separate(nest, lambda _, form: True, 12)
    assert not whole.pending
    assert whole.extent(1) == 12
    assert not last.pending
    assert last.extent(1) == 4


def test_equal_limits_stay_together() -> None:
    """With stride two, two places of the window have the same first pixel."""
    low = LinearForm.of([1, 2], -3)
    nest = Nest((7, 14), 2, (low,), frozenset({0}))
    pieces = separate(nest, lambda _, form: True, 12)
    found = {(p.lows[0], p.highs[0], p.lows[1]) for p in pieces}
    assert found == {(0, 0, 2), (1, 2, 1), (3, 6, 0)}


def test_what_is_cheap_stays() -> None:
    form = LinearForm.of([1, 1, 4], -1)
    nest = Nest((3, 4, 5), 2, (form,), frozenset({0}))
    (piece,) = separate(nest, lambda _, form: False, 12)
    assert piece.pending == (form,)


def test_no_points() -> None:
    never = LinearForm.of([1, 1], -9)
    assert (
        separate(Nest((3, 4), 1, (never,), frozenset()), lambda _, form: True, 9) == []
    )

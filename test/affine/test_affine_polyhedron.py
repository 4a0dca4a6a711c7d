"""Tests of polyhedra against the enumeration of all points of a small box."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from subprocess import run
from sys import executable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gingham.affine import isl
from gingham.affine.form import LinearForm
from gingham.affine.polyhedron import (
    Polyhedron,
    Unbounded,
    box_constraints,
    without_implied,
)
from gingham.errors import GinghamError


def contains(polyhedron: Polyhedron, point: Sequence[int]) -> bool:
    return all(f.evaluate(point) >= 0 for f in polyhedron.inequalities) and not any(
        f.evaluate(point) for f in polyhedron.equalities
    )


def form(*numbers: int) -> LinearForm:
    """Coefficients, then the constant."""
    return LinearForm.of(numbers[:-1], numbers[-1])


def forms(rank: int, most: int, least: int = 0) -> st.SearchStrategy[list[LinearForm]]:
    coefficient = st.integers(-3, 3) | st.sampled_from([-1, 0, 0, 1])
    terms = st.lists(coefficient, min_size=rank, max_size=rank)
    built = st.builds(LinearForm.of, terms, st.integers(-4, 6))
    return st.lists(built, min_size=least, max_size=most)


@st.composite
def boxes(draw: st.DrawFn) -> tuple[list[int], Polyhedron, list[tuple[int, ...]]]:
    """Ranges, a polyhedron inside them, and its points by enumeration."""
    rank = draw(st.integers(1, 3))
    ranges = draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank))
    inequalities = draw(forms(rank, 3))
    equalities = draw(forms(rank, 1))
    polyhedron = Polyhedron(
        rank, (*inequalities, *box_constraints(ranges)), tuple(equalities)
    )
    points = [
        point
        for point in product(*map(range, ranges))
        if all(f.evaluate(point) >= 0 for f in inequalities)
        and not any(f.evaluate(point) for f in equalities)
    ]
    return ranges, polyhedron, points


Box = tuple[list[int], Polyhedron, list[tuple[int, ...]]]


@given(boxes())
@settings(deadline=None, max_examples=300)
def test_points_bounds_and_sample(box: Box) -> None:
    ranges, polyhedron, points = box
    outside = product(*(range(-1, extent + 1) for extent in ranges))
    assert [p for p in outside if contains(polyhedron, p)] == points
    assert polyhedron.is_empty() == (not points)
    expected = [(min(values), max(values)) for values in zip(*points, strict=True)]
    assert polyhedron.bounds() == (expected or None)
    sample = polyhedron.sample()
    assert sample in points if points else sample is None


@given(boxes(), st.data())
@settings(deadline=None, max_examples=200)
def test_images_and_collisions(box: Box, data: st.DataObject) -> None:
    ranges, polyhedron, points = box
    outputs = data.draw(forms(len(ranges), 2))
    if data.draw(st.booleans(), label="only variables"):
        chosen = data.draw(st.sets(st.integers(0, len(ranges) - 1)))
        outputs = [LinearForm.dimension(d, len(ranges)) for d in sorted(chosen)]
    shape = [data.draw(st.integers(0, 3)) for _ in outputs]
    cells = {tuple(f.evaluate(p) for f in outputs): p for p in points}

    wanted = set(product(*map(range, shape)))
    assert polyhedron.image_covers_box(outputs, shape) == (wanted <= set(cells))

    pair = polyhedron.find_collision(outputs)
    if pair is None:
        assert len(cells) == len(points)
    else:
        p, q = pair
        assert p != q
        assert p in points
        assert q in points
        assert [f.evaluate(p) for f in outputs] == [f.evaluate(q) for f in outputs]


@given(boxes(), st.data())
@settings(deadline=None, max_examples=100)
def test_extremes_of_forms(box: Box, data: st.DataObject) -> None:
    ranges, polyhedron, points = box
    asked = data.draw(forms(len(ranges), 3))
    values = [[form.evaluate(point) for point in points] for form in asked]
    expected = [(min(each), max(each)) for each in values] if points else None
    assert polyhedron.extremes(asked) == expected


def test_what_rational_points_need() -> None:
    # The triangle x, y >= 0, 2x + y <= 4, and a line through a corner, one outside.
    triangle = [form(1, 0, 0), form(0, 1, 0), form(-2, -1, 4)]
    idle = [form(-1, -1, 4), form(-1, 0, 3)]
    assert isl.irredundant(2, [*idle, *triangle]) == triangle
    # With y of 0 and 1, 2x + y >= 0 and x >= 0 have the same integer points.
    box = [form(1, 0, 0), form(-1, 0, 2), form(0, 1, 0), form(0, -1, 1)]
    assert isl.irredundant(2, [form(2, 1, 0), *box]) == box


@given(boxes(), st.data())
@settings(deadline=None, max_examples=200)
def test_reaching_every_value_of_some_dimensions(box: Box, data: st.DataObject) -> None:
    ranges, polyhedron, points = box
    kept = sorted(data.draw(st.sets(st.integers(0, len(ranges) - 1))))
    reached = {tuple(p[d] for d in kept) for p in points}

    inside = [ranges[d] for d in kept]
    everything = set(product(*map(range, inside)))
    assert polyhedron.reaches_every(kept, inside) == (reached == everything)

    # Of the combinations only those that some conditions on them leave.
    here = {d: position for position, d in enumerate(kept)}
    where = [
        LinearForm.of([c if d in here else 0 for d, c in enumerate(f.coefficients)], b)
        for f in data.draw(forms(len(ranges), 2))
        for b in [f.constant]
    ]
    asked = {
        values
        for values in everything
        if all(
            f.evaluate([values[here[d]] if d in here else 0 for d in range(f.rank)])
            >= 0
            for f in where
        )
    }
    assert polyhedron.reaches_every(kept, inside, where) == (asked <= reached)

    hull = [
        range(min(values), max(values) + 1) for values in zip(*reached, strict=True)
    ]
    full = not reached or reached == set(product(*hull))
    assert polyhedron.reaches_every(kept) == (full and (bool(points) or bool(kept)))


@given(st.data(), st.integers(1, 3))
@settings(deadline=None, max_examples=300)
def test_without_implied_keeps_what_is_needed(data: st.DataObject, rank: int) -> None:
    ranges = data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    context = Polyhedron.box(ranges, data.draw(forms(rank, 1)))
    constraints = data.draw(forms(rank, 4))
    inside = [p for p in product(*map(range, ranges)) if contains(context, p)]

    def points(constraints: Sequence[LinearForm]) -> list[tuple[int, ...]]:
        return [p for p in inside if all(f.evaluate(p) >= 0 for f in constraints)]

    kept = without_implied(constraints, context)
    assert points(kept) == points(constraints)
    for fewer in combinations(kept, len(kept) - 1) if kept else ():
        assert points(fewer) != points(kept)


def test_unbounded_dimension_is_named() -> None:
    # x >= 0, and y between x and x + 2: both grow without end, x is first.
    wedge = Polyhedron(2, (form(1, 0, 0), form(-1, 1, 0), form(1, -1, 2)))
    with pytest.raises(Unbounded, match="dimension 0") as caught:
        wedge.bounds()
    assert caught.value.dimension == 0
    with pytest.raises(Unbounded, match="dimension 1"):
        Polyhedron(2, (form(1, 0, 0), form(-1, 0, 5), form(0, 1, 0))).bounds()
    # The same, downwards.
    with pytest.raises(Unbounded, match="dimension 0"):
        Polyhedron(2, (form(-1, 0, 0), form(-1, 1, 0), form(1, -1, 2))).bounds()
    assert wedge.sample() is not None
    assert not wedge.is_empty()
    # Nothing is unbounded where there is no point.
    assert Polyhedron(2, (form(2, -4, -1), form(-2, 4, 1))).bounds() is None


def test_unbounded_images() -> None:
    everything = Polyhedron(1)
    assert everything.image_covers_box([form(1, 0)], [1000])
    assert not everything.image_covers_box([form(2, 0)], [2])
    assert everything.find_collision([form(0, 7)]) is not None
    assert everything.find_collision([form(3, 1)]) is None
    assert everything.sample() == (0,)
    assert Polyhedron(1, (form(-1, -5),)).sample() == (-5,)


def test_no_dimensions() -> None:
    assert Polyhedron(0).bounds() == []
    assert Polyhedron(0).sample() == ()
    assert Polyhedron(0).find_collision([]) is None
    assert Polyhedron(0).image_covers_box([LinearForm((), 0)], [1])
    assert not Polyhedron(0).image_covers_box([LinearForm((), 0)], [2])
    assert Polyhedron(0, (LinearForm((), -1),)).is_empty()


def test_fractions_are_refused() -> None:
    third = LinearForm.of([Fraction(1, 3)])
    with pytest.raises(ValueError, match="integer coefficients"):
        Polyhedron(1, (third,)).is_empty()


def test_contradictory_constraints_stay_a_contradiction() -> None:
    box = Polyhedron.box([4])
    assert without_implied([form(1, -3), form(-1, 1)], box) == [form(0, -1)]
    assert without_implied([form(1, -9)], Polyhedron.box([0])) == []


def test_window_at_a_border() -> None:
    # Outputs x of a padded window of 3: x + k - 1 inside 0..9.
    inside = [form(1, 1, -1), form(-1, -1, 10)]
    window = Polyhedron.box([10, 3], inside)
    assert window.bounds() == [(0, 9), (0, 2)]
    assert window.reaches_every([0])
    assert window.image_covers_box([form(1, 0, 0)], [10])
    assert not window.image_covers_box([form(1, 0, 0)], [11])
    assert without_implied([*inside, form(1, 1, 3)], Polyhedron.box([10, 3])) == inside


def test_numbers_beyond_64_bits() -> None:
    big = 2**80
    line = Polyhedron(2, (form(1, 0, 0), form(-1, 0, big)), (form(3, -1, -1),))
    assert line.bounds() == [(0, big), (-1, 3 * big - 1)]


def market(size: int) -> Polyhedron:
    """A knapsack equation over bits: cheap to state, laborious to decide."""
    weights = [10007 * (i + 3) % 9973 + 5000 for i in range(size)]
    total = LinearForm.of(weights, -sum(weights) // 2)
    return Polyhedron(size, tuple(box_constraints([2] * size)), (total,))


def test_hard_questions_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl, "OPERATION_LIMIT", 20)
    with pytest.raises(GinghamError, match="too hard"):
        market(20).is_empty()
    # The next question starts anew.
    monkeypatch.undo()
    window = Polyhedron.box([10, 3], [form(1, 1, -1)])
    assert window.bounds() == [(0, 9), (0, 2)]


def test_questions_within_one_limit_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    window = Polyhedron.box([10, 3], [form(1, 1, -1), form(-1, -1, 10)])

    def ask_often() -> None:
        for _ in range(200):
            window.bounds()

    monkeypatch.setattr(isl, "OPERATION_LIMIT", 300)
    ask_often()
    with pytest.raises(GinghamError, match="too hard"), isl.one_limit():
        ask_often()
    ask_often()


def test_questions_from_several_threads() -> None:
    windows = [
        Polyhedron.box([n, 3], [form(1, 1, -1), form(-1, -1, n)]) for n in range(3, 43)
    ]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(Polyhedron.bounds, windows))
    assert found == [[(0, n - 1), (0, 2)] for n in range(3, 43)]


def test_import_leaves_islpy_alone() -> None:
    program = (
        "import sys, gingham.affine.flatten, gingham.affine.polyhedron;"
        "sys.exit('islpy' in sys.modules)"
    )
    assert run([executable, "-c", program], cwd=Path(__file__).parent).returncode == 0

"""Counting points and cells, against looking at every point."""

from __future__ import annotations

import itertools
import random

import pytest

from gingham.affine.counting import Cells, Steps, count_points, reached_cells, united
from gingham.affine.form import LinearForm


def form(*terms: int, constant: int = 0) -> LinearForm:
    return LinearForm(terms, constant)


def points(ranges: list[int], forms: list[LinearForm]) -> list[tuple[int, ...]]:
    return [
        point
        for point in itertools.product(*map(range, ranges))
        if all(each.evaluate(point) >= 0 for each in forms)
    ]


def cells(
    ranges: list[int],
    forms: list[LinearForm],
    access: list[LinearForm],
    windows: list[int],
    sizes: list[int],
) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    for point in points(ranges, forms):
        starts = [int(each.evaluate(point)) for each in access]
        axes = [range(s, s + w) for s, w in zip(starts, windows, strict=True)]
        found |= {*itertools.product(*axes)}
    return {
        cell
        for cell in found
        if all(0 <= c < n for c, n in zip(cell, sizes, strict=True))
    }


def random_form(generator: random.Random, rank: int, largest: int) -> LinearForm:
    terms = [
        generator.choice([0, 0, 1, 1, -1, generator.randint(-3, 3)])
        for _ in range(rank)
    ]
    return LinearForm(tuple(terms), generator.randint(-largest, largest))


def test_points_of_a_box() -> None:
    assert count_points([3, 4], []) == 12
    assert count_points([], []) == 1
    assert count_points([3, 0], [form(1, -1)]) == 0


def test_points_of_a_large_triangle() -> None:
    assert count_points([4096, 4096], [form(1, -1)]) == 4096 * 4097 // 2


def test_points_that_take_too_long() -> None:
    chain = [form(1, -1, 0, 0), form(0, 1, -1, 0), form(0, 0, 1, -1)]
    assert count_points([4096] * 4, chain) is None


@pytest.mark.parametrize("seed", range(150))
def test_points_as_looked_at(seed: int) -> None:
    generator = random.Random(seed)
    ranges = [generator.randint(1, 6) for _ in range(generator.randint(1, 4))]
    forms = [
        random_form(generator, len(ranges), 5) for _ in range(generator.randint(0, 3))
    ]
    assert count_points(ranges, forms) == len(points(ranges, forms))


@pytest.mark.parametrize("seed", range(400))
def test_cells_as_looked_at(seed: int) -> None:
    generator = random.Random(seed)
    ranges = [generator.randint(1, 5) for _ in range(generator.randint(1, 4))]
    forms = [
        random_form(generator, len(ranges), 4) for _ in range(generator.randint(0, 2))
    ]
    access = [
        random_form(generator, len(ranges), 3) for _ in range(generator.randint(1, 3))
    ]
    windows = [generator.choice([1, 1, 2, 3]) for _ in access]
    sizes = [generator.randint(1, 9) for _ in access]
    found = reached_cells(ranges, forms, access, windows, sizes)
    expected = cells(ranges, forms, access, windows, sizes)
    assert found.is_exact
    assert found.count == len(expected)
    for cell in expected:
        for place, steps in zip(cell, found.box, strict=True):
            assert place in range(steps.first, steps.last + 1, steps.step)


def test_cells_of_a_large_convolution() -> None:
    """Inputs 1 wider on both sides: what is outside is under a constraint."""
    ranges, place = (
        [512, 512, 3, 3],
        [form(1, 0, 1, 0, constant=-1), form(0, 1, 0, 1, constant=-1)],
    )
    sides = [s for p in place for s in (p, -p + 511)]
    found = reached_cells(ranges, sides, place, [1, 1], [512, 512])
    assert (found.count, found.is_exact, found.is_box) == (512 * 512, True, True)
    output = [form(1, 0, 0, 0), form(0, 1, 0, 0)]
    assert reached_cells(ranges, sides, output, [1, 1], [512, 512]).is_box


def test_cells_of_a_large_triangle() -> None:
    half = reached_cells(
        [4096] * 2, [form(1, -1)], [form(1, 0), form(0, 1)], [1, 1], [4096] * 2
    )
    assert (half.count, half.is_exact) == (4096 * 4097 // 2, True)
    columns = reached_cells([4096] * 2, [form(1, -1)], [form(0, 1)], [1], [4096])
    assert (columns.count, columns.is_exact) == (4096, True)


def test_too_many_to_look_at_gives_a_bound() -> None:
    found = reached_cells(
        [3000, 3000, 3000], [form(2, 3, -5)], [form(2, 0, 3)], [1], [20000]
    )
    assert not found.is_exact
    assert 0 < found.count <= 20000


@pytest.mark.parametrize("seed", range(300))
def test_unions_as_looked_at(seed: int) -> None:
    generator = random.Random(seed)
    sizes = [generator.randint(3, 12) for _ in range(generator.randint(1, 2))]
    parts: list[Cells] = []
    expected: set[tuple[int, ...]] = set()
    for _ in range(generator.randint(1, 4)):
        ranges = [generator.randint(1, 4) for _ in sizes]
        step = generator.choice([1, 1, 1, 2])
        access = [
            LinearForm.dimension(d, len(sizes), step) + generator.randint(0, 6)
            for d in range(len(sizes))
        ]
        ones = [1] * len(sizes)
        parts.append(reached_cells(ranges, [], access, ones, sizes))
        expected |= cells(ranges, [], access, ones, sizes)
    found = united(parts, sizes)
    if found.is_exact:
        assert found.count == len(expected)
    else:
        assert found.count >= len(expected)


def test_steps() -> None:
    assert len(Steps(1, 10, 3)) == 4
    assert Steps(1, 10, 3).within(2, 9) == Steps(4, 7, 3)
    assert len(Steps(1, 10, 3).within(5, 6)) == 0

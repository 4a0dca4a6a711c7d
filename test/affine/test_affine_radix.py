"""Tests of what a cell tells about the indices that reach it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.affine.radix import determined_indices

Point = tuple[int, ...]


def form(*terms: int) -> LinearForm:
    return LinearForm(terms[:-1], terms[-1])


def test_digits() -> None:
    # 128i + 2j + k
    extents = {0: 9, 1: 64, 2: 2}
    assert determined_indices([form(128, 2, 1, 0)], [1], extents) == {0, 1, 2}
    # Of a window of two cells the first could be k = 0 or k = 1.
    assert determined_indices([form(128, 2, 1, 0)], [2], extents) == set()
    # With more values of k, or a smaller step of j, these two run into each other.
    assert determined_indices([form(129, 2, 1, 0)], [1], {**extents, 2: 3}) == {0}
    assert determined_indices([form(128, 1, 1, 0)], [1], extents) == {0}


def test_one_axis_helps_another() -> None:
    # [i, i + j] gives i away, and then j.
    access = [form(1, 0, 0), form(1, 1, 5)]
    assert determined_indices(access, [1, 1], {0: 4, 1: 4}) == {0, 1}
    assert determined_indices(access[1:], [1], {0: 4, 1: 4}) == set()
    assert determined_indices(access[1:], [1], {0: 4, 1: 4}, known=[1]) == {0, 1}


def test_indices_of_outer_blocks_do_not_move() -> None:
    assert determined_indices([form(1, 1, 0)], [1], {0: 4}) == {0}


def cells(access: list[LinearForm], windows: list[int], at: Point) -> Iterator[Point]:
    starts = [int(form.evaluate(at)) for form in access]
    yield from product(*(range(s, s + w) for s, w in zip(starts, windows, strict=True)))


@given(
    st.lists(
        st.tuples(st.tuples(*[st.integers(-6, 6)] * 3), st.integers(1, 3)),
        min_size=1,
        max_size=2,
    ),
    st.tuples(*[st.integers(1, 4)] * 3),
)
def test_points_that_share_a_cell_agree(
    axes: list[tuple[Point, int]], extents: Point
) -> None:
    access = [LinearForm(terms) for terms, _ in axes]
    windows = [window for _, window in axes]
    found = determined_indices(access, windows, dict(enumerate(extents)))
    owners: dict[Point, Point] = {}
    for point in product(*map(range, extents)):
        known = tuple(point[index] for index in sorted(found))
        for cell in cells(access, windows, point):
            assert owners.setdefault(cell, known) == known

"""Tests of index merging, against an enumeration of both boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

from hypothesis import event, given
from hypothesis import strategies as st

from gingham.affine.form import LinearForm
from gingham.affine.merging import Merging, merge_contiguous


def form(*terms: int) -> LinearForm:
    return LinearForm(terms[:-1], terms[-1])


def old_point(merging: Merging, point: Sequence[int]) -> tuple[int, ...]:
    """The values of the old indices at a point of the new ones."""
    old = [0] * len(merging.old_ranges)
    for rest, group in zip(point, merging.groups, strict=True):
        for index in reversed(group):
            rest, old[index] = divmod(rest, merging.old_ranges[index])
    return tuple(old)


def test_neighbours() -> None:
    merging = merge_contiguous([8, 2], [form(2, 1, 5), form(-4, -2, 0)], [range(2)])
    assert merging.groups == ((0, 1),)
    assert merging.ranges == (16,)
    assert merging.apply(form(2, 1, 5)) == form(1, 5)
    assert old_point(merging, [11]) == (5, 1)


def test_every_form_has_to_agree() -> None:
    assert merge_contiguous(
        [8, 2], [form(2, 1, 0), form(1, 1, 0)], [range(2)]
    ).groups == (
        (0,),
        (1,),
    )
    # Rows with padding, and rows that overlap.
    assert len(merge_contiguous([8, 2], [form(3, 1, 0)], [range(2)]).groups) == 2
    assert len(merge_contiguous([8, 3], [form(2, 1, 0)], [range(2)]).groups) == 2


def test_any_order_and_number() -> None:
    merging = merge_contiguous([2, 3, 4, 5], [form(1, 40, 10, 2, 0)], [range(4)])
    assert merging.groups == ((1, 2, 3, 0),)
    assert merging.ranges == (120,)


def test_parts_stay_apart() -> None:
    forms = [form(8, 4, 2, 1, 0)]
    merging = merge_contiguous([2, 2, 2, 2], forms, [range(1), range(1, 4)])
    assert merging.groups == ((0,), (1, 2, 3))


def test_idle_indices_only_count() -> None:
    merging = merge_contiguous([5, 7, 9], [form(0, 1, 0, 0)], [range(3)])
    assert merging.groups == ((0, 2), (1,))
    assert merging.ranges == (45, 7)


def test_ranges_stay_small() -> None:
    merging = merge_contiguous([10**9, 10**9, 2], [form(0, 0, 0, 0)], [range(3)])
    assert sorted(merging.ranges) == [10**9, 2 * 10**9]


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.lists(st.lists(st.integers(-2, 4), min_size=5, max_size=5), max_size=2),
    st.data(),
)
def test_all_points_are_kept(
    ranges: list[int], rows: list[list[int]], data: st.DataObject
) -> None:
    rank = len(ranges)
    forms = [form(*row[:rank], row[4]) for row in rows]
    if data.draw(st.booleans()):
        # Row-major addresses, times something, are contiguous.
        steps = [1] * rank
        for index in reversed(range(rank - 1)):
            steps[index] = steps[index + 1] * ranges[index + 1]
        factors = data.draw(st.lists(st.integers(-2, 2), min_size=1, max_size=2))
        forms = [form(*(step * factor for step in steps), 3) for factor in factors]
    cut = data.draw(st.integers(0, rank))
    merging = merge_contiguous(ranges, forms, [range(cut), range(cut, rank)])
    event(f"{rank - len(merging.groups)} merged")
    found: Counter[tuple[int, ...]] = Counter()
    for point in product(*map(range, merging.ranges)):
        old = old_point(merging, point)
        found[old] += 1
        for f in forms:
            assert merging.apply(f).evaluate(point) == f.evaluate(old)
    assert found == Counter(product(*map(range, ranges)))
    assert all(max(g) < cut or min(g) >= cut for g in merging.groups)

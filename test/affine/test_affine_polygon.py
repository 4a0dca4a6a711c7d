"""Points of polygons are counted as they are by looking at each of them."""

from __future__ import annotations

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from gingham.affine.counting import count_points
from gingham.affine.form import LinearForm
from gingham.affine.polygon import count_in_polygon

factors = st.integers(-6, 6)
forms = st.builds(LinearForm, st.tuples(factors, factors), st.integers(-25, 25))


@given(st.lists(forms, max_size=4), st.integers(1, 14), st.integers(1, 14))
def test_against_enumeration(sides: list[LinearForm], width: int, height: int) -> None:
    points = [(x, y) for x in range(width) for y in range(height)]
    inside = sum(all(side.evaluate(p) >= 0 for side in sides) for p in points)
    assert count_in_polygon(sides, width, height) == inside
    assert count_points([width, height], sides) == inside


def test_a_large_triangle() -> None:
    size = 2**62
    start = process_time()
    below = LinearForm((-1, -1), size - 1)
    assert count_points([size, size], [below]) == size * (size + 1) // 2
    # Each point of the square is on one side of this line or on the other.
    side = LinearForm((7_919, -104_729), 12_345)
    both = [count_points([size, 2**61], [each]) for each in (side, -side - 1)]
    assert None not in both
    assert sum(filter(None, both)) == 2**123
    assert process_time() - start < 1


def test_what_numbers_of_64_bits_do_not_hold_is_not_counted_wrong() -> None:
    below = LinearForm((-(2**62), -1, 1), 2**62)
    assert count_points([5, 5, 2**40], [below]) in (None, _enumerated(below, 2**40))


def _enumerated(form: LinearForm, last: int) -> int:
    return sum(
        max(last - max(-int(form.evaluate((x, y, 0))), 0), 0)
        for x in range(5)
        for y in range(5)
    )

"""Names of a program are different, however many wish for the same."""

from __future__ import annotations

from gingham.frontend.edsl.contraction import UniqueNames


def test_taken_names_get_a_number() -> None:
    names = UniqueNames()
    wishes = ["A", "A", "B", "A_1", "A", "B_1", "B"]
    taken = [names.take(wish) for wish in wishes]
    assert taken == ["A", "A_1", "B", "A_1_1", "A_2", "B_1", "B_2"]


def test_equal_wishes_take_no_longer() -> None:
    """Looking for a free number from the first one on would take minutes."""
    names = UniqueNames()
    assert len({names.take("N") for _ in range(50_000)}) == 50_000

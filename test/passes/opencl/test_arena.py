"""Buffers that are in use at once share no byte, and memory is near the bound."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.passes.opencl.arena import extent, place
from gingham.passes.opencl.lifetimes import Lifetime, lower_bound

NUMBERS = st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(0, 6))
"""Size, first launch, and launches that follow."""


def check(lifetimes: list[Lifetime]) -> float:
    """The memory as a multiple of the lower bound, once all is found to be right."""
    places = place(lifetimes)
    assert places == place(lifetimes)
    assert all(start >= 0 and start % 64 == 0 for start in places)
    for number, (one, start) in enumerate(zip(lifetimes, places, strict=True)):
        for other, place_ in zip(lifetimes[:number], places, strict=False):
            if one.meets(other) and one.size and other.size:
                assert start + one.size <= place_ or place_ + other.size <= start
    needed, bound = extent(lifetimes, places), lower_bound(lifetimes)
    assert needed >= bound
    return needed / bound if bound else 1.0


@given(st.lists(NUMBERS, max_size=25))
def test_buffers_in_use_at_once_are_apart(numbers: list[tuple[int, int, int]]) -> None:
    lifetimes = [
        Lifetime(64 * size, first, first + length) for size, first, length in numbers
    ]
    assert check(lifetimes) < 2


def test_the_lower_bound_is_what_is_in_use_at_once() -> None:
    lifetimes = [Lifetime(10, 0, 2), Lifetime(5, 2, 3), Lifetime(7, 3, 3)]
    assert lower_bound(lifetimes) == 15
    assert lower_bound([]) == 0
    assert place([]) == []


@pytest.mark.parametrize("seed", range(30))
def test_chains_with_skip_connections(seed: int) -> None:
    random = Random(seed)
    lifetimes: list[Lifetime] = []
    skip, since, now = 64 * random.randint(20, 400), 0, 0
    for _ in range(random.randint(2, 20)):
        for _ in range(random.randint(1, 4)):
            size = 64 * random.randint(5, 600)
            lifetimes.append(Lifetime(size, now, now + 1))
            now += 1
        # What enters a block is needed until it is added at its end.
        lifetimes.append(Lifetime(skip, since, now))
        skip, since = 64 * random.randint(20, 400), now
        now += 1
    assert check(lifetimes) <= 1.1


def test_many_buffers_do_not_take_long() -> None:
    random = Random(0)
    lifetimes = [
        Lifetime(64 * random.randint(1, 99), n, n + random.choice([1, 2, 5]))
        for n in range(1500)
    ]
    assert check_extent(lifetimes) <= 1.1


def check_extent(lifetimes: list[Lifetime]) -> float:
    return extent(lifetimes, place(lifetimes)) / lower_bound(lifetimes)

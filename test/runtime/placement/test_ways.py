"""Which way is tried, which one stays, and when that is doubted."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.runtime.placement.ways import (
    GAIN,
    PLACED,
    WORTH,
    Ways,
    measured_seconds,
    winner,
)

MANY = 40
"""Calls that are enough to try all ways."""


def ways_of(**predicted: float) -> Ways:
    ways = Ways()
    ways.predict(predicted, {})
    return ways


def called(ways: Ways, seconds: Mapping[str, float], count: int) -> list[str]:
    """The ways of so many calls, each of which takes what is said."""
    names: list[str] = []
    for _ in range(count):
        names.append(ways.next())
        ways.note(names[-1], seconds[names[-1]])
    return names


def test_winner() -> None:
    assert winner({PLACED: 0.9, "a": 1.0, "b": 2.0}) == PLACED
    assert winner({PLACED: 1.01 - GAIN, "a": 1.0, "b": 2.0}) == "a"
    assert winner({"b": 2.0, "a": 3.0}) == "b"
    assert winner({PLACED: 1.0}) == PLACED


@pytest.mark.parametrize("best", ["a", "b", PLACED])
def test_whole_calls_say_what_is_the_fastest(best: str) -> None:
    """Predictions are off by a factor of two to ten, as they were."""
    seconds = {"a": 3.0, "b": 2.9, PLACED: 2.8} | {best: 1.0}
    ways = ways_of(**{"a": 0.3, "b": 0.31, PLACED: 0.28})
    called(ways, seconds, MANY)
    assert {*called(ways, seconds, MANY)} == {best}
    assert ways.best == best
    assert ways.is_settled


def test_a_way_is_tried_a_few_times_only() -> None:
    ways = ways_of(a=1.0, b=1.2)
    names = called(ways, {"a": 1.0, "b": 1.1}, MANY)
    assert names.count("b") <= 3
    # The first run of each may compile: it does not count.
    ways = ways_of(a=1.0, b=1.2)
    ways.note("a", 50.0)
    called(ways, {"a": 1.0, "b": 1.1}, MANY)
    assert ways.best == "a"


def test_what_is_predicted_to_be_far_slower_is_not_tried() -> None:
    ways = ways_of(a=1.0, b=1.1 * WORTH)
    assert {*called(ways, {"a": 1.0}, MANY)} == {"a"}
    assert ways.is_settled


def test_a_slow_run_opens_what_was_not_worth_it() -> None:
    ways = ways_of(a=1.0, b=1.1 * WORTH)
    ways.note("a", 9.0)
    for _ in range(2):
        ways.note("a", 9.0)
    ways.predict({"a": 9.0, "b": 1.1 * WORTH}, {})
    assert not ways.is_settled
    called(ways, {"a": 9.0, "b": 2.0}, MANY)
    assert ways.best == "b"


def test_what_was_measured_before_is_not_tried_again() -> None:
    ways = Ways()
    ways.predict({"a": 1.0, "b": 0.9}, {"a": 0.5, "b": 0.8})
    assert ways.is_settled
    assert ways.best == "a"
    assert ways.measured == {"a": 0.5, "b": 0.8}


def test_a_way_that_becomes_slow_is_left_but_not_for_ever() -> None:
    ways = ways_of(a=1.0, b=1.5)
    called(ways, {"a": 1.0, "b": 1.5}, MANY)
    assert ways.best == "a"
    called(ways, {"a": 4.0, "b": 1.5}, MANY)
    assert ways.best == "b"
    # When everything is slow, nothing is changed each time.
    slow = called(ways, {"a": 8.0, "b": 8.0}, 400)
    switches = sum(x != y for x, y in pairwise(slow))
    assert switches < 12


def test_noise_changes_little() -> None:
    choose = random.Random(0)
    ways = ways_of(a=1.0, b=1.02)
    used: list[str] = []
    for _ in range(400):
        name = ways.next()
        used.append(name)
        ways.note(name, (1.0 if name == "a" else 1.02) * choose.uniform(1.0, 1.2))
    assert sum(x != y for x, y in pairwise(used)) < 6


def test_a_way_that_is_impossible() -> None:
    ways = ways_of(a=1.0, b=1.5)
    assert ways.drop("a")
    assert ways.best == "b"
    assert not ways.drop("b")
    assert ways.next() == "b"


def test_another_division_of_the_work_is_tried_anew() -> None:
    ways = ways_of(**{"a": 2.0, PLACED: 1.0})
    called(ways, {"a": 2.0, PLACED: 3.0}, MANY)
    assert ways.best == "a"
    ways.forget(PLACED)
    ways.predict({"a": 2.0, PLACED: 1.5}, {})
    called(ways, {"a": 2.0, PLACED: 1.4}, MANY)
    assert ways.best == PLACED


@given(
    st.lists(
        st.tuples(st.floats(0.1, 10), st.floats(0.34, 2.9)), min_size=1, max_size=4
    )
)
def test_never_much_slower_than_the_best(figures: list[tuple[float, float]]) -> None:
    """While predictions are not off by more than `WORTH` against each other."""
    seconds = {f"d{n}": each for n, (each, _) in enumerate(figures)}
    least = min(seconds.values())
    predicted = {f"d{n}": a * b for n, (a, b) in enumerate(figures)}
    ways = Ways()
    ways.predict(predicted, {})
    called(ways, seconds, 4 * len(figures) + 8)
    worth = [n for n, each in predicted.items() if each <= WORTH * least]
    reachable = min((seconds[name] for name in worth), default=least)
    assert seconds[ways.best] <= max(reachable, min(predicted.values())) * 1.01


def test_a_call_that_takes_far_too_long_is_not_repeated() -> None:
    calls: list[str] = []

    def slow() -> None:
        calls.append("slow")
        time.sleep(0.03)

    def fast() -> None:
        calls.append("fast")
        time.sleep(0.001)

    found = measured_seconds({"slow": slow, "fast": fast})
    assert found["slow"] > found["fast"]
    assert calls.count("slow") <= 4
    assert calls.count("fast") > 5

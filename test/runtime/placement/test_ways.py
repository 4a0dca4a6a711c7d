"""Which way is tried, which one stays, and when that is doubted."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.runtime.placement.duel import ENOUGH, GAIN
from gingham.runtime.placement.ways import (
    PLACED,
    TURNS,
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
    assert called(ways, {"a": 1.0, "b": 2.0}, MANY).count("b") == 1 + ENOUGH
    # The first run of each turn may compile, and finds the caches full: it does not
    # count.
    ways = ways_of(a=1.0, b=1.2)
    ways.note("a", 50.0)
    called(ways, {"a": 1.0, "b": 1.1}, MANY)
    assert ways.best == "a"


def test_close_ways_take_turns() -> None:
    """So that what else happens meanwhile comes upon both."""
    ways = ways_of(a=1.0, b=1.2)
    names = called(ways, {"a": 1.0, "b": 1.1}, MANY)
    turn = 1 + ENOUGH
    tried = names[: 2 * TURNS * turn]
    assert tried == (["a"] * turn + ["b"] * turn) * TURNS
    assert {*names[len(tried) :]} == {"a"}


def test_predictions_that_are_all_too_high() -> None:
    """What is measured of one way says how far predictions are to be trusted."""
    ways = ways_of(a=10.0, b=12.0)
    called(ways, {"a": 1.0, "b": 0.8}, MANY)
    assert ways.best == "b"


def test_what_is_predicted_to_be_far_slower_is_not_tried() -> None:
    ways = ways_of(a=1.0, b=1.1 * WORTH)
    assert {*called(ways, {"a": 1.0}, MANY)} == {"a"}
    assert ways.is_settled


def test_what_takes_next_to_nothing_is_tried() -> None:
    """Whatever is predicted: that may come from a machine that was busy."""
    ways = ways_of(a=6e-5, b=6e-4)
    called(ways, {"a": 9e-5, "b": 5e-5}, MANY)
    assert ways.best == "b"


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
    # When everything is slow, nothing is changed.
    called(ways, {"a": 8.0, "b": 8.0}, 400)
    assert ways.best == "b"


def test_a_wrong_choice_does_not_last() -> None:
    """The first calls of the faster one were disturbed."""
    ways = ways_of(a=1.0, b=1.1)
    called(ways, {"a": 1.4, "b": 1.1}, MANY)
    assert ways.best == "b"
    called(ways, {"a": 1.0, "b": 1.1}, MANY)
    assert ways.best == "a"


def test_a_way_that_turns_out_impossible_in_a_duel() -> None:
    ways = ways_of(a=1.0, b=1.1)
    names = called(ways, {"a": 1.0, "b": 1.1}, MANY)
    while names[-1] == "a":
        names += called(ways, {"a": 1.0, "b": 1.1}, 1)
    assert ways.drop("b")
    assert {*called(ways, {"a": 1.0}, MANY)} == {"a"}


def test_late_calls_of_another_way_begin_nothing() -> None:
    ways = ways_of(a=1.0, b=1.1)
    called(ways, {"a": 1.0, "b": 1.1}, 2 * TURNS * (1 + ENOUGH))
    for _ in range(MANY):
        ways.note("b", 1.1)
    assert ways.is_settled
    assert ways.best == "a"


DISTURBED = {"a": 1.0, "b": 1.15, PLACED: 1.25}


def test_chance_seldom_decides() -> None:
    """Calls take a quarter longer on average, some of them several times as long."""
    lost: list[float] = []
    wrong = 0
    for seed in range(60):
        choose = random.Random(seed)
        ways = ways_of(**dict.fromkeys(DISTURBED, 1.0))
        names: list[str] = []
        for _ in range(1000):
            name = ways.next()
            spike = choose.uniform(0.5, 4) if choose.random() < 0.12 else 0.0
            noise = 1 + choose.expovariate(4) + spike
            ways.note(name, DISTURBED[name] * noise)
            names += [name, *[ways.best] * (7 if ways.is_settled else 0)]
        lost.append(sum(DISTURBED[name] for name in names) / len(names) - 1)
        wrong += ways.best != "a"
    assert wrong <= 6
    assert sum(lost) / len(lost) < 0.02


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

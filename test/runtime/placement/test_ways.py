"""Which way is tried, which one stays, and when that is doubted."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.runtime.placement.rival import GAIN, LEAST_GAIN, LOST, WON, Rival
from gingham.runtime.placement.ways import ENOUGH, PLACED, WORTH, Ways, winner

MANY = 60
"""Calls that are enough to try all ways."""
TURN = 1 + ENOUGH
SHORT = 1e-3
"""The seconds of a call that takes 1."""


def ways_of(**predicted: float) -> Ways:
    ways = Ways()
    ways.predict({name: SHORT * each for name, each in predicted.items()}, {})
    return ways


def called(ways: Ways, seconds: Mapping[str, float], count: int) -> list[str]:
    """The ways of so many calls, each of which takes what is said."""
    names: list[str] = []
    while len(names) < count:
        name = ways.next() or ways.best
        ways.note(name, SHORT * seconds[name])
        names += [name, *[ways.best] * ways.skip()]
    return names[:count]


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
    assert ways.best == best
    assert called(ways, seconds, 1000).count(best) >= 950


def test_a_way_that_is_far_slower_is_tried_once() -> None:
    ways = ways_of(a=1.0, b=1.2)
    assert called(ways, {"a": 1.0, "b": 2.0}, MANY).count("b") == TURN
    # The first run of each turn may compile, and finds the caches full: it does not
    # count.
    ways = ways_of(a=1.0, b=1.2)
    assert ways.next() == "a"
    ways.note("a", 50.0)
    called(ways, {"a": 1.0, "b": 1.1}, MANY)
    assert ways.best == "a"


def test_ways_take_turns_in_pairs() -> None:
    """So that what else happens meanwhile comes upon both."""
    ways = ways_of(a=1.0, b=1.2)
    tried = called(ways, {"a": 1.0, "b": 0.9}, 4 * TURN)
    assert tried == (["a"] * TURN + ["b"] * TURN) * 2


def test_a_long_call_is_a_turn() -> None:
    ways = ways_of(a=1000, b=1200)
    tried = called(ways, {"a": 1000, "b": 600}, 6)
    # The first of each may compile.
    assert tried == ["a", "a", "b", "b", "a", "b"]
    assert ways.best == "b"


def test_a_call_that_waited_for_others_does_not_count() -> None:
    """The first that is waited for ends behind all that were started before."""
    seconds = {"a": SHORT, "b": 1.1 * SHORT}
    ways = ways_of(a=1.0, b=1.2)
    called(ways, {"a": 1.0, "b": 1.1}, 1000)
    for _ in range(200):
        started = ways.skip()
        name = ways.next() or ways.best
        ways.note(name, seconds[name] + SHORT * started, is_alone=False)
    assert ways.measured == pytest.approx(seconds)
    assert ways.best == "a"


def test_one_device_changes_for_another_only_where_that_saves_enough() -> None:
    for saved, best in ((0.005, "a"), (0.04, "b")):
        ways = ways_of(a=1.0, b=1.0)
        called(ways, {"a": 1.0, "b": 1 - saved}, 1000)
        assert ways.best == best


def test_several_devices_have_to_be_proven_faster() -> None:
    for saved, best in ((GAIN - 0.02, "a"), (GAIN + 0.02, PLACED)):
        ways = ways_of(**{"a": 1.0, PLACED: 1.0})
        assert ways.best == "a"
        called(ways, {"a": 1.0, PLACED: 1 - saved}, 1000)
        assert ways.best == best
    # They have to go on saving something.
    called(ways, {"a": 1.0, PLACED: 1 - LEAST_GAIN - 0.02}, 4000)
    assert ways.best == PLACED
    called(ways, {"a": 1.0, PLACED: 1.0}, 4000)
    assert ways.best == "a"


def test_predictions_that_are_all_too_high() -> None:
    """What is measured of one way says how far predictions are to be trusted."""
    ways = ways_of(a=10.0, b=12.0)
    called(ways, {"a": 1.0, "b": 0.8}, MANY)
    assert ways.best == "b"


def test_what_is_predicted_to_be_far_slower_is_not_tried() -> None:
    ways = ways_of(a=1.0, b=1.1 * WORTH)
    assert {*called(ways, {"a": 1.0}, 1000)} == {"a"}
    assert ways.is_settled


def test_what_takes_next_to_nothing_is_tried() -> None:
    """Whatever is predicted: that may come from a machine that was busy."""
    ways = ways_of(a=0.06, b=0.6)
    called(ways, {"a": 0.09, "b": 0.05}, MANY)
    assert ways.best == "b"


def test_a_slow_run_opens_what_was_not_worth_it() -> None:
    ways = ways_of(a=1.0, b=1.1 * WORTH)
    called(ways, {"a": 9.0, "b": 2.0}, MANY)
    assert ways.best == "b"


def test_what_was_measured_before_says_where_to_begin() -> None:
    """But it was another time, and maybe another machine."""
    ways = Ways()
    ways.predict({"a": 1e-3, "b": 9e-4}, {"a": 5e-4, "b": 8e-4})
    assert ways.is_settled
    assert ways.best == "a"
    assert ways.measured == {"a": 5e-4, "b": 8e-4}
    called(ways, {"a": 1.0, "b": 0.8}, 100)
    assert ways.best == "b"


def test_a_way_that_becomes_slow_is_left_but_not_for_ever() -> None:
    ways = ways_of(a=1.0, b=1.5)
    called(ways, {"a": 1.0, "b": 1.5}, 2000)
    assert ways.best == "a"
    called(ways, {"a": 4.0, "b": 1.5}, 500)
    assert ways.best == "b"
    # When everything is slow, nothing is changed.
    called(ways, {"a": 8.0, "b": 8.0}, 400)
    assert ways.best == "b"


def test_a_wrong_choice_does_not_last() -> None:
    """The first calls of the faster one were disturbed."""
    ways = ways_of(a=1.0, b=1.1)
    called(ways, {"a": 1.4, "b": 1.1}, 4 * TURN)
    assert ways.best == "b"
    called(ways, {"a": 1.0, "b": 1.1}, 150)
    assert ways.best == "a"


def test_what_pairs_cost_is_bounded() -> None:
    for slower in (1.05, 1.3, 2.0, 10.0, 100.0):
        ways = ways_of(a=1.0, b=1.0)
        called(ways, {"a": 1.0, "b": slower}, 5000)
        seconds = {"a": 1.0, "b": slower}
        names = called(ways, seconds, 50_000)
        assert ways.best == "a"
        assert sum(seconds[name] for name in names) < 1.01 * len(names)
        assert "b" in names


def test_a_way_that_turns_out_impossible_in_a_pair() -> None:
    ways = ways_of(a=1.0, b=1.1)
    while ways.next() != "b":
        ways.note("a", 1.0)
    assert ways.drop("b")
    assert {*called(ways, {"a": 1.0}, MANY)} == {"a"}


def test_late_calls_of_another_way_count_for_nothing() -> None:
    ways = ways_of(a=1.0, b=1.1)
    called(ways, {"a": 1.0, "b": 1.1}, 4 * TURN)
    for _ in range(MANY):
        ways.note("b", 1e-6)
    assert ways.best == "a"
    assert ways.measured["b"] > 1e-6


DISTURBED = {"a": 1.0, "b": 1.15, PLACED: 1.25}


def test_chance_seldom_decides() -> None:
    """Calls take a quarter longer on average, some of them several times as long."""
    lost: list[float] = []
    wrong = 0
    for seed in range(60):
        choose = random.Random(seed)
        ways = ways_of(**dict.fromkeys(DISTURBED, 1.0))
        names: list[str] = []
        while len(names) < 8000:
            name = ways.next() or ways.best
            spike = choose.uniform(0.5, 4) if choose.random() < 0.12 else 0.0
            noise = 1 + choose.expovariate(4) + spike
            ways.note(name, SHORT * DISTURBED[name] * noise)
            names += [name, *[ways.best] * ways.skip()]
        lost.append(sum(DISTURBED[name] for name in names) / len(names) - 1)
        wrong += ways.best != "a"
    assert wrong <= 3
    assert sum(lost) / len(lost) < 0.02


def test_a_way_that_is_impossible() -> None:
    ways = ways_of(a=1.0, b=1.5)
    assert ways.drop("a")
    assert ways.best == "b"
    assert not ways.drop("b")
    assert ways.next() is None


def test_another_division_of_the_work_is_tried_anew() -> None:
    ways = ways_of(**{"a": 2.0, PLACED: 1.0})
    called(ways, {"a": 2.0, PLACED: 3.0}, MANY)
    assert ways.best == "a"
    ways.forget(PLACED)
    ways.predict({"a": 2 * SHORT, PLACED: 1.5 * SHORT}, {})
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
    ways = ways_of(**predicted)
    called(ways, seconds, 50 * len(figures))
    worth = [n for n, each in predicted.items() if each <= WORTH * least]
    reachable = min((seconds[name] for name in worth), default=least)
    assert seconds[ways.best] <= max(reachable, min(predicted.values())) * 1.05


def test_a_pair_that_chance_has_made_does_not_decide() -> None:
    rival = Rival()
    for _ in range(6):
        rival.note(1.0, 1.0 + GAIN, 0.0)
    assert rival.lead == LOST
    rival.note(50.0, 1.0, 0.0)
    assert rival.lead < WON
    rival.note(1.0, 1.1, 0.0)
    assert rival.lead < 0


def test_noisy_pairs_say_less() -> None:
    """A saving of a tenth, seen quietly and seen through noise of a third."""
    pairs = {0.0: 0, 0.3: 0}
    for noise in pairs:
        rival, sign = Rival(), 1
        while rival.lead < WON:
            rival.note(1 + sign * noise, 0.9, GAIN)
            pairs[noise] += 1
            sign = -sign
    assert pairs[0.0] <= 4
    assert pairs[0.3] > 10

"""Contenders take turns in a fair way."""

from __future__ import annotations

from functools import partial
from itertools import count, pairwise

import pytest

from gingham.bench.measure import Measurement, interleaved, interleaved_until


def test_none_always_comes_behind_the_same_one() -> None:
    called: list[str] = []
    calls = [partial(called.append, name) for name in "abcd"]
    rounds = 30
    measured = interleaved(calls, 0.0, rounds, partial(next, count(0.0)))
    assert [len(each.seconds) for each in measured] == [rounds] * 4
    turns = called[-4 * rounds :]
    orders = [turns[start : start + 4] for start in range(0, len(turns), 4)]
    assert all({*order} == {*"abcd"} for order in orders)
    before = {(a, b) for order in orders for a, b in pairwise(order)}
    assert len(before) == 4 * 3


def test_there_are_rounds_until_enough_is_known() -> None:
    called: list[str] = []
    calls = [partial(called.append, name) for name in "ab"]
    counts: list[int] = []

    def is_enough(measured: list[Measurement]) -> bool:
        counts.append(len(measured[0].seconds))
        return counts[-1] > 100

    measured = interleaved_until(calls, is_enough, 60.0, 0.0)
    assert [len(each.seconds) for each in measured] == [counts[-1]] * 2
    # It is not looked at after each round, as one of many looks finds what is chance.
    assert len(counts) < 14
    # Each turn has a call that does not count.
    assert called[-4:] in (["a", "a", "b", "b"], ["b", "b", "a", "a"])
    once = interleaved_until(calls, lambda _: False, 0.0, 0.0)
    assert [len(each.seconds) for each in once] == [1, 1]


def test_how_sure_a_ratio_is() -> None:
    one = Measurement((1.0,) * 100)
    assert one.bounds_to(one) == (1.0, 1.0)
    spread = Measurement(tuple(1 + n / 100 for n in range(100)))
    low, high = spread.bounds_to(one)
    assert low < spread.relative_to(one) < high
    # The ranks by the binomial distribution are 37 and 64.
    assert (low, high) == (pytest.approx(1.36), pytest.approx(1.63))
    # Of few rounds it is not known.
    few = Measurement((1.0,) * 5)
    assert few.bounds_to(few) == (0.0, float("inf"))

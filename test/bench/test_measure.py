"""Contenders take turns in a fair way."""

from __future__ import annotations

from functools import partial
from itertools import count, pairwise

from gingham.bench.measure import interleaved


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

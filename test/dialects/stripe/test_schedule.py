"""Schedules as text and as values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.dialects.stripe.attributes import MemorySpace
from gingham.dialects.stripe.binding import Binding
from gingham.dialects.stripe.fusion import Alone, Fusion
from gingham.dialects.stripe.schedule import (
    PARTS,
    Schedule,
    ScheduleAttr,
    parse_schedule,
)
from gingham.dialects.stripe.schedule_part import Part
from gingham.dialects.stripe.staging import Staging
from gingham.dialects.stripe.tiling import OutputOrder, Padding, Points, Tiles
from gingham.passes import get_all_passes

RANK = 4
numbers = st.lists(st.integers(0, 2**40), min_size=RANK, max_size=RANK).map(tuple)
orders = st.permutations(range(RANK)).flatmap(
    lambda order: st.integers(0, RANK).map(lambda count: tuple(order[:count]))
)
reasons = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]))
fills = st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False))
stagings = st.builds(
    Staging,
    st.integers(0, 9),
    st.integers(-9, 0),
    st.integers(0, 9),
    orders,
    st.sampled_from(MemorySpace),
    fills,
    reason=reasons,
)
bindings = st.one_of(
    st.just(()),
    st.lists(st.sampled_from(Binding), min_size=RANK, max_size=RANK).map(tuple),
)
tiles = st.builds(Tiles, numbers, orders, bindings, reason=reasons)
paddings = st.builds(Padding, numbers, reason=reasons)
points = st.one_of(
    st.just(Points()),
    st.builds(Points, orders, bindings, reason=reasons).filter(
        lambda loops: bool(loops.order or loops.bind)
    ),
)
fusions = st.builds(
    Fusion,
    st.integers(0, 99),
    orders.map(lambda order: tuple([(index,) for index in order[:2]] + [order[2:]])),
    st.lists(numbers, max_size=2).map(tuple),
    reason=reasons,
)
singles = st.tuples(
    st.lists(st.builds(OutputOrder, orders, reason=reasons), max_size=1),
    st.lists(st.one_of(fusions, st.builds(Alone, reason=reasons)), max_size=1),
    st.lists(paddings, max_size=1),
).map(lambda several: tuple([part for parts in several for part in parts]))
schedules = st.builds(
    Schedule,
    st.lists(tiles, max_size=3).map(tuple),
    points,
    st.lists(stagings, max_size=3).map(tuple),
    singles,
    reason=reasons,
)


@given(schedules)
def test_text_is_read_as_it_was_written(schedule: Schedule) -> None:
    text = str(schedule)
    found = parse_schedule(text)
    assert found == schedule
    assert found.reason == schedule.reason
    assert [part.reason for part in found] == [part.reason for part in schedule]
    assert str(found) == text
    context = make_context()
    attribute = Parser(context, f"#stripe.schedule{text}").parse_attribute()
    assert attribute == ScheduleAttr(schedule)
    assert Parser(context, str(attribute)).parse_attribute() == attribute


@given(schedules, st.permutations([*PARTS]))
def test_kinds_may_come_in_any_order(schedule: Schedule, order: list[str]) -> None:
    parts = sorted(schedule, key=lambda part: order.index(part.word))
    text = ", ".join(map(str, parts))
    assert parse_schedule(f"<{text}>") == schedule


@given(schedules)
def test_reasons_are_no_decision(schedule: Schedule) -> None:
    bare = schedule.unexplained()
    assert bare == schedule
    assert hash(bare) == hash(schedule)
    assert "because" not in str(bare)


@given(schedules, orders)
def test_over_some_indices(schedule: Schedule, kept: tuple[int, ...]) -> None:
    """What it says of an index it says of its new number."""
    found = schedule.over(kept)
    for old, new in zip(schedule.levels, found.levels, strict=True):
        assert dict(enumerate(new.sizes)) == {
            number: old.sizes[index] for number, index in enumerate(kept)
        }
    for old, new in zip(schedule.orders, found.orders, strict=True):
        assert [kept[number] for number in new] == [n for n in old if n in kept]
    assert found.stages == schedule.stages


ranges = st.lists(st.integers(0, 40), min_size=RANK, max_size=RANK)


@given(schedules, ranges, st.sets(st.integers(0, RANK - 1)))
def test_the_normal_form_is_one(
    schedule: Schedule, ranges: list[int], aggregating: set[int]
) -> None:
    """It is its own, and says of each block of the nest what makes a loop there."""
    found = schedule.normalized(ranges, aggregating)
    assert found.normalized(ranges, aggregating) == found
    assert [part.word for part in found.parts] == [p.word for p in schedule.parts]
    assert len(found.stages) == len(schedule.stages)
    outer = ranges
    if (padding := schedule.part(Padding)) is not None:
        outer = padding.padded(ranges)
    for number, loops in enumerate(found.loops):
        inner = (1,) * RANK if number == len(found.levels) else found.sizes[number]
        assert all(n <= m or not m for n, m in zip(inner, outer, strict=True))
        steps = {n for n in range(RANK) if inner[n] < outer[n]}
        assert {*loops.order} in (set(), steps)
        assert {n for n, b in enumerate(loops.bind) if b != "_"} <= steps
        outer = inner


def test_ways_to_write_the_same_loops() -> None:
    ways = [
        "<tile [8, 4, 0] order [1, 0] bind [grid, _, _], points bind [_, loop, _]>",
        "<tile [8, 4, 9] order [1] bind [grid, _, loop], points bind [_, loop, _]>",
        "<tile [8, 4, 8] order [1], tile [9, 0, 8] order [2], points order [2]>",
        "<tile [8, 4, 8] order [1, 0], tile [8, 4, 0] bind [lane, lane, lane]>",
        "<tile [8, 4, 0] order [0, 1], points order [0, 1, 2]>",
        "<tile [8, 4, 0], points order [0, 1]>",
        "<tile [8, 4, 0], points order [2, 0]>",
        "<tile [8, 4, 0]>",
    ]
    found = [parse_schedule(text).normalized((16, 8, 8), {2}) for text in ways]
    assert [found.index(each) for each in found] == [0, 0, 2, 2, 4, 4, 6, 6]
    assert str(found[1]) == (
        "<tile [8, 4, 8] order [1, 0] bind [grid, _, _], points bind [_, loop, _]>"
    )


def test_a_level_stays_where_something_is_copied() -> None:
    tiles = "<tile [8, 4], tile [8, 4], tile [2, 4]"
    text = tiles + ", stage input 0 at {} of {} order [] local>"
    for (before, window), expected in {
        (1, 1): text.format(1, 1),
        (2, 2): "<tile [8, 4], tile [2, 4], stage input 0 at 1 of 1 order [] local>",
        (1, 2): "<tile [8, 4], tile [2, 4], stage input 0 at 1 of 1 order [] local>",
        (0, 1): "<tile [8, 4], tile [2, 4], stage input 0 at 0 of 0 order [] local>",
        (-1, 3): "<tile [8, 4], tile [2, 4], stage input 0 at -1 of 2 order [] local>",
    }.items():
        schedule = parse_schedule(text.format(before, window))
        assert str(schedule.normalized((16, 4))) == expected


def test_what_is_decided_stays() -> None:
    given_stage = Staging(1, 0, 0, (0, 1))
    other = Schedule.of([(8, 4)], [(1, 0)], [Staging(0, 0, 0, (1, 0))], "fast")
    padded = Schedule(stages=(given_stage,), parts=(Padding((0, 16)),))
    found = padded.completed_by(other)
    assert found == replace(other, stages=padded.stages, parts=padded.parts)
    assert found.reason == "fast"
    tiled = Schedule.of([(2, 2)], reason="by hand")
    assert tiled.completed_by(other).sizes == ((2, 2),)
    assert tiled.completed_by(other).reason == "by hand"


def test_orders_are_those_of_the_blocks() -> None:
    schedule = Schedule.of([(8, 4), (2, 2)], orders=[(1, 0)])
    assert schedule.orders == ((1, 0), (), ())
    assert schedule.with_orders([(), (), (0, 1)]).points == Points((0, 1))
    with pytest.raises(ValueError, match=r"expected 3 order\(s\) at most"):
        schedule.with_orders([()] * 4)


def test_each_kind_has_an_example_of_itself() -> None:
    for word, kind in PARTS.items():
        (part,) = parse_schedule(f"<{kind.example}>")
        assert isinstance(part, kind)
        assert isinstance(part, Part)
        assert kind.example == str(part)
        assert part.word == word
        assert kind.applied_by in get_all_passes()

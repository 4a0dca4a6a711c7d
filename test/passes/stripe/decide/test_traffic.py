"""What data cost beside arithmetic: when they come in, and in which pieces."""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import pytest
from blocks_of_programs import problem, product
from hypothesis import given
from hypothesis import strategies as st

from gingham.dialects.stripe.schedule import Schedule
from gingham.passes.clock import Clock
from gingham.passes.stripe.analysis.nest import packing
from gingham.passes.stripe.decide.model.estimate import NestEstimate, estimate
from gingham.targets.hardware import hardware_with, load_hardware

XEON = load_hardware("cpu-avx512-xeon:cores=2")
CLOCK = Clock(XEON)
POOL = (
    "function (I[N, X, Y, C]) -> (O) {"
    " O[n, x, y, c : N, 56, 56, C] = >(I[n, 2*x + i, 2*y + j, c]), i < 2, j < 2; }"
)


def _product(size: int, *levels: tuple[int, ...], packed: bool = True) -> NestEstimate:
    """A product of square matrices, the work-groups of all rows one by one."""
    whole = product(size, size, size)
    stages = (packing(whole, whole.accesses[1], len(levels) - 1, 1),)
    orders = tuple(() for _ in levels[1:])
    nest = Schedule.of(levels, (*orders, (1, 0)), stages if packed else ())
    return estimate(whole, nest, XEON)


def test_data_all_the_time_add_up_like_sides_of_a_triangle() -> None:
    assert CLOCK.overlapped(3.0, [{1: 4.0}]) == pytest.approx(hypot(3, 4))
    assert CLOCK.overlapped(3.0, [{1: 1.5, 2: 0.0}, {1: 2.0}]) == pytest.approx(
        (3**2 + 1.5**2 + 2**2) ** 0.5
    )
    one_by_one = replace(XEON.overheads, overlap_exponent=1.0)
    clock = Clock(replace(XEON, overheads=one_by_one))
    assert clock.overlapped(3.0, [{1: 4.0}]) == pytest.approx(3 + 4)


@given(
    arithmetic=st.floats(0.1, 10),
    data=st.floats(0.1, 10),
    reuses=st.lists(st.integers(1, 10_000), min_size=2, max_size=2),
)
def test_bursts_hide_less(arithmetic: float, data: float, reuses: list[int]) -> None:
    """The more often data are used again, the less arithmetic there is beside them."""
    few, many = sorted(reuses)
    times = [CLOCK.overlapped(arithmetic, [{reuse: data}]) for reuse in (few, many)]
    assert times[0] <= times[1] * (1 + 1e-9)
    assert max(arithmetic, data) <= times[0]
    assert times[1] <= (arithmetic + data) * (1 + 1e-9)


def test_a_burst_waits_in_its_part_of_the_time_only() -> None:
    """One of 4 steps brings what all use, and takes as long as both together."""
    assert CLOCK.overlapped(4.0, [{4: 3.0}]) == pytest.approx(3 + hypot(1, 3))


def test_how_full_a_cache_may_be_is_a_figure() -> None:
    """Whether a panel stays for the next rows decides what comes from behind."""
    whole = product(1024, 1024, 1024)
    levels = ((64, 48, 1024), (8, 48, 1024))
    nest = Schedule.of(levels, (), (packing(whole, whole.accesses[1], 1, 1),))
    overheads = XEON.overheads
    small = replace(
        overheads,
        cache_fits=0.01,
        cache_overflows=0.02,
        paged_cache_fits=0.01,
        paged_cache_overflows=0.02,
    )
    full = estimate(whole, nest, XEON)
    emptied = estimate(whole, nest, replace(XEON, overheads=small))
    assert emptied.seconds > 1.1 * full.seconds


def test_work_is_shared_by_the_part_of_the_cache_that_data_take() -> None:
    """Data are handed on in the last cache where they take half of it, or as much."""
    room = XEON.caches[-1].size_bytes
    for share in (0.25, 0.5, 0.75):
        overheads = replace(XEON.overheads, shared_cache_fits=share)
        clock = Clock(replace(XEON, overheads=overheads))
        assert clock.stays(share * room, room)
        assert not clock.stays(1.01 * share * room, room)


def test_more_rows_that_share_a_panel_hide_its_way_into_the_cache() -> None:
    """Work-groups along a row: each of them brings another panel of columns."""
    whole = product(4096, 4096, 4096)
    times: list[float] = []
    for rows in (64, 128, 512):
        levels = ((rows, 48, 4096), (8, 48, 4096))
        nest = Schedule.of(levels, (), (packing(whole, whole.accesses[1], 1, 1),))
        times.append(estimate(whole, nest, XEON).seconds)
    assert times[0] > 1.05 * times[1] > 1.1 * times[2]


def test_what_all_cores_read_in_step_comes_from_memory_once() -> None:
    """Each core has other columns and reads all rows, 64 MB, again and again."""
    *near, shared = XEON.caches
    caches = (*near, replace(shared, size_bytes=1 << 24))
    two = replace(XEON, caches=caches)
    one = replace(hardware_with(two, cores=1), memory_gigabytes_per_second=15)
    whole = product(4096, 4096, 4096)
    stages = (packing(whole, whole.accesses[1], 0, 1),)
    nest = Schedule.of(((8, 48, 4096),), ((1, 0),), stages)
    alone, both = (estimate(whole, nest, h).breakdown["memory"] for h in (one, two))
    # Half of the columns each, with half of what the rows take.
    assert both == pytest.approx(alone / 4, rel=0.1)


def test_vectors_across_two_lines_take_both_from_the_cache() -> None:
    """A matrix whose rows follow each other: its copy starts at a line, it may not."""
    whole = product(4096, 4096, 64)
    stages = (packing(whole, whole.accesses[1], 0, 1),)
    plain = Schedule.of(((6, 64, 4096),))
    crossing, aligned = (
        estimate(whole, nest, XEON).breakdown["cache 2"]
        for nest in (plain, replace(plain, stages=stages))
    )
    assert 1.6 * aligned < crossing < 2 * aligned


def test_pages_lie_at_random_in_a_cache() -> None:
    """1.3 of 2 MiB: some places get more pages than they have ways."""
    large = replace(XEON, page_bytes=2 << 20)
    whole = product(1024, 1024, 1024)
    stages = (packing(whole, whole.accesses[1], 1, 1),)
    nest = Schedule.of(((8, 336, 1024), (8, 48, 1024)), ((1, 0),), stages)
    small_pages, large_pages = (
        estimate(whole, nest, hardware).breakdown["cache 3"]
        for hardware in (XEON, large)
    )
    assert small_pages > 1.3 * large_pages


def test_pieces_that_are_come_back_to_late_are_runs_of_their_own() -> None:
    """Channels in the outer loop: a pixel's lines are read one at a time."""
    whole = problem(POOL, "8x112x112x64xf32")
    apart = Schedule.of(((1, 14, 8, 16, 2, 2), (1, 1, 8, 16, 2, 2)))
    together = Schedule.of(((1, 1, 56, 64, 2, 2), (1, 1, 4, 32, 2, 2)))
    parts = [estimate(whole, nest, XEON).breakdown for nest in (apart, together)]
    assert parts[0]["cache 3"] > 1.05 * parts[1]["cache 3"]


def test_rows_whole_pages_apart_wait_for_each_other() -> None:
    """Blocks of the aggregating index read what the blocks before have stored."""
    loss: list[float] = []
    for size in (4096, 4032):
        whole = _product(size, (size, 48, size), (8, 48, size))
        blocks = (size, 48, size), (size, 48, size // 4), (8, 48, size // 4)
        cut = _product(size, *blocks)
        loss.append(cut.breakdown["arithmetic"] / whole.breakdown["arithmetic"])
    assert loss[0] > 1.02 * loss[1]


def test_copies_near_a_core_take_time_for_each_run() -> None:
    """Runs of 32 numbers are slower to copy than ones of 256."""
    seconds: list[float] = []
    whole = product(4096, 64, 4096)
    for columns in (32, 256):
        copy = replace(packing(whole, whole.accesses[1], 1, 1), before=1)
        nest = Schedule.of(((56, columns, 64), (14, columns, 64)), (), (copy,))
        seconds.append(estimate(whole, nest, XEON).breakdown["staging"])
    assert seconds[0] > 1.2 * seconds[1]

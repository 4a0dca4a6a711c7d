"""Properties of predicted times: what makes a nest faster, what slower."""

from __future__ import annotations

from dataclasses import replace

import pytest
from blocks_of_programs import CONVOLUTION, problem, product

from gingham.dialects.stripe.schedule import Schedule
from gingham.passes.stripe.analysis.nest import packing
from gingham.passes.stripe.decide.model.estimate import Model, estimate, pieces
from gingham.passes.stripe.decide.model.kernel import tile_cost
from gingham.targets.hardware import (
    Hardware,
    hardware_text,
    hardware_with,
    load_hardware,
)

HARDWARE = load_hardware("cpu-avx512:cores=2")


def _seconds(nest: Schedule, hardware: Hardware = HARDWARE, size: int = 1024) -> float:
    return estimate(product(size, size, size), nest, hardware).seconds


def _nest(rows: int, columns: int, depth: int = 1024, packed: bool = True) -> Schedule:
    whole = product(depth, depth, depth)
    stages = (packing(whole, whole.accesses[1], 0, 1),) if packed else ()
    return Schedule.of(((rows, columns, depth),), ((1, 0),), stages)


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("clock_gigahertz", HARDWARE.clock_gigahertz),
        ("instructions.multiply_add.per_cycle", HARDWARE.multiply_adds_per_cycle),
        ("instructions.load.per_cycle", HARDWARE.loads_per_cycle),
    ],
)
def test_better_cores_are_never_slower(figure: str, value: float) -> None:
    known = hardware_text(HARDWARE)
    changed = known + ("," if ":" in known else ":") + figure
    for rows in (2, 8, 14, 16):
        times = [
            _seconds(_nest(rows, 32), load_hardware(f"{changed}={value * factor}"))
            for factor in (0.5, 1, 2)
        ]
        assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("level", [1, 2])
def test_faster_caches_are_never_slower(level: int) -> None:
    for packed in (False, True):
        times: list[float] = []
        for factor in (0.25, 1, 4):
            caches = list(HARDWARE.caches)
            rate = caches[level].bytes_per_cycle * factor
            caches[level] = replace(caches[level], bytes_per_cycle=rate)
            hardware = replace(HARDWARE, caches=tuple(caches))
            times.append(_seconds(_nest(4, 32, packed=packed), hardware))
        assert times == sorted(times, reverse=True)


def test_memory_bandwidth_bounds_a_stream() -> None:
    column_sum = problem(
        "function (X[M, N]) -> (S) { S[j : N] = +(X[i, j]); }", "65536x1024xf32"
    )
    nest = Schedule.of(((64, 65536),))
    times = [
        estimate(
            column_sum, nest, replace(HARDWARE, memory_gigabytes_per_second=rate)
        ).breakdown["memory"]
        for rate in (20.0, 40.0, 80.0)
    ]
    assert times == sorted(times, reverse=True)
    assert times[0] >= 65536 * 1024 * 4 / 20e9


def test_spilling_is_a_cliff() -> None:
    """More accumulators are better until they no longer fit."""
    per_cell = {
        rows: tile_cost(product(512, 512, 512), (rows, 32, 512), 16, HARDWARE)
        for rows in (2, 4, 8, 14, 16)
    }
    cost = {rows: tile.step_cycles / rows for rows, tile in per_cell.items()}
    assert cost[14] < cost[8] < cost[4] < cost[2]
    assert cost[16] > 1.3 * cost[14]
    assert per_cell[14].registers <= 32 < per_cell[16].registers


def test_few_accumulators_wait() -> None:
    cost = tile_cost(product(512, 512, 512), (1, 16, 512), 16, HARDWARE)
    assert cost.limit == "latency"
    assert tile_cost(product(512, 512, 512), (12, 32, 512), 16, HARDWARE).limit == (
        "multiply-adds"
    )


def test_powers_of_two_conflict() -> None:
    """Columns of a matrix of 1024 numbers a row meet in few cache sets, of 1000 not."""
    loss = {
        size: _seconds(_nest(8, 32, size, packed=False), size=size)
        / _seconds(_nest(8, 32, size), size=size)
        for size in (1000, 1024)
    }
    assert loss[1024] > 1.4
    assert loss[1000] < 1.2


def test_packing_costs_what_it_copies() -> None:
    """A matrix that is used once is not worth a copy."""
    wide = product(8, 4096, 4096)
    plain = Schedule.of(((8, 32, 4096),))
    packed = replace(plain, stages=(packing(wide, wide.accesses[1], 0, 1),))
    assert estimate(wide, packed, HARDWARE).breakdown["staging"] > 0
    assert (
        estimate(wide, plain, HARDWARE).seconds
        < estimate(wide, packed, HARDWARE).seconds
    )


def test_borders_along_collected_vectors_keep_cells_in_memory() -> None:
    """Every second number of a row, with a border that cuts the first vector."""
    costs = [
        tile_cost(
            problem(
                "function (I[C, X], K[O, C, T]) -> (R) {"
                f" R[o, x : O, 64] = +(I[c, 2*x + t - {border}] * K[o, c, t]); }}",
                "16x140xf32",
                "32x16x3xf32",
            ),
            (8, 16, 16, 3),
            16,
            HARDWARE,
        )
        for border in (0, 1)
    ]
    assert [cost.in_registers for cost in costs] == [True, False]
    assert costs[1].step_cycles > 2 * costs[0].step_cycles


def test_pieces_cover_the_block() -> None:
    whole = product(100, 64, 70)
    for tile, lanes in (((8, 32, 64), 16), ((14, 48, 64), 16), ((3, 16, 64), 8)):
        found = pieces(whole, tile, lanes, ())
        cells = sum(ranges[0] * ranges[1] for ranges, _ in found)
        assert cells == 100 * 70
        assert all(width <= lanes for _, width in found)


def test_edges_cost_more_than_their_share() -> None:
    even, uneven = product(1024, 512, 1024), product(1024, 512, 1027)
    nest = Schedule.of(((8, 32, 512),))
    plain, odd = estimate(even, nest, HARDWARE), estimate(uneven, nest, HARDWARE)
    assert odd.breakdown["edges"] > 3 / 1024 * plain.breakdown["arithmetic"]


def test_balance_counts_whole_groups() -> None:
    """Three work-groups on two cores take as long as four."""
    whole = product(96, 512, 32)
    nest = Schedule.of(((32, 32, 512), (8, 32, 512)))
    parts = estimate(whole, nest, HARDWARE).breakdown
    busy = max(parts[name] for name in ("arithmetic", "cache 2", "cache 3", "memory"))
    assert parts["imbalance"] >= 0.3 * busy


def test_balance_counts_what_edges_do() -> None:
    """20 work-groups of 48 columns and one of 40, which one of two cores has too."""
    whole = product(1000, 1000, 1000)
    nest = Schedule.of(((1000, 48, 1000), (8, 48, 1000)))
    odd = estimate(whole, nest, HARDWARE)
    even = estimate(product(1000, 1000, 960), nest, HARDWARE)
    busy = even.breakdown["arithmetic"]
    assert even.breakdown["imbalance"] == 0
    assert (
        odd.breakdown["imbalance"]
        >= 0.9 * ((10 + 40 / 48) / (1000 / 48 / 2) - 1) * busy
    )


def test_overlapping_windows_are_read_once() -> None:
    """A convolution reads each pixel once into the cache, not once for each tap."""
    whole = problem(CONVOLUTION, "1x56x56x64xf32", "3x3x64x64xf32")
    nest = Schedule.of(((1, 8, 32, 3, 3, 64),))
    moved = estimate(whole, nest, HARDWARE).breakdown["cache 3"]
    image = 56 * 56 * 64 * 4
    at_least = image / (HARDWARE.caches[2].bytes_per_cycle * 4.2e9 * 2)
    assert at_least * 0.5 < moved < at_least * 9


def test_a_shared_cache_holds_once_what_all_cores_read() -> None:
    """Each core computes other rows with the same 4 MB of columns: they stay."""
    many = hardware_with(HARDWARE, cores=64)
    nest = Schedule.of(((8, 32, 1024),))
    rows = 64 * 32
    parts = estimate(product(rows, 1024, 1024), nest, many).breakdown
    once = 2 * rows * 1024 * 4
    assert parts["memory"] <= 4 * once / (many.memory_gigabytes_per_second * 1e9)


def test_rows_in_many_pages_wait_for_the_first_level_of_the_table() -> None:
    """768 rows of a tile, each in a page of its own, are more than 96; packed, one
    after the other, most of them share a page with others."""
    small = replace(HARDWARE, near_page_entries=96)
    added = [
        _seconds(_nest(8, 48, 768, packed), small, 768)
        - _seconds(_nest(8, 48, 768, packed), HARDWARE, 768)
        for packed in (False, True)
    ]
    assert added[0] > 4 * added[1] >= 0
    assert added[0] > 0.1 * _seconds(_nest(8, 48, 768, False), HARDWARE, 768)


@pytest.mark.parametrize("rows", [2, 6, 14])
@pytest.mark.parametrize("packed", [False, True])
def test_just_what_takes_longer_than_a_limit_has_no_time(
    rows: int, packed: bool
) -> None:
    nest = _nest(rows, 32, packed=packed)
    model = Model(product(1024, 1024, 1024), HARDWARE)
    expected = model.estimate(nest)
    for factor in (1, 1.001, 2):
        assert model.estimate_below(nest, factor * expected.seconds) == expected
    for factor in (0.01, 0.5, 0.999):
        assert model.estimate_below(nest, factor * expected.seconds) is None

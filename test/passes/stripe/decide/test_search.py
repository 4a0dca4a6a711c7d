"""What the search decides, for contractions of different structure."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from blocks_of_programs import (
    CONVOLUTION,
    FOUR_AXES,
    PRODUCT,
    TRANSPOSED,
    block_of,
    problem,
    product,
)

from gingham.dialects.stripe.attributes import MemorySpace
from gingham.dialects.stripe.schedule import Schedule
from gingham.passes.stripe.analysis.footprint import footprint
from gingham.passes.stripe.analysis.nest import (
    blocks_of_reductions,
    loops_of,
    packing,
)
from gingham.passes.stripe.analysis.problem import Problem
from gingham.passes.stripe.decide.model.code import MOST_SECONDS, build_seconds
from gingham.passes.stripe.decide.model.estimate import pieces
from gingham.passes.stripe.decide.search import (
    best,
    best_to_share,
    candidates,
    problem_of,
    search,
)
from gingham.passes.stripe.decide.search.search import register_tiles
from gingham.passes.stripe.decide.search.spread import spread
from gingham.targets.hardware import hardware_with, load_hardware

DEEP = (
    "function (I[N, X, Y, Z, C], K[A, B, D, C, O]) -> (R) { R[n, x, y, z, o :"
    " N, 7, 7, 7, O] = +(I[n, 2*x + a - 2, 2*y + b - 2, 2*z + d - 2, c] *"
    " K[a, b, d, c, o]); }"
)
HARDWARE = load_hardware("cpu-avx512:cores=2")
XEON = load_hardware("cpu-avx512-xeon")
AVX2 = load_hardware("cpu-avx2:cores=2")


def _best(whole: Problem) -> Schedule:
    return search(whole, HARDWARE)[0].nest


@pytest.mark.parametrize(
    "sizes", [(512, 512, 512), (128, 256, 512), (1024, 1024, 1024), (64, 64, 64)]
)
def test_the_best_are_different_loops(sizes: tuple[int, int, int]) -> None:
    """And not the same ones with a level or an order written that changes nothing."""
    for hardware in (HARDWARE, XEON):
        whole = product(*sizes)
        nests = [one.nest for one in search(whole, hardware)]
        loops = {
            (tuple(loops_of(whole, nest, whole.ranges)), nest.stages) for nest in nests
        }
        assert len(loops) == len(nests)
        for nest in nests:
            blocks = {loop.block for loop in loops_of(whole, nest, whole.ranges)}
            assert blocks.issuperset(range(1, len(nest.levels)))


def test_what_is_written_twice_is_written_once() -> None:
    whole = product(512, 512, 512)
    tile, piece = (8, 32, 512), (128, 64, 512)
    (access,) = (each for each in whole.inputs if whole.vector in each.used)
    inside = replace(packing(whole, access, 2, whole.vector), before=2)
    before = replace(inside, before=1, window=1)
    for given, expected in [
        (Schedule.of((piece, piece, tile)), Schedule.of((piece, tile))),
        (Schedule.of((piece, tile, tile)), Schedule.of((piece, tile))),
        # A level that is larger than that around it, or 0, is as large.
        (Schedule.of((tile, piece)), Schedule.of((tile,))),
        (Schedule.of((tile, (0, 0, 0))), Schedule.of((tile,))),
        # A group's order of one index, and the order that loops have anyway.
        (
            Schedule.of(((512, 32, 512),), ((1, 0),)),
            Schedule.of(((512, 32, 512),)),
        ),
        (Schedule.of((piece, tile), ((), (0, 1))), Schedule.of((piece, tile))),
        (
            Schedule.of((piece, piece, tile), ((), (), (1, 0)), (inside,)),
            Schedule.of((piece, tile), ((), (1, 0)), (before,)),
        ),
    ]:
        assert given.normalized(whole.ranges, whole.reductions) == expected
    for nest in (
        Schedule.of((piece, tile), ((1, 0),)),
        # Nothing else says where it is copied.
        Schedule.of((piece, piece), (), (before,)),
    ):
        assert nest.normalized(whole.ranges, whole.reductions) == nest


def _accumulators(whole: Problem, nest: Schedule) -> float:
    return prod(nest.tile[index] for index in whole.parallel) / whole.lanes_of(
        nest.tile
    )


@pytest.mark.parametrize("size", [512, 960, 1024, 2048, 4096])
def test_products_fill_the_registers(size: int) -> None:
    whole = product(size, size, size)
    nest = _best(whole)
    assert whole.lanes_of(nest.tile) == 16
    assert 12 <= _accumulators(whole, nest) <= 28


def test_packing_pays_most_where_rows_are_a_power_of_two_apart() -> None:
    gains: list[float] = []
    for size in (1024, 960):
        whole = product(size, size, size)
        packed, *others = search(whole, HARDWARE)
        assert 1 in packed.nest.staged
        plain = next(one for one in others if not one.nest.stages)
        gains.append(plain.seconds / packed.seconds)
    assert gains[0] > 1.1 > gains[1] > 1


def test_transposes_by_packing() -> None:
    """Vectors cannot be loaded from `B[j, k]` along `j`, so that it is copied."""
    whole = problem(TRANSPOSED, "512x512xf32", "512x512xf32")
    nest = _best(whole)
    assert whole.lanes_of(nest.tile) == 16
    assert nest.staged[1].order == (1, 0)


def test_a_matrix_that_is_used_once_stays() -> None:
    """Each element of a matrix times a vector is used once."""
    whole = problem(
        "function (A[K, N], X[K]) -> (Y) { Y[j : N] = +(A[k, j] * X[k]); }",
        "4096x4096xf32",
        "4096xf32",
    )
    assert not _best(whole).stages


def test_narrow_products_copy_blocks_near_the_core() -> None:
    """64 rows use a large matrix too few times to pack it as a whole."""
    nest = _best(product(64, 4096, 4096))
    assert any(stage.before > 0 for stage in nest.stages)


def test_work_groups_copy_what_all_their_tiles_use() -> None:
    """Work-groups of one panel hold it near to them, if there is room for it."""
    whole = product(1024, 1024, 1024)
    nests = [found.nest for found in search(whole, HARDWARE)]
    near = [nest for nest in nests if len(nest.levels) == 2 and _copies_near(nest)]
    assert near
    for nest in near:
        (larger,) = (n for n in range(3) if nest.sizes[0][n] > nest.tile[n])
        for stage in nest.stages:
            is_near = stage.space is MemorySpace.LOCAL
            assert is_near != whole.accesses[stage.refinement].uses(larger)
    small = HARDWARE.with_level("group", memory_bytes=4 * 1024 - 4)
    found = search(whole, small)
    assert not any(_copies_near(one.nest) for one in found if len(one.nest.levels) == 2)


def _copies_near(nest: Schedule) -> bool:
    return any(stage.space is MemorySpace.LOCAL for stage in nest.stages)


@pytest.mark.parametrize("size", [512, 1000, 1024])
def test_pieces_share_a_range_evenly(size: int) -> None:
    """No work-group is left with a few rows, for which it would copy as much."""
    whole = product(size, size, size)
    for found in search(whole, HARDWARE)[:10]:
        if _copies_near(found.nest):
            piece = found.nest.sizes[0][0]
            assert size % piece == 0 or size % piece > piece // 2


def test_deep_convolutions_are_cut_along_the_channels() -> None:
    whole = problem(CONVOLUTION, "1x7x7x512xf32", "3x3x512x512xf32")
    nest = _best(whole)
    depth = prod(nest.tile[index] for index in whole.reductions)
    assert depth < prod(whole.ranges[index] for index in whole.reductions)


def test_four_axes_use_whole_vectors() -> None:
    whole = problem(FOUR_AXES, "24x28x26x30xf32", "32x30x25x28xf32")
    nest = _best(whole)
    assert whole.lanes_of(nest.tile) == 16
    assert _accumulators(whole, nest) >= 8


def test_fewer_registers_make_smaller_tiles() -> None:
    whole = problem(PRODUCT, "960x960xf32", "960x960xf32", bits=256)
    found = search(whole, AVX2)[0]
    assert whole.lanes_of(found.nest.tile) == 8
    assert _accumulators(whole, found.nest) <= 14
    assert found.estimate.tile.registers <= 16


@pytest.mark.parametrize("cores", [1, 2, 16])
def test_all_cores_have_work(cores: int) -> None:
    whole = product(960, 960, 960)
    nest = search(whole, hardware_with(HARDWARE, cores=cores))[0].nest
    pairs = zip(whole.ranges, nest.sizes[0], strict=True)
    groups = prod(-(-extent // size) for extent, size in pairs)
    assert groups >= cores


def test_candidates_are_sorted_and_complete() -> None:
    block = block_of(PRODUCT, "256x256xf32", "256x256xf32")
    found = candidates(block, HARDWARE, 10)
    assert len(found) == 10
    assert [c.seconds for c in found] == sorted(c.seconds for c in found)
    for candidate in found:
        assert candidate.schedule.levels
        assert candidate.seconds >= candidate.estimate.breakdown["arithmetic"]


def test_candidates_all_over_the_space() -> None:
    block = block_of(PRODUCT, "256x256xf32", "256x256xf32")
    found = candidates(block, HARDWARE, 40, spread_out=True)
    assert len({c.schedule.sizes for c in found}) > 20
    assert found[-1].seconds > 3 * found[0].seconds
    whole = problem_of(block, 512)
    assert spread(whole, HARDWARE, 40) == spread(whole, HARDWARE, 40)


def test_tiles_hold_what_must_be_whole() -> None:
    whole = product(64, 48, 80)
    tiles = [*register_tiles(whole, HARDWARE)]
    assert len(tiles) == len({*tiles})
    for tile in tiles:
        assert tile[2] == 48
        assert whole.lanes_of(tile) in (8, 16)


def test_footprints_of_windows_are_unions() -> None:
    """`y + ky` with 14 values of `y` and 3 of `ky` is 16 places."""
    pixel = 256
    found = footprint(((pixel, 3), (pixel, 14), (4, 64)), 4, 64, 4096)
    assert found.bytes == 16 * pixel
    assert found.lines == 16 * pixel / 64
    apart = footprint(((2 * pixel, 14), (pixel, 3)), 4, 64, 4096)
    assert apart.bytes == 29 * 4


def test_strides_by_powers_of_two_crowd_few_sets() -> None:
    """12 ways of 4096 bytes: 16 rows that are 4096 bytes apart meet in one set."""
    conflict = footprint(((4096, 16),), 4, 64, 4096)
    apart = footprint(((4096 + 64, 16),), 4, 64, 4096)
    assert conflict.crowding(4096, 64) > 12
    assert apart.crowding(4096, 64) < 2


def test_weights_in_the_way_are_packed_though_borders_reach_out() -> None:
    """In the gradient of a convolution with stride 2 taps are chosen by constraints."""
    gradient = problem(
        "function (G[X, CO], K[KX, CI, CO]) -> (D) {"
        " D[2*x + k - 1, ci : 29, CI] = +(G[x, co] * K[k, ci, co]); }",
        "15x96xf32",
        "3x48x96xf32",
    )
    number = 1
    assert gradient.accesses[number].reaches_out(gradient.ranges)
    assert (
        number in search(gradient, load_hardware("cpu-avx512:cores=2"))[0].nest.staged
    )


def _build_seconds(whole: Problem, tile: tuple[int, ...]) -> float:
    lanes = whole.lanes_of(tile)
    parts = len(pieces(whole, tile, lanes, ()))
    return build_seconds(whole, tile, lanes, parts, HARDWARE.overheads)


def test_code_that_takes_long_to_compile_is_left_out() -> None:
    """Three axes with borders: each splits the tiles along it into three leaves."""
    whole = problem(DEEP, "1x14x14x14x24xf32", "5x5x5x24x8xf32")
    tiles = [*register_tiles(whole, HARDWARE)]
    seconds = [_build_seconds(whole, tile) for tile in tiles]
    assert min(seconds) < MOST_SECONDS < max(seconds)
    for one in search(whole, HARDWARE):
        assert _build_seconds(whole, one.nest.tile) <= MOST_SECONDS
        assert "whose code takes" in one.remark


def test_what_was_left_out_is_a_reason() -> None:
    block = block_of(DEEP, "1x14x14x14x24xf32", "5x5x5x24x8xf32")
    (found,) = candidates(block, HARDWARE, 1)
    assert "s to compile, more than 0.3" in found.schedule.reason


def test_nothing_is_left_out_of_a_product() -> None:
    assert not search(product(512, 512, 512), HARDWARE)[0].remark


@pytest.mark.parametrize(
    "whole",
    [
        product(16, 40, 129),
        product(64, 64, 64),
        product(200, 513, 77),
        product(1024, 1024, 1024),
        problem(CONVOLUTION, "1x14x14x24xf32", "3x3x24x40xf32"),
        problem(DEEP, "1x14x14x14x24xf32", "5x5x5x24x8xf32"),
    ],
    ids=lambda whole: "x".join(map(str, whole.ranges)),
)
def test_nothing_faster_is_left_out(whole: Problem) -> None:
    """A search for the best nest alone finds what one of all nests finds."""
    for hardware in (HARDWARE, AVX2):
        found = search(whole, hardware)
        assert best(whole, hardware) == found[0]
        assert best_to_share(whole, hardware) == next(
            one
            for one in found
            if blocks_of_reductions(whole, one.nest) is not None
            or all(stage.before <= 0 for stage in one.nest.stages)
        )

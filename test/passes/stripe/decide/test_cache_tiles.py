"""Contractions of which a group shares some indices run in cache tiles."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from stripe_programs import run
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.stripe.attributes import MemorySpace
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.fusion import Fusion
from gingham.dialects.stripe.schedule import Schedule, schedule_of, set_schedule
from gingham.dialects.stripe.staging import Staging
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.decide.fusion.cache_tiles import cache_tiles
from gingham.passes.stripe.decide.fusion.contraction import (
    Contraction,
    even,
    leaves,
    strip_size,
)
from gingham.passes.stripe.decide.search import best, problem_of
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

GATES = (
    "function (X[B, N], W[N, G, H], D[G, H]) -> (Y) {"
    " P[b, g, h : B, G, H] = +(X[b, n] * W[n, g, h]); Q = P + D;"
    " R[b, h : B, H] = =(Q[b, 0, h]); S[b, h : B, H] = =(Q[b, 1, h]); Y = R * S; }"
)
OPTIONS = TargetOptions()


def lowered(shapes: list[str]) -> ModuleOp:
    module = specialize(parse_tile(GATES), [parse_argument_type(s) for s in shapes])
    run(module, stage_passes(OPTIONS)["tile"])
    passes = stage_passes(OPTIONS)["stripe"]
    run(module, passes[: passes.index("stripe-plan-fusion")].rstrip(","))
    return module


def blocks(module: ModuleOp) -> list[BlockOp]:
    return [op for op in module.walk() if isinstance(op, BlockOp)]


def contraction(module: ModuleOp) -> Contraction:
    block = blocks(module)[0]
    problem = problem_of(block, OPTIONS.hardware.vector_bits)
    return Contraction(problem, best(problem, OPTIONS.hardware).nest, (0, 2))


def test_cache_tiles_divide_and_fit() -> None:
    found = list(
        cache_tiles(
            [contraction(lowered(["64x512xf32", "512x2x512xf32", "2x512xf32"]))],
            (64, 512),
            OPTIONS.hardware,
            lambda sizes: 4 * 2 * sizes[0] * sizes[1] <= 32768,
        )
    )
    assert found
    for tile in found:
        rows, columns = tile.sizes
        assert 64 % rows == 0
        assert 512 % columns == 0
        assert rows * columns <= 4096
        assert tile.seconds > 0


def test_a_leaf_leaves_nothing_over() -> None:
    own = contraction(lowered(["64x512xf32", "512x2x512xf32", "2x512xf32"]))
    problem = own.within((64, 48))
    found = leaves(problem, own.nest.tile, OPTIONS.hardware)
    assert found
    for leaf in found:
        for extent, size in zip(problem.ranges, leaf.nest.tile, strict=True):
            assert extent % size == 0
    assert not leaves(own.within((61, 47)), (8, 1, 32, 512), OPTIONS.hardware)


def test_the_best_leaf_fits_the_memory_for_copies() -> None:
    own = contraction(lowered(["64x512xf32", "512x2x512xf32", "2x512xf32"]))
    sizes, hardware = (64, 64), OPTIONS.hardware
    best_of = [own.in_cache_tile(sizes, hardware, limit) for limit in (1 << 20, 64, 0)]
    fastest, *others = [leaf for leaf in best_of if leaf is not None]
    assert len(others) == 2
    assert fastest.local_bytes > 64
    for leaf in others:
        assert leaf.local_bytes == 0
        assert leaf.seconds >= fastest.seconds


@pytest.mark.parametrize(
    ("size", "extent", "unit", "expected"),
    [(14, 64, 1, 8), (32, 200, 16, 32), (48, 64, 16, 32), (12, 36, 1, 12)],
)
def test_even_sizes(size: int, extent: int, unit: int, expected: int) -> None:
    assert even(size, extent, unit) == expected


@pytest.mark.parametrize("rows", [8, 16, 32])
@pytest.mark.parametrize("columns", [16, 32])
def test_cache_tiles_mean_the_same(rows: int, columns: int) -> None:
    generator = np.random.default_rng(rows + columns)
    shapes = ((32, 24), (24, 2, 64), (2, 64))
    inputs: list[NDArray[np.float32]] = [
        generator.integers(-3, 4, shape).astype(np.float32) for shape in shapes
    ]
    module = lowered(["x".join([*map(str, s), "f32"]) for s in shapes])
    (expected,) = interpret(module, inputs)
    product = np.einsum("bn,ngh->bgh", inputs[0], inputs[1]) + inputs[2]
    np.testing.assert_array_equal(expected, product[:, 0] * product[:, 1])
    _decide(module, rows, columns)
    passes = stage_passes(OPTIONS)["stripe"]
    start = passes.index("stripe-fuse-nests")
    run(module, passes[start:])
    (found,) = interpret(module, inputs)
    np.testing.assert_array_equal(found, expected)


def _decide(module: ModuleOp, rows: int, columns: int) -> None:
    """Put all blocks into one nest, with the contraction in blocks and staged."""
    for block in blocks(module):
        shared = (0, 1) if len(block.index_ranges) == 2 else (0, 2)
        together = tuple([(index,) for index in shared])
        fusion = Fusion(0, together, ((rows, columns),))
        set_schedule(block, Schedule(parts=(fusion,)))
    first = blocks(module)[0]
    levels = [(rows, 1, columns, 24), (rows, 1, columns, 12), (4, 1, 16, 12)]
    stage = Staging(1, 2, 2, (0, 1, 2), MemorySpace.LOCAL)
    nest = Schedule.of(levels, stages=[stage])
    set_schedule(first, schedule_of(first).completed_by(nest))


@pytest.mark.parametrize(
    ("size", "extent", "lanes", "expected"),
    [
        # Whole vectors, if some sizes have them.
        (48, 192, 16, 48),
        (48, 160, 16, 32),
        # Vectors of 16 compute 96 columns of 95, but 80 of 65.
        (48, 190, 16, 95),
        (48, 195, 16, 48),
        # What no number divides leaves something over.
        (48, 193, 16, 48),
        (8, 13, 1, 8),
    ],
)
def test_strips_leave_nothing_over_where_vectors_may_overlap(
    size: int, extent: int, lanes: int, expected: int
) -> None:
    assert strip_size(size, extent, lanes) == expected

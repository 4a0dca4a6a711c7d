"""Blocks without checks compute the same: random tiles, infinities and NaN included.

A point that is not there must not be computed: 0 * inf is NaN. Finite inputs are small
integers, so that results are exact in any order.
"""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stripe_programs import Array, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gingham.dialects.stripe.attributes import Direction, ViewType
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.dialects.stripe.staging import Staging
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis.nests import (
    all_blocks,
    is_leaf,
    output_indices,
    reduction_indices,
    top_level_blocks,
)
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

CONVOLUTION = """function (I[N, X, Y, C], K[R, S, C, D]) -> (O) {{
  O[n, x, y, d : N, {size}, D] = +(I[n, {place}, c] * K[r, s, c, d]);
}}"""

PROGRAMS = {
    "padded": (
        CONVOLUTION.format(size="X, Y", place="x + r - 1, y + s - 1"),
        ("2x5x11x3", "3x3x3x5"),
    ),
    "stride": (
        CONVOLUTION.format(
            size="(X + 1) / 2, (Y + 1) / 2", place="2 * x + r - 3, 2 * y + s - 3"
        ),
        ("1x7x19x2", "7x7x2x6"),
    ),
    "dilation": (
        CONVOLUTION.format(size="X, Y", place="x + 2 * r - 2, y + 3 * s - 3"),
        ("1x6x13x2", "3x3x2x4"),
    ),
    "gradient": (
        """function (D[N, X, Y, CO], K[R, S, CI, CO]) -> (G) {
             G[n, x + r - 1, y + s - 1, c : N, X, Y, CI] =
               +(D[n, x, y, d] * K[r, s, c, d]);
           }""",
        ("1x5x11x3", "3x3x4x3"),
    ),
    "transposed": (
        """function (I[N, X, Y, CI], K[R, S, CI, CO]) -> (O) {
             O[n, 2 * x + r - 1, 2 * y + s - 1, d : N, 2 * X, 2 * Y, CO] =
               +(I[n, x, y, c] * K[r, s, c, d]);
           }""",
        ("1x4x6x3", "4x4x3x4"),
    ),
    "pool": (
        """function (I[N, X, Y, C]) -> (O) {
             O[n, x, y, c : N, (X + 1) / 2, (Y + 1) / 2, C] =
               >(I[n, 2 * x + i - 1, 2 * y + j - 1, c]), i < 3, j < 3;
           }""",
        ("2x7x12x5",),
    ),
    "product": (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ("13x6", "6x43"),
    ),
    "triangle": (
        "function (A[N, M]) -> (O) { O[i, j : N, M] = +(A[k, j]), i - k < N; }",
        ("21x5",),
    ),
    "chain": (
        "function (A[N, M], B[M]) -> (O) { O = A * B + A; }",
        ("7x37", "37"),
    ),
}

BEFORE = "stripe-merge-indices,stripe-split-axes"
TILING = "stripe-partition-edges,stripe-tile,stripe-stage,stripe-accumulate"
AFTER = (
    "stripe-plan-vectors{bits=256},stripe-vectorize{bits=256},stripe-unroll,stripe-map"
)


@cache
def load(name: str) -> ModuleOp:
    text, shapes = PROGRAMS[name]
    types = [parse_argument_type(f"{shape}xf32") for shape in shapes]
    module = specialize(parse_tile(text, f"{name}.tile"), types)
    tile = stage_passes(TargetOptions())["tile"]
    run(module, f"{tile},lower-tile-to-stripe,{BEFORE}")
    return module


def inputs_of(module: ModuleOp, seed: int) -> list[Array]:
    """Small integers, and some infinities and NaN."""
    random = np.random.default_rng(seed)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    inputs: list[Array] = []
    for type in function.function_type.inputs:
        assert isinstance(type, ViewType)
        values = random.integers(-4, 5, type.sizes).astype(np.float32)
        special = random.choice([np.inf, -np.inf, np.nan], type.sizes)
        where = random.random(type.sizes) < random.choice([0, 0.02])
        inputs.append(np.where(where, special, values).astype(np.float32))
    return inputs


def choose_tiles(module: ModuleOp, random: Random) -> None:
    """Random sizes for indices of outputs: mostly such that something is left over."""
    for block in top_level_blocks(module):
        reductions = reduction_indices(block)
        sizes = [
            0 if index in reductions else random.choice((1, 1, 2, 3, 4, 7, 16))
            for index in range(len(block.index_ranges))
        ]
        staged = [
            Staging(number, 0, 0, tuple(range(len(refinement.access))))
            for number, refinement in enumerate(block.refinement_list)
            if refinement.direction is Direction.IN and random.random() < 0.4
        ]
        set_schedule(block, Schedule.of([sizes], stages=staged))


def tiled(name: str, seed: int) -> ModuleOp:
    module = load(name).clone()
    choose_tiles(module, Random(seed))
    run(module, TILING)
    return module


@given(
    name=st.sampled_from([*PROGRAMS]),
    seed=st.integers(0, 2**32),
    grain=st.sampled_from([1, 2, 8, 32, 10**6]),
    limit=st.sampled_from([1, 2, 5, 9, 40]),
)
@settings(max_examples=60)
def test_pieces_compute_the_same(name: str, seed: int, grain: int, limit: int) -> None:
    module = tiled(name, seed)
    inputs = inputs_of(module, seed)
    wanted = interpret(load(name), inputs)
    run(module, "stripe-round-up{bits=256}")
    np.testing.assert_array_equal(interpret(module, inputs), wanted)
    run(module, f"stripe-separate{{bits=256 grain={grain} limit={limit}}}")
    module.verify()
    np.testing.assert_array_equal(interpret(module, inputs), wanted)
    run(module, f"{AFTER},lower-stripe-to-opencl")
    np.testing.assert_array_equal(interpret(module, inputs), wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_the_device(name: str, opencl_device: OpenCLDevice) -> None:
    """Three ways to tile and stage each."""
    for seed in range(3):
        module = tiled(name, seed)
        run(module, "stripe-round-up")
        run(module, f"stripe-separate{{grain={4 + 14 * seed}}},{AFTER}")
        run(module, "lower-stripe-to-opencl,opencl-emulate-types")
        inputs = inputs_of(load(name), seed)
        result = OpenCLExecutable(module, opencl_device)(*inputs)
        wanted = interpret(load(name), inputs)
        for got, expected in zip(result, wanted, strict=True):
            np.testing.assert_array_equal(got, expected)


def checks_pixels(leaf: BlockOp) -> bool:
    """Whether a constraint depends on an index of the tile."""
    return any({*form.support} & output_indices(leaf) for form in leaf.conditions)


@pytest.mark.parametrize("name", ["padded", "stride", "dilation", "gradient", "pool"])
def test_no_checks_are_left(name: str) -> None:
    """Tiles of pixels along rows, in all windows with borders."""
    module = load(name).clone()
    for block in top_level_blocks(module):
        outputs = sorted(output_indices(block))
        sizes = [0] * len(block.index_ranges)
        for index in outputs:
            sizes[index] = 1
        sizes[outputs[-1]] = 0
        sizes[outputs[-2]] = 4
        set_schedule(block, Schedule.of([sizes]))
    run(module, f"{TILING},stripe-separate{{grain=8}}")
    leaves = [block for block in all_blocks(module) if is_leaf(block)]
    assert not any(map(checks_pixels, leaves))
    assert len(leaves) <= 24

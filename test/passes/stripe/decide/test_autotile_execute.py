"""Decisions of the cost model keep the meaning of programs."""

from __future__ import annotations

import numpy as np
import pytest
from stripe_programs import run, stripe_pipeline
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.stripe.schedule import set_schedule
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions
from gingham.passes.stripe.analysis.nests import all_blocks, is_leaf
from gingham.passes.stripe.decide.search import candidates
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.hardware import load_hardware
from gingham.targets.reference import interpret

PROGRAMS = {
    "product": (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ((19, 24), (24, 38)),
    ),
    "transposed": (
        "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
        ((19, 24), (38, 24)),
    ),
    "convolution": (
        "function (I[X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[x, y, co : X, Y, CO] ="
        " +(I[x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }",
        ((6, 7, 4), (3, 3, 4, 18)),
    ),
    "gradient of a strided convolution": (
        "function (G[X, Y, CO], K[KX, KY, CI, CO]) -> (D) {"
        " D[2*x + kx - 1, 2*y + ky - 1, ci : 5, 5, CI] ="
        " +(G[x, y, co] * K[kx, ky, ci, co]); }",
        ((3, 3, 6), (3, 3, 18, 6)),
    ),
    "four axes": (
        "function (X[A, E, B, F], Y[D, F, C, E]) -> (O) {"
        " O[a, b, c, d : A, B, C, D] = +(X[a, e, b, f] * Y[d, f, c, e]); }",
        ((2, 4, 5, 3), (20, 3, 4, 4)),
    ),
}
HARDWARE = load_hardware("cpu-avx2:cores=2")


def _lowered(program: str, shapes: tuple[tuple[int, ...], ...]) -> ModuleOp:
    types = [
        parse_argument_type("x".join(map(str, shape)) + "xf32") for shape in shapes
    ]
    module = specialize(parse_tile(program), types)
    run(module, "tile-flatten,tile-canonicalize,lower-tile-to-stripe")
    return module


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_candidates_compute_the_same(name: str, spread: bool) -> None:
    program, shapes = PROGRAMS[name]
    module = _lowered(program, shapes)
    random = np.random.default_rng(0)
    arrays = [random.integers(-4, 5, s).astype(np.float32) for s in shapes]
    expected = interpret(module, arrays)
    (leaf,) = (block for block in all_blocks(module) if is_leaf(block))
    found = candidates(leaf, HARDWARE, 12, spread_out=spread)
    assert found
    after = stripe_pipeline(TargetOptions(hardware=HARDWARE))
    after = after[after.index("stripe-partition-edges") :]
    for candidate in found:
        decided = module.clone()
        (block,) = (b for b in all_blocks(decided) if is_leaf(b))
        set_schedule(block, candidate.schedule)
        run(decided, after)
        for got, wanted in zip(interpret(decided, arrays), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)

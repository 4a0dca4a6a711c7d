"""Nests with random decisions (tiles, windows, orders, padding) compute the same.

The programs are contractions with windows that overlap, stride, transpose and stick out
of their buffers. The reference interpreter runs them before and after each pass on
small integers, so exactly.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from special_programs import opencl_device as any_opencl_device
from stripe_programs import CONTEXT, random_input, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gingham.dialects.stripe.attributes import Direction, MemorySpace
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.dialects.stripe.staging import Staging
from gingham.dialects.stripe.tiling import Padding
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, run_stages
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Array = npt.NDArray[Any]

PROGRAMS = {
    "product": (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ("13x12xf32", "12x40xf32"),
    ),
    "transposed": (
        "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
        ("9x12xf32", "37x12xf32"),
    ),
    "batched": (
        """function (A[B, M, K], W[B, K, N]) -> (C) {
             C[b, i, j : B, M, N] = >(A[b, i, k] * W[b, k, j]);
           }""",
        ("2x5x6xf32", "2x6x18xf32"),
    ),
    "convolution": (
        """function (I[N, X, C], K[R, C, D]) -> (O) {
             O[n, x, d : N, X / 2, D] = +(I[n, 2 * x + r - 1, c] * K[r, c, d]);
           }""",
        ("2x11x3xf32", "3x3x20xf32"),
    ),
    "grouped": (
        """function (I[X, G, C], K[R, G, C, D]) -> (O) {
             O[x, g, d : X, G, D] = +(I[x + r - 1, g, c] * K[r, g, c, d]);
           }""",
        ("9x4x2xf32", "3x4x2x8xf32"),
    ),
}

PASSES = (
    "stripe-pad",
    "stripe-partition-edges",
    "stripe-tile",
    "stripe-stage",
    "stripe-accumulate",
    "stripe-shift-inwards{bits=256}",
    "stripe-round-up{bits=256}",
    "stripe-separate{bits=256}",
    "stripe-plan-vectors{bits=256},stripe-vectorize{bits=256}",
    "stripe-dead-code-elimination",
    "stripe-unroll",
    "stripe-map",
)


def lowered(name: str) -> ModuleOp:
    """A program as untiled blocks."""
    text, types = PROGRAMS[name]
    module = specialize(parse_tile(text, "test"), list(map(parse_argument_type, types)))
    run_stages(module, CONTEXT, TargetOptions().with_vectors(256, 16), ["tile"])
    run(module, "lower-tile-to-stripe")
    return module


def inputs_of(module: ModuleOp, seed: int) -> list[Array]:
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    random = np.random.default_rng(seed)
    return [random_input(type, random) for type in function.function_type.inputs]


def decide(block: BlockOp, random: Random) -> None:
    """A random schedule: some will not fit."""
    ranges = block.index_ranges
    count = random.choice((1, 1, 2, 3))
    levels: list[list[int]] = []
    sizes = list(ranges)
    for _ in range(count):
        sizes = [random.choice((n, n, max(n // 2, 1), min(n, 4))) for n in sizes]
        levels.append(sizes)
    pads = [random.choice((0, 0, 1, 4, 8)) for _ in ranges]
    orders = [random.sample(range(len(ranges)), len(ranges)) for _ in range(count + 1)]
    orders = orders[: random.randint(0, 9)]
    inputs = [
        number
        for number, refinement in enumerate(block.refinement_list)
        if refinement.direction is Direction.IN
    ]
    entries: list[Staging] = []
    for number in random.sample(inputs * 2, random.randint(0, len(inputs) + 1)):
        before = random.randint(0, count)
        window = random.randint(before, count)
        rank = block.view_type(number).rank
        inside = random.choice((MemorySpace.LOCAL, MemorySpace.PRIVATE))
        space = inside if before else MemorySpace.GLOBAL
        order = random.sample(range(rank), rank)
        fill = random.choice((0, 0, 3))
        entries.append(Staging(number, before, window, (*order,), space, fill))
    # What is staged once more is so further inside.
    entries.sort(key=lambda entry: entry.before)
    schedule = Schedule.of(levels, orders, entries)
    set_schedule(block, schedule.with_part(Padding((*pads,))))


def may_run(module: ModuleOp, passes: str) -> bool:
    """Run passes; False when the random tiles do not fit."""
    try:
        run(module, passes)
    except GinghamError as error:
        if "cannot tile" in str(error):
            return False
        raise
    return True


@given(name=st.sampled_from(sorted(PROGRAMS)), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_decisions_keep_the_meaning(name: str, seed: int) -> None:
    random = Random(seed)
    module = lowered(name)
    inputs = inputs_of(module, seed)
    expected = interpret(module, inputs)
    for block in list(top_level_blocks(module)):
        decide(block, random)
    note(str(module))
    for passes in PASSES:
        note(passes)
        if not may_run(module, passes):
            return
        module.verify()
        for got, wanted in zip(interpret(module, inputs), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("seed", range(4))
def test_kernels_of_random_decisions(name: str, seed: int) -> None:
    opencl_device = any_opencl_device()
    if opencl_device is None:
        pytest.skip("there is no OpenCL device")
    module = lowered(name)
    inputs = inputs_of(module, seed)
    expected = interpret(module, inputs)
    random = Random(seed)
    for block in list(top_level_blocks(module)):
        decide(block, random)
    if not may_run(module, ",".join(PASSES)):
        return
    run(module, "lower-stripe-to-opencl,opencl-emulate-types")
    executable = OpenCLExecutable(module, opencl_device)
    for got, wanted in zip(executable(*inputs), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


NESTED = """
func.func @main(%Q: !stripe.view<3x16x8xf32>, %K: !stripe.view<3x24x8xf32>,
    %V: !stripe.view<3x24x8xf32>) -> !stripe.view<3x16x8xf32> {
  %O = stripe.alloc : !stripe.view<3x16x8xf32>
  stripe.block "O" [%h : 3, %t : 4]
      in %q = %Q[%h, 4 * %t, 0] : 1x4x8
      in %k = %K[%h, 0, 0] : 1x24x8
      in %v = %V[%h, 0, 0] : 1x24x8
      out %o = %O[%h, 4 * %t, 0] : 1x4x8 {
    %s = stripe.alloc : !stripe.view<4x24xf32, private>
    stripe.block [%i : 4, %j : 24, %d : 8]
        in %q_1 = %q[0, %i, %d] : 1x1x1
        in %k_1 = %k[0, %j, %d] : 1x1x1
        out %s_1 = %s[%i, %j] : 1x1 add init 0
        attributes {stripe.schedule = #stripe.schedule<
          tile [4, 16, 8],
          stage input 1 at -1 of 0 order [0, 2, 1] global,
          stage input 0 at 0 of 0 order [0, 1, 2] local>} {
      %0 = stripe.load %q_1 : !stripe.view<1x1x1xf32>
      %1 = stripe.load %k_1 : !stripe.view<1x1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %s_1 : !stripe.view<1x1xf32, private>
    }
    stripe.block [%i : 4, %e : 8, %j : 24]
        in %s_1 = %s[%i, %j] : 1x1
        in %v_1 = %v[0, %j, %e] : 1x1x1
        out %o_1 = %o[0, %i, %e] : 1x1x1 add init 0
        attributes {stripe.schedule = #stripe.schedule<
          tile [4, 8, 12],
          tile [2, 8, 12],
          stage input 1 at 1 of 1 order [0, 1, 2] private>} {
      %0 = stripe.load %s_1 : !stripe.view<1x1xf32, private>
      %1 = stripe.load %v_1 : !stripe.view<1x1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %o_1 : !stripe.view<1x1x1xf32>
    }
  }
  func.return %O : !stripe.view<3x16x8xf32>
}
"""


def test_nests_inside_a_block() -> None:
    """Two products in one block; panels of one operand are packed in front of it."""
    module = Parser(CONTEXT, NESTED).parse_module()
    inputs = inputs_of(module, 0)
    expected = interpret(module, inputs)
    for passes in PASSES:
        run(module, passes)
        module.verify()
        for got, wanted in zip(interpret(module, inputs), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
    device = any_opencl_device()
    if device is not None:
        run(module, "lower-stripe-to-opencl,opencl-emulate-types")
        for got, wanted in zip(
            OpenCLExecutable(module, device)(*inputs), expected, strict=True
        ):
            np.testing.assert_array_equal(got, wanted)

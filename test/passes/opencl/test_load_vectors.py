"""Outer products with vectors in registers compute what they did before."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from scheduled_products import operands, product, run_on_devices
from stripe_programs import run
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.opencl.memory import LoadOp
from gingham.dialects.stripe.attributes import MemorySpace
from gingham.passes.opencl.forms import space_of
from gingham.passes.opencl.loops import loops_around
from gingham.passes.walking import operations
from gingham.targets.reference import interpret

SCHEDULE = """
    tile [{rows}, {columns}, 0] bind [grid, grid, _], tile [{rows}, {columns}, {depth}],
    tile [8, 4, {depth}] bind [group, group, _],
    stage input 0 at 2 of 2 order [1, 0] padding 4 local,
    stage input 1 at 2 of 2 order [0, 1] local"""
PASSES = (
    "stripe-tile,stripe-stage{fills=true},stripe-collect-outputs,"
    "stripe-drop-constraints,stripe-distribute{bits=128},"
    "stripe-tile,stripe-accumulate,stripe-separate{bits=128 grain=1 tile_grain=1},"
    "stripe-vectorize{bits=128},stripe-unroll{hardware=nvidia-h200},stripe-map,"
    "lower-stripe-to-opencl,opencl-align-vectors,opencl-order-loops"
)


@pytest.mark.parametrize(
    ("shape", "tile", "depth"),
    [
        ((32, 32, 48), (32, 32), 16),
        ((64, 48, 20), (32, 16), 4),
        # What is left over of rows, columns and sums.
        ((37, 29, 43), (32, 16), 8),
        ((131, 67, 130), (64, 32), 16),
    ],
)
def test_products_are_exact(
    shape: tuple[int, int, int], tile: tuple[int, int], depth: int
) -> None:
    rows, columns = tile
    module = product(*shape, SCHEDULE.format(rows=rows, columns=columns, depth=depth))
    inputs = operands(*shape)
    want = inputs[0] @ inputs[1]
    run(module, PASSES)
    before = local_loads(module)
    run(module, "opencl-load-vectors")
    module.verify()
    assert local_loads(module) < before / 2
    np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    for got in run_on_devices(module, inputs):
        np.testing.assert_array_equal(got, want)


def local_loads(module: ModuleOp) -> int:
    """How often local memory is loaded from, loops counted by their steps."""
    loads = [op for op in operations(module) if isinstance(op, LoadOp)]
    return sum(
        prod(loop.steps for loop in loops_around(op))
        for op in loads
        if space_of(op.pointer) is MemorySpace.LOCAL
    )

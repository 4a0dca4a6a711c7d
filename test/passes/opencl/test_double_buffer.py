"""Pieces that are copied a step ahead are there when they are used."""

from __future__ import annotations

import numpy as np
import pytest
from scheduled_products import operands, product, run_on_devices
from stripe_programs import run
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from gingham.dialects.opencl.memory import StoreOp
from gingham.dialects.opencl.work_items import BarrierOp
from gingham.errors import GinghamError
from gingham.passes.walking import operations
from gingham.targets.reference import interpret

SHAPE = 12, 16, 20
"""Rows, columns, and what is summed up."""
SCHEDULE = """
    tile [12, 16, 0] bind [grid, grid, _], tile [12, 16, {depth}],
    tile [3, 4, {depth}] bind [group, group, _],
    stage input 0 at 2 of 2 order [1, 0] padding 4 local,
    stage input 1 at 2 of 2 order [0, 1] local"""
PASSES = (
    "stripe-tile,stripe-stage,stripe-collect-outputs,stripe-distribute{bits=128},"
    "stripe-tile,stripe-separate{bits=128},stripe-vectorize{bits=128},stripe-map,"
    "lower-stripe-to-opencl"
)


def buffered(depth: int) -> ModuleOp:
    """A product that copies the next pieces while it uses these."""
    module = product(*SHAPE, SCHEDULE.format(depth=depth))
    run(module, PASSES)
    run(module, "opencl-double-buffer{hardware=nvidia-h200}")
    return module


@pytest.mark.parametrize("depth", [4, 10, 3])
def test_products_are_exact(depth: int) -> None:
    module, inputs = buffered(depth), operands(*SHAPE)
    ops = operations(module)
    stores = [op for op in ops if isinstance(op, StoreOp)]
    assert sum(op.asynchronous is not None for op in stores) >= 4
    want = inputs[0] @ inputs[1]
    np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    for got in run_on_devices(module, inputs):
        np.testing.assert_array_equal(got, want)


def test_what_is_not_waited_for_is_not_there() -> None:
    module, inputs = buffered(4), operands(*SHAPE)
    for op in operations(module):
        if isinstance(op, BarrierOp):
            op.asynchronous = None
    with pytest.raises(GinghamError, match="which was never written"):
        interpret(module, inputs)


def test_what_others_copied_needs_a_barrier() -> None:
    module, inputs = buffered(4), operands(*SHAPE)
    barriers = [op for op in operations(module) if isinstance(op, BarrierOp)]
    for op in barriers[1:]:
        Rewriter.erase_op(op)
    with pytest.raises(GinghamError, match=r"two points use the cell|never written"):
        interpret(module, inputs)

"""`stripe-interchange` changes the order of loops and no result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from interchange import StripeInterchangePass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gingham.frontend.tile_text import load
from gingham.passes.convert.lower_tile_to_stripe import LowerTileToStripePass
from gingham.passes.stripe.analysis.nests import all_blocks
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "examples"

PROGRAMS = [
    (EXAMPLES / "matrix_product.tile", ["7x5xf32", "5x6xf32"]),
    (EXAMPLES / "conv_2d_dilated.tile", ["2x9x10x3xf32", "3x2x3x4xf32"]),
    (EXAMPLES / "sum_over_axis.tile", ["6x5xf32"]),
    (HERE / "running_sum.tile", ["6x5xf32"]),
]


def blocks_of(program: Path, arguments: list[str]) -> ModuleOp:
    """The program as blocks, for arguments of these types."""
    types = [parse_argument_type(text) for text in arguments]
    module = specialize(load(program), types)
    TileFlattenPass().apply(Context(), module)
    LowerTileToStripePass().apply(Context(), module)
    return module


def loop_orders(module: ModuleOp) -> list[list[str | None]]:
    """The names of the indices of every block."""
    return [[i.name_hint for i in block.indices] for block in all_blocks(module)]


@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
def test_results_stay(program: Path, arguments: list[str]) -> None:
    """The order of indices changes, and no result does."""
    module = blocks_of(program, arguments)
    # Sums of small integers are the same in any order.
    generator = np.random.default_rng(7)
    inputs = [
        generator.integers(-9, 10, parse_argument_type(text).get_shape()).astype(
            np.float32
        )
        for text in arguments
    ]
    expected, orders = interpret(module, inputs), loop_orders(module)
    StripeInterchangePass().apply(Context(), module)
    module.verify()
    assert loop_orders(module) != orders
    np.testing.assert_array_equal(interpret(module, inputs), expected)

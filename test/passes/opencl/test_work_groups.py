"""Work-groups with local memory compute what the blocks mean, here and on devices."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scheduled_products import operands, product, run_on_devices
from stripe_programs import run
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from gingham.dialects.opencl.work_items import BarrierOp
from gingham.errors import GinghamError
from gingham.targets.reference import interpret

Array = NDArray[Any]

STRIPE = (
    "stripe-tile,stripe-stage,stripe-collect-outputs,stripe-distribute{{items={items}}},"
    "stripe-tile,stripe-map"
)


def tiled_product(
    rows: int,
    columns: int,
    depth: int,
    tile: tuple[int, int, int],
    part: tuple[int, ...],
) -> ModuleOp:
    """A matrix product with tiles of both operands in local memory."""
    m, n, k = tile
    levels = [(m, n, depth), (m, n, k), (*part, k)]
    parts = [f"tile {[*sizes]}" for sizes in levels]
    parts += [f"stage input {n} at 2 of 2 order [0, 1] local" for n in (0, 1)]
    return product(rows, columns, depth, ", ".join(parts))


CASES = [
    ((32, 32, 32), (16, 16, 8), (2, 2), 64),
    ((20, 27, 19), (16, 8, 4), (2, 1), 64),
    ((20, 27, 19), (8, 16, 32), (1, 4), 32),
    ((9, 40, 12), (4, 16, 5), (4, 2), 100),
    ((17, 17, 17), (16, 16, 16), (1, 1), 256),
    ((12, 12, 30), (6, 6, 10), (3, 2), 5),
]


@pytest.mark.parametrize(("shape", "tile", "part", "items"), CASES)
def test_products_are_exact(
    shape: tuple[int, int, int],
    tile: tuple[int, int, int],
    part: tuple[int, ...],
    items: int,
) -> None:
    module, inputs = tiled_product(*shape, tile, part), operands(*shape)
    want = inputs[0] @ inputs[1]
    run(module, STRIPE.format(items=items))
    module.verify()
    np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    run(module, "lower-stripe-to-opencl,opencl-emulate-types")
    module.verify()
    np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    for got in run_on_devices(module, inputs):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("seed", range(12))
def test_random_tiles(seed: int) -> None:
    random = Random(seed)
    rows, columns, depth = (random.randint(1, 20) for _ in range(3))
    part = (random.randint(1, 3), random.randint(1, 3))
    tile = (part[0] * random.randint(1, 4), part[1] * random.randint(1, 4))
    module = tiled_product(rows, columns, depth, (*tile, random.randint(1, 8)), part)
    inputs = operands(rows, columns, depth)
    want = inputs[0] @ inputs[1]
    run(module, STRIPE.format(items=random.choice((4, 16, 64))))
    np.testing.assert_array_equal(interpret(module, inputs)[0], want)
    run(module, "lower-stripe-to-opencl")
    np.testing.assert_array_equal(interpret(module, inputs)[0], want)


def test_every_barrier_is_needed() -> None:
    shape, tile, part, items = CASES[0]
    for number in range(2):
        module, inputs = tiled_product(*shape, tile, part), operands(*shape)
        run(module, STRIPE.format(items=items))
        run(module, "lower-stripe-to-opencl")
        barriers = [op for op in module.walk() if isinstance(op, BarrierOp)]
        assert len(barriers) == 2
        Rewriter.erase_op(barriers[number])
        with pytest.raises(GinghamError, match="item 0 of group 0 and item"):
            interpret(module, inputs)


def test_the_lowering_puts_the_same_barriers_once() -> None:
    shape, tile, part, items = CASES[0]
    module = tiled_product(*shape, tile, part)
    run(module, STRIPE.format(items=items))
    apart = module.clone()
    run(module, "lower-stripe-to-opencl")
    run(apart, "lower-stripe-to-opencl{barriers=false},opencl-synchronize")
    assert str(apart) == str(module)
    before = str(module)
    run(module, "opencl-synchronize")
    assert str(module) == before

"""Random results with cells that no point reaches: filled around what is set."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import gingham
from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes.convert.lower_tile_to_stripe import LowerTileToStripePass
from gingham.passes.stripe.analysis.nests import statements
from gingham.passes.stripe.apply.align import StripeAlignPass
from gingham.passes.stripe.apply.fuse_nests import StripeFuseNestsPass
from gingham.passes.stripe.decide.plan_fusion import StripePlanFusionPass
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret


def random_program(seed: int) -> tuple[str, tuple[int, ...], list[tuple[int, int]]]:
    """A program that puts an input into a larger result; the margins of each axis."""
    random = Random(seed)
    rank = random.randint(1, 4)
    shape = tuple(random.randint(1, 9) for _ in range(rank))
    margins = [
        random.choice([(0, 0), (0, 0), (1, 1), (2, 0), (0, 3), (5, 2)])
        for _ in range(rank)
    ]
    names = "ABCD"[:rank]
    indices = "abcd"[:rank]
    places = ", ".join(f"{i} + {m[0]}" for i, m in zip(indices, margins, strict=True))
    sizes = ", ".join(f"{n} + {sum(m)}" for n, m in zip(names, margins, strict=True))
    text = (
        f"function (I[{', '.join(names)}]) -> (O) {{"
        f" O[{places} : {sizes}] = =(I[{', '.join(indices)}]); }}"
    )
    return text, shape, margins


@pytest.mark.parametrize("seed", range(40))
def test_random_margins(seed: int) -> None:
    text, shape, margins = random_program(seed)
    values = np.random.default_rng(seed).integers(1, 9, shape).astype(np.float32)
    expected = np.pad(values, margins)
    module = specialize(
        parse_tile(text), [parse_argument_type("x".join([*map(str, shape), "f32"]))]
    )
    context = make_context()
    for each in (
        TileFlattenPass(),
        LowerTileToStripePass(),
        StripeAlignPass(rows=1 + seed % 40),
        StripePlanFusionPass(),
        StripeFuseNestsPass(),
    ):
        each.apply(context, module)
        module.verify()
        (found,) = interpret(module, [values])
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(gingham.compile(text)(values), expected)


def test_a_padded_image_is_one_kernel() -> None:
    text = (
        "function (I[N, X, Y, C]) -> (O) {"
        " O[n, x + 1, y + 1, c : N, X + 2, Y + 2, C] = =(I[n, x, y, c]); }"
    )
    function = gingham.compile(text)
    image = np.ones((1, 30, 31, 16), np.float32)
    assert function.source(image).count("__kernel") == 1


def test_others_stay_as_they_are() -> None:
    text = "function (I[X, Y]) -> (O) { O[2 * x, y : 2 * X, Y] = =(I[x, y]); }"
    module = specialize(parse_tile(text), [parse_argument_type("40x8xf32")])
    TileFlattenPass().apply(make_context(), module)
    LowerTileToStripePass().apply(make_context(), module)
    before = str(module)
    StripeAlignPass().apply(make_context(), module)
    assert str(module) == before
    (main,) = [op for op in module.ops if isinstance(op, FuncOp)]
    assert len([op for op in statements(main) if isinstance(op, BlockOp)]) == 2

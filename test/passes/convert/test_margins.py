"""Inputs that are put into larger results, of which the other cells are filled."""

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
from gingham.passes.stripe.apply.accumulate import StripeAccumulatePass
from gingham.passes.stripe.apply.tile import StripeTilePass
from gingham.passes.stripe.decide.autotile import StripeAutotilePass
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
        StripeAutotilePass(),
        StripeTilePass(),
        StripeAccumulatePass(),
    ):
        each.apply(context, module)
        module.verify()
        (found,) = interpret(module, [values])
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(gingham.compile(text)(values), expected)


@pytest.mark.parametrize("with_default", [False, True])
def test_margins_with_and_without_default(with_default: bool) -> None:
    rows = " default D" if with_default else ""
    text = (
        "function (I[X, Y], D[A, B]) -> (O) {"
        f" O[x + 2, y + 3 : A, B] = =(I[x, y]){rows}; }}"
    )
    values = np.arange(1, 64, dtype=np.float32).reshape(7, 9)
    default = -np.ones((13, 12), np.float32)
    expected = default.copy() if with_default else np.zeros_like(default)
    expected[2:9, 3:12] = values
    function = gingham.compile(text)
    np.testing.assert_array_equal(function(values, default), expected)
    assert function.source(values, default).count("__kernel") == 1


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (
            "function (I[N, X, Y, C]) -> (O) {"
            " O[n, x + 1, y + 1, c : N, X + 2, Y + 2, C] = =(I[n, x, y, c]); }",
            [(1, 30, 31, 16)],
        ),
        (
            "function (I[X, Y]) -> (O) { T = I * I;"
            " O[x + 1, y : X + 2, Y] = =(T[x, y]); }",
            [(30, 64)],
        ),
        (
            "function (A[M, K], B[N, K]) -> (C) {"
            " U[i, j : M + N, K] = =(A[i, j]);"
            " C[i + M, j : M + N, K] = =(B[i, j]) default U; }",
            [(30, 64), (20, 64)],
        ),
    ],
    ids=["padding", "padding of what is computed", "concatenation"],
)
def test_one_kernel(text: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = [np.ones(shape, np.float32) for shape in shapes]
    assert gingham.compile(text).source(*inputs).count("__kernel") == 1


def test_other_results_are_filled_before() -> None:
    text = "function (I[X, Y]) -> (O) { O[2 * x, y : 2 * X, Y] = =(I[x, y]); }"
    module = specialize(parse_tile(text), [parse_argument_type("40x8xf32")])
    TileFlattenPass().apply(make_context(), module)
    LowerTileToStripePass().apply(make_context(), module)
    (main,) = [op for op in module.ops if isinstance(op, FuncOp)]
    assert len([op for op in statements(main) if isinstance(op, BlockOp)]) == 2

"""Attention and its like on devices of lanes: one kernel, right at odd sizes, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from stripe_programs import run, stripe_pipeline
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.dialects.aggregation import Aggregation
from gingham.dialects.eltwise.ops import FUNCTION_OPS
from gingham.dialects.stripe.block import BlockOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.hardware import load_hardware
from gingham.targets.reference import interpret

Array = NDArray[Any]

ATTENTION = """
function (Q[H, L, D], K[H, M, D], V[H, M, W]) -> (O) {
  S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);
  T = S * 0.2;
  Top[h, q, 0 : H, L, 1] = >(T[h, q, k]);
  E = exp(T - Top);
  Sum[h, q, 0 : H, L, 1] = +(E[h, q, k]);
  P = E / Sum;
  O[h, q, w : H, L, W] = +(P[h, q, k] * V[h, k, w]);
}
"""
EAGER = "nvidia-h200:launch_microseconds=9999"
"""A device on which each kernel takes long, so that one for all pays at any size."""


def attention(q: Array, k: Array, v: Array) -> Array:
    scores = 0.2 * np.einsum("hqd,hkd->hqk", q.astype(np.float64), k)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqk,hkw->hqw", weights / weights.sum(-1, keepdims=True), v)


def inputs(shape: Sequence[int], seed: int = 1) -> list[Array]:
    heads, rows, values, depth, width = shape
    random = np.random.default_rng(seed)
    sizes = (heads, rows, depth), (heads, values, depth), (heads, values, width)
    return [random.standard_normal(each).astype(np.float32) for each in sizes]


@pytest.mark.parametrize(
    "shape",
    [
        (2, 64, 64, 32, 32),
        (3, 128, 77, 16, 64),
        (2, 16, 33, 7, 32),
        (1, 48, 40, 33, 96),
        (2, 50, 64, 32, 32),
        (1, 333, 129, 64, 64),
        (2, 50, 77, 32, 32),
        (1, 17, 1000, 96, 128),
    ],
)
def test_one_kernel_computes_it(shape: tuple[int, ...]) -> None:
    f = gingham.compile(ATTENTION, hardware=EAGER)
    arrays = inputs(shape)
    np.testing.assert_allclose(f(*arrays), attention(*arrays), rtol=2e-4, atol=2e-5)
    assert f.source(*arrays).count("__kernel") == 1


HEAD = "function (Q[H, L, D], K[H, M, D], V[H, M, W]) ->"
SCORES = "S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);"
SUMS = (
    "Top[h, q, 0 : H, L, 1] = >(T[h, q, k]); E = exp(T - Top);"
    " Sum[h, q, 0 : H, L, 1] = +(E[h, q, k]); P = E / Sum;"
)
OTHERS = {
    "what comes later is left out": (
        f"{HEAD} (O) {{ {SCORES} T = (index(S, 2) <= index(S, 1) ? S : -1e30); {SUMS}"
        " O[h, q, w : H, L, W] = +(P[h, q, k] * V[h, k, w]); }"
    ),
    "two sums of products": (
        f"{HEAD} (O, R) {{ {SCORES} T = S * 0.1; {SUMS}"
        " O[h, q, w : H, L, W] = +(P[h, q, k] * V[h, k, w]);"
        " R[h, q, d : H, L, D] = +(P[h, q, k] * K[h, k, d]); }"
    ),
    "columns before rows": (
        f"{HEAD} (O) {{ {SCORES} T = S * 0.1; {SUMS}"
        " O[h, w, q : H, W, L] = +(P[h, q, k] * V[h, k, w]); }"
    ),
}


def listed(results: Any) -> list[Any]:
    return [*results] if isinstance(results, tuple) else [results]


@pytest.mark.parametrize("name", OTHERS)
def test_others_of_its_kind(name: str) -> None:
    arrays = inputs((2, 64, 80, 32, 64))
    expected = gingham.compile(OTHERS[name], device="reference")(*arrays)
    found = gingham.compile(OTHERS[name], hardware=EAGER)(*arrays)
    for own, other in zip(listed(found), listed(expected), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-3, atol=2e-5)


def test_large_numbers_and_rows_without_any() -> None:
    f = gingham.compile(ATTENTION, hardware=EAGER)
    q, k, v = inputs((1, 16, 40, 16, 32))
    q *= 1e4
    np.testing.assert_allclose(f(q, k, v), attention(q, k, v), rtol=2e-3, atol=2e-3)
    k[0, :40, 0] = -np.inf
    q[0, 3] = np.abs(q[0, 3])
    assert np.isnan(np.asarray(f(q, k, v))[0, 3]).all()


def test_infinite_values_in_the_last_step() -> None:
    f = gingham.compile(ATTENTION, hardware=EAGER)
    q, k, v = inputs((1, 20, 77, 16, 32))
    v[0, -1, 3], v[0, 0, 5] = np.inf, np.nan
    found, expected = np.asarray(f(q, k, v)), attention(q, k, v)
    assert np.isposinf(found[0, :, 3]).all()
    assert np.isnan(found[0, :, 5]).all()
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


def module_of(shape: Sequence[int]) -> ModuleOp:
    types = ["x".join(map(str, each.shape)) + "xf32" for each in inputs(shape)]
    module = parse_tile(ATTENTION)
    module = specialize(module, [parse_argument_type(each) for each in types])
    run(module, "tile-flatten,tile-canonicalize,lower-tile-to-stripe,stripe-fuse")
    return module


def planned(module: ModuleOp, hardware: str) -> list[str]:
    run(module, f'stripe-plan-walks{{hardware="{hardware}"}}')
    schedules = [
        each.attributes.get("stripe.schedule") for each in top_level_blocks(module)
    ]
    return [str(each) for each in schedules if each is not None]


def test_a_walk_is_planned_where_it_pays() -> None:
    schedules = planned(module_of((16, 2048, 2048, 64, 64)), "nvidia-h200")
    assert len(schedules) == 6
    assert all("walk" in each for each in schedules)


@pytest.mark.parametrize(
    "shape", [(2, 50, 2048, 64, 64), (16, 2048, 2048, 64, 37), (2, 64, 16, 64, 64)]
)
def test_other_sizes_are_left_alone(shape: tuple[int, ...]) -> None:
    assert planned(module_of(shape), "nvidia-h200") == []


def test_products_of_the_last_step_test_nothing() -> None:
    options = TargetOptions(hardware=load_hardware(EAGER))
    module = module_of((1, 50, 77, 32, 32))
    before, _ = stripe_pipeline(options).split(",stripe-fuse-epilogues", 1)
    run(module, before)
    products = [
        block
        for block in module.walk()
        if isinstance(block, BlockOp)
        and len(block.refinement_list) == 3
        and any(isinstance(op, FUNCTION_OPS["mul"]) for op in block.body.block.ops)
        and block.refinement(2).aggregation is Aggregation.ADD
    ]
    assert len(products) == 2
    assert not any(block.conditions for block in products)


@pytest.mark.parametrize("shape", [(1, 16, 20, 5, 32), (1, 17, 21, 5, 32)])
def test_the_interpreter_sees_no_work_items_in_each_other_s_way(
    shape: tuple[int, ...],
) -> None:
    options = TargetOptions(hardware=load_hardware(EAGER))
    module = module_of(shape)
    run(module, f"{stripe_pipeline(options)},lower-stripe-to-opencl")
    arrays = inputs(shape)
    (found,) = interpret(module, arrays)
    np.testing.assert_allclose(found, attention(*arrays), rtol=2e-4, atol=2e-5)

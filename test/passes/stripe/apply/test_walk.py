"""What one walk computes, against one walk for each aggregation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from stripe_programs import run
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.fusion import Fusion
from gingham.dialects.stripe.ops import AllocOp
from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.dialects.stripe.walking import Walk
from gingham.frontend.tile_text import parse_tile
from gingham.passes.stripe.analysis.nests import all_blocks, top_level_blocks
from gingham.passes.stripe.analysis.statement_order import StatementOrder
from gingham.passes.stripe.analysis.walks import WalkGroup, walk_groups
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.passes.walking import functions
from gingham.targets.reference import interpret

Array = NDArray[Any]

WEIGHTS = "M[h, q, 0 : H, L, 1] = >(S[h, q, k]); E = exp(S - M);"
SUM = "N[h, q, 0 : H, L, 1] = +(E[h, q, k]);"
PRODUCT = "O[h, q, d : H, L, D] = +(P[h, q, k] * V[h, k, d]);"
HEAD = "function (S[H, L, K], V[H, K, D]) ->"
PROGRAMS = {
    "weighted mean": f"{HEAD} (O) {{ {WEIGHTS} {SUM} P = E / N; {PRODUCT} }}",
    "sums as outputs": f"{HEAD} (M, N) {{ {WEIGHTS} {SUM} }}",
    "logarithm of a sum": f"{HEAD} (Y) {{ {WEIGHTS} {SUM} Y = log(N) + M; }}",
    "powers of two of a minimum": (
        f"{HEAD} (O) {{ M[h, q, 0 : H, L, 1] = <(S[h, q, k]);"
        f" E = exp2((M - S) * 3); {SUM} P = E / N; {PRODUCT} }}"
    ),
    "masked": (
        f"{HEAD} (O, N) {{ T = (S > 0.5 ? S : -1e30); M[h, q, 0 : H, L, 1] ="
        f" >(T[h, q, k]); E = exp(T - M); {SUM} P = E / N; {PRODUCT} }}"
    ),
    "two sums of one maximum": (
        f"{HEAD} (R) {{ {WEIGHTS} {SUM}"
        " G[h, q, 0 : H, L, 1] = +(E[h, q, k] * S[h, q, k]); R = G / N; }"
    ),
}


def module_of(text: str, shape: tuple[int, int, int, int]) -> ModuleOp:
    heads, rows, values, width = shape
    module = parse_tile(text)
    types = f"{heads}x{rows}x{values}xf32", f"{heads}x{values}x{width}xf32"
    module = specialize(module, [parse_argument_type(each) for each in types])
    run(module, "tile-flatten,tile-canonicalize,lower-tile-to-stripe,stripe-fuse")
    return module


def groups_of(module: ModuleOp) -> Iterator[WalkGroup]:
    for function in functions(module):
        yield from walk_groups([*top_level_blocks(module)], StatementOrder(function))


def walk(module: ModuleOp, rows: int, step: int) -> int:
    """Let walks run over all groups that there are; how many there are."""
    found = [*groups_of(module)]
    for number, group in enumerate(found):
        tiles = tuple([1] * (len(group.row_ranges) - 1) + [rows])
        for block, own, index in zip(
            group.blocks, group.rows, group.indices, strict=True
        ):
            fusion = Fusion(number, tuple([(n,) for n in own]), (tiles,))
            set_schedule(block, Schedule(parts=(fusion, Walk(index, step))))
    run(module, "stripe-fuse-nests,stripe-walk")
    module.verify()
    return len(found)


def assert_same(
    text: str, shape: tuple[int, int, int, int], inputs: list[Array]
) -> None:
    last = shape[2] - 1
    for rows, step in ((2, min(3, last)), (shape[1], 1), (1, last)):
        module = module_of(text, shape)
        expected = interpret(module, inputs)
        assert walk(module, rows, step) == 1
        assert sum(block.is_serial for block in all_blocks(module)) >= 1
        for own, other in zip(interpret(module, inputs), expected, strict=True):
            np.testing.assert_allclose(own, other, rtol=2e-5, atol=1e-6)


def random_inputs(shape: tuple[int, int, int, int], seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    heads, rows, values, width = shape
    scores = 20 * random.standard_normal((heads, rows, values))
    others = random.standard_normal((heads, values, width))
    return [scores.astype(np.float32), others.astype(np.float32)]


@pytest.mark.parametrize("shape", [(2, 3, 7, 2), (3, 4, 9, 4), (2, 5, 2, 3)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_the_same(name: str, shape: tuple[int, int, int, int]) -> None:
    assert_same(PROGRAMS[name], shape, random_inputs(shape, 3))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["weighted mean", "sums as outputs"])
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_values_that_are_no_numbers(name: str, number: float) -> None:
    # One of a row, all at the beginning, all at the end, all of them.
    for places in (slice(3, 4), slice(0, 4), slice(4, 7), slice(0, 7)):
        shape = (1, 2, 7, 2)
        inputs = random_inputs(shape, 1)
        inputs[0][0, 1, places] = number
        assert_same(PROGRAMS[name], shape, inputs)


REFUSED = {
    "values that are an output": f"{HEAD} (E) {{ {WEIGHTS} {SUM} Y = N; }}",
    "quotients that are an output": f"{HEAD} (P) {{ {WEIGHTS} {SUM} P = E / N; }}",
    "a function that has no law": (
        f"{HEAD} (N) {{ M[h, q, 0 : H, L, 1] = >(S[h, q, k]); E = tanh(S - M); {SUM} }}"
    ),
    "a factor that differs from value to value": (
        f"{HEAD} (N) {{ M[h, q, 0 : H, L, 1] = >(S[h, q, k]); E = exp(S * M); {SUM} }}"
    ),
    "squares of what is more than a mean": (
        f"{HEAD} (N) {{ M[h, q, 0 : H, L, 1] = +(S[h, q, k]); E = (S - M) * (S - M);"
        f" {SUM} }}"
    ),
    "nothing that others need": f"{HEAD} (M) {{ M[h, q : H, L] = >(S[h, q, k]); }}",
    # What was summed up before the first value would be infinite.
    "a sign that is another one": (
        f"{HEAD} (N) {{ M[h, q, 0 : H, L, 1] = >(S[h, q, k]); E = exp(M - S); {SUM} }}"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_walk_computes(name: str) -> None:
    assert [*groups_of(module_of(REFUSED[name], (2, 3, 5, 2)))] == []


def test_values_of_a_tile_are_all_that_is_kept() -> None:
    module = module_of(PROGRAMS["weighted mean"], (2, 4, 60, 3))
    walk(module, 2, 5)
    (nest,) = top_level_blocks(module)
    assert isinstance(nest, BlockOp)
    inside = [op for op in nest.walk() if isinstance(op, AllocOp)]
    sizes = {op.view.type.bytes // 4 for op in inside}
    # Of two rows: 5 values of a step, 3 cells of each, or one number.
    assert sizes == {2, 6, 10}

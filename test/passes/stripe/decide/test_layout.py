"""Contractions into scratch with another axis last: the same cells, none beyond."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.ops import AllocOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis import reductions
from gingham.passes.stripe.analysis.nests import output_indices, top_level_blocks
from gingham.passes.stripe.analysis.problem import Problem
from gingham.passes.stripe.analysis.reductions import aggregates_plainly
from gingham.passes.stripe.apply.transpose_outputs import StripeTransposeOutputsPass
from gingham.passes.stripe.decide import layout_costs
from gingham.passes.stripe.decide.plan_layout import StripePlanLayoutPass
from gingham.passes.stripe.decide.search import best_of
from gingham.passes.stripe.decide.search.search import Scored
from gingham.passes.stripe.edit.transpose import transpose_output
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.tuning.lowering import run_passes
from gingham.targets.hardware import Hardware
from gingham.targets.reference import interpret

Array = npt.NDArray[np.float32]


def random_convolution(seed: int) -> tuple[str, Array, Array, Array]:
    """A program with channels first, its inputs, and its result by loops."""
    random = Random(seed)
    inputs, outputs, taps = (random.randint(*r) for r in ((1, 9), (2, 40), (1, 4)))
    size, stride, pad = (
        random.randint(4, 20),
        random.randint(1, 3),
        random.randint(0, 2),
    )
    small = (size + 2 * pad - taps) // stride + 1
    generator = np.random.default_rng(seed)
    image = generator.integers(-4, 5, (inputs, size)).astype(np.float32)
    kernel = generator.integers(-4, 5, (outputs, inputs, taps)).astype(np.float32)
    if seed % 2:
        text = (
            "function (I[CI, X], K[CO, CI, KX]) -> (O) {"
            f" O[co, x : CO, {small}] ="
            f" +(I[ci, {stride} * x + k - {pad}] * K[co, ci, k]); }}"
        )
        result = np.zeros((outputs, small), np.float32)
        for x, k in product(range(small), range(taps)):
            if 0 <= (at := stride * x + k - pad) < size:
                result[:, x] += kernel[:, :, k] @ image[:, at]
    else:
        text = (
            "function (I[CI, X], K[CO, CI, KX]) -> (O) {"
            f" O[co, {stride} * x + k - {pad} : CO, {stride * size}] ="
            " +(I[ci, x] * K[co, ci, k]); }"
        )
        result = np.zeros((outputs, stride * size), np.float32)
        for x, k in product(range(size), range(taps)):
            if 0 <= (at := stride * x + k - pad) < stride * size:
                result[:, at] += kernel[:, :, k] @ image[:, x]
    return text, image, kernel, result


def specialized(text: str, *inputs: Array) -> ModuleOp:
    """The program for inputs like these."""
    types = ["x".join([*map(str, each.shape), "f32"]) for each in inputs]
    return specialize(parse_tile(text), [parse_argument_type(t) for t in types])


def count_transposed(module: ModuleOp) -> int:
    """How many buffers there are with an axis put last."""
    hints = [op.view.name_hint or "" for op in module.walk() if isinstance(op, AllocOp)]
    return sum(hint.endswith("_transposed") for hint in hints)


@pytest.mark.parametrize("seed", range(40))
def test_random_convolutions(seed: int) -> None:
    """With any order of the axes, and the rest of the pipeline on what it makes."""
    text, image, kernel, expected = random_convolution(seed)
    module = specialized(text, image, kernel)
    options = TargetOptions().with_vectors(128)
    stages = stage_passes(options)
    before, after = stages["stripe"].split("stripe-plan-layout{", 1)
    run_passes(module, f"{stages['tile']},{before.rstrip(',')}")
    blocks = [b for b in top_level_blocks(module) if aggregates_plainly(b)]
    for block in blocks:
        order = sorted(output_indices(block))
        Random(seed).shuffle(order)
        transpose_output(block, order)
    module.verify()
    assert count_transposed(module) == len(blocks)
    if not blocks:
        pytest.skip("nothing aggregates into cells that are its own")
    (result,) = interpret(module, [image, kernel])
    np.testing.assert_array_equal(result, expected)
    run_passes(module, f"{after.split('transpose-outputs,', 1)[1]},{stages['opencl']}")
    (result,) = interpret(module, [image, kernel])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("size", [7, 12])
def test_what_follows(batch: int, size: int) -> None:
    """A bias and a cut-off are computed where the cells are copied, not in one more."""
    text = (
        "function (I[N, CI, X], K[CO, CI, KX], B[CO, ONE]) -> (R) {"
        " O[n, co, x : N, CO, X] = +(I[n, ci, x + k - 1] * K[co, ci, k]);"
        " P = O + B; R = (P > 0.0 ? P : 0.0); }"
    )
    generator = np.random.default_rng(size)
    image, kernel, bias = (
        generator.integers(-4, 5, shape).astype(np.float32)
        for shape in ((batch, 5, size), (20, 5, 3), (20, 1))
    )
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1)))
    expected = sum(kernel[:, :, k] @ padded[:, :, k : k + size] for k in range(3))
    module = specialized(text, image, kernel, bias)
    stages = stage_passes(TargetOptions().with_vectors(128))
    before, after = stages["stripe"].split("stripe-plan-layout{", 1)
    run_passes(module, f"{stages['tile']},{before.rstrip(',')}")
    (block,) = (b for b in top_level_blocks(module) if aggregates_plainly(b))
    *images, channel, place = sorted(output_indices(block))
    transpose_output(block, [*images, place, channel])
    fuse, rest = after.split("transpose-outputs,", 1)[1].split("stripe-plan-fusion{", 1)
    run_passes(module, fuse.rstrip(","))
    assert len(list(top_level_blocks(module))) == 2
    run_passes(module, f"stripe-plan-fusion{{{rest},{stages['opencl']}")
    (result,) = interpret(module, [image, kernel, bias])
    np.testing.assert_array_equal(result, np.maximum(expected + bias, 0))


@pytest.mark.parametrize(("channels", "is_transposed"), [(64, True), (5, False)])
@pytest.mark.parametrize("after", ["", " R = (O > 0.0 ? O : 0.0);"])
def test_decision(channels: int, is_transposed: bool, after: str) -> None:
    """Images of 13 by 13 pixels, channels first, are transposed if these fill vectors.

    Whatever is done with the result.
    """
    text = (
        f"function (I[CI, X, Y], K[CO, CI, KX, KY]) -> ({'R' if after else 'O'}) {{"
        " O[co, x, y : CO, 13, 13] ="
        f" +(I[ci, 2*x + k, 2*y + l] * K[co, ci, k, l]);{after} }}"
    )
    image = np.zeros((64, 27, 27), np.float32)
    module = specialized(text, image, np.zeros((channels, 64, 3, 3), np.float32))
    before, _ = stage_passes(TargetOptions())["stripe"].split("stripe-plan-layout", 1)
    run_passes(module, f"{stage_passes(TargetOptions())['tile']},{before.rstrip(',')}")
    StripePlanLayoutPass().apply(make_context(), module)
    StripeTransposeOutputsPass().apply(make_context(), module)
    assert count_transposed(module) == is_transposed


def test_rows_that_will_be_longer() -> None:
    """Of `Y[f, b, c, e]` and `O[a, b, c]` the indices b and c become one."""
    text = (
        "function (X[E, A, F], Y[F, B, C, E]) -> (O) {"
        " O[a, b, c : A, B, C] = +(X[e, a, f] * Y[f, b, c, e]); }"
    )
    types = [parse_argument_type(t) for t in ("36x90x40xf32", "40x44x50x36xf32")]
    module = specialize(parse_tile(text), types)
    passes = stage_passes(TargetOptions())
    run_passes(module, passes["tile"])
    run_passes(module, passes["stripe"].partition("stripe-fuse")[0].rstrip(","))
    assert "O_transposed" not in str(module)
    run_passes(module, "stripe-merge-indices")
    (block,) = top_level_blocks(module)
    assert block.index_ranges[1] == 44 * 50


@pytest.mark.parametrize(("columns", "is_asked"), [(64, False), (48, True)])
def test_long_rows(
    columns: int, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is not asked where rows of the output are four vectors or more."""
    asked: list[object] = []

    def count(block: BlockOp, problem: Problem, hardware: Hardware) -> Scored:
        asked.append(problem)
        return best_of(block, problem, hardware)

    monkeypatch.setattr(layout_costs, "best_of", count)
    text = (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
    )
    a, b = np.zeros((64, 32), np.float32), np.zeros((32, columns), np.float32)
    module = specialized(text, a, b)
    stages = stage_passes(TargetOptions())
    before, _ = stages["stripe"].split("stripe-plan-layout", 1)
    run_passes(module, f"{stages['tile']},{before.rstrip(',')}")
    StripePlanLayoutPass().apply(make_context(), module)
    StripeTransposeOutputsPass().apply(make_context(), module)
    assert bool(asked) == is_asked
    assert count_transposed(module) == 0


@pytest.mark.parametrize(
    ("statement", "shapes", "is_of_rows"),
    [
        ("O[m : M] = +(A[m, k]);", ((64, 96),), True),
        ("O[k : K] = +(A[m, k]);", ((64, 96),), False),
        ("O[m, n : M, N] = +(A[m, k] * B[n, k]);", ((4, 96), (4, 96)), True),
        ("O[m, n : M, N] = +(A[m, k] * B[n, k]);", ((64, 96), (4, 96)), False),
    ],
)
def test_rows(
    statement: str, shapes: Sequence[tuple[int, int]], is_of_rows: bool
) -> None:
    """Rows of numbers used once, and few cells, are for `stripe-split-reduction`."""
    inputs = ["A[M, K]", "B[N, K]"][: len(shapes)]
    text = f"function ({', '.join(inputs)}) -> (O) {{ {statement} }}"
    module = specialized(text, *(np.zeros(shape, np.float32) for shape in shapes))
    before, _ = stage_passes(TargetOptions())["stripe"].split("stripe-plan-layout", 1)
    run_passes(module, f"{stage_passes(TargetOptions())['tile']},{before.rstrip(',')}")
    (block,) = top_level_blocks(module)
    assert reductions.is_of_rows(block, 32) == is_of_rows

"""Contractions into scratch with another axis last: the same cells, none beyond."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.stripe.ops import AllocOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.blocks.nests import output_indices, top_level_blocks
from gingham.passes.stripe.split_reduction import aggregates_plainly
from gingham.passes.stripe.turn_outputs import StripeTurnOutputsPass, turn_output
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.function import make_context
from gingham.runtime.tuning.lowering import run_passes
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


def count_turned(module: ModuleOp) -> int:
    """How many buffers there are with an axis put last."""
    hints = [op.view.name_hint or "" for op in module.walk() if isinstance(op, AllocOp)]
    return sum(hint.endswith("_turned") for hint in hints)


@pytest.mark.parametrize("seed", range(40))
def test_random_convolutions(seed: int) -> None:
    """With any order of the axes, and the rest of the pipeline on what it makes."""
    text, image, kernel, expected = random_convolution(seed)
    module = specialized(text, image, kernel)
    options = TargetOptions(vector_bits=128)
    stages = stage_passes(options)
    before, after = stages["stripe"].split("stripe-turn-outputs{", 1)
    run_passes(module, f"{stages['tile']},{before.rstrip(',')}")
    blocks = [b for b in top_level_blocks(module) if aggregates_plainly(b)]
    for block in blocks:
        order = sorted(output_indices(block))
        Random(seed).shuffle(order)
        turn_output(block, order)
    module.verify()
    assert count_turned(module) == len(blocks)
    if not blocks:
        pytest.skip("nothing aggregates into cells that are its own")
    (result,) = interpret(module, [image, kernel])
    np.testing.assert_array_equal(result, expected)
    run_passes(module, f"{after.split('},', 1)[1]},{stages['opencl']}")
    (result,) = interpret(module, [image, kernel])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("channels", "is_turned"), [(64, True), (5, False)])
def test_decision(channels: int, is_turned: bool) -> None:
    """Images of 13 by 13 pixels, channels first, are turned if these fill vectors."""
    text = (
        "function (I[CI, X, Y], K[CO, CI, KX, KY]) -> (O) { O[co, x, y : CO, 13, 13] ="
        " +(I[ci, 2*x + k, 2*y + l] * K[co, ci, k, l]); }"
    )
    image = np.zeros((64, 27, 27), np.float32)
    module = specialized(text, image, np.zeros((channels, 64, 3, 3), np.float32))
    before, _ = stage_passes(TargetOptions())["stripe"].split("stripe-turn", 1)
    run_passes(module, f"{stage_passes(TargetOptions())['tile']},{before.rstrip(',')}")
    StripeTurnOutputsPass().apply(make_context(), module)
    assert count_turned(module) == is_turned

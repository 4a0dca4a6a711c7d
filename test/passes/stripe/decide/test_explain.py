"""What is said about decisions."""

from __future__ import annotations

import json

import pytest
from blocks_of_programs import PRODUCT
from xdsl.passes import PassPipeline

import gingham
from gingham.dialects import make_context
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.decide.explain import Explainer
from gingham.passes.stripe.decide.explanation import Explanation
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize

SOFTMAX = (
    "function (X[M, N]) -> (Y) { Top[m, 0 : M, 1] = >(X[m, n]); E = exp(X - Top);"
    " Sum[m, 0 : M, 1] = +(E[m, n]); Y = E / Sum; }"
)


def explained(program: str, *types: str) -> Explanation:
    """The explanation of the default pipeline."""
    module = specialize(parse_tile(program), [parse_argument_type(t) for t in types])
    explainer = Explainer(5)
    context = make_context()
    passes = stage_passes(TargetOptions())
    for stage in ("tile", "stripe", "opencl"):
        pipeline = PassPipeline.parse_spec(get_all_passes(), passes[stage])
        for module_pass in pipeline.passes:
            explainer.before(module_pass, module)
            module_pass.apply(context, module)
    return explainer.explanation


def test_a_product_has_its_best_nests() -> None:
    (block,) = explained(PRODUCT, "256x256xf32", "256x256xf32").blocks
    assert block.name == "C"
    assert block.indices == {"i": 256, "j": 256, "k": 256}
    assert len(block.nests) == 5
    assert block.nests[0].schedule == block.schedule
    seconds = [nest.seconds for nest in block.nests]
    assert seconds == sorted(seconds)
    assert "arithmetic" in block.nests[0].breakdown


def test_tables_mark_the_choice() -> None:
    text = str(explained(PRODUCT, "256x256xf32", "256x256xf32"))
    heading, *_ = text.splitlines()
    assert heading.startswith("C [i : 256, j : 256, k : 256]")
    (chosen,) = (line for line in text.splitlines() if line.lstrip().startswith("*"))
    assert "tile [" in chosen


def test_fusions_say_why() -> None:
    explanation = explained(SOFTMAX, "1024x1024xf32")
    assert explanation.fusions
    assert all(fusion.reason for fusion in explanation.fusions)


def test_bindings_say_why() -> None:
    explanation = explained(PRODUCT, "256x256xf32", "256x256xf32")
    found = {tuple(each.indices.items()): each.reason for each in explanation.bindings}
    assert all(each.kernel == "C" and each.reason for each in explanation.bindings)
    assert {"grid"} in [{*each.indices.values()} for each in explanation.bindings]
    reason = "16 at a time, as they are neighbours where written; registers hold %c_acc"
    assert found[("i", "unroll"), ("j", "vector")] == reason
    assert f"C, i unroll, j vector: {reason}" in str(explanation)


def test_joined_launches_say_why() -> None:
    program = (
        "function (X[M, K], W[K, N], V[K, N]) -> (A, B) {"
        " A[i, j : M, N] = +(X[i, k] * W[k, j]);"
        " B[i, j : M, N] = +(X[i, k] * V[k, j]); }"
    )
    explanation = explained(program, "8x64xf32", "64x64xf32", "64x64xf32")
    (launch,) = explanation.launches
    assert launch.is_joined
    assert launch.reason.startswith("2 launches, ")
    assert "one launch of" in str(explanation)


def test_json_is_plain() -> None:
    explanation = explained(SOFTMAX, "256x256xf32")
    values = json.loads(json.dumps(explanation.as_json()))
    assert {"layouts", "fusions", "blocks", "bindings", "launches"} == set(values)


def test_functions_explain_themselves() -> None:
    function = gingham.compile(PRODUCT, device="reference")
    from numpy import ones

    a = ones((64, 64), "float32")
    assert function.explain(a, a, count=3).blocks[0].nests


def test_blocks_in_a_nest_keep_their_names() -> None:
    explanation = explained(SOFTMAX, "1024x1024xf32")
    (fusion,) = explanation.fusions
    assert fusion.blocks == ("Top", "E", "Sum", "Y")
    assert {block.name for block in explanation.blocks} == {"Top", "E", "Sum", "Y"}
    assert "(no name)" not in str(explanation)


def test_launches_of_one_kernel_have_names_of_their_own() -> None:
    program = "function (X, Y, Z) -> (A, B, C) { A = exp(X); B = exp(Y); C = exp(Z); }"
    (launch,) = explained(program, *3 * ["64000xf32"]).launches
    assert launch.kernels == ("A", "B", "C")


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("O[j, i : N, M] = =(A[i, j])", {"memory", "last cache", "local memory"}),
        (
            "O[i, j : M, M] = +(A[i, k] * A[j, k])",
            {"arithmetic", "last cache", "steps"},
        ),
    ],
)
def test_lanes_have_ways_with_parts_of_their_times(cell: str, parts: set[str]) -> None:
    text = f"function (A[M, N]) -> (O) {{ {cell}; }}"
    function = gingham.compile(text, device="reference", hardware="nvidia-h200")
    from numpy import ones

    (block,) = function.explain(ones((2048, 2048), "float32"), count=4).blocks
    assert len(block.nests) == 4
    assert block.nests[0].schedule == block.schedule
    for nest in block.nests:
        assert parts <= {*nest.breakdown}
        assert max(nest.breakdown.values()) <= nest.seconds


def test_epilogues_have_no_nests_of_their_own() -> None:
    sums = "O[i, j : M, M] = +(A[i, k] * A[j, k])"
    text = f"function (A[M, N]) -> (R) {{ {sums}; R = O + 1; }}"
    function = gingham.compile(text, device="reference", hardware="nvidia-h200")
    from numpy import ones

    _, block = function.explain(ones((2048, 2048), "float32"), count=4).blocks
    assert block.schedule == "<epilogue>"
    assert not block.nests
    assert "registers" in block.reason

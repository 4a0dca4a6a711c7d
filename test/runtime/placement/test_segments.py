"""Cutting programs into segments: the same bits, in no circle, as few as can be."""

from __future__ import annotations

import random
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_programs import Program, programs
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

import gingham
from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.passes.pipelines import TargetOptions, run_stages
from gingham.runtime.placement.grouping import group
from gingham.runtime.placement.plan import in_place_first
from gingham.runtime.placement.segments import Segments, forced_devices, split
from gingham.targets.reference import interpret

BRANCHES = """function (X[N, M], W[M, K], V[M, K]) -> (O, B) {
  A[i, k : N, K] = +(X[i, m] * W[m, k]);
  B[i, k : N, K] = +(X[i, m] * V[m, k]);
  O = relu(A) * 2.0 + B;
}"""


def flat(text: str, *arrays: Any) -> ModuleOp:
    module = gingham.compile(text, device="reference").specialized(*arrays)
    run_stages(module, make_context(), TargetOptions(), ["tile"])
    return module


def place(module: ModuleOp, names: list[str]) -> None:
    """Give each operation one of the names, in turn."""
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    for op, name in zip(function.body.block.ops, names, strict=False):
        op.attributes["tile.device"] = StringAttr(name)


def run(segments: Segments, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
    values: dict[int, NDArray[Any]] = dict(enumerate(arrays))
    for segment in segments.segments:
        outputs = interpret(segment.module, [values[n] for n in segment.inputs])
        values |= dict(zip(segment.outputs, outputs, strict=True))
    return [values[number] for number in segments.results]


def check_order(segments: Segments) -> None:
    made = set(range(segments.input_count))
    for number, segment in enumerate(segments.segments):
        assert set(segment.inputs) <= made
        assert all(needed < number for needed in segment.needs)
        made |= set(segment.outputs)
    assert len(made) == segments.value_count


@hypothesis.settings(max_examples=60)
@hypothesis.given(programs(), st.integers(0, 2**32), st.integers(1, 3), st.booleans())
def test_any_assignment_gives_the_same_bits(
    program: Program, seed: int, count: int, apart: bool
) -> None:
    arrays = [tensor.array() for tensor in program.inputs.values()]
    try:
        module = flat(program.text, *arrays)
        expected = interpret(module, arrays)
    except GinghamError:
        hypothesis.reject()
    choose = random.Random(seed)
    place(module, [f"cpu.{choose.randrange(count)}" for _ in range(200)])
    segments = split(
        module, seconds=(lambda _: choose.random() / 1e3) if apart else None
    )
    check_order(segments)
    for got, want in zip(run(segments, arrays), expected, strict=True):
        assert got.dtype == want.dtype
        assert got.tobytes() == want.tobytes()


@hypothesis.given(st.integers(0, 2**32), st.booleans())
def test_groups_are_in_no_circle_and_none_can_be_joined(seed: int, apart: bool) -> None:
    choose = random.Random(seed)
    count = choose.randrange(1, 25)
    needs = [
        sorted(
            {choose.randrange(node) for _ in range(choose.randrange(3))} if node else ()
        )
        for node in range(count)
    ]
    devices = [choose.choice("abc") for _ in range(count)]
    groups = group(
        needs, devices, (lambda a, b: choose.random() < 0.5) if apart else None
    )
    place = {node: number for number, each in enumerate(groups) for node in each.nodes}
    assert sorted(place) == list(range(count))
    for node, others in enumerate(needs):
        assert devices[node] == groups[place[node]].device
        for other in others:
            assert place[other] <= place[node]
    if apart:
        return
    edges = {(place[o], place[n]) for n, others in enumerate(needs) for o in others}
    for first in range(len(groups)):
        for second in range(first):
            if groups[first].device == groups[second].device:
                assert _is_circle(edges, len(groups), first, second)


def _is_circle(edges: set[tuple[int, int]], count: int, a: int, b: int) -> bool:
    joined = {(b if s == a else s, b if t == a else t) for s, t in edges}
    joined = {(s, t) for s, t in joined if s != t}
    left = set(range(count)) - {a}
    while left:
        free = {n for n in left if not any(t == n and s in left for s, t in joined)}
        if not free:
            return True
        left -= free
    return False


def test_one_device_is_one_segment() -> None:
    arrays = [np.ones((4, 3), np.float32), np.ones((3, 5)), np.ones((3, 5))]
    segments = split(flat(BRANCHES, *arrays), "intel.0")
    assert len(segments.segments) == 1
    assert segments.segments[0].device == "intel.0"
    assert segments.segments[0].needs == ()


def test_what_others_wait_for_goes_first() -> None:
    arrays = [np.ones(shape, np.float32) for shape in ((4, 3), (3, 5), (3, 5))]
    module = flat(BRANCHES, *arrays)
    forced_devices(module, {"B": "nvidia.0"})
    few = split(module, "intel.0")
    assert [each.device for each in few.segments] == ["nvidia.0", "intel.0"]
    many = split(module, "intel.0", seconds=lambda operations: 1.0)
    assert [each.device for each in many.segments].count("intel.0") == 2
    waiting = next(each for each in many.segments if len(each.needs) == 2)
    assert waiting.device == "intel.0"


def test_inputs_and_numbers_can_be_results() -> None:
    text = "function (X[N]) -> (Y, X, C) { C = 3; Y = X + 1.0; }"
    array = np.arange(4, dtype=np.float32)
    segments = split(flat(text, array), "a.0")
    assert segments.results[1] == 0
    y, x, three = run(segments, [array])
    assert (y.tolist(), x.tolist(), three.tolist()) == ([1, 2, 3, 4], [0, 1, 2, 3], 3)


def test_segments_that_are_started_quickly_come_first() -> None:
    text = """function (X[N, M], W[M, K], V[M, K]) -> (O, Q) {
      A[i, k : N, K] = +(X[i, m] * W[m, k]);
      B = tanh(A);
      O[i : N] = +(B[i, k]);
      P[i, k : N, K] = +(X[i, m] * V[m, k]);
      Q = relu(P);
    }"""
    module = flat(text, *(np.ones(s, np.float32) for s in ((4, 3), (3, 5), (3, 5))))
    forced_devices(module, dict.fromkeys("AB", "gpu.0") | dict.fromkeys("OPQ", "cpu.0"))
    segments = split(module, seconds=lambda operations: 1.0)
    order = range(len(segments.segments))
    first = in_place_first(segments, order, ["cpu.0"])
    assert sorted(first) == [*order]
    assert [segments.segments[n].device for n in first] == ["cpu.0", "gpu.0", "cpu.0"]
    for position, number in enumerate(first):
        assert set(segments.segments[number].needs) <= {*first[:position]}


def test_an_operation_without_a_device_is_an_error() -> None:
    module = flat(BRANCHES, *(np.ones(s, np.float32) for s in ((4, 3), (3, 5), (3, 5))))
    with pytest.raises(GinghamError, match=r"2:3: error: .* has no device"):
        split(module)
    with pytest.raises(GinghamError, match="is left that computes 'Q'"):
        forced_devices(module, {"Q": "intel.0"})

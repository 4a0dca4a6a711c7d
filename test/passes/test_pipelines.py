"""The named pipelines: what they are made of, and that stages keep the meaning."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import VerifyException

from gingham import passes
from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes, pipelines, steps
from gingham.passes.hardware_pass import HardwarePass
from gingham.passes.pipelines import (
    PIPELINES,
    TargetOptions,
    pipeline_text,
    run_stages,
    stage_passes,
    stage_steps,
)
from gingham.passes.steps import Step, step
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.check_types import TileCheckTypesPass
from gingham.passes.tile.specialize import specialize
from gingham.targets.hardware import hardware_with, load_hardware
from gingham.targets.reference import interpret

LAYER = """function (X[M, K], W[K, N], B[N]) -> (Y, S) {
  H[i, j : M, N] = +(X[i, k] * W[k, j]);
  Y = relu(H + B);
  S[] = >(Y[i, j]);
}"""

STAGES = ("tile", "stripe", "opencl")

NAMES = list(get_all_passes())


def parsed(text: str) -> list[ModulePass]:
    return list(PassPipeline.parse_spec(get_all_passes(), text).passes)


def layer() -> ModuleOp:
    types = [parse_argument_type(text) for text in ("7x5xf32", "5x41xf32", "41xf32")]
    return specialize(parse_tile(LAYER, "layer.tile"), types)


@pytest.mark.parametrize("name", NAMES)
def test_registered_by_its_name(name: str) -> None:
    assert get_all_passes()[name]().name == name


@pytest.mark.parametrize("name", NAMES)
def test_documented_with_its_ir(name: str) -> None:
    """A pass's module says what it is, with the IR before and after."""
    module = inspect.getmodule(get_all_passes()[name]())
    assert module is not None
    text = module.__doc__ or ""
    assert text.startswith(f"`{name}`: ")
    assert "```mlir\n" in text


@pytest.mark.parametrize("name", NAMES)
def test_shown_by_a_lit_test_of_its_name(name: str) -> None:
    assert [*Path(__file__).parents[1].rglob(f"{name}*.mlir")]


@pytest.mark.parametrize("name", NAMES)
def test_negative_numbers_are_no_options(name: str) -> None:
    make = get_all_passes()[name]()
    hints = get_type_hints(make)
    for option in fields(make):
        if hints[option.name] is int:
            with pytest.raises(GinghamError, match=r"expected .*-1"):
                make(**{option.name: -1}).apply(make_context(), ModuleOp([]))


@pytest.mark.parametrize("name", PIPELINES)
def test_text_is_all_stages(name: str) -> None:
    stages = stage_passes(PIPELINES[name])
    assert tuple(stages) == STAGES
    text = pipeline_text(PIPELINES[name])
    assert text == f"builtin.module({','.join(stages.values())})"


def test_stages_end_where_their_level_does() -> None:
    names = {
        stage: [module_pass.name for module_pass in parsed(text)]
        for stage, text in stage_passes(TargetOptions()).items()
    }
    assert all(name.startswith("tile-") for name in names["tile"])
    assert names["stripe"][0] == "lower-tile-to-stripe"
    assert all(name.startswith("stripe-") for name in names["stripe"][1:])
    assert names["opencl"][0] == "lower-stripe-to-opencl"
    assert all(name.startswith("opencl-") for name in names["opencl"][1:])


def test_a_device_without_a_type_has_a_pass_that_refuses_it() -> None:
    options = TargetOptions(unsupported=("f64",), device="nvidia.0")
    (*_, last) = parsed(stage_passes(options)["tile"])
    assert last == TileCheckTypesPass(("f64",), "nvidia.0")


@pytest.mark.parametrize("bits", [128, 512])
def test_target_options_reach_the_passes(bits: int) -> None:
    stripe = parsed(stage_passes(TargetOptions().with_vectors(bits, 16))["stripe"])
    given = {
        module_pass.name: vars(module_pass)["bits"]
        for module_pass in stripe
        if "bits" in vars(module_pass)
    }
    assert given.keys() >= {"stripe-autotile", "stripe-vectorize"}
    assert set(given.values()) == {bits}
    (autotile,) = [p for p in stripe if p.name == "stripe-autotile"]
    assert load_hardware(vars(autotile)["hardware"]).vector_registers == 16


@pytest.mark.parametrize("name", PIPELINES)
def test_stages_keep_the_meaning(name: str) -> None:
    random = np.random.default_rng(list(name.encode()))
    inputs = [
        random.integers(-3, 4, shape).astype(np.float32)
        for shape in ((7, 5), (5, 41), (41,))
    ]
    x, w, b = inputs
    wanted = np.maximum(x @ w + b, 0)
    module = layer()
    for stage in STAGES:
        run_stages(module, make_context(), PIPELINES[name], [stage])
        y, s = interpret(module, inputs)
        np.testing.assert_array_equal(y, wanted)
        np.testing.assert_array_equal(s, wanted.max())


def test_stages_one_by_one_are_all_at_once() -> None:
    apart, together = layer(), layer()
    for stage in STAGES:
        run_stages(apart, make_context(), TargetOptions(), [stage])
    run_stages(together, make_context(), TargetOptions(), STAGES)
    assert apart.is_structurally_equivalent(together)


def test_each_level_is_left_behind() -> None:
    module = layer()
    found: list[set[str]] = []
    for stage in STAGES:
        run_stages(module, make_context(), TargetOptions(), [stage])
        dialects = {op.name.partition(".")[0] for op in module.walk()}
        found.append(dialects - {"builtin", "func", "eltwise"})
    assert found == [{"tile"}, {"stripe"}, {"opencl"}]


@pytest.mark.parametrize("name", ["cpu-avx512", "nvidia-h200"])
def test_steps_are_what_their_text_says(name: str) -> None:
    """Who has figures hands them on; a pipeline that was printed names them."""
    hardware = hardware_with(load_hardware(name), cores=3)
    options = TargetOptions(hardware, unsupported=("f64",), functions=("exp", "tanh"))
    for each in [each for stage in stage_steps(options).values() for each in stage]:
        made = each.module_pass()
        (again,) = parsed(str(each))
        assert str(again) == str(made)
        if isinstance(made, HardwarePass):
            assert isinstance(again, HardwarePass)
            assert made.hardware is hardware
            assert again.figures == hardware
        else:
            assert again == made


def test_module_is_verified_after_each_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that leaves an invalid module is found out before the next one runs."""

    class BreakingPass(ModulePass):
        name = "breaking"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for function in op.ops:
                function.properties["function_type"] = FunctionType.from_lists([], [])

    def breaking_stage(options: TargetOptions) -> dict[str, list[Step]]:
        return {"tile": [step("breaking"), step("tile-canonicalize")]}

    registry = {**passes.get_all_passes(), "breaking": lambda: BreakingPass}
    monkeypatch.setattr(steps, "get_all_passes", lambda: registry)
    monkeypatch.setattr(pipelines, "stage_steps", breaking_stage)
    with pytest.raises(VerifyException):
        run_stages(layer(), make_context(), TargetOptions(), ["tile"])


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("stripe-")])
@pytest.mark.parametrize("stages", [STAGES[:1], STAGES])
def test_other_levels_are_left_alone(name: str, stages: tuple[str, ...]) -> None:
    """Passes over blocks change nothing where there are no blocks."""
    module = layer()
    run_stages(module, make_context(), TargetOptions(), stages)
    before = module.clone()
    get_all_passes()[name]()().apply(make_context(), module)
    assert module.is_structurally_equivalent(before)

"""Random Tile programs mean what brute force says, on every road through the compiler.

A program of one to three statements is drawn together with its inputs, and computed
cell by cell in plain Python. The same text is then run by the reference interpreter as
it is, flattened, as blocks and as kernels, of some programs after every single pass,
and on the default OpenCL device. All numbers are small integers, or integers that wrap
around, so results are compared exactly.

`DIFFERENTIAL_SEED=N` draws other programs than the usual ones, and
`DIFFERENTIAL_EXAMPLES=N` sets how many programs are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, cast

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_programs import Program, programs
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

import gingham
from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.pipelines import PIPELINES, TargetOptions, stage_passes
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.devices import default_device
from gingham.runtime.hardware import target_options
from gingham.runtime.lowering import STAGES
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Arrays = list[NDArray[Any]]

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "50"))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "1"))
CONTEXT = make_context()


def specialized(program: Program) -> ModuleOp:
    """The program for the types of its inputs."""
    types = [
        parse_argument_type("x".join([*map(str, x.shape), x.type]))
        for x in program.inputs.values()
    ]
    return specialize(parse_tile(program.text), types)


def passes_of(stage: str, options: TargetOptions) -> list[ModulePass]:
    spec = PassPipeline.parse_spec(get_all_passes(), stage_passes(options)[stage])
    return [*spec.passes]


def on_reference(program: Program, arrays: Arrays) -> Arrays:
    return as_list(gingham.compile(program.text, device="reference")(*arrays))


def on_default_device(program: Program, arrays: Arrays) -> Arrays:
    return as_list(gingham.compile(program.text)(*arrays))


def as_list(results: Any) -> Arrays:
    return [*cast("Arrays", results)] if isinstance(results, tuple) else [results]


def check(program: Program, road: str, run: Callable[[], Arrays]) -> None:
    """What the road gives, type and value, is what brute force gives."""
    if program.collides:
        with pytest.raises(GinghamError, match=r"two points assign|assigned twice"):
            run()
        return
    results = run()
    assert len(results) == len(program.outputs)
    for name, result in zip(program.outputs, results, strict=True):
        wanted = program.tensors[name].array()
        assert result.dtype == wanted.dtype, f"{road}: {name}"
        np.testing.assert_array_equal(result, wanted, err_msg=f"{road}: {name}")


def check_roads(program: Program, pipeline: str, after_each: bool) -> None:
    """All roads; `after_each` also interprets the program after every pass."""
    arrays = [tensor.array() for tensor in program.inputs.values()]
    check(program, "reference", lambda: on_reference(program, arrays))
    check(program, "default device", lambda: on_default_device(program, arrays))
    if program.collides:
        return
    module, options = specialized(program), PIPELINES[pipeline]
    for stage in STAGES[1:]:
        passes = passes_of(stage, options)
        for module_pass in passes:
            module_pass.apply(CONTEXT, module)
            if after_each or module_pass is passes[-1]:
                module.verify()
                road = f"{pipeline} up to {module_pass.name}, interpreted"
                check(program, road, lambda: interpret(module, arrays))
    device = default_device()
    if not after_each or not isinstance(device, OpenCLDevice):
        return
    if options != target_options(device):
        executable = OpenCLExecutable(module, device)
        check(program, f"{pipeline}, {device.name}", lambda: executable(*arrays))


@hypothesis.seed(SEED)
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
@given(programs(), st.sampled_from([*PIPELINES]), st.sampled_from([False] * 4 + [True]))
def test_every_road_gives_what_brute_force_gives(
    program: Program, pipeline: str, after_each: bool
) -> None:
    hypothesis.note(f"DIFFERENTIAL_SEED={SEED}, {pipeline}\n{program.text}")
    for name, tensor in program.inputs.items():
        hypothesis.note(f"{name} : {tensor.type} = {tensor.array().tolist()}")
    try:
        check_roads(program, pipeline, after_each)
    except GinghamError as error:
        # Integer programming has its limit, which some forms over four indices reach.
        if not error.message.startswith("the index set is too hard"):
            raise
        hypothesis.event("too hard")
        hypothesis.reject()

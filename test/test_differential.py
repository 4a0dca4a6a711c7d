"""Random Tile programs mean what brute force says, on every road through the compiler.

A program of one to three statements is drawn together with its inputs, and computed
cell by cell in plain Python. The same text is then run by the reference interpreter, on
the default OpenCL device, and, lowered for a named pipeline, by the interpreter of
kernels. All numbers are small integers, so results are compared exactly.

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

import gingham
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import PIPELINES, TargetOptions, run_stages
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.devices import default_device
from gingham.runtime.function import STAGES, make_context
from gingham.targets.opencl.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Arrays = list[NDArray[Any]]

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "50"))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "1"))
CONTEXT = make_context()


def lowered(program: Program, options: TargetOptions) -> ModuleOp:
    """The program's kernels, for vectors of this width."""
    types = [
        parse_argument_type("x".join([*map(str, x.shape), x.type]))
        for x in program.inputs.values()
    ]
    module = specialize(parse_tile(program.text), types)
    run_stages(module, CONTEXT, options, STAGES[1:])
    return module


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


def check_roads(program: Program, pipeline: str) -> None:
    arrays = [tensor.array() for tensor in program.inputs.values()]
    check(program, "reference", lambda: on_reference(program, arrays))
    check(program, "default device", lambda: on_default_device(program, arrays))
    if program.collides:
        return
    module = lowered(program, PIPELINES[pipeline])
    check(program, f"{pipeline}, interpreted", lambda: interpret(module, arrays))
    device = default_device()
    if isinstance(device, OpenCLDevice):
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
@given(programs(), st.sampled_from([*PIPELINES]))
def test_every_road_gives_what_brute_force_gives(
    program: Program, pipeline: str
) -> None:
    hypothesis.note(f"DIFFERENTIAL_SEED={SEED}, {pipeline}\n{program.text}")
    for name, tensor in program.inputs.items():
        hypothesis.note(f"{name} : {tensor.type} = {tensor.array().tolist()}")
    check_roads(program, pipeline)

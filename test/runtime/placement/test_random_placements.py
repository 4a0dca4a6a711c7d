"""Random programs with their tensors on random devices, against brute force."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from typing import Any, cast

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from random_programs import Program, programs

import gingham
from gingham.errors import GinghamError
from gingham.runtime.device import Device
from gingham.targets.opencl.devices.device import OpenCLDevice

IMPOSSIBLE = (
    "two points assign",
    "assigned twice",
    "the index set is too hard",
    "cannot run it",
    "no device can run",
)


@pytest.fixture(scope="module")
def devices() -> list[Device]:
    """A device, a part of it, one with memory of its own, and the interpreter."""
    whole = gingham.devices()[0]
    if not isinstance(whole, OpenCLDevice) or not whole.details.host_unified_memory:
        pytest.skip("there is no CPU device")
    details = replace(
        whole.details, host_unified_memory=False, shares_host_memory=False
    )
    discrete = OpenCLDevice("discrete.0", "gpu", details, whole.handle)
    return [whole, *whole.split([1]), discrete, gingham.device("reference")]


@hypothesis.settings(
    max_examples=int(os.environ.get("PLACEMENT_EXAMPLES", "20")),
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.filter_too_much,
        hypothesis.HealthCheck.data_too_large,
        hypothesis.HealthCheck.large_base_example,
    ],
)
@hypothesis.given(programs(), st.integers(0, 2**32), st.booleans())
def test_any_placement_gives_what_the_interpreter_gives(
    devices: list[Device], program: Program, seed: int, on_devices: bool
) -> None:
    choose = random.Random(seed)
    inputs = [tensor.array() for tensor in program.inputs.values()]
    try:
        expected = gingham.compile(program.text, device="reference")(*inputs)
        places = random_places(program, devices, inputs, choose)
        placed = gingham.compile(program.text, device=devices, place=places)
        given = [
            gingham.asarray(array, choose.choice(devices)) if on_devices else array
            for array in inputs
        ]
        results = placed(*given)
    except GinghamError as error:
        if not any(words in error.message for words in IMPOSSIBLE):
            raise
        hypothesis.reject()
    for got, want in zip(as_list(results), as_list(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def random_places(
    program: Program, devices: list[Device], inputs: list[Any], choose: random.Random
) -> dict[str, str]:
    """A device for each tensor that is still there when the program is placed."""
    plan = gingham.compile(program.text, device=devices).plan(*inputs)
    names = {
        result.name_hint
        for segment in plan.segments.segments
        for op in segment.operations
        for result in op.results
    }
    wanted = sorted({*program.tensors} & names)
    return {name: choose.choice(devices).name for name in wanted}


def as_list(results: Any) -> list[Any]:
    return [*cast("list[Any]", results)] if isinstance(results, tuple) else [results]

"""Runs programs in the `tile` dialect at every level and on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import PassPipeline

import gingham
from gingham.dialects import make_context
from gingham.dialects.eltwise.numpy_types import NUMPY_NAMES
from gingham.passes import get_all_passes
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.runtime.hardware import target_options
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Array = NDArray[Any]

LEVELS = ("tile", "lowered", "stripe", "opencl", "device")
"""Where a program can be run; `lowered` is stripe before any stripe pass."""

INTERPRETED = ("tile", "lowered", "stripe")
"""The levels for random programs."""


def module_of(text: str, passes: str = "") -> ModuleOp:
    """The module of a text, after a pipeline."""
    known = make_context()
    module = Parser(known, text).parse_module()
    module.verify()
    if not passes:
        return module
    for module_pass in PassPipeline.parse_spec(get_all_passes(), passes).passes:
        module_pass.apply(known, module)
        module.verify()
    return module


@cache
def opencl_device() -> OpenCLDevice | None:
    """The first OpenCL device that works, or None."""
    for device in gingham.devices():
        if isinstance(device, OpenCLDevice) and device.failure() is None:
            return device
    return None


def levels() -> list[str]:
    """The levels that can be run here."""
    return [level for level in LEVELS if level != "device" or opencl_device()]


def compiled_levels() -> list[str]:
    """Those for programs that are written down; with `opencl` runs `stripe`, too."""
    return [level for level in levels() if level not in ("tile", "stripe")]


def run(text: str, inputs: Sequence[Array], level: str) -> list[Array]:
    """The results of a program in the `tile` dialect, run at a level."""
    if level == "device":
        device = opencl_device()
        if device is None:
            raise ValueError("there is no OpenCL device")
        stages = stage_passes(target_options(device))
        module = module_of(text, ",".join(stages.values()))
        return list(OpenCLExecutable(module, device)(*inputs))
    stages = stage_passes(TargetOptions().with_vectors(256, 16))
    passes = {
        "tile": "",
        "lowered": f"{stages['tile']},lower-tile-to-stripe",
        "stripe": f"{stages['tile']},{stages['stripe']}",
        "opencl": ",".join(stages.values()),
    }
    return interpret(module_of(text, passes[level]), inputs)


def type_of(array: Array) -> str:
    """The tensor type of an array, as text."""
    sizes = "".join(f"{size}x" for size in array.shape)
    return f"tensor<{sizes}{NUMPY_NAMES[array.dtype.name]}>"


def program(
    body: str, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> str:
    """The text of a function: statements, named inputs, named results."""
    arguments = ", ".join(f"%{name}: {type_of(a)}" for name, a in inputs.items())
    values = ", ".join(f"%{name}" for name in outputs)
    types = ", ".join(map(type_of, outputs.values()))
    return (
        f"func.func @main({arguments}) -> ({types}) {{\n{body}\n"
        f"  func.return {values} : {types}\n}}\n"
    )


def check(
    body: str,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    level: str,
) -> None:
    """Run a function and compare each result exactly; NaN equals NaN."""
    results = run(program(body, inputs, outputs), [*inputs.values()], level)
    for got, expected in zip(results, outputs.values(), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected, strict=True)


def operation(
    name: str, operands: Mapping[str, Array], result: Array, options: str = ""
) -> str:
    """The text of an op with a function type, whose result is `%R`."""
    values = ", ".join(f"%{operand}" for operand in operands)
    types = ", ".join(map(type_of, operands.values()))
    return f"%R = tile.{name} {values} {options} : ({types}) -> {type_of(result)}"

"""`tile-run FILE.mlir`: a program on its way through the passes, run as it is.

So a decision, an edit by hand or a pass of one's own is measured: `tile-opt` lowers the
program to the level `opencl`, and this runs it on the device. The reference interpreter
runs every level.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from .command import show
from .inputs import RandomShape
from .results import describe, show_check, show_time

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp

    from ..runtime.device import Device
    from .optimizer.input import Source

    Array = NDArray[Any]
    Call = Callable[..., Sequence[Array]]

_ENTRY = "main"
_OF_TEXT = (
    "shape",
    "input",
    "output",
    "hardware",
    "fast_math",
    "untuned",
    "profile",
    "trace",
    "roofline",
    "memory",
    "explain",
    "emit",
)
"""The options that only a Tile file has."""


def run_module(source: Source, options: argparse.Namespace) -> int:
    """Run, check and time the program in an .mlir file; the exit status.

    Raises GinghamError for options that ask for more, and for what cannot be run.
    """
    for name in _OF_TEXT:
        if getattr(options, name):
            option = name.replace("_", "-")
            raise GinghamError(
                f"--{option} is for a Tile file: an .mlir file is run as it is",
                hint="`tile-opt` compiles it; --device, --seed, --check and --time "
                "say how it is run",
            )
    from ..targets.reference import interpret

    module, function = _read(source)
    device = _device(options.device)
    inputs = _inputs(function, options.seed)
    show(f"device: {device.name}, {device.description}")
    names = _names(function, "inputs", len(inputs))
    for name, array in zip(names, inputs, strict=True):
        show(f"input {name}: {describe(array)}")
    # First the interpreter: a program that leaves its buffers could do harm.
    expected = interpret(module, inputs, _ENTRY) if options.check else []
    start = time.perf_counter()
    call = _callable(module, function, device)
    results = call(*inputs)
    first_call = time.perf_counter() - start
    names = _names(function, "outputs", len(results))
    for name, array in zip(names, results, strict=True):
        show(f"output {name}: {describe(array)}")
    if options.time:
        show_time(lambda: call(*inputs), first_call)
    return show_check(names, results, expected) if options.check else 0


def _read(source: Source) -> tuple[ModuleOp, FuncOp]:
    """The module in a text, verified, and the function to run."""
    from ..dialects import make_context
    from .optimizer.entry import find_entry
    from .optimizer.located_parser import parse_mlir
    from .optimizer.sources import Sources
    from .optimizer.verifier import verify_module

    sources = Sources({source.file: source.text})
    module = parse_mlir(make_context(), source.text, source.file, sources)
    verify_module(module, sources)
    return module, find_entry(module, _ENTRY)


def _device(name: str | None) -> Device:
    from ..runtime.devices import chosen_device, default_device

    return chosen_device(name) or default_device()


def _callable(module: ModuleOp, function: FuncOp, device: Device) -> Call:
    """The function of arrays that a program is on a device."""
    from ..dialects.opencl.attributes import BufferType
    from ..runtime.backends import backend_of

    backend = backend_of(device)
    signature = function.function_type
    types = (*signature.inputs.data, *signature.outputs.data)
    is_lowered = all(isinstance(type, BufferType) for type in types)
    if backend.stage == "opencl" and not is_lowered:
        raise GinghamError(
            f"expected @{_ENTRY} to be at the level opencl, to run on '{device.name}'",
            hint="`tile-opt` lowers it (lower-stripe-to-opencl is the last of the "
            "passes); --device=reference runs any level",
        )
    return backend.executable(module)


def _inputs(function: FuncOp, seed: int) -> list[Array]:
    """Random arrays of the types that a function takes."""
    from ..dialects.eltwise.numpy_types import numpy_dtype
    from .optimizer.entry import static_signature

    signature = static_signature(function)
    if signature is None:
        raise GinghamError(
            f"the sizes or types of @{_ENTRY} are not known",
            hint="the pass tile-specialize binds them",
        )
    return [
        RandomShape(
            type.get_shape(), numpy_dtype(type.element_type), f"input #{number}"
        ).random([seed, number])
        for number, type in enumerate(signature)
    ]


def _names(function: FuncOp, what: str, count: int) -> list[str]:
    """What a program calls its inputs or outputs, or their numbers."""
    from xdsl.dialects.builtin import ArrayAttr, StringAttr

    names = function.attributes.get(f"tile.{what}")
    if not isinstance(names, ArrayAttr) or len(names.data) != count:
        return [f"#{number}" for number in range(count)]
    return [
        name.data if isinstance(name, StringAttr) else f"#{number}"
        for number, name in enumerate(names.data)
    ]

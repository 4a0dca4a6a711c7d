"""`gingham.compile`: Tile text to a function of NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GinghamError
from .arguments import Signature, bind, signature_of, tensor_types
from .devices import Device, default_device
from .devices import device as device_named

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.pipelines import TargetOptions

Runner: TypeAlias = "Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]]"

STAGES = ("parsed", "tile", "stripe", "opencl")
"""The stages at which `Function.ir` shows the program."""


class Function:
    """A Tile program as a function of arrays.

    It is parsed once, and compiled once for each combination of shapes and element
    types that it is called with. May be called from several threads.
    """

    def __init__(self, module: ModuleOp, device: Device | None, text: str) -> None:
        self._module = module
        self._text = text
        self._device = device
        self._lock = Lock()
        self._compiled: dict[Signature, Runner] = {}
        self.input_names, self.output_names = _names(module)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        return f"<gingham.Function ({inputs}) -> ({outputs})>"

    @property
    def device(self) -> Device:
        """Where it runs: the device it was compiled for, else the default device."""
        if self._device is None:
            self._device = default_device()
        return self._device

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run the program: its output as an array, several as a tuple.

        Inputs are arrays, or what `numpy.asarray` takes, by position or by name. Raises
        GinghamError for inputs that do not fit the program.
        """
        arrays = bind(self.input_names, inputs, named)
        try:
            results = self._runner(signature_of(arrays))(arrays)
        except GinghamError as error:
            self._show_line(error)
            raise
        return results[0] if len(results) == 1 else tuple(results)

    def source(self, *inputs: Any, **named: Any) -> str:
        """The OpenCL C of the kernels for inputs of these shapes and types."""
        from ..targets.opencl.printer import print_opencl

        signature = signature_of(bind(self.input_names, inputs, named))
        module = self._module_at("opencl", signature)
        try:
            return print_opencl(module)
        except GinghamError as error:
            self._show_line(error)
            raise

    def ir(self, *inputs: Any, stage: str = "tile", **named: Any) -> str:
        """The IR for inputs of these shapes and types, at one of the `STAGES`.

        `parsed` is the program for any shapes and needs no inputs; `tile` is flattened,
        `stripe` is tiled, vectorized and mapped, `opencl` is what is printed as
        kernels.
        """
        if stage not in STAGES:
            raise GinghamError(
                f"there is no stage '{stage}'", hint=f"stages are {', '.join(STAGES)}"
            )
        if stage == "parsed":
            return str(self._module)
        signature = signature_of(bind(self.input_names, inputs, named))
        return str(self._module_at(stage, signature))

    def _module_at(self, stage: str, signature: Signature) -> ModuleOp:
        from xdsl.utils.exceptions import DiagnosticException

        from ..passes.pipelines import run_stages
        from ..passes.tile.specialize import specialize

        stages = STAGES[1 : STAGES.index(stage) + 1]
        try:
            module = specialize(self._module, tensor_types(signature))
            run_stages(module, make_context(), target_options(self.device), stages)
        except DiagnosticException as error:
            raise GinghamError(str(error)) from error
        except GinghamError as error:
            self._show_line(error)
            raise
        return module

    def _show_line(self, error: GinghamError) -> None:
        """Give the error the text of the program, to show the line it points at."""
        if error.location is not None and error.location.text is None:
            error.location = replace(error.location, text=self._text)

    def _runner(self, signature: Signature) -> Runner:
        with self._lock:
            runner = self._compiled.get(signature)
            if runner is None:
                runner = self._compile(signature)
                self._compiled[signature] = runner
            return runner

    def _compile(self, signature: Signature) -> Runner:
        if self.device.is_reference:
            return self._interpreted(signature)
        from ..targets.opencl.device import OpenCLDevice
        from ..targets.opencl.executor import OpenCLExecutable

        if not isinstance(self.device, OpenCLDevice):
            raise GinghamError(f"device '{self.device.name}' cannot run programs")
        module = self._module_at("opencl", signature)
        executable = OpenCLExecutable(module, self.device)
        return lambda arrays: executable(*arrays)

    def _interpreted(self, signature: Signature) -> Runner:
        from ..passes.tile.specialize import specialize
        from ..targets.reference import interpret

        module = specialize(self._module, tensor_types(signature))
        return lambda arrays: interpret(module, arrays)


def compile(source: str, *, device: str | Device | None = None) -> Function:
    """A function of arrays from the text of a Tile program.

    `device` is a device of `gingham.devices()` or its name; without it the default
    device is taken at the first call. Raises GinghamError, located in the text, for a
    mistake in the program, and for a device that does not exist or does not work.

    ```python
    f = gingham.compile("function (A[M, K], B[K, N]) -> (C) "
                        "{ C[i, j : M, N] = +(A[i, k] * B[k, j]); }")
    C = f(A, B)
    ```
    """
    from ..frontend.tile_text import parse_tile

    _require_text(source)
    return Function(parse_tile(source), _chosen(device), source)


def compile_file(
    path: str | os.PathLike[str], *, device: str | Device | None = None
) -> Function:
    """As `compile`, for a program in a file, whose name errors and comments show."""
    from ..frontend.tile_text import parse_tile, read

    text = read(path)
    return Function(parse_tile(text, os.fspath(path)), _chosen(device), text)


def _require_text(source: object) -> None:
    if not isinstance(source, str):
        raise GinghamError(
            f"expected the text of a program, got {type(source).__name__}",
            hint="gingham.compile_file compiles a file",
        )


def _chosen(device: str | Device | None) -> Device | None:
    if device is None:
        return None
    chosen = device_named(device) if isinstance(device, str) else device
    if not hasattr(chosen, "require_usable"):
        raise GinghamError(
            f"expected a device or its name, got {type(device).__name__}",
            hint="gingham.devices() lists the devices",
        )
    chosen.require_usable()
    return chosen


def _names(module: ModuleOp) -> tuple[list[str], list[str]]:
    """The names of inputs and outputs, as the frontend left them."""
    from xdsl.dialects.builtin import ArrayAttr, StringAttr

    for operation in module.ops:
        names: list[list[str]] = []
        for attribute in ("tile.inputs", "tile.outputs"):
            value = operation.attributes.get(attribute)
            entries = value.data if isinstance(value, ArrayAttr) else ()
            names.append([e.data for e in entries if isinstance(e, StringAttr)])
        return names[0], names[1]
    return [], []


def target_options(device: Device) -> TargetOptions:
    """What the passes need to know of a device; AVX-512 for the interpreter."""
    from ..passes.pipelines import TargetOptions
    from ..targets.opencl.device import OpenCLDevice

    if not isinstance(device, OpenCLDevice):
        return TargetOptions()
    bits = max(device.details.native_float_width, 1) * 32
    # x86 has 32 vector registers with AVX-512 only, all others here have as many.
    return TargetOptions(bits, 16 if bits == 256 else 32)


def make_context() -> Context:
    """A context that knows all dialects."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    from ..dialects import get_all_dialects

    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context

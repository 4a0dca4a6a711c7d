"""`gingham.compile`: Tile text to a function of NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GinghamError
from .arguments import Binding, bind, binding_of, tensor_types
from .devices import Device, default_device
from .devices import device as device_named

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.pipelines import TargetOptions
    from .program import Program

Runner: TypeAlias = "Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]]"

STAGES = ("parsed", "tile", "stripe", "opencl")
"""The stages at which `Function.ir` shows the program."""


class Function:
    """A Tile program as a function of arrays.

    It is parsed once, and compiled once for each combination of shapes and element
    types that it is called with. May be called from several threads.
    """

    def __init__(
        self,
        module: ModuleOp,
        device: Device | None,
        text: str | None,
        constants: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        """`text` is the source, None for Python; `constants` are the last inputs."""
        self._module = module
        self._text = text
        self._device = device
        self._lock = Lock()
        self._compiled: dict[Binding, Runner] = {}
        self._constants = list((constants or {}).values())
        names, self.output_names = _names(module)
        self.input_names = names[: len(names) - len(self._constants)]

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
        results = self.run(bind(self.input_names, inputs, named))
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """The outputs for inputs that are arrays already, in order."""
        arrays = [*arrays, *self._constants]
        try:
            return self._runner(binding_of(arrays, self._sizes))(arrays)
        except GinghamError as error:
            self._show_line(error)
            raise

    def _binding(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> Binding:
        arrays = bind(self.input_names, inputs, named)
        return binding_of([*arrays, *self._constants], self._sizes)

    def source(self, *inputs: Any, **named: Any) -> str:
        """The OpenCL C of the kernels for inputs of these shapes and types."""
        from ..targets.opencl.printer import print_opencl

        module = self._module_at("opencl", self._binding(inputs, named))
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
        return str(self._module_at(stage, self._binding(inputs, named)))

    def _module_at(self, stage: str, binding: Binding) -> ModuleOp:
        from xdsl.utils.exceptions import DiagnosticException

        from ..passes.pipelines import run_stages

        stages = STAGES[1 : STAGES.index(stage) + 1]
        try:
            module = self._specialized(binding)
            run_stages(module, make_context(), target_options(self.device), stages)
        except DiagnosticException as error:
            raise GinghamError(str(error)) from error
        except GinghamError as error:
            self._show_line(error)
            raise
        return module

    @cached_property
    def _sizes(self) -> frozenset[int]:
        """The positions of the inputs that the program uses as sizes."""
        from ..passes.tile.specialize import size_arguments

        return size_arguments(self._module)

    def _specialized(self, binding: Binding) -> ModuleOp:
        """The program for inputs of these types."""
        from ..passes.tile.specialize import specialize

        types = tensor_types(binding.signature)
        return specialize(self._module, types, numbers=dict(binding.numbers))

    def _show_line(self, error: GinghamError) -> None:
        """Give the error the text of the program, to show the line it points at."""
        if error.location is None or error.location.text is not None:
            return
        if self._text is None:
            from ..frontend.edsl.locations import with_text

            error.location = with_text(error.location)
        else:
            error.location = replace(error.location, text=self._text)

    def _runner(self, binding: Binding) -> Runner:
        with self._lock:
            runner = self._compiled.get(binding)
            if runner is None:
                runner = self._compile(binding)
                self._compiled[binding] = runner
            return runner

    def _compile(self, binding: Binding) -> Runner:
        if self.device.is_reference:
            return self._interpreted(binding)
        from ..targets.opencl.device import OpenCLDevice
        from ..targets.opencl.executor import OpenCLExecutable

        if not isinstance(self.device, OpenCLDevice):
            raise GinghamError(f"device '{self.device.name}' cannot run programs")
        module = self._module_at("opencl", binding)
        executable = OpenCLExecutable(module, self.device)
        return lambda arrays: executable(*arrays)

    def _interpreted(self, binding: Binding) -> Runner:
        from ..passes.tile.differentiate import expand_gradients
        from ..targets.reference import interpret

        module = expand_gradients(self._specialized(binding))
        return lambda arrays: interpret(module, arrays)


def compile(source: str | Program, *, device: str | Device | None = None) -> Function:
    """A function of arrays from the text of a Tile program, or from a `Program`.

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
    from .program import Program

    if isinstance(source, Program):
        return source.compile(device)
    _require_text(source)
    return Function(parse_tile(source), chosen_device(device), source)


def compile_file(
    path: str | os.PathLike[str], *, device: str | Device | None = None
) -> Function:
    """As `compile`, for a program in a file, whose name errors and comments show."""
    from ..frontend.tile_text import parse_tile, read

    text = read(path)
    return Function(parse_tile(text, os.fspath(path)), chosen_device(device), text)


def _require_text(source: object) -> None:
    if not isinstance(source, str):
        raise GinghamError(
            f"expected the text of a program, got {type(source).__name__}",
            hint="gingham.compile_file compiles a file",
        )


def chosen_device(device: str | Device | None) -> Device | None:
    """The device that a caller asks for by itself or its name, which works."""
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
    registers = 16 if bits == 256 else 32
    unsupported = () if device.details.supports_fp64 else ("f64",)
    return TargetOptions(bits, registers, unsupported, device.name)


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

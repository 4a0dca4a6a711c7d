"""`Function`: a Tile program, from text or composed, with the tensors it is tied to."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..frontend.edsl.dtypes import DType
from ..frontend.tile_text import TileFunction
from ..runtime.function import Function as CompiledFunction
from ..runtime.options import CompileOptions
from ..runtime.parsed import ModuleProgram
from .context import Context
from .devices import Device
from .files import Saved, array_data, parsed, read, restored, write
from .losses import TRAINING_CALLS
from .process import LOGGER, is_backtrace_enabled
from .shapes import Shape
from .tensors import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..runtime.arguments import AnyArray
    from ..runtime.device import Device as RuntimeDevice


_NO_TEXTS: Mapping[str, str] = {}
_MOST_SHAPES = 1024


class Function:
    """A Tile function that can be run, applied, composed and saved.

    `fid` is the name that errors show for its text. Raises GinghamError, with the line
    and a caret, for a mistake in the text.
    """

    def __init__(self, code: str, backtrace: str | None = None, fid: str = "") -> None:
        self.backtrace = backtrace
        """The calls that made it, where `set_backtrace` asked for that."""
        if is_backtrace_enabled():
            self.backtrace = backtrace or "".join(traceback.format_stack()[:-1])
            LOGGER.info("%s\n%s\n%s", fid or "a function", code, self.backtrace)
        tile = TileFunction(code, fid or "<function>", TRAINING_CALLS)
        self._program: TileFunction | ModuleOp = tile
        self.name = fid or "a function"
        self.text: str | None = code
        self._texts: Mapping[str, str] = {tile.source.file: code}
        self.constants: Mapping[str, NDArray[Any]] = {}
        self.bound: Sequence[Tensor] = ()
        self.updated: Sequence[Tensor] = ()
        self.device: Device | None = None
        self._start()

    @classmethod
    def of_module(
        cls,
        module: ModuleOp,
        constants: Mapping[str, NDArray[Any]],
        bound: Sequence[Tensor],
        updated: Sequence[Tensor] = (),
        name: str = "",
        texts: Mapping[str, str] = _NO_TEXTS,
        device: Device | None = None,
    ) -> Function:
        """A composed function.

        Its last inputs are the tensors `bound`, then the `constants`; its last outputs
        are written to the tensors `updated`. `texts` has those of functions in it.
        Where there are no tensors, it runs on `device`.
        """
        function = cls.__new__(cls)
        function.text = function.backtrace = None
        function.name = name or "a function"
        function._texts = texts
        function._program = module
        function.constants = constants
        function.device = device
        function.bound, function.updated = tuple(bound), tuple(updated)
        function._start()
        return function

    def _start(self) -> None:
        self._lock = Lock()
        self._compiled: dict[str, CompiledFunction] = {}
        self._shapes: dict[object, list[Shape]] = {}
        self._places: Mapping[str, str] = {}
        if self.tile is not None:
            self.input_names = self.tile.input_names
            self.output_names = self.tile.output_names
            return
        names = self._on(None)
        count = len(names.input_names) - len(self.bound)
        self.input_names = names.input_names[:count]
        count = len(names.output_names) - len(self.updated)
        self.output_names = names.output_names[:count]

    @property
    def tile(self) -> TileFunction | None:
        """What can be applied; None for a function that was composed."""
        program = self._program
        return program if isinstance(program, TileFunction) else None

    @property
    def module(self) -> ModuleOp:
        """Its `tile` module.

        Raises GinghamError where an input or output is a tuple: then it can be applied
        only, not run.
        """
        program = self._program
        return program.module if isinstance(program, TileFunction) else program

    def __reduce__(self) -> tuple[Any, ...]:
        """It is copied and pickled as its text."""
        if self.text is None:
            raise GinghamError(
                "a composed function cannot be copied or pickled",
                hint="Function.save and load_function keep it with its tensors",
            )
        return Function, (self.text, None, self.name)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        return f"<gingham.plaidml.Function ({inputs}) -> ({outputs})>"

    def save(self, filename: str) -> None:
        """Write it to a file, for `load_function`."""
        if self.updated:
            raise GinghamError(
                "a function that updates tensors cannot be saved",
                hint="save one that has the updates as outputs",
            )
        saved: Saved = {"name": self.name}
        if self.text is not None:
            saved["tile"] = self.text
        else:
            saved["ir"] = str(self.module)
            saved["bound"] = [array_data(each.as_ndarray()) for each in self.bound]
            saved["constants"] = {n: array_data(a) for n, a in self.constants.items()}
        write(saved, filename)

    @cached_property
    def sizes(self) -> frozenset[int]:
        """The positions of the inputs that are sizes."""
        from ..passes.tile.specialize import size_arguments

        return size_arguments(self.module)

    def place(self, places: Mapping[str, str]) -> None:
        """Force tensors that it computes, by name, onto devices; the rest is decided.

        That is for a `Device` of several devices. Names that are not there are errors
        of the next run.
        """
        with self._lock:
            self._places = dict(places)
            self._compiled = {}

    def compiled(self, dev: Device) -> CompiledFunction:
        """The function for a device; it is compiled for shapes when they are known."""
        with self._lock:
            if dev.id not in self._compiled:
                self._compiled[dev.id] = self._new_compiled(dev)
            return self._compiled[dev.id]

    def _new_compiled(self, dev: Device) -> CompiledFunction:
        if len(dev.devices) == 1:
            return self._on(dev.device)
        from ..runtime.placement.function import PlacedFunction

        options = CompileOptions(device=dev.devices, place=self._places)
        program = ModuleProgram(self.module, self.text)
        return PlacedFunction(program, options, [*self.constants.values()])

    def _on(self, device: RuntimeDevice | None) -> CompiledFunction:
        program = ModuleProgram(self.module, self.text)
        options = CompileOptions(device=device)
        return CompiledFunction(program, options, [*self.constants.values()])

    def _show_line(self, error: GinghamError) -> None:
        """Give the error the text of the function that it points at."""
        place = error.location
        if place is not None and place.text is None and place.file in self._texts:
            error.location = replace(place, text=self._texts[place.file])

    def output_shapes(
        self,
        ctx: Context,
        dev: Device,
        arrays: Sequence[AnyArray],
    ) -> list[Shape]:
        """The shapes of all outputs for such inputs; their elements do not matter.

        Inputs that are sizes are arrays of one integer, and matter.
        """
        from ..runtime.arguments import binding_of

        key = binding_of(arrays, self.sizes)
        with self._lock:
            known = self._shapes.get(key)
        if known is None:
            try:
                module = self.compiled(dev).specialized(*arrays)
            except GinghamError as error:
                self._show_line(error)
                raise
            known = _result_shapes(ctx, module)
            with self._lock:
                if len(self._shapes) >= _MOST_SHAPES:
                    self._shapes.clear()
                self._shapes[key] = known
        return known


def load_function(ctx: Context, device: Device, filename: str) -> Function:
    """The function that was saved in a file; tensors that it is tied to are new.

    Raises GinghamError for a file that cannot be read or is no saved function.
    """
    ctx.check()
    device.check()

    def make(saved: Saved) -> Function:
        name = saved["name"]
        if not isinstance(name, str):
            raise TypeError("a function's name is a text")
        if "tile" in saved:
            return Function(saved["tile"], fid=name)
        arrays = [restored(each) for each in saved["bound"]]
        bound = [Tensor.from_ndarray(ctx, device, array) for array in arrays]
        constants = {n: restored(each) for n, each in saved["constants"].items()}
        module = parsed(saved["ir"], len(bound) + len(constants))
        return Function.of_module(module, constants, bound, name=name)

    return read(filename, make)


def _result_shapes(ctx: Context, module: ModuleOp) -> list[Shape]:
    from xdsl.dialects.builtin import TensorType
    from xdsl.dialects.func import ReturnOp

    from ..dialects.eltwise.numpy_types import NUMPY_NAMES

    names = {element: name for name, element in NUMPY_NAMES.items()}
    shapes: list[Shape] = []
    for operation in module.walk():
        if isinstance(operation, ReturnOp):
            for value in operation.arguments:
                type = value.type
                if not isinstance(type, TensorType):
                    raise GinghamError("an output of the function is no tensor")
                dtype = DType(names[type.element_type])
                shapes.append(Shape(ctx, dtype, *type.get_shape()))
    return shapes

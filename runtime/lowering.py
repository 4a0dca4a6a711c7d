"""A program on its way to kernels, for arrays of certain shapes and types.

Who looks at the IR, the kernels or the memory of a program mostly calls it, too. So the
last few modules and kernels are remembered, and what is asked for next is made of the
module that is furthest on its way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import observation
from ..dialects import make_context
from ..errors import GinghamError
from ..garbage import rare_collections
from ..observation import note, now
from .arguments import Binding, tensor_types
from .backends import backend_of, printed_by_any
from .cache.programs import key_of
from .device import Device
from .devices import default_device
from .hardware import target_options
from .records import recall_state, run_stages_by_records

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.kernel_by_kernel import Expect
    from ..passes.target_options import TargetOptions
    from ..targets.backend import Ahead
    from ..targets.code import PrintedCode
    from ..targets.hardware import Hardware
    from .options import CompileOptions
    from .parsed import ParsedProgram

STAGES = ("parsed", "tile", "stripe", "opencl")
"""The stages at which `Function.ir` shows the program."""

_MOST_MODULES = 4
_MOST_PRINTED = 16
_LARGEST_SOURCE = 1 << 19
"""A module with longer kernels is not remembered: it takes a hundred times as much."""

T = TypeVar("T")


class _Latest(Generic[T]):
    """The last few that were asked for; for several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


_modules = _Latest["ModuleOp"](_MOST_MODULES)
_printed = _Latest["PrintedCode"](_MOST_PRINTED)


def forget_lowered() -> None:
    """Remember nothing."""
    _modules.clear()
    _printed.clear()


class Lowering:
    """The IR of a program for one device; may be used from several threads."""

    def __init__(
        self,
        program: ParsedProgram,
        device: Device | None,
        hardware: Hardware | None,
        options: CompileOptions,
        constants: Sequence[int],
    ) -> None:
        """For a device, None for the default one, by a description, if there is one.

        `constants` are the positions of inputs that are mostly the same arrays.
        """
        self._program = program
        self._device = device
        self.hardware = hardware
        """The description that was asked for, if one was."""
        self._tuned = options.tuned
        self._fast_math = options.fast_math
        self._constants = constants

    @property
    def device(self) -> Device:
        """Where it runs: the device it was made for, else the default device."""
        if self._device is None:
            self._device = default_device()
        return self._device

    @property
    def options(self) -> TargetOptions:
        """What the passes know of the device."""
        return target_options(self.device, self.hardware, self._fast_math)

    def key(self, binding: Binding) -> tuple[str, TargetOptions, str]:
        """What kernels depend on: the program, the options, measured decisions."""
        options = self.options
        records = recall_state(self.device, options) if self._tuned else ""
        program = f"{binding}\n{self._constants}\n{self._program.identity}"
        return program, options, records

    def specialized(self, binding: Binding) -> ModuleOp:
        """The program for inputs of these types."""
        from ..passes.tile.specialize import specialize

        types = tensor_types(binding.signature)
        module = specialize(self._program.module, types, numbers=dict(binding.numbers))
        _mark_constants(module, self._constants)
        return module

    def at(self, stage: str, binding: Binding) -> ModuleOp:
        """The module at a stage, which must not change."""
        key = self._state(binding)
        known = _modules.get((key, stage))
        if known is None:
            known = self._lowered(stage, binding, key)
            _modules.put((key, stage), known)
        return known

    @rare_collections()
    def printed(
        self,
        binding: Binding,
        ahead: Ahead[Any] | None = None,
    ) -> PrintedCode:
        """The kernels, and the program that launches them.

        What is done `ahead` is told of what comes, where the program is lowered now.
        """
        key = self._state(binding)
        known = None if _is_watched() else _printed.get(key)
        if known is None:
            start = now()
            module = None if _is_watched() else _modules.get((key, "opencl"))
            if module is None:
                module = self._lowered("opencl", binding, key, ahead)
            note("compile", "passes", start)
            if ahead is not None:
                known = ahead.printed(module)
            else:
                known = _printed_for(self.device, module)
            _printed.put(key, known)
            if len(known.source) <= _LARGEST_SOURCE:
                _modules.put((key, "opencl"), module)
        return known

    def _state(self, binding: Binding) -> str:
        """All that a module depends on."""
        return key_of(self.device.name, *self.key(binding))

    @rare_collections()
    def _lowered(
        self,
        stage: str,
        binding: Binding,
        key: str,
        ahead: Ahead[Any] | None = None,
    ) -> ModuleOp:
        """A module that nobody else has, taken as far as the stage."""
        from xdsl.utils.exceptions import DiagnosticException

        def specialized() -> ModuleOp:
            return self.specialized(binding)

        stages = STAGES[1 : STAGES.index(stage) + 1]
        begin: Callable[[], ModuleOp] = specialized
        for number, each in reversed([*enumerate(stages, 1)]):
            known = _modules.get((key, each))
            if known is not None and not _is_watched():
                begin, stages = known.clone, stages[number:]
                break
        try:
            return self.run_stages(
                begin, stages, None if ahead is None else ahead.expect
            )
        except DiagnosticException as error:
            raise GinghamError(str(error)) from error

    def run_stages(
        self,
        begin: Callable[[], ModuleOp],
        stages: Sequence[str],
        expect: Expect | None = None,
    ) -> ModuleOp:
        """The module that `begin` gives, taken through stages: see `run_stages`."""
        from ..passes.pipelines import run_stages

        if self._tuned and "stripe" in stages:
            return run_stages_by_records(
                begin, make_context(), self.options, stages, self.device, expect
            )
        module = begin()
        run_stages(module, make_context(), self.options, stages, expect=expect)
        return module


def _printed_for(device: Device, module: ModuleOp) -> PrintedCode:
    """The kernels of a device; OpenCL C to look at for one that has none."""
    kernels = backend_of(device).kernels
    if kernels is not None:
        return kernels.printed(module)
    return printed_by_any(module)


def _is_watched() -> bool:
    """Whether somebody wants to see all passes."""
    observer = observation.observer
    return observer is not None and observer.wants_passes


def _mark_constants(module: ModuleOp, positions: Sequence[int]) -> None:
    """Mark inputs of the program as constant, for the passes to see."""
    from xdsl.dialects.func import FuncOp

    from ..dialects.constants import mark_constants

    for operation in module.ops:
        if positions and isinstance(operation, FuncOp):
            mark_constants(operation, positions)
            return

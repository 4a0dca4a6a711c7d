"""From a program and the types of its inputs to what runs it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .. import observation
from ..errors import GinghamError
from ..observation import note, now
from ..progress import working
from .cache.programs import KeptPrograms
from .interpreted import InterpretedRunner
from .settings import setting

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..targets.code import PrintedCode
    from ..targets.opencl.compiled import CompiledCode
    from ..targets.opencl.devices.device import OpenCLDevice
    from ..targets.opencl.executor import OpenCLExecutable
    from .arguments import Binding
    from .device import Device
    from .lowering import Lowering
    from .options import CompileOptions
    from .parsed import ParsedProgram
    from .runner import KeptRunner

_INTERPRETED_BYTES = 400 << 10
"""What the interpreter keeps of a program: a module."""


class Compiled(NamedTuple):
    """What runs a program, and what is kept of that."""

    runner: KeptRunner
    code: CompiledCode | None
    key: Hashable
    """The same for all programs of this code."""
    size: int
    """What is kept takes about so many bytes."""


class Compiler:
    """Compiles one program for one device; keeps nothing of what it makes."""

    def __init__(
        self, program: ParsedProgram, lowering: Lowering, options: CompileOptions
    ) -> None:
        self._program = program
        self._lowering = lowering
        self._options = options

    @property
    def device(self) -> Device:
        """What it compiles for."""
        return self._lowering.device

    def compiled(self, binding: Binding) -> Compiled:
        """What runs the program for arrays of such shapes and types."""
        with self._at_work(binding):
            if self.device.is_reference:
                return self._interpreted(binding)
            return self._executable(binding)

    def printed(self, binding: Binding) -> PrintedCode:
        """The kernels and the program that launches them, not compiled."""
        with self._at_work(binding):
            return self._lowering.printed(binding)

    def module_at(self, stage: str, binding: Binding) -> ModuleOp:
        """The module at a stage, which must not change."""
        with self._at_work(binding):
            return self._lowering.at(stage, binding)

    @contextmanager
    def _at_work(self, binding: Binding) -> Generator[None]:
        """Say so on a terminal; let errors show the lines that they point at."""
        try:
            with working(f"Compiling {self._program.title(binding)}"):
                yield
        except GinghamError as error:
            self._program.show_line(error)
            raise

    def _interpreted(self, binding: Binding) -> Compiled:
        from ..passes.tile.differentiate import expand_gradients

        module = expand_gradients(self._lowering.specialized(binding))
        return Compiled(InterpretedRunner(module), None, object(), _INTERPRETED_BYTES)

    def _executable(self, binding: Binding) -> Compiled:
        """What runs the program on an OpenCL device."""
        start = now()
        from ..targets.opencl.compiled import build_code
        from ..targets.opencl.devices.device import OpenCLDevice
        from ..targets.opencl.executor import OpenCLExecutable
        from ..targets.opencl.program import build_options

        device = self.device
        if not isinstance(device, OpenCLDevice):
            raise GinghamError(f"device '{device.name}' cannot run programs")
        words = build_options(device, fast_math=self._options.fast_math)
        kept = KeptPrograms(device, words)
        key = kept.key(*self._lowering.key(binding))
        title = f"{self._program.title(binding)} on {device.name}"
        observer = observation.observer
        skips = observer is not None and observer.wants_passes
        code = None if skips else kept.load(key)
        note("compile", "look up", start)
        if code is None:
            # It imports the compiler, which who finds code needs not.
            from .early_helpers import start_helpers

            printed = self._lowering.printed(binding, partial(start_helpers, device))
            code = build_code(printed, device, words)
            start = now()
            kept.save(key, code, title)
            note("compile", "store", start)
        if observer is not None:
            observer.source(code.source)
        if code.is_checked or not self._checks:
            runner = OpenCLExecutable(code, device)
        else:
            runner = self._checked(
                code, device, binding, lambda c: kept.save(key, c, title)
            )
        return Compiled(runner, code, (device, key), code.size_in_bytes)

    @property
    def _checks(self) -> bool:
        check = self._options.check
        return setting("check") if check is None else check

    def _checked(
        self,
        code: CompiledCode,
        device: OpenCLDevice,
        binding: Binding,
        keep: Callable[[CompiledCode], None],
    ) -> OpenCLExecutable:
        """The program, whose first results are compared with what they should be."""
        from .checking import CheckedExecutable, Subject

        subject = Subject(
            self._program.title(binding),
            self._program.outline.outputs,
            self._options.fast_math,
            lambda: self.module_at("tile", binding),
            lambda: self.module_at("opencl", binding),
            keep,
        )
        return CheckedExecutable(code, device, subject)

"""From a program and the types of its inputs to what runs it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import observation
from ..errors import GinghamError
from ..garbage import rare_collections
from ..observation import note, now
from ..progress import working
from ..targets.backend import CodeT, Subject
from .backends import backend_of, second_opinion
from .cache.programs import KeptPrograms
from .settings import setting

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..targets.backend import Backend, Code, Executable, Kernels
    from ..targets.code import PrintedCode
    from .arguments import Binding
    from .device import Device
    from .lowering import Lowering
    from .options import CompileOptions
    from .parsed import ParsedProgram

_MODULE_BYTES = 400 << 10
"""What is kept of a program that is run as it is: a module."""


class Compiled(NamedTuple):
    """What runs a program, and what is kept of that."""

    runner: Executable
    code: Code | None
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
            backend = backend_of(self.device)
            if backend.kernels is None:
                return self._as_it_is(backend, binding)
            return self._executable(backend.kernels, binding)

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

    def _as_it_is(self, backend: Backend, binding: Binding) -> Compiled:
        from ..passes.tile.differentiate import expand_gradients

        module = expand_gradients(self._lowering.specialized(binding))
        return Compiled(backend.executable(module), None, object(), _MODULE_BYTES)

    def _executable(self, kernels: Kernels[CodeT], binding: Binding) -> Compiled:
        """What runs the program as kernels."""
        start = now()
        device = self.device
        words = kernels.options(fast_math=self._options.fast_math)
        kept = KeptPrograms(device, kernels, words)
        key = kept.key(*self._lowering.key(binding))
        title = f"{self._program.title(binding)} on {device.name}"

        def keep(code: Any) -> None:
            kept.save(key, code, title)

        observer = observation.observer
        skips = observer is not None and observer.wants_passes
        code = None if skips else kept.load(key)
        note("compile", "look up", start)
        if code is None:
            code = self._built(kernels, words, binding)
            start = now()
            keep(code)
            note("compile", "store", start)
        if observer is not None:
            observer.source(code.source, kernels.language)
        runner = None
        if not code.is_checked:
            runner = self._checked(kernels, code, binding, keep)
        runner = runner or kernels.executable(code)
        return Compiled(runner, code, (device, key), code.size_in_bytes)

    @rare_collections()
    def _built(
        self, kernels: Kernels[CodeT], words: Sequence[str], binding: Binding
    ) -> CodeT:
        """The kernels, of which some may be built before all of them are known."""
        ahead = kernels.ahead(words)
        if ahead is None:
            return kernels.build(self._lowering.printed(binding), words)
        try:
            return ahead.build(self._lowering.printed(binding, ahead))
        finally:
            ahead.end()

    def _checked(
        self,
        kernels: Kernels[CodeT],
        code: CodeT,
        binding: Binding,
        keep: Callable[[Any], None],
    ) -> Executable | None:
        """The program, whose first results are compared with what they should be.

        None where nobody asks for that, and for a compiler that has no safer builds.
        """
        check = self._options.check
        if not (setting("check") if check is None else check):
            return None

        def lowered() -> ModuleOp:
            return self.module_at("opencl", binding)

        subject = Subject(
            self._program.title(binding),
            self._program.outline.outputs,
            self._options.fast_math,
            lambda: self.module_at("tile", binding),
            lowered,
            lambda: second_opinion(lowered()),
            keep,
        )
        return kernels.checked(code, subject)

"""From the arrays of a call to what is compiled for them.

Arrays of NumPy go to a `HostCall`, those of a device to a `Starter`. Both have `run`,
which takes the inputs with the arrays that the program captured, and `out` as the
caller gave it. What is found for arrays of some shapes is remembered, so that a
repeated call goes there at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..once import Once
from .arguments import AnyArray, Binding, binding_of
from .arrays.array import has_arrays
from .cache.in_memory import programs
from .outputs import output_arrays
from .shortcuts import Shortcuts
from .starter import Starter, check_devices

if TYPE_CHECKING:
    from ..targets.backend import Executable
    from .compiler import Compiler
    from .parsed import ParsedProgram


class Runs(Protocol):
    """What runs calls with arrays that fit."""

    def run(self, arrays: Sequence[Any], out: Any = None, /) -> list[Any]:
        """See `HostCall.run` and `Starter.run`."""
        ...


class HostCall:
    """A compiled program for arrays of NumPy; may be used from any thread."""

    __slots__ = (
        "_lock",
        "_new_starter",
        "_output_names",
        "_starter",
        "runner",
    )

    def __init__(
        self,
        runner: Executable,
        output_names: Sequence[str],
        new_starter: Callable[[Executable], Starter],
    ) -> None:
        """`new_starter` makes what is for arrays of the device."""
        self.runner = runner
        """What is compiled."""
        self._output_names = output_names
        self._new_starter = new_starter
        self._starter: Starter | None = None
        self._lock = Lock()

    def run(self, arrays: Sequence[Any], out: Any = None) -> list[Any]:
        """The results for inputs that fit, once they are there.

        `out` is None, an array, or one or None for each result. Raises GinghamError for
        one that does not fit. Where they are arrays of a device, see `Starter.run`.
        """
        if out is None:
            return self.runner.run(arrays)
        if has_arrays(out):
            return self.starter.run(arrays, out)
        names, types = self._output_names, self.runner.output_types
        return self.runner.run(arrays, output_arrays(names, types, out, arrays))

    @property
    def starter(self) -> Starter:
        """The same program for arrays of its device."""
        with self._lock:
            if self._starter is None:
                self._starter = self._new_starter(self.runner)
            return self._starter

    def refresh(self) -> None:
        """Forget what was computed of constant inputs."""
        self.runner.refresh()
        if self._starter is not None:
            self._starter.refresh()


Ready: TypeAlias = HostCall | Starter
"""What runs a call."""


class Calls:
    """What a function runs its calls by, for several threads."""

    def __init__(
        self,
        program: ParsedProgram,
        compiler: Compiler,
        captured: int,
        constants: Sequence[int],
    ) -> None:
        """The last `captured` inputs are arrays that the program has.

        `constants` are the positions of all inputs that are kept, those included.
        """
        self._outline = outline = program.outline
        self._show_line = program.show_line
        self._compiler = compiler
        self._given = len(outline.inputs) - captured
        self._constants = constants
        self._once = Once[Binding]()
        self._compiled: dict[Binding, HostCall] = {}
        self._shortcuts = Shortcuts[Ready]()

    def known(self, inputs: Sequence[Any]) -> Ready | None:
        """What ran the last call with such inputs, if that is known at a glance."""
        return self._shortcuts.get(inputs)

    def remember(
        self, inputs: Sequence[Any], arrays: Sequence[AnyArray], ready: Ready
    ) -> None:
        """Let `known` find it; `arrays` are the inputs without those captured."""
        if not self._outline.sizes:
            self._shortcuts.remember(inputs, arrays, ready)

    def ready(self, arrays: Sequence[AnyArray]) -> Ready:
        """What runs a call with these arrays, those captured included.

        Raises GinghamError for arrays of another device, and where the program can not
        be compiled for them.
        """
        binding = self.binding(arrays)
        if not has_arrays(arrays):
            return self.of(binding)
        check_devices(self._outline.inputs, arrays, self._compiler.device)
        return self.of(binding).starter

    def binding(self, arrays: Sequence[AnyArray]) -> Binding:
        """What the program is compiled for, for these arrays."""
        return binding_of(arrays, self._outline.sizes)

    def of(self, binding: Binding) -> HostCall:
        """What is compiled for inputs of such types, compiled now if it is not yet."""
        known = self._compiled.get(binding)
        if known is not None:
            return known
        # Other shapes are compiled side by side.
        with self._once.making(binding):
            return self._compiled.get(binding) or self._new(binding)

    def runner(self, binding: Binding) -> Executable | None:
        """What is compiled for inputs of such types; None where nothing is."""
        known = self._compiled.get(binding)
        return None if known is None else known.runner

    def refresh(self) -> None:
        """Read constant inputs anew at the next call."""
        for each in [*self._compiled.values()]:
            each.refresh()

    def _new(self, binding: Binding) -> HostCall:
        """What is compiled now, and kept as long as there is room for it."""
        runner, code, key, size = self._compiler.compiled(binding)
        call = HostCall(
            runner,
            self._outline.outputs,
            partial(
                Starter,
                device=self._compiler.device,
                output_names=self._outline.outputs,
                given=self._given,
                constants=self._constants,
                show_line=self._show_line,
            ),
        )
        self._compiled[binding] = call
        programs.keep(key, size, code, runner, self._forget)
        return call

    def _forget(self, runner: Executable) -> None:
        """Let go of what is compiled; it is compiled again when it is called."""
        self._shortcuts.forget(lambda known: known.runner is runner)
        for binding, each in [*self._compiled.items()]:
            if each.runner is runner:
                self._compiled.pop(binding, None)

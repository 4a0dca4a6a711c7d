"""From the arrays of a call to what is compiled for them.

Arrays of NumPy go to a `HostCall`, those of a device to a `Starter`. Both have `run`,
which takes the inputs with the arrays that the program captured, and `out` as the
caller gave it. What is found for arrays of some shapes is remembered, so that a
repeated call goes there at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from ..once import Once
from ..targets.backend import FixedInputs
from .arguments import AnyArray, Binding, binding_of
from .arrays.array import has_arrays
from .cache.in_memory import programs
from .outputs import output_arrays
from .shortcuts import Kinds, Shortcuts, kinds_of
from .starter import Starter, check_devices

if TYPE_CHECKING:
    from ..targets.backend import Executable
    from .compiler import Compiler
    from .direct_calls import Direct
    from .parsed import ParsedProgram


class Runs(Protocol):
    """What runs calls with arrays that fit."""

    def run(self, arrays: Sequence[Any], out: Any = None, /) -> list[Any]:
        """See `HostCall.run` and `Starter.run`."""
        ...


class HostCall:
    """A compiled program for arrays of NumPy; may be used from any thread."""

    __slots__ = (
        "_captured",
        "_lock",
        "_new_starter",
        "_output_names",
        "_starter",
        "runner",
    )

    direct = None
    """See `Starter`."""

    def __init__(
        self,
        runner: Executable,
        output_names: Sequence[str],
        new_starter: Callable[[Executable], Starter],
        captured: FixedInputs | None,
    ) -> None:
        """`new_starter` makes what is for arrays of the device."""
        self._captured = captured
        self.runner = runner
        """What is compiled."""
        self._output_names = output_names
        self._new_starter = new_starter
        self._starter: Starter | None = None
        self._lock = Lock()

    def run(
        self,
        arrays: Sequence[Any],
        out: Any = None,
        fixed: FixedInputs | None = None,
    ) -> list[Any]:
        """The results for inputs that fit, once they are there.

        `out` is None, an array, or one or None for each result. Raises GinghamError for
        one that does not fit. Where they are arrays of a device, see `Starter.run`.
        `fixed` are the inputs that are the same in all calls that name it, if there are
        more than those captured.
        """
        if out is None:
            return self.runner.run(arrays, None, fixed or self._captured)
        if has_arrays(out):
            return self.starter.run(arrays, out)
        names, types = self._output_names, self.runner.output_types
        targets = output_arrays(names, types, out, arrays)
        return self.runner.run(arrays, targets, fixed or self._captured)

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
        self._captured = self.fixed(()) if captured else None
        self._by_fixed: WeakKeyDictionary[FixedInputs, tuple[Kinds, HostCall]]
        self._by_fixed = WeakKeyDictionary()
        self.direct: Direct | None = None
        """What may run a call like the last one with arrays, without a look at it."""

    def known(self, inputs: Sequence[Any]) -> Ready | None:
        """What ran the last call with such inputs, if that is known at a glance."""
        ready = self._shortcuts.get(inputs)
        if ready is not None and ready.direct is not None:
            self.direct = ready.direct
        return ready

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

    def fixed(self, positions: Iterable[int]) -> FixedInputs:
        """What stands for the inputs at these positions, and for those captured."""
        count = len(self._outline.inputs)
        return FixedInputs.of([*positions, *range(self._given, count)], count)

    def of_fixed(self, arrays: Sequence[AnyArray], fixed: FixedInputs) -> HostCall:
        """What runs a call with arrays of NumPy, some of which are `fixed`.

        What the last call with them has found is found again by the other arrays.
        """
        kinds = kinds_of([arrays[number] for number in fixed.others])
        known = self._by_fixed.get(fixed)
        if known is not None and kinds is not None and known[0] == kinds:
            return known[1]
        call = self.of(self.binding(arrays))
        if kinds is not None:
            self._by_fixed[fixed] = kinds, call
        return call

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
            self._captured,
        )
        self._compiled[binding] = call
        programs.keep(key, size, code, runner, self._forget)
        return call

    def _forget(self, runner: Executable) -> None:
        """Let go of what is compiled; it is compiled again when it is called."""
        self._shortcuts.forget(lambda known: known.runner is runner)
        self.direct = None
        for fixed, (_, call) in [*self._by_fixed.items()]:
            if call.runner is runner:
                self._by_fixed.pop(fixed, None)
        for binding, each in [*self._compiled.items()]:
            if each.runner is runner:
                self._compiled.pop(binding, None)

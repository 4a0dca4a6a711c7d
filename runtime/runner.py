"""A program that is compiled for arrays of certain shapes and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from ..observation import note, now
from .arrays.array import Array as OfDevice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..targets.opencl.memory.pool import Idle
    from .arguments import AnyArray

    Array = NDArray[Any]
    ArrayType: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]

T = TypeVar("T")

_MOST_SHORTCUTS = 1024


class Runner(Protocol):
    """What a compiled program can do."""

    def run(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None] | None = None
    ) -> list[Array]:
        """The results for inputs that fit; those with an array are written there.

        The arrays of `outputs` are known to fit as well: see `output_arrays`.
        """
        ...

    def refresh(self) -> None:
        """Forget what was computed of constant inputs."""
        ...

    @property
    def output_types(self) -> Sequence[ArrayType] | None:
        """Shape and NumPy type of each output, where that is known before a call."""
        ...


class KeptRunner(Runner, Protocol):
    """A compiled program that is kept as long as there is room for it."""

    last_used: float
    """When it was called last, by `time.monotonic`."""

    @property
    def idle_bytes(self) -> int:
        """The memory that it holds for its next call and could do without."""
        ...

    def give_up(self, what: Idle) -> None:
        """Let go of memory that the next call can have again, unless one runs now."""
        ...


class InterpretedRunner:
    """A `tile` module on the reference interpreter."""

    output_types = None
    idle_bytes = 0

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self.last_used = 0.0

    def run(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None] | None = None
    ) -> list[Array]:
        """See `Runner.run`."""
        from ..targets.reference import interpret
        from .outputs import check_type

        start = now()
        self.last_used = monotonic()
        results = interpret(self._module, inputs)
        note("step", "interpret", start)
        for number, target in enumerate(outputs or ()):
            if target is not None:
                result = results[number]
                check_type(f"output {number}", target, (result.shape, result.dtype))
        for number, target in enumerate(outputs or ()):
            if target is not None:
                target[...] = results[number]
                results[number] = target
        return results

    def refresh(self) -> None:
        """Do nothing: it keeps nothing."""

    def give_up(self, what: Idle) -> None:
        """Do nothing: it keeps nothing."""


class Shortcuts(Generic[T]):
    """What is known for arguments that are arrays of certain shapes and types.

    Looking it up takes a microsecond, so that a repeated call has nothing else to find
    out. May be used from several threads.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], T] = {}

    def get(self, arguments: Sequence[Any]) -> T | None:
        """What is known, None for other arguments and for what are no plain arrays."""
        key = _kinds(arguments)
        return None if key is None else self._known.get(key)

    def remember(
        self, arguments: Sequence[Any], arrays: Sequence[AnyArray], value: T
    ) -> None:
        """Know it from now on, if `arrays` are the arguments themselves."""
        key = _kinds(arguments)
        if key is None or len(arguments) != len(arrays):
            return
        if all(a is b for a, b in zip(arguments, arrays, strict=True)):
            if len(self._known) >= _MOST_SHORTCUTS:
                self.clear()
            self._known[key] = value

    def forget(self, is_gone: Callable[[T], bool]) -> None:
        """Know no longer what has gone."""
        kept = [*self._known.items()]
        self._known = {key: value for key, value in kept if not is_gone(value)}

    def clear(self) -> None:
        """Know nothing."""
        self._known = {}


def _kinds(values: Sequence[Any]) -> tuple[object, ...] | None:
    """What of each value matters; None unless all are arrays, of NumPy or a device."""
    import numpy as np

    array_type = np.ndarray
    kinds: list[object] = []
    for value in values:
        # No subclass, which may be masked or have units.
        if value.__class__ is array_type:
            kinds.append((value.shape, value.dtype))
        elif value.__class__ is OfDevice:
            kinds.append(value.kind)
        else:
            return None
    return tuple(kinds)


def array_types(values: Sequence[Any]) -> tuple[ArrayType, ...] | None:
    """Shape and type of each value; None unless all are plain arrays."""
    import numpy as np

    array_type = np.ndarray
    types: list[ArrayType] = []
    for value in values:
        # No subclass, which may be masked or have units.
        if value.__class__ is not array_type and value.__class__ is not OfDevice:
            return None
        types.append((value.shape, value.dtype))
    return tuple(types)

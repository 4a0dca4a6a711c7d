"""A program on the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..observation import note, now
from .outputs import check_type

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..targets.opencl.memory.pool import Idle

    Array = NDArray[Any]


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

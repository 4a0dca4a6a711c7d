"""What a compiled program can do, for arrays of certain shapes and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..targets.opencl.memory.pool import Idle

    Array = NDArray[Any]
    ArrayType: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]


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

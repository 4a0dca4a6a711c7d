"""What an array is made of: where its elements are, and which runs use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ...errors import GinghamError
from .memory import ClosedMemory, Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...targets.device_memory import Buffer
    from ..device import Device

Kind: TypeAlias = "tuple[tuple[int, ...], np.dtype[Any], Device]"
"""Shape, type and device of an array."""


class Storage(NamedTuple):
    """The memory of an array on a device."""

    device: Device
    kind: Kind
    host: NDArray[Any] | None
    """The array of NumPy over the same memory; None on a device with its own."""
    own_buffer: Buffer | None
    """The memory as the device knows it; None where arrays are NumPy's."""
    memory: Memory

    def check(self) -> None:
        """Raise GinghamError where the array is closed."""
        if isinstance(self.memory, ClosedMemory):
            raise self.memory.error()

    @property
    def buffer(self) -> Buffer:
        """Its memory as the device knows it.

        Raises GinghamError where it is closed, and where arrays are NumPy's.
        """
        if self.own_buffer is None:
            self.check()
            raise GinghamError(f"device '{self.device.name}' has no OpenCL buffers")
        return self.own_buffer

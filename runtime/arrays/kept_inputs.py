"""Constant inputs, on the devices that they were sent to."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from threading import Lock
from typing import TYPE_CHECKING, Any

from .array import Array, from_host
from .memory import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..device import Device

    Host = NDArray[Any]
    Kept = Array | Memory


class KeptInputs:
    """Constant inputs on the devices that they were sent to, while they exist."""

    def __init__(self, positions: Collection[int]) -> None:
        """`positions` are those of the constants among the inputs."""
        self.positions = frozenset(positions)
        self._lock = Lock()
        self._known: dict[tuple[int, str], tuple[weakref.ref[Host], Kept]] = {}

    def is_constant(self, position: int) -> bool:
        """Whether an input is the same array in many calls."""
        return position in self.positions

    def get(self, position: int, host: Host, device: Device) -> Array:
        """The input on the device; sent there where it is another one than before."""
        place = position, device.name
        with self._lock:
            known = self._known.get(place)
            if known is not None and known[0]() is host:
                return _of_kept(known[1], host, device)
            array = from_host(host, device)
            # Where memory is shared, an array would keep the caller's alive.
            kept = array.memory if array.host is not None else array
            self._known[place] = weakref.ref(host, self._forgetter(place)), kept
            return array

    def _forgetter(self, place: tuple[int, str]) -> Callable[[object], None]:
        known = self._known

        def forget(reference: object) -> None:
            entry = known.get(place)
            if entry is not None and entry[0] is reference:
                known.pop(place, None)

        return forget

    def clear(self) -> None:
        """Their contents have changed."""
        with self._lock:
            self._known.clear()


def _of_kept(kept: Kept, host: Host, device: Device) -> Array:
    if isinstance(kept, Array):
        return kept
    array = from_host(host, device)
    # By its memory a program knows what it has computed of a constant input.
    array.memory = kept
    return array

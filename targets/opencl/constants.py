"""What launches that run once leave, kept as long as the constant inputs live."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .buffer import DeviceBuffer, allocate, upload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .host_program import HostProgram
    from .launches import LaunchList

    Array: TypeAlias = NDArray[Any]

Key: TypeAlias = tuple[tuple[int, int, tuple[int, ...]], ...]


class KeptResults:
    """The buffers for each combination of constant inputs; not thread-safe.

    Arrays are compared by memory, not by contents: who changes one calls `forget`. A
    combination is forgotten when one of its arrays goes.
    """

    def __init__(self, program: HostProgram, launches: LaunchList) -> None:
        self._launches = launches
        self._slots = program.slots
        self._kept = sorted(program.kept)
        self._inputs = [n for n in range(program.input_count) if launches.uses(n)]
        self._known: dict[Key, _Entry] = {}

    def __len__(self) -> int:
        return len(self._known)

    def forget(self) -> None:
        """Compute all anew when it is needed next."""
        self._known.clear()

    def get(self, inputs: Sequence[Array]) -> Mapping[int, DeviceBuffer]:
        """The buffers in kept slots for these inputs, computed if they are new."""
        arrays = [inputs[number] for number in self._inputs]
        key = tuple(map(_identity, arrays))
        entry = self._known.get(key)
        if entry is None:
            buffers = self._compute(inputs)
            entry = _Entry(buffers, [self._watch(array, key) for array in arrays])
            self._known[key] = entry
        return entry.buffers

    def _watch(self, array: Array, key: Key) -> weakref.ref[Array]:
        known = self._known
        return weakref.ref(_owner(array), lambda _: known.pop(key, None))

    def _compute(self, inputs: Sequence[Array]) -> dict[int, DeviceBuffer]:
        launches = self._launches
        device = launches.device
        buffers = {
            number: allocate(
                device, self._slots[number].shape, self._slots[number].dtype
            )
            for number in self._kept
        }
        given = [upload(device.queue, inputs[number]) for number in self._inputs]
        for number, buffer in zip(self._inputs, given, strict=True):
            launches.set(number, buffer.handle)
        for number, buffer in buffers.items():
            launches.set(number, buffer.handle)
        launches.run(device.queue)
        return buffers


class _Entry:
    """Buffers, and what tells when they can go."""

    def __init__(
        self, buffers: dict[int, DeviceBuffer], owners: list[weakref.ref[Array]]
    ) -> None:
        self.buffers = buffers
        self.owners = owners


def _owner(array: Array) -> Array:
    """The array that owns the memory, where it is an array that does."""
    import numpy as np

    base = array.base
    return base if isinstance(base, np.ndarray) else array


def _identity(array: Array) -> tuple[int, int, tuple[int, ...]]:
    """The same for two views of the same elements, as long as their owner lives."""
    owner = _owner(array)
    if owner is array:
        return id(array), 0, ()
    return id(owner), array.ctypes.data, array.strides

"""What launches that run once leave, kept as long as the constant inputs live."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..host_arrays import let_pages_grow
from .handles.buffer import DeviceBuffer, allocate
from .memory.copies import upload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..host_program import HostProgram
    from .command_queue import CommandQueue
    from .launches import LaunchList

    Array: TypeAlias = NDArray[Any]

Key: TypeAlias = tuple[tuple[int, int, tuple[int, ...]], ...]


class KeptResults:
    """The buffers for each combination of constant inputs; not thread-safe.

    Arrays are compared by memory, not by contents: who changes one calls `forget`. A
    combination is forgotten when one of its arrays goes.
    """

    def __init__(
        self, program: HostProgram, launches: LaunchList, queue: CommandQueue
    ) -> None:
        self._queue = queue
        self._launches = launches
        self._slots = program.slots
        self._kept = sorted(program.kept)
        self.inputs = [n for n in range(program.input_count) if launches.uses(n)]
        """The positions of the inputs that they are computed of."""
        self._known: dict[Key, _Entry] = {}
        self._last: tuple[list[int], _Entry] | None = None
        """The arrays of the last call, by identity, if they own their memory."""
        # Memory of results is used again for others.
        self._is_pooled = launches.device.pool.has_array

    def __len__(self) -> int:
        return len(self._known)

    @property
    def slots(self) -> Sequence[int]:
        """The slots of what is kept."""
        return self._kept

    def forget(self) -> None:
        """Compute all anew when it is needed next."""
        self._known.clear()
        self._last = None

    def get(self, inputs: Sequence[Array]) -> Mapping[int, DeviceBuffer]:
        """The buffers in kept slots for these inputs, computed if they are new."""
        arrays = [inputs[number] for number in self.inputs]
        same = [*map(id, arrays)]
        if self._last is not None and self._last[0] == same:
            return self._last[1].buffers
        key = tuple(map(self._identity, arrays))
        entry = self._known.get(key)
        if entry is None:
            queue = self._queue
            given = {number: upload(queue, inputs[number]) for number in self.inputs}
            entry = self._add(key, given, [self._owner(array) for array in arrays])
        if all(self._owner(array) is array for array in arrays):
            self._last = same, entry
        return entry.buffers

    def get_for_buffers(
        self, inputs: Sequence[DeviceBuffer], contents: Sequence[object]
    ) -> Mapping[int, DeviceBuffer]:
        """As `get`, where `contents` has an object for the contents of each buffer.

        A combination is forgotten when one of the objects goes.
        """
        objects = [contents[number] for number in self.inputs]
        key = tuple((id(each), 0, ()) for each in objects)
        entry = self._known.get(key)
        if entry is None:
            given = {number: inputs[number] for number in self.inputs}
            entry = self._add(key, given, objects)
        return entry.buffers

    def _add(
        self, key: Key, given: Mapping[int, DeviceBuffer], owners: Sequence[object]
    ) -> _Entry:
        entry = _Entry(self._compute(given), [self._watch(o, key) for o in owners])
        self._known[key] = entry
        return entry

    def _identity(self, array: Array) -> tuple[int, int, tuple[int, ...]]:
        """The same for two views of the same elements, as long as their owner lives."""
        owner = self._owner(array)
        if owner is array:
            return id(array), 0, ()
        return id(owner), array.ctypes.data, array.strides

    def _owner(self, array: Array) -> Array:
        """The array that lives no longer than the contents."""
        import numpy as np

        base = array.base
        if not isinstance(base, np.ndarray) or self._is_pooled(base):
            return array
        return base

    def _watch(self, owner: object, key: Key) -> weakref.ref[object]:
        kept = weakref.ref(self)

        def forget(_: object) -> None:
            if (results := kept()) is not None:
                results._known.pop(key, None)
                results._last = None

        return weakref.ref(owner, forget)

    def _compute(self, given: Mapping[int, DeviceBuffer]) -> dict[int, DeviceBuffer]:
        launches = self._launches
        device = launches.device
        buffers = {
            number: allocate(
                device,
                self._slots[number].shape,
                self._slots[number].dtype,
                purpose="constants",
            )
            for number in self._kept
        }
        for number, buffer in given.items():
            launches.set(number, buffer.handle)
        for number, buffer in buffers.items():
            launches.set(number, buffer.handle)
        launches.run(self._queue)
        for buffer in buffers.values():
            if buffer.host is not None:
                let_pages_grow(buffer.host)
        # What was copied for them is needed no more.
        self._queue.release_ended()
        return buffers


class _Entry:
    """Buffers, and what tells when they can go."""

    def __init__(
        self, buffers: dict[int, DeviceBuffer], owners: list[weakref.ref[object]]
    ) -> None:
        self.buffers = buffers
        self.owners = owners

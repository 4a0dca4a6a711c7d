"""The memory of a device of OpenCL, as `DeviceMemory` has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import observation
from ..host_arrays import as_bytes
from .events import RunEvent, failed_run
from .handles.buffer import DeviceBuffer, allocate, wrap
from .memory.copies import download, make_visible, upload
from .memory.staging import is_staged, read_staged, write_staged
from .transfers import copy_from, copy_to, start_copy, start_read, start_write

if TYPE_CHECKING:
    import numpy as np

    from ...errors import GinghamError
    from ..host_arrays import Array
    from .command_queue import CommandQueue
    from .devices.device import OpenCLDevice
    from .handles.pool import MemoryPool
    from .memory.spare_buffers import SpareBuffers


class OpenCLMemory:
    """See `DeviceMemory`. Copies go by a queue that kernels do not wait for."""

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device
        self.is_shared = device.details.host_unified_memory
        self.is_visible = device.is_visible

    @property
    def queue(self) -> CommandQueue:
        """See `DeviceMemory`."""
        return self._device.queue

    @property
    def spares(self) -> SpareBuffers:
        """See `DeviceMemory`."""
        return self._device.spare_buffers

    @property
    def pool(self) -> MemoryPool:
        """See `DeviceMemory`."""
        return self._device.pool

    def allocate(self, shape: Sequence[int], dtype: np.dtype[Any]) -> DeviceBuffer:
        """See `DeviceMemory`."""
        return allocate(self._device, shape, dtype)

    def host_array(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """See `DeviceMemory`."""
        return self._device.pool.host_array(shape, dtype, "tensors")

    def in_place(self, host: Array) -> DeviceBuffer:
        """See `DeviceMemory`."""
        return wrap(self._device, host) if host.flags.writeable else self.upload(host)

    def upload(self, host: Array) -> DeviceBuffer:
        """See `DeviceMemory`."""
        return upload(self._device.queue, host)

    def download(self, buffer: DeviceBuffer) -> Array:
        """See `DeviceMemory`."""
        return download(self._device.queue, buffer)

    def show(self, buffer: DeviceBuffer) -> None:
        """See `DeviceMemory`."""
        make_visible(self._device.queue, buffer)

    def fill(self, buffer: DeviceBuffer, host: Array) -> None:
        """See `DeviceMemory`."""
        if is_staged(self._device, host.nbytes):
            write_staged(buffer, as_bytes(host))
        elif observation.observer is None:
            copy_to(self._device.transfer_queue, buffer, host)
        elif (event := self.write(buffer, host)) is not None:
            event.wait()

    def fetch(self, buffer: DeviceBuffer, host: Array) -> None:
        """See `DeviceMemory`."""
        if is_staged(self._device, host.nbytes):
            read_staged(buffer, as_bytes(host))
        elif observation.observer is None:
            copy_from(self._device.transfer_queue, buffer, host)
        elif (event := self.read(buffer, host)) is not None:
            event.wait()

    def write(
        self,
        buffer: DeviceBuffer,
        host: Array,
        sources: Sequence[RunEvent] = (),
        behind: Sequence[RunEvent] = (),
    ) -> RunEvent | None:
        """See `DeviceMemory`."""
        queue = self._device.transfer_queue
        return start_write(queue, buffer, host, sources, behind)

    def read(
        self,
        buffer: DeviceBuffer,
        host: Array,
        sources: Sequence[RunEvent] = (),
        behind: Sequence[RunEvent] = (),
    ) -> RunEvent | None:
        """See `DeviceMemory`."""
        queue = self._device.transfer_queue
        return start_read(queue, buffer, host, sources, behind)

    def copy(
        self,
        source: DeviceBuffer,
        target: DeviceBuffer,
        sources: Sequence[RunEvent] = (),
        behind: Sequence[RunEvent] = (),
    ) -> RunEvent | None:
        """See `DeviceMemory`."""
        queue = self._device.transfer_queue
        return start_copy(queue, source, target, sources, behind)

    def failed(self, failure: GinghamError) -> RunEvent:
        """See `DeviceMemory`."""
        return failed_run(self._device.queue, failure)

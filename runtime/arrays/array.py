"""`gingham.Array`: a tensor of a device, whose contents may still be computed.

```python
x = gingham.asarray(np.arange(4, dtype=np.float32))
y = f(x)  # returns at once
z = g(y)  # starts when y is there
print(z.numpy())  # waits
```
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ...errors import GinghamError
from ..device import Device
from ..devices import chosen_device, default_device
from . import transfers
from .host_values import element_type, host_of
from .memory import ClosedMemory, Memory
from .storage import Kind, Storage

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

    from ...targets.device_memory import Buffer, Event


class Array:
    """A tensor of a device, made by `gingham.asarray` or by calling a function.

    A function that is called with arrays gives arrays and does not wait: they may be
    used at once, and whoever needs their contents waits for them. Where the run that
    computes an array fails, every use of the array raises its error, and nothing else
    does.

    On a device that shares the host's memory an array and its NumPy array are the same
    memory.
    """

    __slots__ = (
        "__weakref__",
        "_host",
        "device",
        "dtype",
        "kind",
        "memory",
        "own_buffer",
        "shape",
    )

    def __init__(
        self,
        device: Device,
        kind: Kind,
        host: NDArray[Any] | None,
        buffer: Buffer | None,
        memory: Memory,
    ) -> None:
        """For `asarray` and for those that run functions."""
        self.device = device
        """The device that it is on."""
        self.kind = kind
        """Shape, type and device, by which calls find what is compiled for them."""
        self.shape, self.dtype, _ = kind
        self._host = host
        self.own_buffer = buffer
        """As `buffer`; None where that is an error."""
        self.memory = memory
        """Which runs use its memory."""

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def buffer(self) -> Buffer:
        """Its memory as OpenCL knows it.

        Raises GinghamError where it is closed, and on devices without OpenCL.
        """
        # Without a buffer that is an error.
        return self.storage.buffer if self.own_buffer is None else self.own_buffer

    @property
    def host(self) -> NDArray[Any] | None:
        """The array of NumPy over the same memory, which is not waited for.

        None on a device with memory of its own, and where it is closed.
        """
        return self._host

    @property
    def storage(self) -> Storage:
        """What it is made of."""
        return Storage(self.device, self.kind, self._host, self.own_buffer, self.memory)

    @property
    def event(self) -> Event | None:
        """The end of the run that computes it; None where nothing does."""
        self.check()
        return self.memory.written

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return isinstance(self.memory, ClosedMemory)

    def check(self) -> None:
        """Raise GinghamError where it is closed."""
        if isinstance(self.memory, ClosedMemory):
            raise self.memory.error()

    @property
    def is_ready(self) -> bool:
        """Whether nobody would have to wait for the contents, be they a failure."""
        event = self.event
        return event is None or event.done

    def wait(self, timeout: float | None = None) -> Array:
        """Block until the contents are there: the array itself.

        Raises the GinghamError of the run that should have computed them, and
        TimeoutError when they are not there after `timeout` seconds.
        """
        event = self.event
        if event is None:
            return self
        if timeout is not None and not event.done:
            from ...targets.waiting import wait_at_most

            if not wait_at_most(event, timeout):
                raise TimeoutError(f"{self!r} was not there after {timeout} seconds")
        event.wait()
        return self

    def numpy(self) -> NDArray[Any]:
        """The contents as a NumPy array; waits for them.

        On a device that shares the host's memory it is the array's own memory, which
        stays when the array goes; it changes where a later run is given the array as
        `out`. From another device it is a copy.
        """
        return transfers.contents(self.storage)

    def to(self, device: str | Device, copy: bool | None = None) -> Array:
        """The array on another device; does not wait.

        Two devices that share the host's memory share the array's memory, unless `copy`
        is True. Where `copy` is False and they do not, it is a GinghamError.
        """
        chosen = chosen_device(device)
        if chosen is None:
            raise GinghamError("expected a device, got None")
        if chosen is self.device and copy is not True:
            self.check()
            return self
        return Array(*transfers.moved(self.storage, chosen, copy))

    def viewed(self, shape: tuple[int, ...]) -> Array:
        """The same memory as an array of other sizes, of as many elements."""
        if shape == self.shape:
            return self
        self.check()
        host = None if self._host is None else self._host.reshape(shape)
        buffer = None if self.own_buffer is None else self.own_buffer.viewed(shape)
        kind = shape, self.dtype, self.device
        return Array(self.device, kind, host, buffer, self.memory)

    def close(self) -> None:
        """Let go of the memory; runs that use it still end well. May be repeated."""
        if self.is_closed:
            return
        self.memory = ClosedMemory(self._description())
        self.own_buffer = self._host = None
        # No compiled program is found for it any more.
        self.kind = ((), self.dtype, _CLOSED)

    def __enter__(self) -> Array:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        import numpy as np

        if copy is False and self._host is None:
            self.check()
            raise ValueError(f"{self!r} is not in the host's memory: it must be copied")
        host = self.numpy()
        if copy is None:
            return np.asarray(host, dtype)
        return np.array(host, dtype, copy=copy)

    def __reduce__(self) -> tuple[Any, ...]:
        """It is copied and pickled as its contents, which are waited for."""
        return _restored, (self.numpy(), self.device.name)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        from .dlpack import check_request, exported

        self.check()
        check_request(self._host, self.device.name, stream, dl_device, copy)
        return exported(self.numpy(), max_version, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        from .dlpack import CPU, OPENCL

        self.check()
        return CPU if self._host is not None else OPENCL

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no axes has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()

    def __repr__(self) -> str:
        return f"<gingham.Array {self._description()}: {self._state()}>"

    def _description(self) -> str:
        from ...targets.host_arrays import format_shape

        shape = format_shape(self.shape)
        return f"{shape}, {self.dtype.name}, of {self.device.name}"

    def _state(self) -> str:
        if self.is_closed:
            return "closed"
        event = self.memory.written
        if event is None:
            return "ready"
        if not event.done:
            return "not ready"
        return "ready" if event.settle() is None else "failed"


def _restored(contents: NDArray[Any], device: str) -> Array:
    """The array that was pickled, on the device of that name here."""
    return asarray(contents, device, copy=True)


_CLOSED: Any = None


def has_arrays(values: object) -> bool:
    """Whether it is an `Array`, or some of its elements are."""
    if isinstance(values, list | tuple):
        return any(each.__class__ is Array for each in cast("Sequence[object]", values))
    return isinstance(values, Array)


def have_ended(values: Sequence[object]) -> bool:
    """Wait for the arrays among some values: whether none of them failed."""
    with suppress(GinghamError):
        for each in values:
            if isinstance(each, Array):
                each.wait()
        return True
    return False


def asarray(
    x: Any,
    device: str | Device | None = None,
    dtype: Any = None,
    copy: bool | None = None,
) -> Array:
    """An array of a device from an array of NumPy, of DLPack, or what NumPy takes.

    On a device that shares the host's memory the array is used in place, so that both
    see what is written to one of them. `copy=True` gives it memory of its own,
    `copy=False` raises GinghamError where it can not be used in place (as for a list, a
    conversion to `dtype`, elements that do not lie one behind the other or are not
    aligned, and a device with memory of its own), and without it what is needed is
    copied. An `Array` is returned as it is, or as `Array.to` moves it.

    `device` is a device or its name; without it the device of an `Array`, or the
    default device.
    """
    if isinstance(x, Array):
        where = device or x.device
        if dtype is None or element_type(dtype) == x.dtype:
            return x.to(where, copy)
        x, device = x.numpy(), where
    chosen = chosen_device(device) or default_device()
    host, is_new = host_of(x, dtype, copy)
    return from_host(host, chosen, is_new, copy)


def from_host(
    host: NDArray[Any], device: Device, is_new: bool = False, copy: bool | None = None
) -> Array:
    """See `transfers.stored`."""
    return Array(*transfers.stored(host, device, is_new, copy))

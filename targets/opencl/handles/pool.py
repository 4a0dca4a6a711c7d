"""The memory of a device: a budget, what is used of it, and what is kept for reuse.

Every buffer that Gingham makes is counted from before it is made until nothing refers
to it. Arrays of a caller that kernels use in place are the caller's memory and are not
counted. Where the next buffer would not fit, the pool lets go of what can be had again,
used longest ago first: free blocks, then the scratch memory of programs that are not
running, then what was computed once of constant inputs. Only then it is an error, and
nothing has been launched.

Freed blocks of a device with memory of its own are kept, as making a buffer takes its
driver longer than a small kernel takes. A block is given out again when nothing refers
to it, so whoever enqueues work on a buffer refers to it until that work has ended.

The end of a buffer may come at any moment, also in a garbage collection that a method
here has set off. So it takes no lock: it leaves a note, which the next method reads.
"""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

from ....errors import GinghamError
from ....settings import Share, find
from ...backend import Idle
from ...free_memory import host_memory
from ...host_arrays import aligned_empty, format_bytes

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

Purpose: TypeAlias = Literal["tensors", "results", "scratch", "constants"]
"""What memory is used for; `scratch` is between the kernels of a program."""

_OWN_SHARE = 0.9
"""Of a device's own memory, unless the user says otherwise: the driver needs some."""

_SMALLEST_CLASS = 512
_LARGE = 16 << 20
_LARGE_STEP = 2 << 20

_LOOK_AGAIN = 16 << 20
"""The host's free memory is asked for again when so many bytes have been taken."""


class OutOfBudget(GinghamError):
    """More memory was asked for than the budget leaves."""


class Holder(Protocol):
    """Something with memory that it can do without for a while, such as a program."""

    last_used: float
    """When, by a clock that all holders share."""

    def give_up(self, what: Idle) -> None:
        """Let go of that memory, unless it is in use now; wait for nothing."""
        ...


class HoldingQueue(Protocol):
    """A queue whose commands hold buffers until they have ended."""

    def release_ended(self) -> None:
        """Let go of what the commands that have ended held."""
        ...

    def drain(self) -> None:
        """Wait for all commands, and let go of what they held."""
        ...


class Lease:
    """Memory that is counted as long as this object is referred to."""

    __slots__ = ("_returned", "handle", "purpose", "size")

    def __init__(
        self,
        returned: deque[_Returned],
        size: int,
        purpose: Purpose,
        handle: cl.Buffer | None,
    ) -> None:
        self._returned = returned
        self.size = size
        self.purpose: Purpose = purpose
        self.handle = handle
        """The block that goes back to the pool for reuse."""

    def __del__(self) -> None:
        self._returned.append((self.size, self.purpose, self.handle))


_Returned: TypeAlias = "tuple[int, Purpose, cl.Buffer | None]"


class MemoryPool:
    """The memory of one device; may be used from several threads."""

    def __init__(self, name: str, total: int, largest: int, *, is_own: bool) -> None:
        """Memory of the device `name`: `total` bytes, `largest` in one buffer.

        It `is_own` where the device does not share the host's.
        """
        self._name = name
        self._total = total
        self._largest = largest
        self._is_own = is_own
        self._lock = Lock()
        self._returned: deque[_Returned] = deque()
        self._used: dict[Purpose, int] = dict.fromkeys(get_args(Purpose), 0)
        self._in_use = 0
        self._peak = 0
        # By size; the size that was used longest ago first.
        self._free: OrderedDict[int, list[cl.Buffer]] = OrderedDict()
        self._cached = 0
        self._arrays: dict[int, tuple[weakref.ref[NDArray[Any]], Lease]] = {}
        self._holders: weakref.WeakSet[Holder] = weakref.WeakSet()
        self._queues: list[HoldingQueue] = []
        self._host_limit: int | None = None
        self._since_look = 0
        self._exempt: int | None = None

    @contextmanager
    def exempt(self) -> Generator[None]:
        """Let this thread take memory whatever the budget: not for a program."""
        self._exempt = get_ident()
        try:
            yield
        finally:
            self._exempt = None

    @property
    def budget_bytes(self) -> int:
        """The most that may be used: the setting `memory_budget`, or its default.

        Without that setting, of memory that the device shares with the host, what is
        used here and what is free now.
        """
        with self._lock:
            self._settle()
            return self._budget(_LOOK_AGAIN)

    @property
    def used_bytes(self) -> int:
        """What all buffers take that something refers to."""
        return sum(self.used_for.values())

    @property
    def used_for(self) -> dict[Purpose, int]:
        """What is used, by what for, in bytes."""
        # Commands hold buffers until somebody looks whether they have ended.
        for queue in self._queues:
            queue.release_ended()
        with self._lock:
            self._settle()
            return {purpose: size for purpose, size in self._used.items() if size}

    @property
    def cached_bytes(self) -> int:
        """What free blocks take that are kept for reuse."""
        with self._lock:
            self._settle()
            return self._cached

    @property
    def peak_bytes(self) -> int:
        """The most that was used at once."""
        return self._peak

    def attach(self, queue: HoldingQueue) -> None:
        """Count on what the commands of a queue hold, which ends when they do."""
        self._queues.append(queue)

    def add(self, holder: Holder) -> None:
        """Ask a holder for its memory when memory gets scarce, as long as it lives."""
        with self._lock:
            self._holders.add(holder)

    def take(
        self, size: int, purpose: Purpose, create: Callable[[int], cl.Buffer]
    ) -> tuple[cl.Buffer, Lease]:
        """A buffer of `size` bytes or more in the device's memory.

        `create` makes one of a given size. Raises OutOfBudget, and what `create` raises
        though nothing is kept that could be let go.
        """
        needed = size
        if self._is_own:
            size = self.size_class(needed)
            kept = self._reuse(size, purpose)
            if kept is not None:
                return kept
        try:
            lease = self.reserve(size, purpose)
        except OutOfBudget:
            if size == needed:
                raise
            size = needed
            lease = self.reserve(size, purpose)
        try:
            handle = create(size)
        except GinghamError:
            # Other processes may have what the budget counts on.
            self.evict()
            handle = create(size)
        # What is kept counts as well.
        if self._is_own and self._exempt is None:
            lease.handle = handle
        return handle, lease

    def host_array(
        self, shape: Sequence[int], dtype: np.dtype[Any], purpose: Purpose
    ) -> NDArray[Any]:
        """An uninitialised array for kernels to work on in place.

        It is counted until no array refers to its memory. Raises OutOfBudget, and
        GinghamError where the system does not give that much.
        """
        lease = self.reserve(prod(shape) * dtype.itemsize, purpose)
        # Constants are written once, and read in order.
        array = aligned_empty(shape, dtype, in_small_pages=purpose == "constants")
        owner = array if array.base is None else array.base
        key, arrays = id(owner), self._arrays
        arrays[key] = weakref.ref(owner, lambda _: arrays.pop(key, None)), lease
        return array

    def has_array(self, owner: NDArray[Any]) -> bool:
        """Whether `host_array` has made the memory that an array owns."""
        return id(owner) in self._arrays

    def reserve(self, size: int, purpose: Purpose) -> Lease:
        """Count memory that is about to be taken. Raises OutOfBudget."""
        with self._lock:
            if self._has_room(size):
                return self._lease(size, purpose, None)
        for make_room in self._ways_to_make_room():
            make_room()
            with self._lock:
                if self._has_room(size):
                    return self._lease(size, purpose, None)
        raise self._refusal(size)

    def require(self, size: int) -> None:
        """See to it that so much more fits. Raises OutOfBudget where it can not."""
        with self._lock:
            if self._has_room(size):
                return
        for make_room in self._ways_to_make_room():
            make_room()
            with self._lock:
                if self._has_room(size):
                    return
        raise self._refusal(size)

    def evict(self) -> int:
        """Let go of all that can be had again; how many bytes that were."""
        before = self.used_bytes + self.cached_bytes
        for make_room in self._ways_to_make_room():
            make_room()
        with self._lock:
            self._settle()
            self._free.clear()
            self._cached = 0
            return before - self._in_use

    def _ways_to_make_room(self) -> Iterator[Callable[[], object]]:
        """What to do before each next attempt, the cheapest first.

        It is done without the lock: holders return what they have through it.
        """
        for queue in self._queues:
            yield queue.release_ended
        with self._lock:
            holders = sorted(self._holders, key=lambda holder: holder.last_used)
        ways: tuple[Idle, ...] = ("scratch", "constants")
        for what in ways:
            for holder in holders:
                yield partial(holder.give_up, what)
        for queue in self._queues:
            yield queue.drain
        # Buffers may be in cycles of references.
        yield gc.collect

    def _has_room(self, size: int) -> bool:
        """Whether so much more fits, once free blocks are let go as far as needed."""
        if self._returned:
            self._settle()
        budget, used = self._budget(size), self._in_use
        if used + size > budget:
            return False
        while self._free and used + self._cached + size > budget:
            oldest = next(iter(self._free))
            self._cached -= oldest
            self._free[oldest].pop()
            if not self._free[oldest]:
                del self._free[oldest]
        return True

    def _reuse(self, size: int, purpose: Purpose) -> tuple[cl.Buffer, Lease] | None:
        """A free block of just this size, if there is one."""
        with self._lock:
            self._settle()
            blocks = self._free.get(size)
            if not blocks:
                return None
            handle = blocks.pop()
            self._cached -= size
            if blocks:
                self._free.move_to_end(size)
            else:
                del self._free[size]
            return handle, self._lease(size, purpose, handle)

    def _lease(self, size: int, purpose: Purpose, handle: cl.Buffer | None) -> Lease:
        self._used[purpose] += size
        self._in_use += size
        if self._in_use > self._peak:
            self._peak = self._in_use
        return Lease(self._returned, size, purpose, handle)

    def _settle(self) -> None:
        """Read the notes of what has ended."""
        while self._returned:
            size, purpose, handle = self._returned.popleft()
            self._used[purpose] -= size
            self._in_use -= size
            if handle is not None:
                self._free.setdefault(size, []).append(handle)
                self._free.move_to_end(size)
                self._cached += size

    def _budget(self, more: int) -> int:
        """The budget, for a look at whether `more` bytes fit."""
        if self._exempt is not None and self._exempt == get_ident():
            return self._total
        chosen: int | Share | None = find("memory_budget").value
        if isinstance(chosen, int):
            return chosen
        if self._is_own:
            share = _OWN_SHARE if chosen is None else chosen.fraction
            return int(self._total * share)
        if chosen is not None:
            host = host_memory()
            return int((self._total if host is None else host.total) * chosen.fraction)
        self._since_look += more
        if self._host_limit is None or self._since_look >= _LOOK_AGAIN:
            self._since_look = 0
            self._host_limit = self._limit_of_host()
        return self._host_limit

    def _limit_of_host(self) -> int:
        host = host_memory()
        if host is None:
            return int(self._total * _OWN_SHARE)
        used = self._in_use
        # What was taken and never touched has no pages yet, so that the system still
        # calls them available.
        untouched = max(used - host.resident, 0)
        return used + max(host.available - untouched, 0)

    def size_class(self, size: int) -> int:
        """`size` rounded up by an eighth at most, so that a block fits more buffers."""
        if size > _LARGE:
            step = _LARGE_STEP
        else:
            step = max(1 << max(size.bit_length() - 4, 0), _SMALLEST_CLASS)
        rounded = -(-size // step) * step
        return rounded if rounded <= self._largest else size

    def _refusal(self, size: int) -> OutOfBudget:
        return OutOfBudget(
            f"device {self._name!r} has no room for {format_bytes(size)}: {self}",
            hint="the setting memory_budget says what programs may use; see "
            "`tile-settings`",
        )

    def __str__(self) -> str:
        """What is used of what: `1.0 GiB of a budget of 4.0 GiB are in use`."""
        used = self.used_for
        budget = format_bytes(self.budget_bytes)
        total = format_bytes(sum(used.values()))
        parts = [f"{purpose} {format_bytes(size)}" for purpose, size in used.items()]
        detail = f" ({', '.join(parts)})" if parts else ""
        return f"{total} of a budget of {budget} are in use{detail}"

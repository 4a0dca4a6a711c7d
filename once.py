"""Work that several threads need is done by one of them."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Once(Generic[K]):
    """A lock for each key, which exists only as long as somebody wants it.

    Who makes something for a key holds its lock and looks first whether another thread
    has made it meanwhile. Other keys are made side by side.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[K, tuple[Lock, int]] = {}

    def __len__(self) -> int:
        """How many keys somebody makes something for, or waits for."""
        return len(self._locks)

    @contextmanager
    def making(self, key: K) -> Generator[None]:
        """Be the only thread that makes what belongs to the key."""
        with self._guard:
            lock, users = self._locks.get(key) or (Lock(), 0)
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks[key]
                if users == 1:
                    del self._locks[key]
                else:
                    self._locks[key] = lock, users - 1

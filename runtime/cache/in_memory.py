"""What is compiled and kept in memory: by a budget, least recently used goes first.

The setting `program_memory` is the budget. It is for the compiled programs of all
functions, a program being what one function is for arrays of certain shapes and types.
A driver does not tell what a program takes, so that is estimated from its binary. What
goes is compiled anew, or loaded from disk, when it is called again; a call that runs
keeps what it uses.

Beside them stands the memory between the kernels of programs that are not running.
Where it is more than the budget, that of programs used longest ago is given back when a
further program is compiled, and taken anew by their next call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..settings import setting

if TYPE_CHECKING:
    from ...targets.backend import Code, Executable

Forget = Callable[["Executable"], None]

_KEPT_SHARE = 0.75
"""How much of the budget is left full, so that not every new program has to search."""


_User = tuple[weakref.ref["Executable"], weakref.WeakMethod[Forget]]


@dataclass(eq=False)
class _Entry:
    size: int
    code: Code | None
    touched: float
    users: list[_User] = field(default_factory=list["_User"])

    @property
    def runners(self) -> list[Executable]:
        found = [reference() for reference, _ in self.users]
        return [runner for runner in found if runner is not None]

    @property
    def last_used(self) -> float:
        return max([self.touched, *(runner.last_used for runner in self.runners)])

    def forget(self) -> None:
        """Let go of it wherever it is kept."""
        for reference, method in self.users:
            runner, forget = reference(), method()
            if runner is not None and forget is not None:
                forget(runner)


class CompiledPrograms:
    """The compiled programs of this process; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._entries: dict[Hashable, _Entry] = {}
        self._size = 0

    @property
    def size_in_bytes(self) -> int:
        """What all programs are estimated to take."""
        return self._size

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def runners(self) -> list[Executable]:
        """What runs the programs, those kept first in front."""
        with self._lock:
            return [each for entry in self._entries.values() for each in entry.runners]

    def get(self, key: Hashable) -> Any:
        """The code that was kept for a key, which says what code it is; else None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            entry.touched = monotonic()
            return entry.code

    def keep(
        self,
        key: Hashable,
        size: int,
        code: Code | None = None,
        runner: Executable | None = None,
        forget: Forget | None = None,
    ) -> None:
        """Keep code, and let `forget` be called with its runner when it has to go.

        `forget` is a method; neither its object nor the runner is kept alive. It is
        called by whatever thread compiles another program, which holds no lock.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(size, code, monotonic())
                self._size += size
            entry.touched = monotonic()
            entry.code = code or entry.code
            if runner is not None and forget is not None:
                alive = [user for user in entry.users if user[0]() is not None]
                entry.users = [
                    *alive,
                    (weakref.ref(runner), weakref.WeakMethod(forget)),
                ]
            gone = self._over_budget(entry)
            idle = self._idle_holders(entry)
        for each in gone:
            each.forget()
        for runner in idle:
            runner.give_up("scratch")

    def drop_all(self) -> None:
        """Let go of all, also where functions have it."""
        with self._lock:
            gone = [*self._entries.values()]
        self.clear()
        for entry in gone:
            entry.forget()

    def clear(self) -> None:
        """Let go of all; functions keep what they have compiled."""
        with self._lock:
            self._entries.clear()
            self._size = 0

    def _over_budget(self, newest: _Entry) -> Sequence[_Entry]:
        """What has to go for the newest to stay."""
        budget: int = setting("program_memory")
        if self._size <= budget:
            return ()
        gone: list[_Entry] = []
        by_age = sorted(self._entries.items(), key=lambda item: item[1].last_used)
        for key, entry in by_age:
            if self._size <= budget * _KEPT_SHARE:
                break
            if entry is newest:
                continue
            del self._entries[key]
            self._size -= entry.size
            gone.append(entry)
        return gone

    def _idle_holders(self, newest: _Entry) -> Sequence[Executable]:
        """The programs that should give back the memory between their kernels."""
        budget: int = setting("program_memory")
        holders = [
            (runner.last_used, runner.idle_bytes, entry is newest, runner)
            for entry in self._entries.values()
            for runner in entry.runners
            if runner.idle_bytes
        ]
        held = sum(size for _, size, _, _ in holders)
        idle: list[Executable] = []
        for _, size, is_newest, runner in sorted(holders, key=lambda each: each[0]):
            if held <= budget:
                break
            if not is_newest:
                idle.append(runner)
                held -= size
        return idle


programs = CompiledPrograms()
"""Those of this process."""

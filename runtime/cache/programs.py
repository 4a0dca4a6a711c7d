"""Compiled programs that are kept, for other functions and for other processes.

The setting `cache` names the folder; `on` is the user's own cache folder, and with
`off` programs are kept in memory only. `cache_size` is the most that the folder may
hold.

A program is found by all that it is made from: its text or IR, the shapes and types of
its inputs, the options of the passes with the figures of the hardware, measured
decisions, device, driver and the options of its compiler, and the code of this package
and of those that it uses (`code_state`). What is loaded is what that code would make,
so results are the same bits. Of what is patched or plugged in nobody knows all that it
depends on, so with that programs are kept in memory only, by a key of its state, and
what was compiled in another state is let go.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Generic

from ...errors import GinghamError
from ...patched import patched_state
from ...settings.folders import user_folder
from ...targets.backend import CodeT
from ..settings import setting
from .code_state import code_is_as_started, code_is_unchanged, versions
from .in_memory import programs
from .store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...passes.target_options import TargetOptions
    from ...targets.backend import Kernels
    from ..device import Device

OFF = "off"
ON = "on"


def program_store() -> Store | None:
    """The folder of compiled programs, None where they are kept in memory only."""
    chosen: str = setting("cache")
    if chosen == OFF or not hasattr(os, "geteuid"):
        return None
    return store_at(chosen, setting("cache_size"))


def trusted_store() -> Store | None:
    """As `program_store`, None too where this process runs other code than stored."""
    store = program_store()
    if store is None or not code_is_as_started() or compiler_state():
        return None
    return store


@cache
def store_at(chosen: str, limit: int) -> Store | None:
    """The store that the setting `cache` chooses, of at most `limit` bytes.

    None where the user has no folder for caches.
    """
    if chosen != ON:
        return Store(Path(chosen), limit)
    folder = user_folder("cache")
    return None if folder is None else Store(folder / "programs", limit)


class KeptPrograms(Generic[CodeT]):
    """What is kept of programs for one device."""

    def __init__(
        self, device: Device, kernels: Kernels[CodeT], words: Sequence[str]
    ) -> None:
        """`words` are the options of the device's compiler."""
        self._device = device
        self._kernels = kernels
        self._words = words
        self._store = trusted_store()

    def key(self, program: str, options: TargetOptions, recall: str) -> str:
        """All that the code of a program depends on.

        `program` is its text or IR with what it is specialized for; `recall` says
        which measured decisions there are.
        """
        return key_of(
            program,
            repr(options),
            recall,
            self._words,
            self._kernels.language,
            self._device.properties,
            self._kernels.state(),
        )

    def load(self, key: str) -> CodeT | None:
        """What was kept for a key, if it is there and the device takes it."""
        known = programs.get((self._device, key))
        if known is not None:
            return known
        data = None if self._store is None else self._store.get(key)
        if data is None:
            return None
        try:
            return self._kernels.from_bytes(data)
        except GinghamError:
            return None

    def save(self, key: str, code: CodeT, title: str) -> None:
        """Keep code for a key; `title` tells people what it is."""
        programs.keep((self._device, key), code.size_in_bytes, code)
        if self._store is not None and code_is_unchanged():
            self._store.put(key, self._kernels.to_bytes(code), title=title)


def key_of(*parts: object) -> str:
    """All of the parts, and the code that makes something of them."""
    return "\0".join(map(repr, (*parts, *versions(), compiler_state())))


_last_state = 0
_state_lock = Lock()


def compiler_state() -> int:
    """See `patched_state`; what was compiled in another state is let go."""
    global _last_state
    state = patched_state()
    with _state_lock:
        has_changed, _last_state = state != _last_state, state
    if has_changed:
        programs.drop_all()
    return state


def forget_programs() -> None:
    """Let go of what is kept in memory; functions keep what they have compiled."""
    programs.clear()

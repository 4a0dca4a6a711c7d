"""Fewer searches for garbage while much is built that stays.

Python's collector looks at all objects that there are when there are a quarter more of
them than last time. IR is millions of objects that point at each other and stay until
all of it is compiled: a quarter of the time would go into looking at them again and
again, and next to nothing is found.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

_YOUNG = 3_000_000
"""New objects before the collector looks at them: about 300 MB. That is more than all
that stays of a thousand layers, so that it is looked at once, when most can go."""
_OLDER = 50
"""How many times it does so before it looks at older ones, too."""


@dataclass
class _Rarity:
    """What several threads that compile have agreed on."""

    lock: Lock = field(default_factory=Lock)
    users: int = 0
    before: tuple[int, int, int] = (0, 0, 0)
    """The thresholds that the program had."""
    meanwhile: tuple[int, int, int] = (0, 0, 0)


_rarity = _Rarity()


@contextmanager
def rare_collections() -> Generator[None]:
    """Let the collector look for garbage some thousand times less often.

    When the last thread leaves, the thresholds are as before, unless somebody has set
    others meanwhile.
    """
    with _rarity.lock:
        if _rarity.users == 0:
            young, older, oldest = _rarity.before = gc.get_threshold()
            if young:  # 0 is no collector at all.
                gc.set_threshold(
                    max(young, _YOUNG), max(older, _OLDER), max(oldest, _OLDER)
                )
            _rarity.meanwhile = gc.get_threshold()
        _rarity.users += 1
    try:
        yield
    finally:
        with _rarity.lock:
            _rarity.users -= 1
            if _rarity.users == 0 and gc.get_threshold() == _rarity.meanwhile:
                gc.set_threshold(*_rarity.before)


def collect_young() -> None:
    """Look for garbage among what is new, unless the program never wants that.

    For where others do the work and there is time for it.
    """
    if gc.isenabled() and gc.get_threshold()[0]:
        gc.collect(0)


def skip_last_search() -> None:
    """Let this process end without a search for garbage among all that there is.

    For commands: of a large program it takes as long as some passes, and Ctrl-C is to
    end it at once.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)

"""Which of several ways to run a program is the fastest: found out by running them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from ..records import compiler_version

PLACED = "placed"
"""The name of the way over several devices."""
GAIN = 0.02
"""The part of the time that several devices have to save, to be used."""
_ROUNDS = 31
_SECONDS = 1.0


def measured_seconds(ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The fastest of several runs of each, in turns, as a machine's speed changes."""
    found = dict.fromkeys(ways, math.inf)
    for way in ways.values():
        way()
    end = time.perf_counter() + _SECONDS
    for number in range(_ROUNDS):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            found[name] = min(found[name], time.perf_counter() - start)
        if number >= 2 and time.perf_counter() > end:
            break
    return found


def winner(seconds: Mapping[str, float]) -> str:
    """The fastest one; several devices only where they save enough."""
    singles = {name: each for name, each in seconds.items() if name != PLACED}
    single = min(singles, key=lambda name: singles[name])
    saved = 1 - seconds.get(PLACED, math.inf) / singles[single]
    return PLACED if saved >= GAIN else single


def verdict_key(*parts: object) -> str:
    """What a verdict is kept under."""
    text = "\0".join(map(str, (compiler_version(), *parts)))
    return sha256(text.encode()).hexdigest()


def as_text(seconds: Mapping[str, float]) -> str:
    """For the database."""
    return json.dumps(dict(seconds))


def from_text(text: str | None, names: set[str]) -> dict[str, float] | None:
    """What `as_text` was given; None where it is nothing of the kind."""
    try:
        found: Any = json.loads(text or "")
        seconds = {name: float(found[name]) for name in names if name in found}
    except (ValueError, TypeError):
        return None
    if PLACED not in seconds or len(seconds) < 2 or min(seconds.values()) <= 0:
        return None
    return seconds

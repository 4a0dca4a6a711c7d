"""What a process is asked to build: a line of JSON, with the source behind it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Request:
    """What is to be built, and for which device."""

    device: str
    details: str
    """What the device tells of itself: both processes must have the same one."""
    options: str
    size: int
    """The bytes of the source."""

    def to_line(self) -> bytes:
        """As a line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

"""Writes a hardware description as the file that gives it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .description import Hardware
from .fields import CACHES, OVERHEADS, figures_of

_DEFAULTS = {
    "is_shared": False,
    "near_page_entries": 1 << 30,
    "compute_units_per_core": 1,
}
_COMMENT_COLUMN = 36


@dataclass(frozen=True)
class Calibration:
    """A description with measured figures, and the names of these."""

    hardware: Hardware
    comments: dict[str, str]


def hardware_toml(hardware: Hardware, comments: Mapping[str, str] | None = None) -> str:
    """The text of a file that `load_hardware` reads as this description.

    `comments` say where figures are from, by names such as `cores`, `caches.0.ways`.
    """
    comments = comments or {}
    table = figures_of(hardware)
    levels: list[dict[str, Any]] = table.pop(CACHES)
    overheads: dict[str, Any] = table.pop(OVERHEADS)
    lines = [*_lines(table, comments, "")]
    for number, level in enumerate(levels):
        lines += ["", f"[[{CACHES}]]"]
        lines += _lines(level, comments, f"{CACHES}.{number}.")
    lines += ["", f"[{OVERHEADS}]", *_lines(overheads, comments, f"{OVERHEADS}.")]
    return "\n".join(lines) + "\n"


def _lines(
    table: Mapping[str, Any], comments: Mapping[str, str], prefix: str
) -> Iterator[str]:
    for name, value in table.items():
        if _DEFAULTS.get(name) == value:
            continue
        line = f"{name} = {_spelled(value)}"
        comment = comments.get(prefix + name)
        yield f"{line:{_COMMENT_COLUMN}} # {comment}" if comment else line


def _spelled(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # What JSON writes for text, numbers and truth values is TOML, too.
    return json.dumps(value)

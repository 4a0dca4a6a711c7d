"""Writes a hardware description as the file that gives it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from .description import Hardware
from .fields import ROWS, TABLES, figures_of, rows_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_PLAIN = re.compile(r"(?!.*''')[\t\n\x20-\x7e]*[\t\n\x20-\x26\x28-\x7e]", re.DOTALL)
"""A text that stands as it is between three apostrophes."""

_COMMENT_COLUMN = 36


@dataclass(frozen=True)
class Calibration:
    """A description with measured figures, and the names of these."""

    hardware: Hardware
    comments: dict[str, str]


def hardware_toml(hardware: Hardware, comments: Mapping[str, str] | None = None) -> str:
    """The text of a file that `load_hardware` reads as this description.

    `comments` say where figures are from, by names such as `caches.0.ways`,
    `parallel.group.count`.
    """
    comments = comments or {}
    table = figures_of(hardware)
    plain = {
        name: value for name, value in table.items() if name not in (*ROWS, *TABLES)
    }
    lines = [*_lines(Hardware, plain, comments, "")]
    for name, kind in ROWS.items():
        for place, row in rows_of(table, name):
            prefix = "".join(f"{step}." for step in place)
            lines += ["", f"[[{name}]]", *_lines(kind, row, comments, prefix)]
    for name, kind in TABLES.items():
        if name != "lanes" or not hardware.has_vectors:
            own = _lines(kind, table[name], comments, f"{name}.")
            lines += ["", f"[{name}]", *own]
    return "\n".join(lines) + "\n"


def _lines(
    kind: type[DataclassInstance],
    table: Mapping[str, Any],
    comments: Mapping[str, str],
    prefix: str,
) -> Iterator[str]:
    """A line for each field that is not as it is when nothing is said."""
    defaults = {field.name: field.default for field in fields(kind)}
    for name, value in table.items():
        if defaults[name] == value:
            continue
        line = f"{name} = {_spelled(value)}"
        comment = comments.get(prefix + name)
        yield f"{line:{_COMMENT_COLUMN}} # {comment}" if comment else line


def _spelled(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and "\n" in value and _PLAIN.fullmatch(value):
        return f"'''\n{value}'''"
    # What JSON writes for text, numbers and truth values is TOML, too.
    return json.dumps(value)

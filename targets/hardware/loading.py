"""Reads hardware descriptions: by name, from a file, with changes of single figures.

A description is asked for by a text that `load_hardware` takes:

* `cpu-avx512`: one of `HARDWARE_NAMES`, a file beside this one;
* `./mine.toml`: any file;
* `cpu-avx512:caches.1.size_bytes=2097152,parallel.group.count=8`: either, with other
  figures; `cores` is short for `parallel.group.count`, and `caches=2` keeps two levels.

A file gives each field of `Hardware` a value, and a row `[[caches]]`, `[[parallel]]` or
`[[instructions]]` for each of those. With `base = "cpu-avx512"` it gives only what
differs from that description, of rows that have a name, too. What is missing of
`[overheads]` and `[lanes]`, without a base, is as in `cpu-avx512-xeon` and
`nvidia-h200`, where it was measured.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import GinghamError, SourceLocation
from ...settings.toml_text import parse_toml
from ...suggestions import did_you_mean
from .description import Hardware
from .fields import (
    CACHES,
    FORMER,
    NAMED,
    ROWS,
    TABLES,
    FieldError,
    FieldPath,
    build_hardware,
    figures_of,
    rows_of,
)

_FOLDER = Path(__file__).parent
_MEASURED = {"overheads": "cpu-avx512-xeon", "lanes": "nvidia-h200"}
"""The descriptions that say all figures of a table."""

HARDWARE_NAMES: tuple[str, ...] = tuple(
    sorted(path.stem for path in _FOLDER.glob("*.toml"))
)
"""The descriptions that are there by name."""

_LONG = {"cores": "parallel.group.count"}
_SHORT = {long: short for short, long in _LONG.items()}
_SEPARATORS = re.compile(r"[:/,\n]")
"""What the text of a change cannot have."""
_CHANGES = re.compile(r":(?=[\w.]+=)(?P<changes>[^:/]*)$")


def load_hardware(name_or_path: str) -> Hardware:
    """The description of that name or in that file.

    A text with a `/` or the ending `.toml` is a path. Raises GinghamError, located in
    the file where one is to blame, with the field and what was expected there.
    """
    found = _CHANGES.search(name_or_path)
    base = name_or_path if found is None else name_or_path[: found.start()]
    path = _path_of(base)
    try:
        stamp = path.stat()
        hardware = _read(base, path, stamp.st_mtime_ns, stamp.st_size)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise GinghamError(f"cannot read '{path}': {reason}") from error
    return hardware if found is None else _changed(hardware, found["changes"])


def hardware_text(hardware: Hardware) -> str:
    """The text with which `load_hardware` gives this very description.

    Its file, and what differs from that: `cpu-avx512:cores=8`.
    """
    base = hardware.origin or _default_base(hardware)
    before, after = _values(load_hardware(base)), _values(hardware)
    if not {*after} <= {*before}:
        raise _unnamed(hardware)
    changed = {name: value for name, value in after.items() if before[name] != value}
    if any(_SEPARATORS.search(str(value)) for value in changed.values()):
        raise _unnamed(hardware)
    changes = [
        f"{_SHORT.get(name, name)}={_spelled(value)}" for name, value in changed.items()
    ]
    return f"{base}:{','.join(changes)}" if changes else base


def _values(hardware: Hardware) -> dict[str, object]:
    return {name: table[key] for name, table, key in _flat(figures_of(hardware))}


def _default_base(hardware: Hardware) -> str:
    """One with all that this one has, for one that was made in Python.

    Raises GinghamError where there is none: a file may say more than a text.
    """
    wanted = {*_values(hardware)}
    for name in HARDWARE_NAMES:
        if wanted <= {*_values(load_hardware(name))}:
            return name
    raise _unnamed(hardware)


def _unnamed(hardware: Hardware) -> GinghamError:
    """The error for a description that no text stands for."""
    return GinghamError(
        f"no text stands for the hardware '{hardware.name}': it has rows that no "
        "description has",
        hint="load_hardware reads it from a file, which hardware_toml writes",
    )


def _path_of(name_or_path: str) -> Path:
    if "/" in name_or_path or os.sep in name_or_path or name_or_path.endswith(".toml"):
        return Path(name_or_path)
    if name_or_path in HARDWARE_NAMES:
        return _FOLDER / f"{name_or_path}.toml"
    close = did_you_mean(name_or_path, HARDWARE_NAMES)
    listed = f"there are {', '.join(HARDWARE_NAMES)}, or the path of a .toml file"
    raise GinghamError(
        f"unknown hardware description '{name_or_path}'",
        hint=f"{close}; {listed}" if close else listed,
    )


# The time and size of the file are there for the cache: a file may be edited.
@lru_cache(maxsize=64)
def _read(origin: str, path: Path, _time: int, _size: int) -> Hardware:
    text = path.read_text(encoding="utf-8")
    table = parse_toml(path, text)
    try:
        hardware = build_hardware(_completed(table), origin)
        if path.parent != _FOLDER:
            _check_blocks(hardware)
    except FieldError as error:
        location = _location(path, text, error.path, error.inside)
        raise GinghamError(error.message, location, error.hint) from error
    return hardware


def _check_blocks(hardware: Hardware) -> None:
    """Raise FieldError for the block of an instruction that is none."""
    for instruction in hardware.instructions:
        if not instruction.block:
            continue
        # The dialects are imported for those who need them.
        from .instruction_block import BlockError, block_of

        try:
            block_of(instruction)
        except BlockError as error:
            path = ("instructions", instruction.name, error.field)
            message = f"{'.'.join(path)}: {error.message}"
            lines = instruction.block.split("\n")
            inside = (lines[error.line - 1], error.column) if error.line else None
            raise FieldError(path, message, inside=inside) from error


def _completed(table: dict[str, Any]) -> dict[str, Any]:
    """The table of a file, with what it takes from other descriptions."""
    table = dict(table)
    own: dict[str, Any] = {name: table.pop(name, {}) for name in TABLES}
    if "base" in table:
        base = table.pop("base")
        if base not in HARDWARE_NAMES:
            raise FieldError(
                ("base",),
                f"base: expected a name, got {base!r}",
                did_you_mean(str(base), HARDWARE_NAMES)
                or f"there are {', '.join(HARDWARE_NAMES)}",
            )
        known = figures_of(load_hardware(base))
        named = {name: _merged(known, table, name) for name in NAMED if name in table}
        table = known | table | named
    for name, told in own.items():
        if isinstance(told, dict):
            table[name] = table.get(name, _measured(name)) | told
        else:
            table[name] = told
    return table


@lru_cache(maxsize=len(_MEASURED))
def _measured(name: str) -> dict[str, Any]:
    """The figures of a table where they were measured."""
    text = _path_of(_MEASURED[name]).read_text(encoding="utf-8")
    return tomllib.loads(text)[name]


def _merged(
    base: dict[str, Any], table: dict[str, Any], name: str
) -> list[dict[str, Any]]:
    """The rows of both; of one that both have, the table's own figures."""
    rows = dict(rows_of(base, name))
    for place, own in rows_of(table, name):
        rows[place] = rows.get(place, {}) | own
    return [*rows.values()]


def _changed(hardware: Hardware, changes: str) -> Hardware:
    """The description with what a text such as `cores=8,clock_gigahertz=3` says."""
    table = figures_of(hardware)
    places = {name: (inner, key) for name, inner, key in _flat(table)}
    for change in changes.split(","):
        name, _, text = change.partition("=")
        if name == CACHES and text.isdecimal():
            if int(text) > len(hardware.caches):
                raise GinghamError(
                    f"'{change}': '{hardware.name}' has {len(hardware.caches)} caches",
                    hint="a file may describe more of them",
                )
            del table[CACHES][int(text) :]
            continue
        name = _LONG.get(name, name)
        if name not in places:
            known = [*places, *_LONG]
            raise GinghamError(
                f"hardware descriptions have no field '{name}'",
                hint=FORMER.get(name)
                or did_you_mean(name, known)
                or "docs/hardware.md lists the fields",
            )
        inner, key = places[name]
        inner[key] = _value(text)
    try:
        return build_hardware(table, hardware.origin)
    except FieldError as error:
        raise GinghamError(f"'{changes}': {error.message}", hint=error.hint) from error


def _flat(table: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each single figure: its name such as `caches.0.ways`, its table, its key there.

    Of caches there is their number, too, as it can be changed.
    """
    for name, value in table.items():
        if name in ROWS:
            for place, row in rows_of(table, name):
                for key in row:
                    if key != "name":
                        yield ".".join(map(str, (*place, key))), row, key
        elif name in TABLES:
            for key in value:
                yield f"{name}.{key}", value, key
        else:
            yield name, table, name
    yield CACHES, {CACHES: len(table[CACHES])}, CACHES


def _value(text: str) -> int | float | bool | str:
    """What a text stands for, as in TOML but with no quotes around strings."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
    return value


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _location(
    path: Path, text: str, place: FieldPath, inside: tuple[str, int] | None
) -> SourceLocation:
    """The line that gives the field at `place`, or the table that lacks it.

    Where the value is a text of several lines, `inside` has one and a column.
    """
    lines = text.split("\n")
    first, last = 0, len(lines)
    starts = [n for n, line in enumerate(lines) if re.match(r"\s*\[", line)]
    table, *rest = place or ("",)
    header = re.compile(rf"\s*\[+\s*{re.escape(str(table))}\s*\]")
    own = [n for n in starts if header.match(lines[n])]
    ends = dict(zip(starts, [*starts[1:], last], strict=False))
    if rest and isinstance(rest[0], str) and table in NAMED:
        named = re.compile(rf"""\s*name\s*=\s*["']{re.escape(rest[0])}["']""")
        own = [n for n in own if any(map(named.match, lines[n : ends[n]]))]
    number = next((step for step in rest if isinstance(step, int)), 0)
    if rest and number < len(own):
        first = own[number]
        last = ends[first]
    name = place[-1] if place else ""
    for number in range(first, last):
        found = re.match(rf"\s*(\[\[\s*)?\b{re.escape(str(name))}\b", lines[number])
        if found and name:
            if inside is not None and inside[0] in lines[number:last]:
                number = lines.index(inside[0], number)
                return SourceLocation(str(path), number + 1, inside[1], text)
            column = found.end() - len(str(name)) + 1
            return SourceLocation(str(path), number + 1, column, text, len(str(name)))
    return SourceLocation(str(path), first + 1, 1, text)


def hardware_with(
    hardware: Hardware,
    *,
    cores: int = 0,
    vector_bits: int = 0,
) -> Hardware:
    """The description with these figures; 0 is as it says.

    Raises GinghamError for figures that no device has.
    """
    if cores < 0:
        raise GinghamError(f"cores: expected a number above 0, got {cores}")
    try:
        other = hardware.with_level("group", count=cores) if cores else hardware
        return other.with_vectors(vector_bits)
    except ValueError as error:
        raise GinghamError(str(error)) from error

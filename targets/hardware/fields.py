"""From tables of names and values to `Hardware` and back, with every value checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields
from typing import Any, NoReturn, TypeVar, cast

from ...suggestions import did_you_mean
from .description import Cache, Hardware
from .instruction import Instruction
from .lanes import LaneFigures
from .overheads import Overheads
from .parallel import Level

Rows = type[Level] | type[Instruction] | type[Cache]

CACHES = "caches"
TABLES: dict[str, type[Overheads | LaneFigures]] = {
    "overheads": Overheads,
    "lanes": LaneFigures,
}
"""Those of which it has one; a file need not give all of their fields."""
ROWS: dict[str, Rows] = {
    "parallel": Level,
    "instructions": Instruction,
    CACHES: Cache,
}
"""The tables of which a description has several, `[[caches]]`."""
NAMED = ("parallel", "instructions")
"""Those that are known by their `name`; others are by their number, from 0."""
_Part = TypeVar("_Part", Level, Instruction, Cache, Overheads, LaneFigures)
_NOT_FIGURES = frozenset({"origin"})
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
}
FieldPath = tuple[str | int, ...]
"""The way to a field, or to a row: by its name, or by its number from 0."""

_LEVEL = "of the row [[parallel]] with name ="
_INSTRUCTION = "of the row [[instructions]] with name ="
FORMER = {
    "kind": 'the last row [[parallel]] says it: its name is "vector" or "lane"',
    "cores": f"it is 'count' {_LEVEL} \"group\"",
    "vector_bits": f'it is \'count\' {_LEVEL} "vector" or "lane", of 32 bits each',
    "vector_registers": f'it is \'registers\' {_LEVEL} "vector" or "lane"',
    "local_memory_bytes": f"it is 'memory_bytes' {_LEVEL} \"group\"",
    "work_group_size": f'it is \'count\' {_LEVEL} "subgroup", times that of "lane"',
    "work_group_limit": f"it is 'item_limit' {_LEVEL} \"group\"",
    "multiply_adds_per_cycle": f"it is 'per_cycle' {_INSTRUCTION} \"multiply_add\"",
    "multiply_add_latency_cycles": f"it is 'latency_cycles' {_INSTRUCTION} "
    '"multiply_add"',
    "loads_per_cycle": f"it is 'per_cycle' {_INSTRUCTION} \"load\"",
    "stores_per_cycle": f"it is 'per_cycle' {_INSTRUCTION} \"store\"",
}
"""Names under which figures of rows may be looked for, with where they are."""
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
}


class FieldError(Exception):
    """What is wrong with the field at `path`, such as `("caches", 1, "ways")`."""

    def __init__(
        self,
        path: FieldPath,
        message: str,
        hint: str | None = None,
        inside: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint
        self.inside = inside
        """Of a text of several lines: the one that is wrong, and the column in it."""


def build_hardware(table: Mapping[str, Any], origin: str) -> Hardware:
    """The description that a table gives. Raises FieldError where it gives none."""
    values = _checked(table, Hardware, ())
    values["parallel"] = _rows(Level, "parallel", table)
    values["instructions"] = _rows(Instruction, "instructions", table)
    values[CACHES] = _rows(Cache, CACHES, table)
    values["overheads"] = _part(Overheads, table["overheads"], ("overheads",))
    values["lanes"] = _part(LaneFigures, table["lanes"], ("lanes",))
    try:
        return Hardware(**values, origin=origin)
    except ValueError as error:
        _raise_value_error(error, ())


def figures_of(hardware: Hardware) -> dict[str, Any]:
    """The table that gives this description, as `build_hardware` takes it."""
    table = {
        field.name: getattr(hardware, field.name)
        for field in fields(hardware)
        if field.name not in _NOT_FIGURES
    }
    for name in ROWS:
        table[name] = [asdict(row) for row in table[name]]
    for name in TABLES:
        table[name] = asdict(table[name])
    return table


def rows_of(
    table: Mapping[str, Any], name: str
) -> list[tuple[FieldPath, dict[str, Any]]]:
    """The rows `[[name]]` of a table, with their places.

    Raises FieldError for what is no row, or has the name of another one.
    """
    rows: object = table[name]
    if not isinstance(rows, list) or not rows:
        raise FieldError(
            (name,), f"{name}: expected one [[{name}]] or more, got {rows!r}"
        )
    found: dict[FieldPath, dict[str, Any]] = {}
    for number, row in enumerate(cast("list[Any]", rows)):
        place = (name, number)
        if not isinstance(row, dict):
            raise FieldError(
                place, f"{name}: expected a table with fields, got {row!r}"
            )
        own = cast("dict[str, Any]", row)
        if name in NAMED:
            step = own.get("name")
            if not isinstance(step, str):
                message = f"{name}.{number}.name: expected text, got {step!r}"
                raise FieldError(place, message, 'each row has its own, name = "..."')
            place = (name, step)
        if place in found:
            message = f"{name}.{place[1]}: a second row has this name"
            raise FieldError((name, number, "name"), message)
        found[place] = own
    return [*found.items()]


def _rows(kind: type[_Part], name: str, table: Mapping[str, Any]) -> tuple[_Part, ...]:
    return tuple(_part(kind, row, place) for place, row in rows_of(table, name))


def _part(kind: type[_Part], table: object, path: FieldPath) -> _Part:
    """A part of a description, which has a table of its own at `path`."""
    if not isinstance(table, dict):
        name = path[0]
        raise FieldError(path, f"{name}: expected a table with fields, got {table!r}")
    values = _checked(cast("dict[str, Any]", table), kind, path)
    try:
        return kind(**values)
    except ValueError as error:
        _raise_value_error(error, path)


def _raise_value_error(error: ValueError, path: FieldPath) -> NoReturn:
    name, _, rest = str(error).partition(":")
    place = (*path, *name.split("."))
    full = ".".join(map(str, place))
    raise FieldError(place, f"{full}:{rest}") from error


def _checked(
    table: Mapping[str, Any],
    kind: type[Hardware] | type[_Part],
    path: FieldPath,
) -> dict[str, Any]:
    """The values of a table by the names of the fields of `kind`."""
    known = {f.name: f for f in fields(kind) if f.name not in _NOT_FIGURES}
    prefix = "".join(f"{step}." for step in path)
    for name in table:
        if name not in known:
            raise FieldError(
                (*path, name),
                f"there is no field '{prefix}{name}'",
                FORMER.get(name)
                or did_you_mean(name, known)
                or f"fields: {', '.join(known)}",
            )
    values: dict[str, Any] = {}
    for name, field in known.items():
        if name in table:
            if name not in (*ROWS, *TABLES):
                values[name] = _typed(field, table[name], prefix, path)
        elif field.default is MISSING:
            raise FieldError(
                (*path, name),
                f"the field '{prefix}{name}' is missing: expected {_wanted(field)}",
                'base = "NAME" takes what is missing from another description',
            )
    return values


def _wanted(field: Field[Any]) -> str:
    if field.name in ROWS:
        return f"one [[{field.name}]] or more"
    return _WORDS.get(str(field.type), _WORDS["str"])


def _typed(field: Field[Any], value: object, prefix: str, path: FieldPath) -> object:
    """The value as the field has it; a whole number is a number, too."""
    # What is no plain type is one of some texts, which `Hardware` checks itself.
    name = str(field.type) if str(field.type) in _TYPES else "str"
    is_right = isinstance(value, _TYPES[name])
    if not is_right or (isinstance(value, bool) and name != "bool"):
        raise FieldError(
            (*path, field.name),
            f"{prefix}{field.name}: expected {_WORDS[name]}, got {value!r}",
        )
    if name == "float" and isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return value

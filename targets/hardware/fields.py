"""From tables of names and values to `Hardware` and back, with every value checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields
from typing import Any, NoReturn, TypeVar, cast

from ...suggestions import did_you_mean
from .description import Cache, Hardware
from .overheads import Overheads

CACHES = "caches"
OVERHEADS = "overheads"
_TABLES = frozenset({CACHES, OVERHEADS})
_Part = TypeVar("_Part", Cache, Overheads)
_NOT_FIGURES = frozenset({"origin"})
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
}
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
}


class FieldError(Exception):
    """What is wrong with the field at `path`, such as `("caches", 1, "ways")`."""

    def __init__(
        self, path: tuple[str | int, ...], message: str, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint


def build_hardware(table: Mapping[str, Any], origin: str) -> Hardware:
    """The description that a table gives. Raises FieldError where it gives none."""
    values = _checked(table, Hardware, ())
    levels: object = table[CACHES]
    if not isinstance(levels, list) or not levels:
        raise FieldError(
            (CACHES,), f"{CACHES}: expected one [[{CACHES}]] or more, got {levels!r}"
        )
    values[CACHES] = tuple(
        _part(Cache, level, (CACHES, number))
        for number, level in enumerate(cast("list[Any]", levels))
    )
    values[OVERHEADS] = _part(Overheads, table[OVERHEADS], (OVERHEADS,))
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
    table[CACHES] = [asdict(level) for level in hardware.caches]
    table[OVERHEADS] = asdict(hardware.overheads)
    return table


def _part(kind: type[_Part], table: object, path: tuple[str | int, ...]) -> _Part:
    """A part of a description, which has a table of its own at `path`."""
    if not isinstance(table, dict):
        name = path[0]
        raise FieldError(path, f"{name}: expected a table with fields, got {table!r}")
    values = _checked(cast("dict[str, Any]", table), kind, path)
    try:
        return kind(**values)
    except ValueError as error:
        _raise_value_error(error, path)


def _raise_value_error(error: ValueError, path: tuple[str | int, ...]) -> NoReturn:
    name, _, rest = str(error).partition(":")
    full = ".".join(str(step) for step in (*path, name))
    raise FieldError((*path, name), f"{full}:{rest}") from error


def _checked(
    table: Mapping[str, Any],
    kind: type[Hardware | Cache | Overheads],
    path: tuple[str | int, ...],
) -> dict[str, Any]:
    """The values of a table by the names of the fields of `kind`."""
    known = {f.name: f for f in fields(kind) if f.name not in _NOT_FIGURES}
    prefix = "".join(f"{step}." for step in path)
    for name in table:
        if name not in known:
            raise FieldError(
                (*path, name),
                f"there is no field '{prefix}{name}'",
                did_you_mean(name, known) or f"fields: {', '.join(known)}",
            )
    values: dict[str, Any] = {}
    for name, field in known.items():
        if name in table:
            if name not in _TABLES:
                values[name] = _typed(field, table[name], prefix, path)
        elif field.default is MISSING:
            raise FieldError(
                (*path, name),
                f"the field '{prefix}{name}' is missing: expected {_wanted(field)}",
                'base = "NAME" takes what is missing from another description',
            )
    return values


def _wanted(field: Field[Any]) -> str:
    return _WORDS.get(str(field.type), f"one [[{CACHES}]] or more")


def _typed(
    field: Field[Any], value: object, prefix: str, path: tuple[str | int, ...]
) -> object:
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

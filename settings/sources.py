"""Where the value of a setting comes from, and which of several values holds.

The first of these that gives one: the environment variable, the settings file, what the
program has said to `configure`, the default. Who runs a program has the last word over
who wrote it; an argument of a call stands above them all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import GinghamError, SourceLocation
from ..suggestions import did_you_mean
from .folders import user_folder
from .table import SETTINGS, Setting
from .toml_text import parse_toml

FILE_VARIABLE = "GINGHAM_SETTINGS"
OFF = "off"
_FILE = "settings.toml"
_PREFIX = "GINGHAM_"

_KNOWN: Mapping[str, Setting] = {each.name: each for each in SETTINGS}
_VARIABLES: Mapping[str, str] = {each.name: each.variable for each in SETTINGS}


@dataclass(frozen=True, slots=True)
class Found:
    """The value of a setting and where it is from."""

    setting: Setting
    value: Any
    source: str
    """`the environment variable GINGHAM_DEVICE`, `the default`..."""
    location: SourceLocation | None = None
    """The line of the settings file that gives it."""

    def blame(self, error: GinghamError) -> GinghamError:
        """An error that this value has caused, saying where the value is from."""
        message = f"{error.message} (from {self.source})"
        return GinghamError(message, error.location or self.location, error.hint)


_DEFAULTS = {each.name: Found(each, each.default, "the default") for each in SETTINGS}


def find(name: str) -> Found:
    """The value that holds for a setting, and its source.

    Raises GinghamError for a name that is none, and for a variable or a settings file
    that is wrong.
    """
    setting = _setting(name)
    text = os.environ.get(_VARIABLES[name])
    if text:
        source = f"the environment variable {setting.variable}"
        return Found(setting, _from_variable(name, text), source)
    in_file = _in_file(name)
    if in_file is not None:
        return in_file
    if name in _configured:
        source = f"gingham.configure({name}=...)"
        return Found(setting, _configured[name], source)
    return _DEFAULTS[name]


def configure(**values: object) -> None:
    """Set values for this process; None takes one back.

    Raises GinghamError, and sets nothing, for a wrong name or value.
    """
    global _configured
    read: dict[str, object] = {}
    for name, value in values.items():
        setting = _setting(name)
        if value is not None:
            read[name] = _read(setting, value, None, f"configure({name}=...)", None)
    with _lock:
        kept = {n: v for n, v in _configured.items() if n not in values}
        # Replaced at once: another thread sees all of the new values or none.
        _configured = kept | read


def settings_path() -> Path | None:
    """The settings file, which may not be there; None where it is switched off."""
    return _path_of(os.environ.get(FILE_VARIABLE) or "")


def unknown_variables() -> dict[str, str | None]:
    """Variables that look like settings and are none, each with a hint."""
    known = {FILE_VARIABLE, *_VARIABLES.values()}
    unknown = [each for each in os.environ if each.startswith(_PREFIX)]
    return {
        each: did_you_mean(each, known) for each in sorted(unknown) if each not in known
    }


_lock = Lock()
_configured: Mapping[str, object] = {}


def _setting(name: str) -> Setting:
    if name not in _KNOWN:
        raise _unknown(name, None)
    return _KNOWN[name]


def _unknown(name: str, location: SourceLocation | None) -> GinghamError:
    hint = did_you_mean(name, _KNOWN) or f"there are {', '.join(_KNOWN)}"
    return GinghamError(f"there is no setting '{name}'", location, hint)


@lru_cache(256)
def _from_variable(name: str, text: str) -> object:
    setting = _KNOWN[name]
    source = f"the environment variable {setting.variable}"
    return _read(setting, text, None, source, None)


def _read(
    setting: Setting,
    value: object,
    folder: Path | None,
    source: str,
    location: SourceLocation | None,
) -> object:
    try:
        return setting.kind.read(value, folder)
    except ValueError:
        shown = f"'{value}'" if isinstance(value, str) else repr(value)
        raise GinghamError(
            f"{source}: expected {setting.kind.wanted}, got {shown}", location
        ) from None


def _in_file(name: str) -> Found | None:
    return _file(os.environ.get(FILE_VARIABLE) or "").get(name)


@cache
def _own_path() -> Path | None:
    folder = user_folder("config")
    return None if folder is None else folder / _FILE


def _path_of(chosen: str) -> Path | None:
    if chosen == OFF:
        return None
    return Path(chosen) if chosen else _own_path()


@cache
def _file(chosen: str) -> Mapping[str, Found]:
    """The settings in the file that the variable names, read once in a process."""
    path = _path_of(chosen)
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        if not chosen:
            return {}
        raise _unreadable(path, error) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    table = parse_toml(path, text)
    found: dict[str, Found] = {}
    for name, value in table.items():
        location = _location(path, text, name)
        if name not in _KNOWN:
            raise _unknown(name, location)
        setting = _KNOWN[name]
        read = _read(setting, value, path.absolute().parent, name, location)
        source = f"the settings file {path}, line {location.line}"
        found[name] = Found(setting, read, source, location)
    return found


def _unreadable(path: Path, error: OSError | ValueError) -> GinghamError:
    reason = "it is not UTF-8 text"
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
    return GinghamError(
        f"cannot read the settings file '{path}': {reason}",
        hint=f"{FILE_VARIABLE}={OFF} does without one",
    )


def _location(path: Path, text: str, name: str) -> SourceLocation:
    """The line of a key; the first line where it is written in an unusual way."""
    key = re.compile(rf"\s*(\[+\s*)?[\"']?{re.escape(name)}\b")
    for number, line in enumerate(text.split("\n"), start=1):
        found = key.match(line)
        if found:
            column = line.index(name) + 1
            return SourceLocation(str(path), number, column, text, len(name))
    return SourceLocation(str(path), 1, 1, text)

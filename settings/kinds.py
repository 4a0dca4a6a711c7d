"""What values settings take: each kind reads texts of variables and values of files.

Both give the same values. A kind raises ValueError for what is none of its values;
`wanted` says in words what would be one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_UNITS = {"B": 0, "KIB": 10, "MIB": 20, "GIB": 30, "TIB": 40}
_SIZE = re.compile(r"(?P<number>\d{1,18}(\.\d{1,9})?)\s*(?P<unit>[A-Za-z]*)", re.ASCII)
_COUNT = re.compile(r"\d[\d_]{0,30}", re.ASCII)
_PERCENTAGE = re.compile(r"(?P<number>\d{1,3}(\.\d{1,9})?)\s*%", re.ASCII)
_TRUTHS = {"1": True, "on": True, "true": True, "yes": True}
_FALSEHOODS = {"0": False, "off": False, "false": False, "no": False}


class Kind(Protocol):
    """The values that a setting takes."""

    @property
    def wanted(self) -> str:
        """The values in words: `a number from 0 to 4`."""
        ...

    def read(self, value: object, folder: Path | None) -> object:
        """The value that a text, or a value in TOML or Python, stands for.

        Paths in a file are relative to its `folder`.
        """
        ...


@dataclass(frozen=True)
class Share:
    """A part of what there is: `fraction` is above 0 and at most 1."""

    fraction: float

    def __str__(self) -> str:
        return f"{self.fraction * 100:g}%"


@dataclass(frozen=True)
class Text:
    """Any text that is not empty, such as a name."""

    wanted: str = "a text"

    def read(self, value: object, folder: Path | None) -> str:
        """The text itself."""
        return _text(value)


@dataclass(frozen=True)
class Name:
    """A name, or a path of a file: a text with a `/`, or that ends in `.toml`."""

    wanted: str

    def read(self, value: object, folder: Path | None) -> str:
        """The name, or the path as seen from everywhere."""
        text = _text(value)
        is_path = "/" in text or os.sep in text or text.endswith(".toml")
        return _path(text, folder) if is_path else text


@dataclass(frozen=True)
class Place:
    """A path, or one of a few words."""

    words: tuple[str, ...]
    what: str

    @property
    def wanted(self) -> str:
        """The words, and what the path is of."""
        return f"{', '.join(repr(word) for word in self.words)} or {self.what}"

    def read(self, value: object, folder: Path | None) -> str:
        """The word, or the path as seen from everywhere."""
        if isinstance(value, bool) and "on" in self.words:
            return "on" if value else "off"
        text = _text(value)
        return text if text in self.words else _path(text, folder)


@dataclass(frozen=True)
class Size:
    """A number of bytes: `2 GiB`, `512 MiB`, `1000`."""

    wanted: str = "a number of bytes such as '2 GiB'"

    def read(self, value: object, folder: Path | None) -> int:
        """The number of bytes."""
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        found = _SIZE.fullmatch(_text(value).strip())
        if found is None or (found["unit"] or "B").upper() not in _UNITS:
            raise ValueError
        shift = _UNITS[(found["unit"] or "B").upper()]
        size = int(float(found["number"]) * (1 << shift))
        if shift == 0 and "." not in found["number"]:
            size = int(found["number"])
        if size <= 0:
            raise ValueError
        return size


@dataclass(frozen=True)
class SizeOrShare:
    """A number of bytes, or a part of what there is: `2 GiB`, `80%`."""

    wanted: str = "a number of bytes such as '2 GiB', or a part such as '80%'"

    def read(self, value: object, folder: Path | None) -> int | Share:
        """The number of bytes, or the share."""
        if isinstance(value, Share):
            return value
        found = _PERCENTAGE.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None:
            return Size().read(value, folder)
        percentage = float(found["number"])
        if not 0 < percentage <= 100:
            raise ValueError
        return Share(percentage / 100)


@dataclass(frozen=True)
class Level:
    """A whole number from 0 to `most`."""

    most: int

    @property
    def wanted(self) -> str:
        """The range."""
        return f"a whole number from 0 to {self.most}"

    def read(self, value: object, folder: Path | None) -> int:
        """The number."""
        if isinstance(value, str) and value.strip().isdecimal() and value.isascii():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError
        if not 0 <= value <= self.most:
            raise ValueError
        return value


@dataclass(frozen=True)
class Count:
    """A whole number above 0, which may be written as `1_000_000`."""

    wanted: str = "a whole number above 0, such as 1_000_000"

    def read(self, value: object, folder: Path | None) -> int:
        """The number."""
        if isinstance(value, str):
            found = _COUNT.fullmatch(value.strip())
            value = None if found is None else int(found[0].replace("_", ""))
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise ValueError
        return value


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    wanted: str = "true or false"

    def read(self, value: object, folder: Path | None) -> bool:
        """Which of them."""
        if isinstance(value, bool):
            return value
        return (_TRUTHS | _FALSEHOODS)[_one_of(value)]


def _one_of(value: object) -> str:
    word = _text(value).strip().lower()
    if word not in _TRUTHS and word not in _FALSEHOODS:
        raise ValueError
    return word


def _text(value: object) -> str:
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError
    return value


def _path(text: str, folder: Path | None) -> str:
    """As seen from everywhere: `~` is the home, and a file's paths begin beside it."""
    path = Path(text)
    if text.startswith("~"):
        try:
            path = path.expanduser()
        except RuntimeError as error:
            raise ValueError from error
    return str(path if folder is None else folder / path)

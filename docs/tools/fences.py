"""The code fences of a Markdown page: found, and given another text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_OPENING = re.compile(r"(?P<marks>`{3,})(?P<info>[^`]*)")
_TITLE = re.compile(r'title="(?P<title>[^"]*)"')


@dataclass(frozen=True)
class Fence:
    """One fenced code block."""

    language: str
    """The first word behind the opening marks, or nothing."""
    info: str
    """All that stands behind the opening marks."""
    lines: tuple[str, ...]
    opening: int
    """The number of the line of the opening marks, from 0."""

    @property
    def text(self) -> str:
        """What is between the fences, lines joined."""
        return "\n".join(self.lines)

    @property
    def closing(self) -> int:
        """The number of the line of the closing marks, from 0."""
        return self.opening + len(self.lines) + 1

    @property
    def title(self) -> str | None:
        """What `title="..."` says: the name of a file."""
        match = _TITLE.search(self.info)
        return None if match is None else match["title"]

    def has(self, word: str) -> bool:
        """Whether `word` stands behind the language."""
        return word in self.info.split()[1:]


@dataclass(frozen=True)
class Page:
    """A page and its fences, in order."""

    path: Path
    lines: tuple[str, ...]
    fences: tuple[Fence, ...]

    @staticmethod
    def read(path: Path) -> Page:
        """The page in a file; raises ValueError for a fence without an end."""
        return Page.of(path, path.read_text(encoding="utf-8").splitlines())

    @staticmethod
    def of(path: Path, lines: Sequence[str]) -> Page:
        """The page of a file with these lines; raises ValueError as `read` does."""
        return Page(path, tuple(lines), tuple(_find_fences(path, tuple(lines))))

    def place(self, fence: Fence) -> str:
        """Where a fence stands, as editors understand it."""
        return f"{self.path}:{fence.opening + 1}"

    def output_of(self, fence: Fence) -> Fence | None:
        """The fence that follows with nothing but blank lines between the two."""
        position = self.fences.index(fence) + 1
        if position == len(self.fences):
            return None
        following = self.fences[position]
        between = self.lines[fence.closing + 1 : following.opening]
        return None if any(line.strip() for line in between) else following

    def with_lines(self, replacements: Mapping[Fence, Sequence[str]]) -> str:
        """The text of the page, with other lines in some of its fences."""
        lines: list[str] = []
        position = 0
        for fence in self.fences:
            lines += self.lines[position : fence.opening + 1]
            lines += replacements.get(fence, fence.lines)
            position = fence.closing
        return "\n".join([*lines, *self.lines[position:]]) + "\n"


def _find_fences(path: Path, lines: tuple[str, ...]) -> list[Fence]:
    fences: list[Fence] = []
    number = 0
    while number < len(lines):
        match = _OPENING.fullmatch(lines[number])
        if match is None:
            number += 1
            continue
        closing = next(
            (
                position
                for position in range(number + 1, len(lines))
                if lines[position].strip() == match["marks"]
            ),
            None,
        )
        if closing is None:
            raise ValueError(f"{path}:{number + 1}: this fence has no end")
        info = match["info"].strip()
        language = info.split()[0] if info else ""
        fences.append(Fence(language, info, lines[number + 1 : closing], number))
        number = closing + 1
    return fences

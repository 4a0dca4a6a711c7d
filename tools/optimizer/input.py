"""Reads the input, an .mlir or a .tile text, and splits it into chunks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import GinghamError, SourceLocation
from ...frontend.source import read as read_tile
from ...limits import MOST_CHUNKS

EXTENSIONS = ("mlir", "onnx", "tile")
"""The kinds of input, by file extension."""

STANDARD_INPUT = "<stdin>"
_STANDARD_INPUTS = (None, "-", "/dev/stdin", "/dev/fd/0")
"""The paths that mean the standard input."""
_COMMENTS = re.compile(r"(\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TILE_BEGINS = re.compile(r"function\b|\[\[|[A-Z]")

_SEPARATOR = re.compile(r"^// -----[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A text to compile: the name for messages, the text, its kind of EXTENSIONS."""

    file: str
    text: str
    kind: str

    def chunks(self) -> list[Source]:
        """The parts between lines `// -----`, each at its own line numbers.

        Blank parts, such as one after a last separator, are left out. Raises
        GinghamError for more of them than are split.
        """
        parts: list[Source] = []
        line = 0
        texts = _SEPARATOR.split(self.text)
        if len(texts) > MOST_CHUNKS:
            raise GinghamError(
                f"'{self.file}' has {len(texts)} parts: more than {MOST_CHUNKS}"
            )
        for part in texts:
            # The lines before the part are blank in its text, so that any parser
            # counts lines as in the file.
            if part.strip():
                parts.append(Source(self.file, "\n" * line + part, self.kind))
            line += part.count("\n")
        return parts or [self]


def read_source(
    path: str | None, kind: str | None, shapes: Sequence[str] = ()
) -> Source:
    """Reads a file, or the standard input for None, `-` and `/dev/stdin`.

    `kind` is one of EXTENSIONS, or None to take it from the file's name, or from what
    the standard input begins with. A model of ONNX becomes the text of its module, for
    the sizes of inputs that `shapes` says: `x=1x3x224x224`. Raises GinghamError when
    that cannot be read or is no text.
    """
    if path not in _STANDARD_INPUTS and "onnx" in (kind, _extension(path)[1:]):
        from .onnx_input import module_text

        return Source(path, module_text(path, shapes), "mlir")
    if shapes:
        raise GinghamError(
            "--shape is for a model of ONNX",
            hint="the pass tile-specialize binds the sizes of other programs",
        )
    if path in _STANDARD_INPUTS:
        text = _decode(_read_stdin(), STANDARD_INPUT)
        return Source(STANDARD_INPUT, text, kind or kind_of_text(text))
    try:
        with open(path, "rb") as stream:
            content = stream.read()
    except (OSError, ValueError) as error:
        raise GinghamError(f"cannot read '{path}': {_reason(error)}") from error
    return Source(path, _decode(content, path), kind or _kind_of(path))


def _extension(path: str) -> str:
    return os.path.splitext(path)[1]


def _kind_of(path: str) -> str:
    extension = _extension(path).removeprefix(".")
    if extension in EXTENSIONS:
        return extension
    raise GinghamError(
        f"cannot tell what '{path}' holds: expected a name that ends in .mlir, "
        f".tile or .onnx, got {f'.{extension}' if extension else 'no extension'}",
        hint="--frontend=mlir, --frontend=onnx or --frontend=tile says what it is",
    )


def read_program(path: str, kind: str | None) -> Source:
    """As `read_source`, for commands that take all files without `.mlir` for Tile.

    What is no file, such as a pipe, is told by what it begins with.
    """
    if path in _STANDARD_INPUTS or path.endswith(".mlir"):
        return read_source(path, kind)
    text = read_tile(path)
    if kind is None:
        is_file = os.path.isfile(path)
        kind = "tile" if is_file else kind_of_text(text)
    return Source(path, text, kind)


def kind_of_text(text: str) -> str:
    """Which of EXTENSIONS a text is, as its first words tell."""
    comments = _COMMENTS.match(text)
    start = 0 if comments is None else comments.end()
    return "tile" if _TILE_BEGINS.match(text, start) else "mlir"


def _read_stdin() -> bytes:
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise GinghamError("cannot read the standard input: it is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise GinghamError(
            f"cannot read the standard input: {_reason(error)}"
        ) from error


def _decode(content: bytes, file: str) -> str:
    if content.startswith(b"ML\xefR"):
        raise GinghamError(
            f"'{file}' is MLIR bytecode, and only text can be read",
            hint="`mlir-opt` prints bytecode as text",
        )
    if not content.strip():
        raise GinghamError(f"'{file}' is empty: expected a program")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_text(content, error.start, file, "is not UTF-8") from error
    if "\0" in text:
        position = content.index(b"\0")
        raise _no_text(content, position, file, "does not occur in a text")
    return text


def _no_text(content: bytes, position: int, file: str, reason: str) -> GinghamError:
    """The error for the byte at `position`."""
    before = content[:position]
    start = before.rfind(b"\n") + 1
    line = before.count(b"\n") + 1
    column = len(before[start:].decode("utf-8", "replace")) + 1
    return GinghamError(
        f"expected a text, got the byte 0x{content[position]:02x}, which {reason}",
        SourceLocation(file, line, column, content.decode("utf-8", "replace")),
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)

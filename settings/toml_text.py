"""Reading TOML of a user: every text is a table or a located error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from ..errors import GinghamError, SourceLocation

LONGEST: Final = 1_000_000
"""Characters of a file; what a user writes by hand is far from it."""


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """The table that a text is. Raises GinghamError, which points into the file."""
    import tomllib

    if len(text) > LONGEST:
        raise GinghamError(
            f"expected at most {LONGEST} characters, got {len(text)}",
            SourceLocation(str(path), 1, 1),
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, text, error) from error
    except RecursionError as error:
        place = SourceLocation(str(path), 1, 1, text)
        message = "not TOML that is read: nested too deeply"
        raise GinghamError(message, place) from error
    except ValueError as error:
        # Python reads integers of some thousand digits only.
        found = re.search(r"\d{4000,}", text.replace("_", ""))
        start = max(0, text.find(found[0])) if found else 0
        line = text.count("\n", 0, start)
        column = start - (text.rfind("\n", 0, start) + 1)
        place = SourceLocation(str(path), line + 1, column + 1, text)
        raise GinghamError(
            "not TOML that is read: a number has too many digits", place
        ) from error


def _syntax_error(path: Path, text: str, error: ValueError) -> GinghamError:
    # Before Python 3.14 the place is in the message only.
    message, _, place = str(error).partition(" (at ")
    numbers = [int(number) for number in re.findall(r"\d+", place)]
    if len(numbers) != 2:
        lines = text.rstrip().split("\n")
        numbers = [len(lines), len(lines[-1]) + 1]
    location = SourceLocation(str(path), numbers[0], numbers[1], text)
    return GinghamError(f"not TOML: {message[:1].lower()}{message[1:]}", location)

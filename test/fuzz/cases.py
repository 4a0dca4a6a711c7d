"""What fuzzers have in common: a case, a finding, and commands run in this process."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ERROR = re.compile(r"^(\S.*:\d+:\d+: )?error: ", re.MULTILINE)

ENVIRONMENT = {
    "GINGHAM_CACHE": "off",
    "GINGHAM_DEVICE": "reference",
    "GINGHAM_INTERPRETED_POINTS": "50000000",
    "GINGHAM_RECORDS": "off",
    "GINGHAM_SETTINGS": "off",
    "TERM": "dumb",
}
"""No device but the interpreter: a kernel's end is up to the compiler of a device."""


@dataclass(frozen=True)
class Case:
    """An input: the files that it consists of, and how the fuzzer uses them."""

    files: Mapping[str, bytes]
    options: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


class Finding(Exception):
    """What does not hold. Findings of one `kind` may have one cause."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Fuzzer(Protocol):
    """One kind of input."""

    name: str

    def draw(self, random: Random) -> Case:
        """A case that depends on nothing else."""
        ...

    def run(self, case: Case) -> None:
        """Use it in the current folder, where its files are; raises Finding."""
        ...


def run_command(
    main: Callable[[Sequence[str]], int], arguments: Sequence[str]
) -> tuple[int, str]:
    """The status of a command and its output; raises Finding for a bad end."""
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    text, message = out.getvalue(), error.getvalue()
    check_message(status, message)
    if found := _HIDDEN.search(text):
        raise Finding("control character", f"{found[0]!r} in the output")
    return status, text


def check_message(status: int, message: str) -> None:
    """Raises Finding unless a command ended as it should."""
    if "internal error" in message or "Traceback (most recent" in message:
        raise Finding(_kind_of(message), message)
    if found := _HIDDEN.search(message):
        raise Finding("control character", f"{found[0]!r} in {message!r}")
    if status not in (0, 1):
        raise Finding(f"status {status}", message)
    if status == 1 and not _ERROR.search(message) and "check " not in message:
        raise Finding("no error", message or "status 1 without a message")


def _kind_of(message: str) -> str:
    """What tells internal errors apart: the exception, without the case's own words."""
    found = re.search(r"internal error \((\w+)", message)
    return f"internal error {found[1] if found else ''}".strip()


def prepare_environment() -> None:
    """Let nothing of the user's decide."""
    for name in list(os.environ):
        if name.startswith("GINGHAM_"):
            del os.environ[name]
    os.environ.update(ENVIRONMENT)

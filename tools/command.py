"""What the commands share: how errors, interruptions and closed pipes end them."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import IO, NoReturn

from ..errors import GinghamError, visible
from ..garbage import skip_last_search

INTERRUPTED = 130
"""The exit status after Ctrl-C: 128 and the number of the signal, as shells have it."""


class SubcommandParser(argparse.ArgumentParser):
    """Reports wrong options as all other errors are reported."""

    def error(self, message: str) -> NoReturn:
        """Raise GinghamError in place of printing usage and leaving with status 2."""
        raise GinghamError(message, hint=f"`{self.prog} --help` lists the options")


class ArgumentParser(SubcommandParser):
    """The options of a command, with `--version`."""

    def __init__(
        self, prog: str, description: str, *, allow_abbrev: bool = True
    ) -> None:
        super().__init__(prog, description=description, allow_abbrev=allow_abbrev)
        self.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions"
        )


class _Version(argparse.Action):
    """Prints the versions and ends the command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        show(version_text(parser.prog))
        parser.exit()


def version_text(command: str) -> str:
    """The versions of a command and of xDSL."""
    # Imported here as the lookup takes a tenth of a short run.
    from importlib.metadata import version

    return f"{command} {version('gingham')} (xDSL {version('xdsl')})"


def show(
    *values: object,
    end: str = "\n",
    file: IO[str] | None = None,
    flush: bool = False,
) -> None:
    """Print, as all commands do: what a terminal would obey is escaped."""
    print(*map(visible, values), end=end, file=file, flush=flush)


def open_closed_streams() -> None:
    """Let what is printed go nowhere where the caller has closed a stream.

    Python has None in its place, which some of the libraries do not expect.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))


def require_open_output() -> None:
    """Refuse to write what was asked for where nobody can read it.

    Raises GinghamError when the caller has closed the standard output.
    """
    if getattr(sys.stdout, "name", None) == os.devnull:
        raise GinghamError(
            "cannot write the output: the standard output is closed",
            hint="-o FILE writes it to a file",
        )


def run_command(body: Callable[[], int]) -> int:
    """The exit status of `body`; after an error, which is printed, 1."""
    skip_last_search()
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks is escaped, not an error.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with _plain_warnings():
            status = body()
        print(end="", flush=True)
        return status
    except GinghamError as error:
        show(error.render(), file=sys.stderr)
        return 1
    except MemoryError as error:
        show(f"error: not enough memory: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return 1
    except OSError as error:
        _discard_output()
        show(f"error: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1
    except Exception as error:
        _print_internal(error)
        return 1


def wants_tracebacks() -> bool:
    """Whether errors are shown with all that has led to them."""
    from ..runtime.settings import setting

    try:
        return bool(setting("debug"))
    except GinghamError:
        # Settings that are wrong must not hide the error that is to be shown.
        return bool(os.environ.get("GINGHAM_DEBUG"))


@contextmanager
def _plain_warnings() -> Generator[None]:
    """Show warnings as errors are shown: no line of a command is the user's."""

    def plain(message: Warning | str, *_: object, **__: object) -> str:
        return f"warning: {visible(message)}\n"

    before, warnings.formatwarning = warnings.formatwarning, plain
    try:
        yield
    finally:
        warnings.formatwarning = before


def _discard_output() -> None:
    """Let what is still to be written at exit go nowhere, where it cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_internal(error: Exception) -> None:
    """A mistake of ours: a line for the user, the traceback for who looks for it."""
    message = " ".join(str(error).split())
    show(f"error: internal error ({type(error).__name__}: {message})", file=sys.stderr)
    if wants_tracebacks():
        show("".join(traceback.format_exception(error)), end="", file=sys.stderr)
    else:
        show("hint: GINGHAM_DEBUG=1 shows where; please report it", file=sys.stderr)

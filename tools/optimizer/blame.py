"""Whose an exception is that nobody expects, and what the user is told of it.

It is that of a plug-in whose code led to it, of a package or program that is missing,
of xDSL for its passes and targets, and otherwise of the compiler.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator, Mapping
from traceback import FrameSummary, extract_tb, walk_tb
from types import FrameType

from xdsl.transforms.mlir_opt import MLIROptPass

from ...errors import SourceLocation
from .diagnostics import Diagnostic, InternalError, ToolError, note

PLUGIN_MODULE = "gingham_pass_plugin_"
"""What the names of plug-ins' modules begin with."""
_OURS = __name__.partition(".")[0]


def unexpected(
    error: Exception,
    what: str | None = None,
    made_by: object = None,
    place: SourceLocation | None = None,
) -> ToolError:
    """The error that tells the user of an exception, which is its cause.

    `what` ran, such as "the pass 'cse'", which is the object `made_by`; `place` is
    where in the program it was.
    """
    explained = (
        _missing(error, what, place)
        or _of_plugin(error, what)
        or _internal(error, what, made_by, place)
    )
    explained.__cause__ = error
    return explained


def summary(error: BaseException) -> str:
    """An exception as one line: its class and what it says."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    message = " ".join(text.split())
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def place_in_plugin(error: Exception) -> SourceLocation | None:
    """The line of a plug-in that led to an exception, the innermost of them."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        column = error.offset or 1
        return _location(error.filename, error.lineno, column, 1)
    places = [place for frame, place in _frames(error) if _is_plugin(frame.f_globals)]
    return _location_of(places[-1]) if places else None


def _missing(
    error: Exception, what: str | None, place: SourceLocation | None
) -> ToolError | None:
    """The error for a package or a program that is not installed."""
    needs = f"{what} needs" if what else "this needs"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        frames = [frame for frame, _ in _frames(error)]
        imported_by_plugin = bool(frames) and _is_plugin(frames[-1].f_globals)
        if package == _OURS or imported_by_plugin:
            return None
        message = f"{needs} the Python package '{package}', which is not installed"
        return ToolError(message, place)
    for frame, _ in _frames(error):
        runs = frame.f_locals.get("self")
        if isinstance(runs, MLIROptPass) and "is not available" in str(error):
            return ToolError(
                f"{needs} the program '{runs.executable}', which is not installed",
                place,
                hint="it is a part of MLIR; it must be on the PATH",
            )
    return None


def _of_plugin(error: Exception, what: str | None) -> ToolError | None:
    """The error for an exception that code of a plug-in led to."""
    location = place_in_plugin(error)
    if location is None:
        return None
    notes: list[Diagnostic] = []
    frame, place = list(_frames(error))[-1]
    if not _is_plugin(frame.f_globals):
        notes.append(note("it was raised here", _location_of(place)))
    failed = f"{what} failed in its plug-in" if what else "a plug-in failed"
    notes.append(note(f"{failed} (--debug shows the traceback)"))
    return ToolError(summary(error), location, notes=notes)


def _internal(
    error: Exception, what: str | None, made_by: object, place: SourceLocation | None
) -> ToolError:
    is_xdsl = type(made_by).__module__.startswith("xdsl.")
    if is_xdsl and isinstance(error, NotImplementedError):
        reason = " ".join(str(error).split()) or "this is not implemented"
        return ToolError(f"{what} of xDSL failed: {reason}", place)
    where = f" in {what}" if what else ""
    message = f"internal error{where} ({summary(error)})"
    return InternalError(message, place, owner="xDSL" if is_xdsl else "the compiler")


def _frames(error: Exception) -> Iterator[tuple[FrameType, FrameSummary]]:
    """The calls that led to an exception, the innermost last."""
    places = extract_tb(error.__traceback__)
    for (frame, _), place in zip(walk_tb(error.__traceback__), places, strict=True):
        yield frame, place


def _is_plugin(variables: Mapping[str, object]) -> bool:
    """Whether these are the global variables of a plug-in."""
    return str(variables.get("__name__")).startswith(PLUGIN_MODULE)


def _location_of(place: FrameSummary) -> SourceLocation:
    line = place.lineno or 1
    text = linecache.getline(place.filename, line).encode()
    # Python counts bytes.
    start, end = place.colno or 0, place.end_colno or 0
    column = len(text[:start].decode(errors="replace")) + 1
    length = len(text[start:end].decode(errors="replace"))
    is_one_line = place.end_lineno == line
    return _location(place.filename, line, column, max(length, 1) if is_one_line else 1)


def _location(file: str, line: int, column: int, length: int) -> SourceLocation:
    text = "".join(linecache.getlines(file)) or None
    shown = os.path.relpath(file)
    shown = file if shown.startswith(os.pardir) else shown
    return SourceLocation(shown, line, column, text, length)

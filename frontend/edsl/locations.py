"""Where in the user's Python something is written, and what name it is given there.

The column comes from the positions that Python keeps for every instruction; the name is
that of the variable that the running instruction's result is stored to, if it is.
"""

from __future__ import annotations

import dis
import inspect
import linecache
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from types import CodeType, FrameType

from ...errors import GinghamError, SourceLocation

_ROOT = __name__.split(".", maxsplit=1)[0]
_OWN = tuple(
    f"{_ROOT}.{place}"
    for place in (
        "edsl",
        "frontend.edsl",
        "frontend.op",
        "op",
        "plaidml",
        "runtime.einsum",
        "runtime.jit",
        "runtime.program",
    )
)
"""The modules whose frames are not the user's."""

_outermost_call: ContextVar[SourceLocation | None] = ContextVar(
    "outermost_call", default=None
)
"""Where the user calls the operation that is being made; None outside of any."""

_STORES = {"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"}


def user_frame() -> FrameType | None:
    """The innermost frame that runs the user's code."""
    frame = inspect.currentframe()
    while frame is not None and _is_own(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return frame


@cache
def _is_own(module: object) -> bool:
    name = module if isinstance(module, str) else ""
    return any(name == own or name.startswith(f"{own}.") for own in _OWN)


@contextmanager
def one_operation(location: SourceLocation) -> Generator[None]:
    """What is made in here is made at the place of the user's call, and has no names.

    For functions that make many nodes, whose variables are not the user's.
    """
    token = _outermost_call.set(location)
    try:
        yield
    finally:
        _outermost_call.reset(token)


def is_in_operation() -> bool:
    """Whether an operation of several nodes is being made."""
    return _outermost_call.get() is not None


def here() -> SourceLocation:
    """The place in the user's code that is being run."""
    call = _outermost_call.get()
    if call is not None:
        return call
    frame = user_frame()
    if frame is None:
        return SourceLocation("<unknown>", 1, 1)
    return _location(frame.f_code, frame.f_lasti, frame.f_lineno)


def _location(code: CodeType, instruction: int, line: int | None) -> SourceLocation:
    positions, number = _positions(code), instruction // 2
    position = positions[number] if 0 <= number < len(positions) else None
    first, last, start, end = position or (None, None, None, None)
    file, number = code.co_filename, first or line or 1
    if start is None:
        return SourceLocation(file, number, 1)
    text = linecache.getline(file, number)
    column = _characters(text, start) + 1
    if end is None or last != first:
        return SourceLocation(file, number, column, length=max(len(text) - column, 1))
    length = _characters(text, end) + 1 - column
    return SourceLocation(file, number, column, length=max(length, 1))


@lru_cache(maxsize=512)
def _positions(
    code: CodeType,
) -> list[tuple[int | None, int | None, int | None, int | None]]:
    """First and last line, and first and last column, of each instruction."""
    return list(code.co_positions())


def _characters(line: str, byte: int) -> int:
    """The number of characters in the first bytes of a line, which is UTF-8."""
    if line.isascii():
        return byte
    return len(line.encode()[:byte].decode(errors="replace"))


def of_function(function: Callable[..., object]) -> SourceLocation:
    """Where a function is defined."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if not isinstance(code, CodeType):
        return here()
    line = code.co_firstlineno
    # The first line is that of the first decorator.
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return SourceLocation(code.co_filename, line, 1)


def with_text(location: SourceLocation) -> SourceLocation:
    """The location with the text of its Python file, when that can be read."""
    if location.text is not None:
        return location
    lines = linecache.getlines(location.file)
    return replace(location, text="".join(lines)) if lines else location


def error(
    message: str, hint: str | None = None, location: SourceLocation | None = None
) -> GinghamError:
    """The error that points at the user's line that is being run, or at `location`."""
    return GinghamError(message, with_text(location or here()), hint)


def assigned_names() -> tuple[str, ...]:
    """The variables that the user's running expression is assigned to.

    Several when it is unpacked: `i, j = TensorIndexes(2)`. None when it is a part of
    something larger, or goes elsewhere.
    """
    frame = None if is_in_operation() else user_frame()
    if frame is None:
        return ()
    return _stores(frame.f_code).get(frame.f_lasti, ())


def assigned_name() -> str | None:
    """The one variable that the user's running expression is assigned to."""
    names = assigned_names()
    return names[0] if len(names) == 1 else None


def names_of_several(names: int | str) -> list[str | None]:
    """The names of several objects that are made at once.

    `names` has them, or says how many there are: then they are those of the variables
    that they are assigned to, numbered if that is one, `X = TensorDims(2)`.
    """
    if isinstance(names, str):
        return list(names.replace(",", " ").split())
    assigned = assigned_names()
    if len(assigned) == 1 and names != 1:
        return [f"{assigned[0]}{number}" for number in range(names)]
    return list(assigned) if len(assigned) == names else [None] * names


@lru_cache(maxsize=512)
def _stores(code: CodeType) -> dict[int, tuple[str, ...]]:
    """The names that an instruction's result is stored to, by offset."""
    instructions = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
    stores: dict[int, tuple[str, ...]] = {}
    for position, instruction in enumerate(instructions[:-1]):
        names = _names_stored(instructions, position + 1)
        if not names:
            continue
        # A frame may stand at one of the caches that follow an instruction.
        following = instructions[position + 1].offset
        for offset in range(instruction.offset, following, 2):
            stores[offset] = names
    return stores


def _names_stored(
    instructions: list[dis.Instruction], position: int
) -> tuple[str, ...]:
    """The names that the instructions from a position on store one result to."""
    first = instructions[position]
    if first.opname != "UNPACK_SEQUENCE":
        return tuple(islice(_names([first]), 1))
    count = first.arg or 0
    following = instructions[position + 1 : position + 1 + count]
    names = tuple(islice(_names(following), count))
    return names if len(names) == count else ()


def _names(instructions: list[dis.Instruction]) -> Iterator[str]:
    """The names that these instructions store to, up to one that does something else.

    From Python 3.13 on one instruction may store twice, or store and load.
    """
    for instruction in instructions:
        # Tools that rewrite code, such as pytest, use names that Python has not.
        if instruction.opname in _STORES and str(instruction.argval).isidentifier():
            yield str(instruction.argval)
        elif instruction.opname == "STORE_FAST_STORE_FAST":
            yield from map(str, instruction.argval)
        elif instruction.opname == "STORE_FAST_LOAD_FAST":
            yield str(instruction.argval[0])
            return
        else:
            return

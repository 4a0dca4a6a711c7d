"""Tile programs on a page, which say themselves what they compute.

    function (A[N]) -> (B) {
      B[i : N] = =(A[N - 1 - i]);
    }
    // A = [1, 2, 3] gives B = [3, 2, 1]

Values are JSON. Integers are si32, numbers with a point f32 and truth values i1, unless
a type follows, as in `A = [1, 2] : si8`. Where the type of a result is shown, it is
checked too. What does not fit a line goes on in the next one, indented further.

A program with its error in the next fence has no results: the error is that of
compiling it or else of calling it with the inputs that stand behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gingham
from gingham.dialects.eltwise.element_types import ELEMENT_TYPES
from gingham.runtime.arguments import dtype_named

DEFAULT = "default"
"""Stands for the default device, whatever its name."""

_COLUMNS = 88
_NAME = re.compile(r"(?:^|, )([A-Za-z]\w*'?) = ")
_GIVES = re.compile(r"(?:^| )gives(?: |$)")
_DEFAULT_TYPES = {"i": "si32", "f": "f32", "b": "i1"}


class ProgramError(Exception):
    """A program that is not what the page says it is."""


@dataclass(frozen=True)
class Call:
    """A comment behind a program: inputs and, unless they are wrong, results."""

    inputs: str
    results: str | None
    first: int
    """The number of the first line of the comment in the fence."""
    last: int


def error_of(lines: Sequence[str]) -> list[str]:
    """The error of a program that is wrong; raises ProgramError when it is right."""
    try:
        function = _function(lines, "reference")
        for call in _calls(lines):
            function(**_arrays(call.inputs))
    except gingham.GinghamError as error:
        return error.render().replace("<string>", "program.tile").splitlines()
    raise ProgramError("the program is shown with an error, and has none")


def with_results(lines: Sequence[str], device: str) -> list[str]:
    """The program with what it computes on a device in the comments behind it."""
    result = list(lines)
    try:
        function = _function(lines, device)
        for call in reversed(list(_calls(lines))):
            result[call.first : call.last + 1] = _evaluated(call, function)
    except gingham.GinghamError as error:
        raise ProgramError(f"the program is wrong\n{error.render()}") from error
    return result


def _function(lines: Sequence[str], device: str) -> gingham.Function:
    chosen = None if device == DEFAULT else device
    return gingham.compile("\n".join(lines), device=chosen)


def _calls(lines: Sequence[str]) -> Iterator[Call]:
    first = next((n + 1 for n, line in enumerate(lines) if line == "}"), len(lines))
    while first < len(lines):
        last = first
        while last + 1 < len(lines) and lines[last + 1].startswith("//  "):
            last += 1
        words = [line.removeprefix("//").strip() for line in lines[first : last + 1]]
        inputs, *results = _GIVES.split(" ".join(words), maxsplit=1)
        yield Call(inputs, results[0] if results else None, first, last)
        first = last + 1


def _evaluated(call: Call, function: gingham.Function) -> list[str]:
    """The comment with the results that the inputs really give."""
    if call.results is None:
        raise ProgramError(f"'{call.inputs}' shows no result")
    shown = dict(_values(call.results))
    outputs = function(**_arrays(call.inputs))
    arrays: Sequence[NDArray[Any]] = (
        outputs if len(function.output_names) > 1 else [outputs]
    )
    results = ", ".join(
        f"{name} = {_format(array, with_type=' : ' in shown.get(name, ''))}"
        for name, array in zip(function.output_names, arrays, strict=True)
    )
    start = f"// {call.inputs}".rstrip()
    line = f"{start} gives {results}"
    return [line] if len(line) <= _COLUMNS else [start, f"//   gives {results}"]


def _arrays(text: str) -> dict[str, NDArray[Any]]:
    return {name: _parse(value) for name, value in _values(text)}


def _values(text: str) -> Iterator[tuple[str, str]]:
    """The values in `A = [1, 2] : si8, B = 3` as text, by name."""
    names = list(_NAME.finditer(text))
    for number, name in enumerate(names):
        following = names[number + 1 : number + 2]
        end = following[0].start() if following else len(text)
        yield name[1], text[name.end() : end]


def _parse(text: str) -> NDArray[Any]:
    value, _, element = text.partition(" : ")
    try:
        array = np.asarray(json.loads(value))
    except ValueError as error:
        raise ProgramError(f"cannot read the value '{value}': {error}") from error
    return array.astype(
        dtype_named(element.strip() or _DEFAULT_TYPES[array.dtype.kind])
    )


def _format(array: NDArray[Any], *, with_type: bool) -> str:
    values = array
    if array.dtype.kind not in "biu":
        rounded = [float(f"{value:.6g}") for value in array.astype(np.float64).flat]
        values = np.array(rounded).reshape(array.shape)
    text = json.dumps(values.tolist())
    if not with_type:
        return text
    element = next(n for n in ELEMENT_TYPES if dtype_named(n) == array.dtype)
    return f"{text} : {element}"

"""`gingham.compile`: Tile text to a function of NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ..errors import GinghamError
from .function import Function
from .options import CompileOptions, DeviceKeywords, DevicesKeywords, spelled_out
from .parsed import text_program
from .program import Program

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .parsed import ParsedProgram
    from .placement.function import PlacedFunction


@overload
def compile(source: str | Program, **options: Unpack[DeviceKeywords]) -> Function: ...
@overload
def compile(
    source: str | Program, **options: Unpack[DevicesKeywords]
) -> PlacedFunction: ...
@spelled_out(DeviceKeywords, DevicesKeywords)
def compile(source: str | Program, **options: Any) -> Function:
    """A function of arrays from the text of a Tile program, or from a `Program`.

    `device` is a device of `gingham.devices()` or its name; without it the default
    device is taken at the first call. `hardware` is the description to compile by, its
    name or the path of its file; without it the one that fits the device.

    With a list of devices each operation runs on the one where the whole ends first,
    and the function is a `PlacedFunction`: `place` forces tensors that the program
    computes onto devices, as in `place={"C": "nvidia.0"}`, and with `measure` what is
    not known yet is measured on each device at the first call.

    `constants` names inputs that are the same arrays in many calls, such as weights:
    what depends on them only, such as packing them for the kernels, is done once for an
    array, not in every call. Such an array must not change unless the function is told
    by `Function.refresh`. `tuned` says whether decisions that `tile-tune` has measured
    are used, where there are any. `fast_math` allows compilers to reorder sums and
    functions to lose digits: see `docs/accuracy.md`. `check` says, in place of the
    setting, whether first results are compared with what they should be: see
    `docs/checking.md`. With `profile` calls are measured, and `Function.profile` tells
    what they cost: see `docs/profiling.md`.

    Raises GinghamError, located in the text, for a mistake in the program, and for a
    device that does not exist or does not work.

    ```python
    f = gingham.compile("function (A[M, K], B[K, N]) -> (C) "
                        "{ C[i, j : M, N] = +(A[i, k] * B[k, j]); }")
    C = f(A, B)
    ```
    """
    chosen = CompileOptions(**options)
    if isinstance(source, Program):
        return _function(source.parsed, chosen, [*source.constants.values()])
    require_text(source)
    return _function(text_program(source), chosen)


@overload
def compile_file(
    path: str | os.PathLike[str], **options: Unpack[DeviceKeywords]
) -> Function: ...
@overload
def compile_file(
    path: str | os.PathLike[str], **options: Unpack[DevicesKeywords]
) -> PlacedFunction: ...
@spelled_out(DeviceKeywords, DevicesKeywords)
def compile_file(path: str | os.PathLike[str], **options: Any) -> Function:
    """As `compile`, for a program in a file, whose name errors and comments show."""
    from ..frontend.source import read

    program = text_program(read(path), os.fspath(path))
    return _function(program, CompileOptions(**options))


@spelled_out(DeviceKeywords)
def compile_source(text: str, file: str, **options: Unpack[DeviceKeywords]) -> Function:
    """As `compile_file`, for the text of a file that has been read already."""
    return Function(text_program(text, file), CompileOptions(**options))


def _function(
    program: ParsedProgram,
    options: CompileOptions,
    captured: Sequence[NDArray[Any]] = (),
) -> Function:
    if options.devices is None:
        if options.place is not None or options.measure:
            raise GinghamError(
                "'place' and 'measure' are for programs on several devices",
                hint='give a list, such as device=["intel.0", "nvidia.0"]',
            )
        return Function(program, options, captured)
    if options.hardware is not None:
        raise GinghamError(
            "one hardware description can not be for several devices",
            hint="leave out 'hardware'",
        )
    from .placement.function import PlacedFunction

    return PlacedFunction(program, options, captured)


def require_text(source: object) -> None:
    """Refuse what is no text of a program."""
    if not isinstance(source, str):
        raise GinghamError(
            f"expected the text of a program, got {type(source).__name__}",
            hint="gingham.compile_file compiles a file",
        )

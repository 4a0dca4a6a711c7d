"""`gingham.compile`: Tile text to a function of NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from ..errors import GinghamError
from .cache.parsed import text_program
from .devices import chosen_device
from .function import Function
from .profiling.starting import measured

if TYPE_CHECKING:
    from ..targets.hardware import Hardware
    from .cache.parsed import ParsedProgram
    from .device import Device
    from .placement.function import PlacedFunction
    from .program import Program


@overload
def compile(
    source: str | Program,
    *,
    device: str | Device | None = None,
    hardware: str | Hardware | None = None,
    constants: Collection[str] = (),
    tuned: bool = True,
    fast_math: bool = False,
    check: bool | None = None,
    profile: bool = False,
) -> Function: ...
@overload
def compile(
    source: str | Program,
    *,
    device: Sequence[str | Device],
    constants: Collection[str] = (),
    tuned: bool = True,
    fast_math: bool = False,
    check: bool | None = None,
    profile: bool = False,
    place: Mapping[str, str] | None = None,
    measure: bool = False,
) -> PlacedFunction: ...
def compile(
    source: str | Program,
    *,
    device: str | Device | Sequence[str | Device] | None = None,
    hardware: str | Hardware | None = None,
    constants: Collection[str] = (),
    tuned: bool = True,
    fast_math: bool = False,
    check: bool | None = None,
    profile: bool = False,
    place: Mapping[str, str] | None = None,
    measure: bool = False,
) -> Function:
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
    from .program import Program

    if not isinstance(source, Program):
        require_text(source)
    is_text = isinstance(source, str)
    return _compiled(
        text_program(source) if is_text else source,
        source if is_text else None,
        device,
        hardware,
        place,
        measure,
        constants,
        tuned,
        fast_math,
        check,
        profile,
    )


@overload
def compile_file(
    path: str | os.PathLike[str],
    *,
    device: str | Device | None = None,
    hardware: str | Hardware | None = None,
    constants: Collection[str] = (),
    tuned: bool = True,
    fast_math: bool = False,
    check: bool | None = None,
    profile: bool = False,
) -> Function: ...
@overload
def compile_file(
    path: str | os.PathLike[str],
    *,
    device: Sequence[str | Device],
    constants: Collection[str] = (),
    tuned: bool = True,
    fast_math: bool = False,
    check: bool | None = None,
    profile: bool = False,
    place: Mapping[str, str] | None = None,
    measure: bool = False,
) -> PlacedFunction: ...
def compile_file(
    path: str | os.PathLike[str],
    *,
    device: str | Device | Sequence[str | Device] | None = None,
    hardware: str | Hardware | None = None,
    constants: Collection[str] = (),
    tuned: bool = True,
    fast_math: bool = False,
    check: bool | None = None,
    profile: bool = False,
    place: Mapping[str, str] | None = None,
    measure: bool = False,
) -> Function:
    """As `compile`, for a program in a file, whose name errors and comments show."""
    from ..frontend.source import read

    text = read(path)
    return _compiled(
        text_program(text, os.fspath(path)),
        text,
        device,
        hardware,
        place,
        measure,
        constants,
        tuned,
        fast_math,
        check,
        profile,
    )


def compile_source(
    text: str,
    file: str,
    *,
    device: str | Device | None = None,
    hardware: str | Hardware | None = None,
    tuned: bool = True,
    fast_math: bool = False,
) -> Function:
    """As `compile_file`, for the text of a file that has been read already."""
    return Function(
        text_program(text, file),
        chosen_device(device),
        text,
        None,
        hardware,
        (),
        tuned,
        fast_math,
        None,
    )


def _compiled(
    program: Program | ParsedProgram,
    text: str | None,
    device: str | Device | Sequence[str | Device] | None,
    hardware: str | Hardware | None,
    place: Mapping[str, str] | None,
    measure: bool,
    constants: Collection[str],
    tuned: bool,
    fast_math: bool,
    check: bool | None,
    profile: bool,
) -> Function:
    """See `compile`; `text` is the source, None for a program made in Python."""
    from .program import Program

    if isinstance(device, Sequence) and not isinstance(device, str):
        from .placement.compile import compile_placed

        require_no_hardware(hardware)
        function: Function = compile_placed(
            program, text, device, place, measure, constants, tuned, fast_math, check
        )
        return measured(function) if profile else function
    if place is not None or measure:
        raise GinghamError(
            "'place' and 'measure' are for programs on several devices",
            hint='give a list, such as device=["intel.0", "nvidia.0"]',
        )
    if isinstance(program, Program):
        return program.compile(
            device,
            hardware=hardware,
            constants=constants,
            tuned=tuned,
            fast_math=fast_math,
            check=check,
            profile=profile,
        )
    chosen = chosen_device(device)
    function = Function(
        program, chosen, text, None, hardware, constants, tuned, fast_math, check
    )
    return measured(function) if profile else function


def require_no_hardware(hardware: object) -> None:
    """Refuse one description for several devices."""
    if hardware is not None:
        raise GinghamError(
            "one hardware description can not be for several devices",
            hint="leave out 'hardware'",
        )


def require_text(source: object) -> None:
    """Refuse what is no text of a program."""
    if not isinstance(source, str):
        raise GinghamError(
            f"expected the text of a program, got {type(source).__name__}",
            hint="gingham.compile_file compiles a file",
        )

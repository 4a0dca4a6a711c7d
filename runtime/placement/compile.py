"""`compile_placed`: what `gingham.compile` does for several devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import GinghamError
from ..devices import chosen_device
from .function import PlacedFunction

if TYPE_CHECKING:
    from ..cache.parsed import ParsedProgram
    from ..device import Device
    from ..program import Program


def compile_placed(
    program: Program | ParsedProgram,
    text: str | None,
    devices: Sequence[str | Device],
    places: Mapping[str, str] | None,
    measure: bool,
    constants: Collection[str],
    tuned: bool,
    fast_math: bool,
    check: bool | None,
) -> PlacedFunction:
    """See `gingham.compile`, for several devices; `text` is the source, if any."""
    from ..program import Program

    is_traced = isinstance(program, Program)
    return PlacedFunction(
        program.module if is_traced else program,
        chosen_devices(devices),
        text,
        places,
        program.constants if is_traced else None,
        constants,
        tuned,
        fast_math,
        measure,
        check,
    )


def chosen_devices(devices: Sequence[str | Device]) -> list[Device]:
    """The devices that a caller asks for, which work, each once.

    Raises GinghamError for none at all, and for one that can not be used.
    """
    chosen: list[Device] = []
    for each in devices:
        device = chosen_device(each)
        if device is not None and device not in chosen:
            chosen.append(device)
    if not chosen:
        raise GinghamError(
            "expected one device or more, got none",
            hint="gingham.devices() lists the devices",
        )
    return chosen

"""Which hardware description a device is compiled for.

The first that there is: what the caller says, what the setting `hardware` says
(`docs/settings.md`), and what the device tells of itself, together with what the
operating system tells of the caches where the device is the CPU of this machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import GinghamError, warn
from ..targets.hardware import Calibration, Hardware, load_hardware
from .backends import backend_of
from .load import others_meanwhile
from .settings import find

if TYPE_CHECKING:
    from ..passes.target_options import TargetOptions
    from .device import Device, Named

_QUIET = 0.05
"""The share of the cores that others may take of a machine on which is measured."""


def chosen_hardware(hardware: str | Hardware | None) -> Hardware | None:
    """The description that a caller asks for, by itself, its name or its file.

    Raises GinghamError where there is none of that name or the file is wrong.
    """
    if hardware is None or isinstance(hardware, Hardware):
        return hardware
    return load_hardware(hardware)


def hardware_of(device: Named, chosen: Hardware | None = None) -> Hardware:
    """The description that programs are compiled by for a device.

    Raises GinghamError where the setting names none.
    """
    if chosen is not None:
        return chosen
    named = find("hardware")
    if named.value is None:
        return backend_of(device).hardware()
    try:
        return load_hardware(named.value)
    except GinghamError as error:
        raise named.blame(error) from error


def measured_hardware(device: Device) -> Calibration:
    """The description of a device with figures that are measured on it, in seconds.

    Warns when other processes were busy meanwhile. Raises GinghamError for a device
    that cannot be measured.
    """
    device.require_usable()
    with others_meanwhile() as others:
        calibration = backend_of(device).measured(hardware_of(device))
    if others.share > _QUIET:
        warn(
            f"device '{device.name}' was measured while other programs took "
            f"{others.share:.0%} of the cores: its figures are those of a busy machine",
            UserWarning,
        )
    return calibration


def target_options(
    device: Device, chosen: Hardware | None = None, fast_math: bool = False
) -> TargetOptions:
    """What the passes need to know of a device; AVX-512 for the interpreter.

    With `fast_math` all functions are the runtime's own.
    """
    from ..passes.target_options import TargetOptions

    needs = backend_of(device).needs(fast_math=fast_math)
    return TargetOptions(
        unsupported=needs.unsupported,
        functions=needs.functions,
        vectorizes_loops=needs.vectorizes_loops,
        device="" if device.is_reference else device.name,
        hardware=hardware_of(device, chosen),
    )

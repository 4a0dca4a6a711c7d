"""Which hardware description a device is compiled for.

The first that there is: what the caller says, what the setting `hardware` says
(`docs/settings.md`), and what the device tells of itself, together with what the
operating system tells of the caches where the device is the CPU of this machine.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import GinghamError, warn
from ..targets.hardware import CacheSize, Hardware, load_hardware, select_hardware
from .load import others_meanwhile
from .settings import find

if TYPE_CHECKING:
    from ..passes.target_options import TargetOptions
    from ..targets.opencl.devices.calibration import Calibration
    from .device import Device, Named

_LINUX_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_QUIET = 0.05
"""The share of the cores that others may take of a machine on which is measured."""
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


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
        return _told_by(device)
    try:
        return load_hardware(named.value)
    except GinghamError as error:
        raise named.blame(error) from error


def measured_hardware(device: Device) -> Calibration:
    """The description of a device with figures that are measured on it, in seconds.

    Warns when other processes were busy meanwhile. Raises GinghamError for the
    reference interpreter.
    """
    from ..targets.opencl.devices.calibration import calibrate
    from ..targets.opencl.devices.device import OpenCLDevice

    if not isinstance(device, OpenCLDevice):
        raise GinghamError(
            f"device '{device.name}' cannot be measured",
            hint="`tile-devices` lists those of OpenCL",
        )
    device.require_usable()
    with others_meanwhile() as others:
        calibration = calibrate(device, hardware_of(device))
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
    from ..targets.opencl.devices.device import OpenCLDevice
    from ..targets.opencl.devices.own_functions import own_functions

    hardware = hardware_of(device, chosen)
    if not isinstance(device, OpenCLDevice):
        return TargetOptions(hardware=hardware)
    return TargetOptions(
        unsupported=() if device.details.supports_fp64 else ("f64",),
        functions=() if fast_math else own_functions(device),
        vectorizes_loops=device.kind == "cpu",
        device=device.name,
        hardware=hardware,
    )


def _told_by(device: Named) -> Hardware:
    from ..targets.opencl.devices.handle import DeviceHandle

    if not isinstance(device, DeviceHandle):
        return load_hardware("cpu-avx512")
    details = device.details
    return select_hardware(
        device.kind,
        details.vendor,
        details.device,
        native_float_width=details.native_float_width,
        compute_units=details.compute_units,
        local_memory_bytes=details.local_memory_bytes,
        work_group_limit=details.max_work_group_size,
        caches=host_caches() if device.kind == "cpu" else (),
    )


@cache
def host_caches() -> tuple[CacheSize, ...]:
    """The data caches of this machine's first core, the nearest first.

    Empty where the operating system does not tell.
    """
    found: dict[int, CacheSize] = {}
    threads = 1
    for folder in sorted(_LINUX_CACHES.glob("index*")):
        try:
            texts = {
                name: (folder / name).read_text().strip()
                for name in ("type", "level", "size", "shared_cpu_list")
            }
            ways = int((folder / "ways_of_associativity").read_text())
            size, level = _bytes(texts["size"]), int(texts["level"])
            users = _count(texts["shared_cpu_list"])
        except (OSError, ValueError):
            return ()
        if texts["type"] == "Instruction" or size <= 0 or ways <= 0:
            continue
        if level == 1:
            threads = users
        cores = max(users // threads, 1)
        # The last level counts as one for all cores, an inner one as that of a core.
        is_shared = level > 2 and cores > 1
        own = size if is_shared else size // cores
        found[level] = CacheSize(own, ways, is_shared)
    return tuple(found[level] for level in sorted(found))


def _count(processors: str) -> int:
    """How many there are in `0-3,8`."""
    count = 0
    for part in processors.split(","):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count


def _bytes(text: str) -> int:
    """The number of bytes in `1024K`."""
    unit = _UNITS.get(text[-1:], 1)
    return int(text.rstrip("".join(_UNITS))) * unit

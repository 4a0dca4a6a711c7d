"""Where measured decisions are kept, and which of them hold for a device.

The setting `records` names the file, or is `off`: then decisions are left to the model.
Without it the file is `records.sqlite3` in the user's folder for
data of programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import GinghamError, warn
from ..settings.folders import user_folder
from .settings import setting

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.kernel_by_kernel import Expect
    from ..passes.target_options import TargetOptions
    from .device import Device

OFF = "off"
FILE = "records.sqlite3"


def records_path() -> Path | None:
    """The file of the records, which may not be there; None where they are off."""
    chosen: str | None = setting("records")
    if chosen is not None:
        return None if chosen == OFF else Path(chosen)
    folder = user_folder("data")
    return None if folder is None else folder / FILE


def run_stages_by_records(
    module_of: Callable[[], ModuleOp],
    context: Context,
    options: TargetOptions,
    stages: Sequence[str],
    device: Device,
    expect: Expect | None = None,
) -> ModuleOp:
    """A module taken through stages of the pipeline, with measured decisions.

    Where these do not fit what the passes are now, the model decides. `expect` is as of
    `run_stages`.
    """
    from xdsl.utils.exceptions import DiagnosticException

    from ..passes.pipelines import run_stages
    from ..passes.stripe.decide.recall import RecordsWarning

    recall = recall_options(device, options)
    problem = ""
    if recall:
        module = module_of()
        try:
            recalling = replace(options, recall=recall)
            run_stages(module, context, recalling, stages, expect=expect)
            return module
        except (GinghamError, DiagnosticException) as error:
            problem = str(error)
    module = module_of()
    run_stages(module, context, options, stages, expect=expect)
    if problem:
        warn(
            f"measured decisions are left out, as they give an error: {problem}",
            RecordsWarning,
        )
    return module


def recall_options(
    device: Device, options: TargetOptions
) -> tuple[tuple[str, str], ...]:
    """The options of `stripe-recall` for a device; none where nothing is recorded."""
    path = records_path()
    if path is None or '"' in str(path) or not path.exists():
        return ()
    return (
        ("records", str(path)),
        ("target", target_text(device, options)),
        ("compiler", compiler_version()),
    )


def recall_state(device: Device, options: TargetOptions) -> str:
    """What measured decisions there may be: the same text has the same decisions."""
    path = records_path()
    if path is None or not recall_options(device, options):
        return ""
    # What was written last may be in the file beside it.
    files = [file for file in path.parent.glob(f"{path.name}*") if file.is_file()]
    states = [
        (file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files
    ]
    return f"{path} {sorted(states)}"


def target_text(device: Device, options: TargetOptions) -> str:
    """What measurements depend on beside the program: device, driver, vectors."""
    registers = options.hardware.vector_registers
    vectors = f"{registers} vectors of {options.vector_bits} bits"
    return (
        "; ".join([*device_parts(device), vectors]).replace('"', "'").replace("\\", "/")
    )


def device_parts(device: Device) -> list[str]:
    """What a device and its driver are: where this is the same, measurements hold."""
    properties = device.properties
    return [
        str(properties.get("device", device.name)),
        str(properties.get("platform", "")),
        str(properties.get("driver_version", "")),
        f"{properties.get('compute_units', 1)} units",
    ]


@cache
def compiler_version() -> str:
    """The version of this package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gingham")
    except PackageNotFoundError:
        return "unknown"

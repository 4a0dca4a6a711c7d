"""Folders that show a wrong kernel without this package: for who mends the compiler.

They lie in the user's folder for data, in `wrong-kernels`, one for each program that a
device's compiler got wrong. What is there is never written again, and there are no more
than `_MOST_FOLDERS`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....settings.folders import user_folder
from ...code import host_table
from ...host_program import Slot
from ..compiled import CompiledCode
from ..devices.discovery import discover

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..devices.device import OpenCLDevice

    Array = NDArray[Any]

_FOLDER = "wrong-kernels"
_MOST_FOLDERS = 20
_MOST_BYTES = 1 << 26
"""Larger inputs are drawn by the script instead of stored."""
_SCRIPT = Path(__file__).with_name("reproduce.txt")
"""The script that is put into each folder, which needs NumPy and pyopencl."""


def write_reproducer(
    device: OpenCLDevice,
    code: CompiledCode,
    message: str,
    lowered: Callable[[], ModuleOp],
    inputs: Sequence[Array],
) -> str:
    """Write a folder that shows what wrong code does; where it is, for the user.

    `lowered` gives the program at the opencl level.
    """
    parent = (user_folder("data") or Path(tempfile.gettempdir())) / _FOLDER
    parts = (code.source, *code.options, repr(device.properties))
    folder = parent / sha256("\0".join(parts).encode()).hexdigest()[:16]
    command = f"python {folder / 'reproduce.py'}"
    if folder.exists():
        return f"`{command}` shows it"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if len(list(parent.iterdir())) >= _MOST_FOLDERS:
            return f"what shows it is not stored: {parent} has {_MOST_FOLDERS} programs"
        with tempfile.TemporaryDirectory(dir=parent, prefix=".new-") as made:
            new = Path(made) / folder.name
            new.mkdir()
            _fill(new, device, code, message, lowered, inputs)
            os.rename(new, folder)
    except OSError as error:
        if not folder.exists():
            return f"what shows it could not be stored in {parent}: {error.strerror}"
    return f"`{command}` shows it"


def _fill(
    folder: Path,
    device: OpenCLDevice,
    code: CompiledCode,
    message: str,
    lowered: Callable[[], ModuleOp],
    inputs: Sequence[Array],
) -> None:
    import numpy as np

    is_small = sum(array.nbytes for array in inputs) <= _MOST_BYTES
    table = host_table(code.program) | {
        "message": message,
        "platform": str(device.properties["platform"]),
        "device": str(device.properties["device"]),
        "driver": str(device.properties["driver_version"]),
        "libraries": discover().libraries,
        "options": code.options,
        "types": [_numpy_name(slot) for slot in code.program.slots],
    }
    (folder / "program.json").write_text(json.dumps(table, indent=1))
    (folder / "kernels.cl").write_text(code.source)
    (folder / "program.mlir").write_text(f"{lowered()}\n")
    (folder / "reproduce.py").write_text(_SCRIPT.read_text())
    for number, array in enumerate(inputs if is_small else ()):
        # NumPy's files do not know bfloat16.
        plain = array.view(np.uint16) if array.dtype.kind == "V" else array
        np.save(folder / f"input-{number}.npy", plain, allow_pickle=False)


def _numpy_name(slot: Slot) -> str:
    """A type of NumPy's own that has the bits of a slot's elements."""
    return (
        slot.dtype.name
        if slot.dtype.kind in "biuf"
        else f"uint{8 * slot.dtype.itemsize}"
    )

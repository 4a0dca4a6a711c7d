"""Measures what units take, each alone, on each device, and keeps it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...placement.decide import task_graph_of
from ...placement.units import Unit, unit_module
from ..hardware import hardware_of
from ..load import is_calm, load_of
from ..options import CompileOptions
from ..parsed import ModuleProgram
from .database import database
from .links import device_text
from .segment_function import SegmentFunction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..device import Device

_TRIES = 5
_MOST_TRIES = 50
_FEW_SECONDS, _SECONDS = 0.01, 0.2
"""How long a unit is run again, after the first time: at least, as what disturbs one
lasts longer than many short runs, and at most."""


def measure_units(
    module: ModuleOp, devices: Sequence[Device], again: bool = False
) -> int:
    """Measure the units of a flattened module on each device: how many there were.

    What is known already is measured `again` only when asked for. What a device can not
    run is left out: the decision finds out why.
    """
    units = {unit.key: unit for unit in task_graph_of(module).units}
    count = 0
    for device in devices:
        target = device_text(device)
        known = {} if again else database().times(target, units)
        found: dict[str, float] = {}
        for key, unit in units.items():
            seconds = None if key in known else unit_seconds(unit, device)
            if seconds is not None:
                found[key] = seconds
        database().add_times(target, found, _TRIES, is_calm(load_of(device)))
        count += len(found)
    return count


def unit_seconds(unit: Unit, device: Device) -> float | None:
    """The fastest of several runs of a unit on its own; None where it can not run."""
    try:
        function = SegmentFunction(
            ModuleProgram(unit_module(unit)), CompileOptions(device=device)
        )
        inputs = [_some_array(*type) for type in function.input_types]
        launch = hardware_of(device).launch_microseconds * 1e-6
        best = math.inf
        function.kernel_seconds(inputs, launch)
        start = time.perf_counter()
        for number in range(1, _MOST_TRIES):
            best = min(best, function.kernel_seconds(inputs, launch))
            least = _SECONDS if number < _TRIES else _FEW_SECONDS
            if number > 1 and time.perf_counter() - start > least:
                break
    except GinghamError:
        return None
    return max(best, 1e-9)


def _some_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Small numbers, which are valid positions as well."""
    import numpy as np

    generator = np.random.default_rng(0)
    if dtype.kind in "iub":
        return generator.integers(0, 2, shape).astype(dtype)
    return generator.random(shape, np.float32).astype(dtype)

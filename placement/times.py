"""How long each unit takes on each device, and where the figure is from.

A measurement of the very unit on the very device counts. Where there is none, it is the
cost model's prediction, corrected by what the measured units of the program took on
that device over what was predicted for them: models are wrong in similar ways for
similar work. A device that other work takes a part of needs longer in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ..dialects.eltwise.element_types import ELEMENT_TYPES, name_of
from ..targets.hardware.machine import Machine, MachineDevice
from .prediction import Prediction, predicted
from .units import Unit

MEASURED = "measured"
PREDICTED = "predicted"
UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class UnitTime:
    """The time of a unit on a device."""

    seconds: float
    """With the device's load; infinite where it cannot run."""
    source: str
    """`measured`, `predicted` or `unsupported`."""
    predicted: float
    """What the cost model says, without any correction."""
    correction: float = 1.0
    """What the prediction was multiplied by, from measurements of other units."""
    why: str = ""
    """Why it cannot run there."""
    scratch_bytes: int = 0
    """The memory that it takes there while it runs, beside inputs and outputs."""


def unit_times(
    units: Sequence[Unit], machine: Machine
) -> tuple[tuple[UnitTime, ...], ...]:
    """For each unit its time on each device of the machine."""
    columns = [device_times(units, device) for device in machine.devices]
    return tuple(zip(*columns, strict=True)) if units else ()


def device_times(units: Sequence[Unit], device: MachineDevice) -> list[UnitTime]:
    """The times of units on one device."""
    lacks = [_lacks(unit, device) for unit in units]
    predictions = [
        Prediction(math.inf, 0) if lack else predicted(unit, device.hardware)
        for unit, lack in zip(units, lacks, strict=True)
    ]
    keys = [unit.key for unit in units]
    correction = _correction(keys, [each.seconds for each in predictions], device)
    stretched = 1 / (1 - device.load)
    found: list[UnitTime] = []
    for key, prediction, lack in zip(keys, predictions, lacks, strict=True):
        measured = device.measured.get(key)
        model, scratch = prediction.seconds, prediction.scratch_bytes
        if lack:
            time = UnitTime(math.inf, UNSUPPORTED, model, why=lack)
        elif measured is not None:
            seconds = measured * stretched
            time = UnitTime(seconds, MEASURED, model, scratch_bytes=scratch)
        else:
            seconds = model * correction * stretched
            time = UnitTime(seconds, PREDICTED, model, correction, "", scratch)
        found.append(time)
    return found


def _correction(
    keys: Sequence[str], predictions: Sequence[float], device: MachineDevice
) -> float:
    """What measured units took together, over what was predicted for them."""
    measured = predicted = 0.0
    for key, seconds in zip(keys, predictions, strict=True):
        if key in device.measured and math.isfinite(seconds):
            measured += device.measured[key]
            predicted += seconds
    return measured / predicted if measured > 0 and predicted > 0 else 1.0


def _lacks(unit: Unit, device: MachineDevice) -> str:
    """Why a device cannot run a unit; empty where it can."""
    if not device.unsupported:
        return ""
    lacking = {ELEMENT_TYPES[name] for name in device.unsupported}
    for value in _values(unit):
        if isinstance(value.type, TensorType) and value.type.element_type in lacking:
            return f"it does not compute with {name_of(value.type.element_type)}"
    return ""


def _values(unit: Unit) -> list[SSAValue]:
    return [*unit.inputs, *(result for op in unit.ops for result in op.results)]

"""The explanation of a placement as tables for people."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from ...passes.clock import time_text
from ..solve import size_text
from .picture_style import shortened

if TYPE_CHECKING:
    from rich.table import Table

    from ..explained import Explained, ExplainedTime, ExplainedUnit

_WIDTH = 110
_DEVICE = 48
"""The columns of each device take so much more."""
_NAME = 20


def render(explanation: Explained) -> str:
    """The whole explanation as text."""
    from rich.console import Console

    stream = StringIO()
    width = _WIDTH + _DEVICE * len(explanation.devices)
    console = Console(file=stream, width=width, highlight=False, emoji=False)
    total = time_text(explanation.seconds)
    console.print(f"{total}; {explanation.reason}", markup=False)
    console.print(_units(explanation))
    console.print(_alternatives(explanation))
    console.print(_devices(explanation))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _table(*headings: str, words: int = 1) -> Table:
    """A table whose first columns are words, the others numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for number, heading in enumerate(headings):
        justify = "left" if number < words else "right"
        table.add_column(_safe(heading), justify=justify, no_wrap=number >= words)
    return table


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _units(explanation: Explained) -> Table:
    names = [device.name for device in explanation.devices]
    table = _table(
        "unit",
        "at",
        "device",
        *(f"on {shortened(name, _NAME)}" for name in names),
        "copied in",
        "taking",
        "start",
        "end",
        *(f"whole, if on {shortened(name, _NAME)}" for name in names),
        words=3,
    )
    for unit in explanation.units:
        table.add_row(*map(_safe, _row(unit, names)))
    return table


def _row(unit: ExplainedUnit, names: list[str]) -> list[str]:
    device = f"{unit.device} (forced)" if unit.is_forced else unit.device
    return [
        unit.name,
        unit.short_place,
        device,
        *(_time(unit.times[name]) for name in names),
        size_text(unit.bytes_in) if unit.bytes_in else "",
        time_text(unit.transfer_seconds) if unit.bytes_in else "",
        time_text(unit.start),
        time_text(unit.end),
        *(_whole(unit, name) for name in names),
    ]


def _time(time: ExplainedTime) -> str:
    if time.seconds is None:
        return "cannot"
    mark = "measured" if time.source == "measured" else "predicted"
    if time.correction != 1:
        mark += f" x {time.correction:.2g}"
    return f"{time_text(time.seconds)} {mark}"


def _whole(unit: ExplainedUnit, name: str) -> str:
    if name == unit.device:
        return "is there"
    seconds = unit.moved[name]
    return "cannot" if seconds is None else time_text(seconds)


def _alternatives(explanation: Explained) -> Table:
    table = _table("placement", "time", "of the decision's")
    for one in explanation.alternatives:
        name = f"{one.name} *" if one.is_chosen else one.name
        if one.seconds is None:
            table.add_row(_safe(name), "does not fit", "")
            continue
        share = one.seconds / explanation.seconds if explanation.seconds else 1.0
        table.add_row(_safe(name), time_text(one.seconds), f"{100 * share:.0f} %")
    return table


def _devices(explanation: Explained) -> Table:
    table = _table("device", "units", "busy", "memory at most", "of", "load")
    for device in explanation.devices:
        table.add_row(
            _safe(device.name),
            str(device.units),
            time_text(device.busy_seconds),
            size_text(device.peak_bytes),
            size_text(device.memory_bytes),
            f"{100 * device.load:.0f} %",
        )
    return table

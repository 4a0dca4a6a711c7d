"""The explanation of a placement as a page: one file, without a script or a link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...passes.clock import time_text
from ..solve import size_text
from .graph_picture import graph_picture
from .picture_style import COLOURS, safe, style
from .schedule_picture import schedule_picture

if TYPE_CHECKING:
    from ..explained import Explained, ExplainedTime, ExplainedUnit

_STYLE = """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
 font:15px/1.5 ui-sans-serif,system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 24px 60px}
h1{font-size:24px;margin:0 0 4px}
h2{font-size:17px;margin:36px 0 10px}
p{margin:4px 0;color:var(--soft);max-width:46em}
p.head{font-size:18px;color:var(--ink)}
.scroll{overflow:auto;background:var(--card);border:1px solid var(--line);
 border-radius:10px;padding:12px;max-height:900px}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:right;white-space:nowrap;
 border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:500}
th.word,td.word{text-align:left}
td.here{font-weight:600}
.key{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px}
.rail{display:inline-block;background:var(--line);height:10px;border-radius:5px;
 width:260px;vertical-align:middle}
.rail i{display:block;height:10px;border-radius:5px;background:var(--soft)}
tr.chosen .rail{outline:2px solid var(--ink);outline-offset:2px}
"""


def page(explanation: Explained, title: str) -> str:
    """The page. Names from the program are text in it, whatever they hold."""
    keys = "".join(
        f".key{number}{{background:var(--d{number})}}" for number in range(COLOURS)
    )
    parts = [
        f"<h1>{safe(title)}</h1>",
        f'<p class="head">{time_text(explanation.seconds)}, {_where(explanation)}</p>',
        f"<p>{safe(explanation.reason)}.</p>",
        "<h2>Alternatives</h2>",
        _alternatives(explanation),
        "<h2>The graph</h2>",
        "<p>A box is what runs in one go. Dashed lines are copies between devices, "
        "with their sizes and times. Point at anything for more.</p>",
        f"<p>{' &nbsp; '.join(_legend(explanation))}</p>",
        f'<div class="scroll">{graph_picture(explanation)}</div>',
        "<h2>The schedule</h2>",
        "<p>A row for each device, then one for each way that data is copied.</p>",
        f'<div class="scroll">{schedule_picture(explanation)}</div>',
        "<h2>Units</h2>",
        "<p>The time of each unit on each device, and in brackets what the whole would "
        "take with only that unit there.</p>",
        f'<div class="scroll">{_units(explanation)}</div>',
        "<h2>Devices</h2>",
        _devices(explanation),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{safe(title)}</title>"
        f"<style>{style(':root')}{_STYLE}{keys}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _where(explanation: Explained) -> str:
    used = [device.name for device in explanation.devices if device.units]
    if not used:
        return "nothing to run"
    return "on " + safe(" and ".join(used))


def _legend(explanation: Explained) -> Iterable[str]:
    for number, device in enumerate(explanation.devices):
        key = f'<span class="key key{number % COLOURS}"></span>'
        yield f"{key}{safe(device.name)}"


def _table(head: Sequence[str], rows: Iterable[str], words: int) -> str:
    cells = [
        f'<th class="word">{safe(name)}</th>' if n < words else f"<th>{safe(name)}</th>"
        for n, name in enumerate(head)
    ]
    return f"<table><tr>{''.join(cells)}</tr>{''.join(rows)}</table>"


def _alternatives(explanation: Explained) -> str:
    known = [one.seconds for one in explanation.alternatives if one.seconds is not None]
    longest = max(known, default=0.0) or 1.0
    colours = {
        f"all on {device.name}": f";background:var(--d{number % COLOURS})"
        for number, device in enumerate(explanation.devices)
    }
    rows: list[str] = []
    for one in explanation.alternatives:
        name = f'<td class="word{" here" * one.is_chosen}">{safe(one.name)}</td>'
        if one.seconds is None:
            rows.append(f"<tr>{name}<td>does not fit</td><td></td></tr>")
            continue
        row = ' class="chosen"' if one.is_chosen else ""
        look = f"width:{100 * one.seconds / longest:.1f}%{colours.get(one.name, '')}"
        bar = f'<span class="rail"><i style="{look}"></i></span>'
        time = time_text(one.seconds)
        rows.append(f"<tr{row}>{name}<td>{time}</td><td>{bar}</td></tr>")
    return _table(("placement", "time", ""), rows, 1)


def _units(explanation: Explained) -> str:
    names = [device.name for device in explanation.devices]
    head = ["unit", "at", "device", *(f"on {name}" for name in names)]
    head += ["copied in", "taking", "start", "end"]
    rows = (_unit(unit, names) for unit in explanation.units)
    return _table(head, rows, 3)


def _unit(unit: ExplainedUnit, names: Sequence[str]) -> str:
    hover = safe(f"{', '.join(unit.operations)}\n{unit.reason}")
    device = f"{unit.device} (forced)" if unit.is_forced else unit.device
    cells = [
        f'<td class="word" title="{hover}">{safe(unit.name)}</td>',
        f'<td class="word">{safe(unit.short_place)}</td>',
        f'<td class="word">{safe(device)}</td>',
    ]
    for name in names:
        kind = ' class="here"' if name == unit.device else ""
        cells.append(f"<td{kind}>{_time(unit.times[name], unit.moved.get(name))}</td>")
    size = size_text(unit.bytes_in) if unit.bytes_in else ""
    seconds = time_text(unit.transfer_seconds) if unit.bytes_in else ""
    start, end = time_text(unit.start), time_text(unit.end)
    cells += [f"<td>{cell}</td>" for cell in (size, seconds, start, end)]
    return f"<tr>{''.join(cells)}</tr>"


def _time(time: ExplainedTime, whole: float | None) -> str:
    if time.seconds is None:
        return f'<span title="{safe(time.source)}">cannot</span>'
    mark = "measured" if time.source == "measured" else "predicted"
    if time.correction != 1:
        mark += f" \u00d7 {time.correction:.2g}"
    moved = "" if whole is None else f" ({time_text(whole)})"
    return f"{time_text(time.seconds)} {mark}{moved}"


def _devices(explanation: Explained) -> str:
    rows = [
        f'<tr><td class="word">{safe(device.name)}</td><td>{device.units}</td>'
        f"<td>{time_text(device.busy_seconds)}</td>"
        f"<td>{size_text(device.peak_bytes)}</td>"
        f"<td>{size_text(device.memory_bytes)}</td>"
        f"<td>{100 * device.load:.0f} %</td></tr>"
        for device in explanation.devices
    ]
    head = ("device", "units", "busy", "memory at most", "of", "load")
    return _table(head, rows, 1)

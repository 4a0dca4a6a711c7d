"""The schedule of a placement as a picture: a row for each device and for each link."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...passes.clock import time_text
from ..solve import size_text
from .picture_style import COLOURS, rectangle, shortened, text, titled

if TYPE_CHECKING:
    from ..explained import Explained

_LEFT, _WIDTH, _ROW, _TOP = 150.0, 860.0, 34.0, 26.0
_TICKS = 8


def schedule_picture(explanation: Explained) -> str:
    """An SVG element."""
    total = explanation.seconds or 1e-9
    rows = [device.name for device in explanation.devices]
    links = list(dict.fromkeys((t.source, t.target) for t in explanation.transfers))
    height = _TOP + _ROW * (len(rows) + len(links)) + 12
    body = _ticks(total, height)
    for number, name in enumerate(rows):
        y = _TOP + number * _ROW
        body.append(text(_LEFT - 10, y + 20, shortened(name, 20), "end strong"))
        for unit in explanation.units:
            if unit.device == name:
                kind = f"box d{number % COLOURS}"
                took = time_text(unit.end - unit.start)
                hover = (
                    f"{unit.name}  {unit.place}\n{took}, from {time_text(unit.start)}"
                )
                body.append(
                    _bar(unit.start, unit.end, total, y, kind, unit.name, hover)
                )
    for number, (source, target) in enumerate(links, len(rows)):
        y = _TOP + number * _ROW
        name = shortened(f"{source} \u2192 {target}", 22)
        body.append(text(_LEFT - 10, y + 20, name, "end soft"))
        for copy in explanation.transfers:
            if (copy.source, copy.target) != (source, target):
                continue
            tensor = explanation.tensors[copy.tensor]
            start, end = copy.start, copy.end
            size = size_text(tensor.size_bytes)
            hover = f"{tensor.name}, {size}\n{_when(start, end)}"
            body.append(_bar(start, end, total, y, "box copy", tensor.name, hover))
    width = _LEFT + _WIDTH + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="What runs when">{"".join(body)}</svg>'
    )


def _when(start: float, end: float) -> str:
    return f"{time_text(end - start)}, from {time_text(start)}"


def _bar(
    start: float, end: float, total: float, y: float, kind: str, name: str, hover: str
) -> str:
    x = _LEFT + _WIDTH * start / total
    width = max(_WIDTH * (end - start) / total, 1.0)
    parts = [rectangle(x, y + 4, width, _ROW - 8, kind, 4)]
    room = int((width - 10) / 7.2)
    if room >= min(len(name), 4):
        words = shortened(name, max(room, 1))
        parts.append(text(x + width / 2, y + 21, words, "mid"))
    return titled(hover, *parts)


def _ticks(total: float, height: float) -> list[str]:
    """Lines at round times."""
    step = 10 ** math.floor(math.log10(total / _TICKS))
    step *= next(n for n in (1, 2, 5, 10) if n * step * _TICKS >= total)
    found: list[str] = []
    for number in range(int(total / step) + 1):
        x = _LEFT + _WIDTH * number * step / total
        found.append(
            f'<line x1="{x:.1f}" y1="{_TOP - 6:.1f}" x2="{x:.1f}" '
            f'y2="{height - 8:.1f}" class="grid"/>'
        )
        label = "0" if number == 0 else time_text(number * step)
        found.append(text(x, 13, label, "mid soft"))
    return found

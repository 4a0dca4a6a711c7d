"""A roofline as a picture: SVG that needs nothing else, on light and on dark pages.

Both axes are logarithmic: operations per byte to the right, operations per second
upwards. Each memory is a slope, the arithmetic units are the flat roof. A dot is a
kernel, the larger the more of the time it took; numbers lead to the list beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ...errors import GinghamError
from .roofline import Roofline
from .summary import KernelRow

_WIDTH = 1000
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 610, 50, 60
_LIST = 640
_ROW = 17
_SMALLEST = 420
"""The height of a subplot, which may be more for a long list."""
_LONGEST_NAME = 27
_GIGA = 1e9

_STYLE = """
.page { fill: #ffffff } .ink { fill: #1c2b3a } .soft { fill: #5b6b7b }
.grid { stroke: #e3ebf4; fill: none } .roof { stroke: #2f6db5; fill: none }
.dot { fill: #c2570c; fill-opacity: 0.55; stroke: #c2570c }
.halo { fill: #ffffff; stroke: #ffffff; stroke-width: 3; stroke-opacity: 0.8 }
@media (prefers-color-scheme: dark) {
.page { fill: #12181f } .ink { fill: #e6edf3 } .soft { fill: #9fb0c0 }
.grid { stroke: #27323d } .roof { stroke: #79b0f0 }
.dot { fill: #ff9d57; stroke: #ff9d57 } .halo { fill: #12181f; stroke: #12181f }
}
""".strip()


@dataclass(frozen=True)
class Dot:
    """A kernel in the picture."""

    name: str
    flops_per_byte: float
    flops_per_second: float
    part_of_time: float
    """From 0 to 1."""
    note: str
    """What the list says of it."""


@dataclass(frozen=True)
class Subplot:
    """The kernels of one device."""

    title: str
    roofline: Roofline
    dots: Sequence[Dot]
    others: Sequence[str] = ()
    """What has no place in the picture, in words."""


def plot_kernels(rows: Sequence[KernelRow]) -> str:
    """A subplot for each device. Raises GinghamError where there are no kernels."""
    subplots: list[Subplot] = []
    for device in dict.fromkeys(row.device for row in rows):
        own = [row for row in rows if row.device == device]
        total = sum(row.seconds for row in own)
        roofline = next((row.roofline for row in own if row.roofline), None)
        if roofline is None:
            continue
        shown = [row for row in own if row.flops and row.bytes_read + row.bytes_written]
        subplots.append(
            Subplot(
                f"device {device}",
                roofline,
                [_dot(row, total) for row in shown],
                [
                    f"{_name(row)}: {note(row.bytes_per_second, 'B/s', row.share)}"
                    for row in own
                    if row not in shown
                ],
            )
        )
    if not subplots:
        raise GinghamError(
            "there is no roofline to draw: no kernel was measured",
            hint="call a function on a device of `tile-devices` first",
        )
    return plot(subplots)


def _dot(row: KernelRow, total: float) -> Dot:
    return Dot(
        _name(row),
        row.flops / (row.bytes_read + row.bytes_written),
        row.flops_per_second,
        row.seconds / total,
        note(row.flops_per_second, "FLOP/s", row.share),
    )


def _name(row: KernelRow) -> str:
    """The kernel and its line in the program: some kernels compute several."""
    if row.location is None:
        return row.name
    line = f", line {row.location.rsplit(':', 2)[1]}"
    return _shortened(row.name, _LONGEST_NAME - len(line)) + line


def note(rate: float, unit: str, share: float | None) -> str:
    """What the list says of a kernel: its rate, and the share of the roofline."""
    part = "" if share is None else f", {share * 100:.0f} %"
    return f"{_si(rate)}{unit}{part}"


def plot(subplots: Sequence[Subplot]) -> str:
    """The picture as a file."""
    parts: list[str] = []
    top = 0.0
    for subplot in subplots:
        parts += [f'<g transform="translate(0 {top:g})">', *_subplot(subplot), "</g>"]
        top += _height(subplot)
    font = "ui-sans-serif, system-ui, sans-serif"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top:g}" '
            f'width="{_WIDTH}" height="{top:g}" font-family="{font}" font-size="12">',
            f"<style>{_STYLE}</style>",
            f'<rect class="page" width="{_WIDTH}" height="{top:g}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _height(subplot: Subplot) -> float:
    rows = len(subplot.dots) + len(subplot.others) + 2
    return max(_SMALLEST, _TOP + _ROW * rows + 20)


def _subplot(subplot: Subplot) -> Iterator[str]:
    axes = _Axes.of(subplot, _height(subplot))
    yield _text(_LEFT, 28, f"Roofline, {subplot.title}", size=15, is_bold=True)
    yield from axes.grid()
    yield from axes.roofs(subplot.roofline)
    places = _Places(axes)
    # Large dots first, so that small ones lie on top.
    order = sorted(enumerate(subplot.dots, 1), key=lambda pair: -pair[1].part_of_time)
    for number, dot in order:
        yield from axes.dot(number, dot)
    for number, dot in order:
        yield from places.number(number, dot)
    yield from _list(subplot)


@dataclass(frozen=True)
class _Axes:
    """From figures to pixels; the limits are exponents of ten."""

    left: float
    right: float
    low: float
    high: float
    height: float

    @staticmethod
    def of(subplot: Subplot, height: float) -> _Axes:
        """So that all dots and where all slopes meet the roof are seen."""
        roofline = subplot.roofline
        ridges = [
            roofline.flops_per_second / level.bytes_per_second
            for level in roofline.levels
        ]
        across = [*ridges, *(dot.flops_per_byte for dot in subplot.dots)]
        up = [roofline.flops_per_second, *(d.flops_per_second for d in subplot.dots)]
        # The slopes are worth seeing for a while, also where all dots are high.
        up.append(roofline.flops_per_second / 100)
        return _Axes(
            math.floor(math.log10(min(across)) - 0.2),
            math.ceil(math.log10(max(across)) + 0.2),
            math.floor(math.log10(min(up)) - 0.05),
            math.log10(max(up)) + 0.25,
            height,
        )

    def x(self, flops_per_byte: float) -> float:
        """Where so many operations per byte are."""
        part = (math.log10(flops_per_byte) - self.left) / (self.right - self.left)
        return _LEFT + part * (_RIGHT - _LEFT)

    def y(self, flops_per_second: float) -> float:
        """Where so many operations per second are."""
        part = (math.log10(flops_per_second) - self.low) / (self.high - self.low)
        bottom = self.height - _BOTTOM
        return bottom - part * (bottom - _TOP)

    def grid(self) -> Iterator[str]:
        """A line for each power of ten, with its figure, and the names of the axes."""
        bottom = self.height - _BOTTOM
        for exponent in range(math.ceil(self.left), math.floor(self.right) + 1):
            x = self.x(10.0**exponent)
            yield _line((x, _TOP), (x, bottom), "grid")
            label = f"{10.0**exponent:g}"
            yield _text(x, bottom + 18, label, "soft", anchor="middle")
        for exponent in range(math.ceil(self.low), math.floor(self.high) + 1):
            y = self.y(10.0**exponent)
            yield _line((_LEFT, y), (_RIGHT, y), "grid")
            label = f"{10.0**exponent / _GIGA:g}"
            yield _text(_LEFT - 8, y + 4, label, "soft", anchor="end")
        middle = (_LEFT + _RIGHT) / 2
        yield _text(middle, bottom + 42, "operations per byte", "soft", anchor="middle")
        middle = (_TOP + bottom) / 2
        turned = f"rotate(-90 18 {middle:g})"
        words = "GFLOP/s"
        yield _text(18, middle, words, "soft", anchor="middle", transform=turned)

    def roofs(self, roofline: Roofline) -> Iterator[str]:
        """The slope of each memory, and the roof where the first of them ends."""
        peak = roofline.flops_per_second
        ridges = [peak / level.bytes_per_second for level in roofline.levels]
        start, end = self.x(min(ridges)), self.x(10.0**self.right)
        yield _line((start, self.y(peak)), (end, self.y(peak)), "roof", 2)
        words = f"{_si(peak)}FLOP/s"
        yield _text(end, self.y(peak) - 6, words, "soft", anchor="end", size=11)
        bottom = 10.0**self.low
        for level, ridge in zip(roofline.levels, ridges, strict=True):
            rate = level.bytes_per_second
            first = max(10.0**self.left, bottom / rate)
            from_, to = (
                (self.x(first), self.y(first * rate)),
                (
                    self.x(ridge),
                    self.y(peak),
                ),
            )
            yield _line(from_, to, "roof", 1.4)
            yield self._slope_label(f"{level.name} {_si(rate)}B/s", from_, to)

    def _slope_label(
        self, words: str, start: tuple[float, float], end: tuple[float, float]
    ) -> str:
        angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
        # Near the upper end, where slopes are farthest from the dots below.
        x, y = (start[0] + 2 * end[0]) / 3, (start[1] + 2 * end[1]) / 3
        turned = f"rotate({angle:.1f} {x:.1f} {y:.1f})"
        return _text(
            x, y - 5, words, "soft", anchor="middle", size=11, transform=turned
        )

    def place(self, dot: Dot) -> tuple[float, float]:
        """Where a dot is."""
        return self.x(dot.flops_per_byte), self.y(dot.flops_per_second)

    def dot(self, number: int, dot: Dot) -> Iterator[str]:
        """A circle, with the kernel's name for who points at it."""
        x, y = self.place(dot)
        words = escape(f"{number}. {dot.name}: {dot.note}", quote=False)
        yield (
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{_radius(dot):.1f}">'
            f"<title>{words}</title></circle>"
        )


class _Places:
    """Finds places for the numbers of dots, on no other number and on no small dot."""

    def __init__(self, axes: _Axes) -> None:
        self._axes = axes
        self._taken: list[tuple[float, float]] = []

    def number(self, number: int, dot: Dot) -> Iterator[str]:
        """The number at the nearest free place around its dot."""
        x, y = self._axes.place(dot)
        for place in self._around(x, y, _radius(dot)):
            if all(
                abs(place[0] - a) > 15 or abs(place[1] - b) > 11 for a, b in self._taken
            ):
                break
        else:
            place = (x, y)
        self._taken.append(place)
        for kind in ("halo", "ink"):
            yield _text(place[0], place[1] + 4, str(number), kind, anchor="middle")

    def _around(
        self, x: float, y: float, radius: float
    ) -> Iterator[tuple[float, float]]:
        for ring in range(6):
            distance = radius + 9 + 12 * ring
            for eighth in (0, 4, 6, 2, 7, 1, 5, 3):
                angle = eighth * math.pi / 4
                left = x + distance * math.cos(angle)
                top = y + distance * math.sin(angle)
                if _LEFT < left < _RIGHT and _TOP < top < self._axes.height - _BOTTOM:
                    yield left, top


def _radius(dot: Dot) -> float:
    return 3.5 + 7 * math.sqrt(min(max(dot.part_of_time, 0.0), 1.0))


def _list(subplot: Subplot) -> Iterator[str]:
    """The kernels by their numbers, with what they reached."""
    y = float(_TOP)
    words = "kernel: operations per second, of the roofline"
    yield _text(_LIST, y, words, "soft", size=11)
    for number, dot in enumerate(subplot.dots, 1):
        y += _ROW
        yield _text(_LIST + 18, y, str(number), anchor="end")
        yield _text(_LIST + 26, y, _shortened(dot.name, _LONGEST_NAME))
        yield _text(_WIDTH - 12, y, dot.note, "soft", anchor="end", size=11)
    for other in subplot.others:
        y += _ROW
        yield _text(_LIST + 26, y, other, "soft", size=11)


def _shortened(name: str, length: int) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"


def _si(figure: float) -> str:
    """A figure with the prefix of its unit: `3.1 T`."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if figure >= factor:
            return f"{figure / factor:.3g} {prefix}"
    return f"{figure:.3g} "


def _line(
    start: tuple[float, float], end: tuple[float, float], kind: str, width: float = 1
) -> str:
    return (
        f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" '
        f'x2="{end[0]:.1f}" y2="{end[1]:.1f}" stroke-width="{width:g}"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    kind: str = "ink",
    *,
    anchor: str = "start",
    size: int = 12,
    is_bold: bool = False,
    transform: str | None = None,
) -> str:
    extra = "" if transform is None else f' transform="{transform}"'
    extra += ' font-weight="600"' if is_bold else ""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'font-size="{size}"{extra}>{escape(words, quote=False)}</text>'
    )

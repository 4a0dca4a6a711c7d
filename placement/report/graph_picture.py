"""The graph of a placement as a picture: units as boxes, in the colours of devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...passes.clock import time_text
from ..layout import Layout, layout
from ..solve import size_text
from .picture_style import (
    COLOURS,
    rectangle,
    shortened,
    style,
    text,
    titled,
)

if TYPE_CHECKING:
    from ..explained import Explained, ExplainedUnit

_BOX, _PILL = (190.0, 58.0), (110.0, 26.0)
_GAP, _DOWN, _EDGE = 26.0, 58.0, 20.0
_NAME = 22
_SHARES = (0.55, 0.75, 0.35, 0.2)
"""Where on a line words may stand."""
_SHOWN_INPUTS = 12
"""Inputs that are shown at most where each has one unit only that uses it."""


@dataclass(frozen=True)
class _Node:
    """A unit, an input or a result."""

    unit: int | None
    tensor: int | None
    width: float
    height: float


@dataclass(frozen=True)
class _Arrow:
    """A tensor from one node to another."""

    source: int
    target: int
    tensor: int


@dataclass
class _Graph:
    nodes: list[_Node] = field(default_factory=list[_Node])
    arrows: list[_Arrow] = field(default_factory=list[_Arrow])

    def add(self, unit: int | None, tensor: int | None) -> int:
        """A further node."""
        width, height = _PILL if unit is None else _BOX
        self.nodes.append(_Node(unit, tensor, width, height))
        return len(self.nodes) - 1


def graph_picture(explanation: Explained, *, is_alone: bool = False) -> str:
    """An SVG element; with `is_alone` a file of its own, with its colours."""
    return _Picture(explanation).draw(is_alone)


def _graph(explanation: Explained) -> _Graph:
    """Inputs that only one unit far down uses, weights mostly, are left out."""
    graph = _Graph()
    inputs = [n for n, t in enumerate(explanation.tensors) if t.source is None]
    made = {
        user
        for tensor in explanation.tensors
        if tensor.source is not None
        for user in tensor.users
    }
    place: dict[int, int] = {}
    for number in inputs:
        tensor = explanation.tensors[number]
        users = {*tensor.users}
        is_first = bool(users - made)
        if len(inputs) <= _SHOWN_INPUTS or (users and (is_first or len(users) > 1)):
            place[number] = graph.add(None, number)
    units = [graph.add(unit, None) for unit in range(len(explanation.units))]
    for number, tensor in enumerate(explanation.tensors):
        source = place.get(number) if tensor.source is None else units[tensor.source]
        if source is None:
            continue
        for user in dict.fromkeys(tensor.users):
            graph.arrows.append(_Arrow(source, units[user], number))
        if tensor.is_result:
            graph.arrows.append(_Arrow(source, graph.add(None, number), number))
    return graph


class _Picture:
    def __init__(self, explanation: Explained) -> None:
        self.explanation = explanation
        self.graph = _graph(explanation)
        self.colours = {
            device.name: number % COLOURS
            for number, device in enumerate(explanation.devices)
        }
        self.copies = {
            (t.tensor, t.source, t.target): t.end - t.start
            for t in explanation.transfers
        }
        self.tags: list[tuple[float, float, float]] = []
        """The middles and widths of the words that stand on lines."""
        nodes, arrows = self.graph.nodes, self.graph.arrows
        edges = [(arrow.source, arrow.target) for arrow in arrows]
        self.layout: Layout = layout(
            [node.width for node in nodes], edges, _GAP, self._late(edges)
        )

    def _late(self, edges: list[tuple[int, int]]) -> dict[int, int]:
        """Inputs go right above the first unit that uses them."""
        nodes = self.graph.nodes
        plain = layout([node.width for node in nodes], edges, _GAP).layers
        found: dict[int, int] = {}
        for node, own in enumerate(nodes):
            targets = [plain[target] for source, target in edges if source == node]
            if own.unit is None and targets:
                found[node] = min(targets) - 1
        return found

    def draw(self, is_alone: bool) -> str:
        """The whole picture."""
        count = max(self.layout.layers.values(), default=-1) + 1
        width = self.layout.width + 2 * _EDGE
        height = count * (_BOX[1] + _DOWN) - _DOWN + 2 * _EDGE
        body: list[str] = []
        tags: list[str] = []
        for arrow in self.graph.arrows:
            line, tag = self._arrow(arrow)
            body.append(line)
            tags.append(tag)
        body += [self._node(number) for number in range(len(self.graph.nodes))]
        body += tags
        if is_alone:
            body.insert(0, f"<style>{style('svg')}</style>")
            body.insert(1, '<rect width="100%" height="100%" fill="var(--paper)"/>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
            f'height="{max(height, 1):.0f}" viewBox="0 0 {width:.0f} '
            f'{max(height, 1):.0f}" role="img" '
            f'aria-label="The graph of the program, coloured by device">'
            f"{''.join(body)}</svg>"
        )

    def _x(self, node: int) -> float:
        return self.layout.x[node] + _EDGE

    def _y(self, layer: int) -> float:
        """The middle of a layer."""
        return _EDGE + layer * (_BOX[1] + _DOWN) + _BOX[1] / 2

    def _node(self, number: int) -> str:
        node = self.graph.nodes[number]
        x = self._x(number) - node.width / 2
        y = self._y(self.layout.layers[number]) - node.height / 2
        if node.unit is not None:
            return self._unit(self.explanation.units[node.unit], x, y)
        assert node.tensor is not None
        tensor = self.explanation.tensors[node.tensor]
        size = size_text(tensor.size_bytes)
        if tensor.source is None and not self._is_output(number):
            where = f"input {tensor.name}, {size}, on {', '.join(tensor.homes)}"
            where += ", copied in the first run only" if tensor.is_constant else ""
        else:
            where = f"result {tensor.name}, {size}, to {tensor.end or 'where it is'}"
        return titled(
            where,
            rectangle(x, y, node.width, node.height, "pill", 13),
            text(x + node.width / 2, y + 17, shortened(tensor.name, 14), "mid strong"),
        )

    def _is_output(self, number: int) -> bool:
        return any(arrow.target == number for arrow in self.graph.arrows)

    def _unit(self, unit: ExplainedUnit, x: float, y: float) -> str:
        colour = self.colours[unit.device]
        width, height = _BOX
        own = unit.times[unit.device]
        seconds = unit.end - unit.start
        kind = "measured" if own.source == "measured" else "predicted"
        forced = " (forced)" if unit.is_forced else ""
        return titled(
            _hover(unit),
            rectangle(x, y, width, height, f"box d{colour}", 8),
            rectangle(x, y + 8, 5, height - 16, f"bar{colour}", 2),
            text(x + 14, y + 18, shortened(unit.name, _NAME), "strong"),
            text(x + 14, y + 35, f"{time_text(seconds)} {kind}"),
            text(x + 14, y + 50, shortened(f"{unit.device}{forced}", 28), "soft"),
        )

    def _arrow(self, arrow: _Arrow) -> tuple[str, str]:
        """The line of an edge, and what stands on it."""
        tensor = self.explanation.tensors[arrow.tensor]
        points = self._points(arrow)
        path = _curve(points)
        homes, target = self._ends(arrow)
        words = f"{tensor.name}, {size_text(tensor.size_bytes)}"
        places = ((arrow.tensor, home, target) for home in homes)
        copy = next((place for place in places if place in self.copies), None)
        if copy is None:
            return titled(words, f'<path d="{path}" class="edge"/>'), ""
        took = time_text(self.copies[copy])
        words += f", {copy[1]} to {target}, {took}"
        label = f"{size_text(tensor.size_bytes)}, {took}"
        line = titled(words, f'<path d="{path}" class="cut"/>')
        return line, titled(words, *self._tag(points, label))

    def _tag(self, points: list[tuple[float, float]], label: str) -> tuple[str, str]:
        """Words on the last part of a line, beside those that are there already."""
        width = 6.4 * len(label) + 8
        places = [_between(points[-2], points[-1], share) for share in _SHARES]
        # Another side of the line, where all of it is taken.
        places += [(x + side * width / 2, y) for side in (1, -1) for x, y in places]

        def is_free(place: tuple[float, float]) -> bool:
            return all(
                abs(place[0] - x) >= (width + other) / 2 or abs(place[1] - y) >= 17
                for x, y, other in self.tags
            )

        x, y = next(filter(is_free, places), places[0])
        self.tags.append((x, y, width))
        return (
            rectangle(x - width / 2, y - 9, width, 17, "tag", 4),
            text(x, y + 4, label, "mid soft"),
        )

    def _points(self, arrow: _Arrow) -> list[tuple[float, float]]:
        nodes, layers = self.graph.nodes, self.layout.layers
        source, target = arrow.source, arrow.target
        start = self._y(layers[source]) + nodes[source].height / 2
        end = self._y(layers[target]) - nodes[target].height / 2
        bends = self.layout.bends[source, target]
        points = [(self._x(source), start)]
        for x, layer in bends:
            points.append((x + _EDGE, self._y(layer) - _BOX[1] / 2))
            points.append((x + _EDGE, self._y(layer) + _BOX[1] / 2))
        return [*points, (self._x(target), end)]

    def _ends(self, arrow: _Arrow) -> tuple[tuple[str, ...], str]:
        """Where a tensor comes from and where it goes."""
        tensor = self.explanation.tensors[arrow.tensor]
        units = self.explanation.units
        homes = tensor.homes
        if tensor.source is not None:
            homes = (units[tensor.source].device,)
        target = self.graph.nodes[arrow.target]
        if target.unit is not None:
            return homes, units[target.unit].device
        return homes, tensor.end or homes[0]


def _curve(points: list[tuple[float, float]]) -> str:
    """A line through points that leaves and enters each of them downwards."""
    (x, y), *rest = points
    path = f"M{x:.1f} {y:.1f}"
    for across, down in rest:
        middle = (y + down) / 2
        path += (
            f"C{x:.1f} {middle:.1f} {across:.1f} {middle:.1f} {across:.1f} {down:.1f}"
        )
        x, y = across, down
    return path


def _between(
    start: tuple[float, float], end: tuple[float, float], share: float
) -> tuple[float, float]:
    """A point of the curve between two points."""
    across = share * share * (3 - 2 * share)
    down = 1.5 * share * (1 - share) + share**3
    x = start[0] + across * (end[0] - start[0])
    return x, start[1] + down * (end[1] - start[1])


def _hover(unit: ExplainedUnit) -> str:
    """All that there is to say of a unit."""
    lines = [f"{unit.name}  {unit.place}", ", ".join(unit.operations)]
    for name, time in unit.times.items():
        if time.seconds is None:
            lines.append(f"cannot run on {name}: {time.source}")
            continue
        whole = unit.moved.get(name)
        moved = f"; the whole would take {time_text(whole)}" if whole else ""
        lines.append(f"{time_text(time.seconds)} on {name} ({time.source}){moved}")
    if unit.bytes_in:
        size, seconds = size_text(unit.bytes_in), time_text(unit.transfer_seconds)
        lines.append(f"{size} copied in, {seconds}")
    return "\n".join(lines)

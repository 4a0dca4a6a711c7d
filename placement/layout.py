"""Places for the nodes of a graph in layers, with few crossings.

The method of K. Sugiyama, S. Tagawa and M. Toda, Methods for Visual Understanding of
Hierarchical System Structures, IEEE SMC 11(2), 1981: a node is one layer below the
lowest of those before it; edges over several layers get a point in each; layers are
ordered by the mean places of neighbours, and then spread out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SWEEPS = 8


@dataclass(frozen=True)
class Layout:
    """Where nodes are: the middles, in pixels, and the points that edges go through."""

    x: Mapping[int, float]
    layers: Mapping[int, int]
    bends: Mapping[tuple[int, int], tuple[tuple[float, int], ...]]
    """For each edge its x in the layers between its ends, with their numbers."""
    width: float


class _Slots:
    """Nodes and points of edges, all called slots, in their layers."""

    def __init__(self, widths: Sequence[float], point: float) -> None:
        self.widths = [*widths]
        self._point = point
        self.before: list[list[int]] = [[] for _ in widths]
        self.after: list[list[int]] = [[] for _ in widths]
        self.layers: list[list[int]] = []

    def put(self, slot: int, layer: int) -> None:
        while len(self.layers) <= layer:
            self.layers.append([])
        self.layers[layer].append(slot)

    def point(self, layer: int) -> int:
        self.widths.append(self._point)
        self.before.append([])
        self.after.append([])
        self.put(len(self.widths) - 1, layer)
        return len(self.widths) - 1

    def join(self, first: int, second: int) -> None:
        self.after[first].append(second)
        self.before[second].append(first)


def layout(
    widths: Sequence[float],
    edges: Sequence[tuple[int, int]],
    gap: float,
    layers: Mapping[int, int] | None = None,
) -> Layout:
    """Places for nodes of these widths. Edges go from lower numbers to higher ones.

    `layers` are those of nodes that are not to be below what is before them at once.
    """
    levels = _levels(len(widths), edges)
    levels |= layers or {}
    slots = _Slots(widths, 2 * gap)
    for node in range(len(widths)):
        slots.put(node, levels[node])
    routes: dict[tuple[int, int], list[int]] = {}
    for edge in dict.fromkeys(edges):
        first, second = edge
        route: list[int] = []
        last = first
        for layer in range(levels[first] + 1, levels[second]):
            route.append(slots.point(layer))
            slots.join(last, route[-1])
            last = route[-1]
        slots.join(last, second)
        routes[edge] = route
    _order(slots)
    x = _spread(slots, gap)
    left = min((x[s] - slots.widths[s] / 2 for s in range(len(x))), default=0.0)
    right = max((x[s] + slots.widths[s] / 2 for s in range(len(x))), default=0.0)
    place = {slot: x[slot] - left for slot in range(len(x))}
    at = {slot: layer for layer, own in enumerate(slots.layers) for slot in own}
    return Layout(
        {node: place[node] for node in range(len(widths))},
        {node: levels[node] for node in range(len(widths))},
        {
            edge: tuple((place[slot], at[slot]) for slot in route)
            for edge, route in routes.items()
        },
        right - left,
    )


def _levels(count: int, edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    levels = dict.fromkeys(range(count), 0)
    for first, second in sorted(edges, key=lambda edge: edge[1]):
        levels[second] = max(levels[second], levels[first] + 1)
    return levels


def _order(slots: _Slots) -> None:
    """Order each layer by the mean places of neighbours, down and up again."""
    place = {slot: n for own in slots.layers for n, slot in enumerate(own)}
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        neighbours = slots.before if is_down else slots.after
        for own in slots.layers if is_down else reversed(slots.layers):
            means = {slot: _mean_place(slot, neighbours[slot], place) for slot in own}
            own.sort(key=means.__getitem__)
            place |= {slot: number for number, slot in enumerate(own)}


def _mean_place(slot: int, neighbours: list[int], place: dict[int, int]) -> float:
    """The mean place of a slot's neighbours; its own where it has none."""
    if not neighbours:
        return float(place[slot])
    return sum(place[other] for other in neighbours) / len(neighbours)


def _spread(slots: _Slots, gap: float) -> list[float]:
    """The middle of each slot: near its neighbours, and apart from the next ones."""
    x = [0.0] * len(slots.widths)
    for own in slots.layers:
        total = sum(slots.widths[slot] + gap for slot in own) - gap
        left = -total / 2
        for slot in own:
            x[slot] = left + slots.widths[slot] / 2
            left += slots.widths[slot] + gap
    for sweep in range(2 * _SWEEPS):
        is_down = sweep % 2 == 0
        for own in slots.layers if is_down else reversed(slots.layers):
            wanted = [_wanted(slot, slots, x) for slot in own]
            for slot, middle in zip(own, _apart(own, wanted, slots, gap), strict=True):
                x[slot] = middle
    return x


def _wanted(slot: int, slots: _Slots, x: Sequence[float]) -> float:
    near = [*slots.before[slot], *slots.after[slot]]
    return sum(x[other] for other in near) / len(near) if near else x[slot]


def _apart(
    own: Sequence[int], wanted: Sequence[float], slots: _Slots, gap: float
) -> list[float]:
    """The wanted places, or the mean of what is right and left enough of the next."""
    widths = [slots.widths[slot] for slot in own]
    right = [*wanted]
    for n in range(1, len(own)):
        least = right[n - 1] + (widths[n - 1] + widths[n]) / 2 + gap
        right[n] = max(right[n], least)
    left = [*wanted]
    for n in reversed(range(len(own) - 1)):
        most = left[n + 1] - (widths[n] + widths[n + 1]) / 2 - gap
        left[n] = min(left[n], most)
    return [(a + b) / 2 for a, b in zip(right, left, strict=True)]

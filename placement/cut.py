"""The placement on two devices with the least sum of all times, by a minimum cut.

H. S. Stone, Multiprocessor Scheduling with the Aid of Network Flow Algorithms, IEEE
Transactions on Software Engineering 3(1), 1977. Nodes on the source's side of the cut
are units on the first device, those on the sink's side on the second. A unit is tied to
the sink by its time on the first device, and to the source by that on the second, so
that a cut pays for the side it is on. A tensor that several units read is copied once
however many of them are elsewhere: a node of its own for each direction sees to that.

Capacities are whole picoseconds, so that the least cut is found exactly.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from ..errors import GinghamError
from .problem import Placement, Problem

_PICOSECONDS = 1e12
_SOURCE, _SINK = -1, -2


def load_networkx() -> Any:
    """The module, which is optional. Raises GinghamError without it."""
    try:
        return import_module("networkx")
    except ImportError as error:
        raise GinghamError(
            "placement on two devices needs the package networkx",
            hint="pip install 'gingham[placement]'",
        ) from error


def cheapest_cut(problem: Problem) -> Placement:
    """The placement on two devices whose times and transfers have the least sum."""
    if len(problem.devices) != 2:
        raise ValueError(f"expected two devices, got {len(problem.devices)}")
    networkx = load_networkx()
    edges = _Edges()
    for unit, (first, second) in enumerate(problem.seconds):
        edges.add(unit, _SINK, first)
        edges.add(_SOURCE, unit, second)
    for number, tensor in enumerate(problem.tensors):
        if tensor.source is None:
            _add_input(problem, number, edges)
        else:
            _add_value(problem, number, edges)
    graph = networkx.DiGraph()
    graph.add_nodes_from((_SOURCE, _SINK))
    for (tail, head), capacity in edges.capacities.items():
        if capacity is None:
            graph.add_edge(tail, head)
        elif capacity:
            graph.add_edge(tail, head, capacity=capacity)
    flow = networkx.algorithms.flow.shortest_augmenting_path
    _, (sources, _) = networkx.minimum_cut(graph, _SOURCE, _SINK, flow_func=flow)
    return tuple(0 if unit in sources else 1 for unit in range(problem.count))


class _Edges:
    """Edges between numbered nodes, with capacities that add up; None is infinite."""

    def __init__(self) -> None:
        self.capacities: dict[tuple[int, int], int | None] = {}

    def add(self, tail: int, head: int, seconds: float) -> None:
        """An edge that costs `seconds` where the tail is first and the head second."""
        place = tail, head
        if math.isinf(seconds):
            self.capacities[place] = None
            return
        known = self.capacities.get(place, 0)
        if known is not None:
            self.capacities[place] = known + round(seconds * _PICOSECONDS)


def _add_input(problem: Problem, number: int, edges: _Edges) -> None:
    """What it costs that any of an input's users is on a device."""
    tensor = problem.tensors[number]
    ways = problem.arrivals[number]
    users = list(dict.fromkeys(tensor.users))
    node = problem.count + 2 * number
    if tensor.end in (0, 1):
        # It goes there in any case.
        ways = tuple(
            (0.0, home) if place == tensor.end else (seconds, home)
            for place, (seconds, home) in enumerate(ways)
        )
    if len(users) == 1:
        edges.add(users[0], _SINK, ways[0][0])
        edges.add(_SOURCE, users[0], ways[1][0])
        return
    for user in users:
        edges.add(user, node, math.inf)
        edges.add(node + 1, user, math.inf)
    edges.add(node, _SINK, ways[0][0])
    edges.add(_SOURCE, node + 1, ways[1][0])


def _add_value(problem: Problem, number: int, edges: _Edges) -> None:
    """What it costs that users of a unit's result are on the other device."""
    tensor = problem.tensors[number]
    source = tensor.source
    assert source is not None
    moves = problem.moves[number]
    users = [user for user in dict.fromkeys(tensor.users) if user != source]
    node = problem.count + 2 * number
    if tensor.end == problem.host:
        edges.add(source, _SINK, moves[0][problem.host])
        edges.add(_SOURCE, source, moves[1][problem.host])
    if len(users) == 1 and tensor.end not in (0, 1):
        edges.add(source, users[0], moves[0][1])
        edges.add(users[0], source, moves[1][0])
        return
    if users or tensor.end in (0, 1):
        ends = [_SOURCE, _SINK]
        fixed = [ends[tensor.end]] if tensor.end in (0, 1) else []
        edges.add(source, node, moves[0][1])
        edges.add(node + 1, source, moves[1][0])
        for user in [*users, *fixed]:
            edges.add(node, user, math.inf)
            edges.add(user, node + 1, math.inf)

"""Which nodes of a graph run on the device, which in PyTorch, and in which order.

Nodes of one kind that need nothing of the other kind in between are one stage: stages
of PyTorch and of the device take turns, and each of the device is one program. A node
that needs nothing that was computed, such as the mask of a dropout, runs before all.

Views, such as a transposed weight, belong to no stage: a program has them as part of
what uses them, and PyTorch makes its own where it needs one, without any copy.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...frontend.torch.graphs import is_lowered, is_number, operator_of

_VIEWS = {
    f"aten.{name}"
    for name in (
        "alias.default detach.default expand.default permute.default "
        "select.int slice.Tensor squeeze.default squeeze.dim squeeze.dims t.default "
        "transpose.int unsqueeze.default view.default"
    ).split()
}
"""Operators that give other views of memory, where PyTorch runs them."""


@dataclass
class Stage:
    """Nodes that run one after the other, all on the device or all in PyTorch."""

    on_device: bool
    nodes: list[Any] = field(default_factory=list[Any])
    inputs: list[Any] = field(default_factory=list[Any])
    """Nodes of other stages that it needs, as tensors of PyTorch."""
    outputs: list[Any] = field(default_factory=list[Any])
    """Its nodes that other stages need, or views in PyTorch."""


@dataclass
class Plan:
    """The stages of a graph in order."""

    stages: list[Stage]
    results: list[Any]
    """What the graph gives: nodes, numbers or None."""


def planned(graph: Any, refused: Iterable[Any] = ()) -> Plan:
    """The plan of a graph, with the nodes `refused` in PyTorch."""
    return _Planner(graph, set(refused)).plan()


class _Planner:
    def __init__(self, graph: Any, refused: set[Any]) -> None:
        self._nodes = list(graph.nodes)
        self._refused = refused
        self._levels: dict[Any, int] = {}
        """Even ones are on the device, odd ones in PyTorch; -1 before all."""
        self._position = {node: n for n, node in enumerate(self._nodes)}

    def plan(self) -> Plan:
        for node in self._nodes:
            if self._is_computed(node):
                self._levels[node] = self._level(node)
        results = _flat(self._nodes[-1].args[0])
        needed = self._needed_in_torch(results)
        stages: dict[int, Stage] = {}
        for node, level in self._levels.items():
            stage = stages.setdefault(level, Stage(level % 2 == 0))
            stage.nodes.append(node)
            if node in needed:
                stage.outputs.append(node)
        for level, stage in stages.items():
            stage.inputs = self._inputs(level, stage)
            if stage.on_device:
                stage.nodes = self._with_views(stage)
        return Plan([stages[level] for level in sorted(stages)], results)

    def _is_computed(self, node: Any) -> bool:
        """Whether it runs somewhere: it is no input, no constant and no view."""
        return (
            node.op not in ("placeholder", "output", "get_attr")
            and not is_number(node)
            and not self._is_view(node)
        )

    def _is_view(self, node: Any) -> bool:
        return (
            operator_of(node) in _VIEWS
            and node not in self._refused
            and is_lowered(node)
        )

    def _level(self, node: Any) -> int:
        if node.target is operator.getitem:
            return self._levels[node.args[0]]
        on_device = node not in self._refused and is_lowered(node)
        level = 0 if on_device else -1
        for used in node.all_input_nodes:
            base = self._base(used)
            if base in self._levels:
                known = self._levels[base]
                level = max(level, known if known % 2 == level % 2 else known + 1)
        return level

    def _base(self, node: Any) -> Any:
        """What a view is of."""
        while self._is_view(node):
            node = node.all_input_nodes[0]
        return node

    def _needed_in_torch(self, results: list[Any]) -> set[Any]:
        """Computed nodes that PyTorch needs, and those that other programs need."""
        needed = {self._base(node) for node in results if _is_node(node)}
        for node, level in self._levels.items():
            for used in node.all_input_nodes:
                base = self._base(used)
                if level % 2 or self._levels.get(base) != level:
                    needed.add(base)
        return needed

    def _inputs(self, level: int, stage: Stage) -> list[Any]:
        """What its nodes need from elsewhere, each once."""
        found: dict[Any, None] = {}
        for node in stage.nodes:
            for used in node.all_input_nodes:
                base = self._base(used)
                if self._levels.get(base) != level and not is_number(base):
                    found[base] = None
        return list(found)

    def _with_views(self, stage: Stage) -> list[Any]:
        """Its nodes with the views that they need, in the order of the graph."""
        found: set[Any] = set()
        for node in stage.nodes:
            found.add(node)
            pending = list(node.all_input_nodes)
            while pending:
                used = pending.pop()
                if used not in found and self._is_view(used):
                    found.add(used)
                    pending += used.all_input_nodes
        return sorted(found, key=self._position.__getitem__)


def _flat(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list | tuple) else [results]


def _is_node(value: Any) -> bool:
    return hasattr(value, "all_input_nodes")

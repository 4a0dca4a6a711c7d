"""The graph of operations and values as a text for Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from .operations import Operation
from .values import Value


def to_dot(
    inputs: Sequence[tuple[str, Value]],
    outputs: Sequence[tuple[str, Value]],
    updates: Sequence[tuple[Any, Any]] | None = None,
    name: str = "Tile",
) -> Iterator[str]:
    """The lines of a directed graph in the language of Graphviz.

    Inputs are circles, outputs double ones, operations ovals, and values between them
    boxes; a dotted edge is an update.
    """
    yield f"digraph {json.dumps(name)} {{\n"
    nodes = _Nodes()
    for title, value in inputs:
        yield from nodes.of_value(value, f"{title}\n{value!r}", "circle")
    pending: list[Value] = []
    for title, value in outputs:
        yield from nodes.of_value(value, f"{title}\n{value!r}", "doublecircle")
        pending.append(value)
    for destination, source in updates or ():
        pair = [Value.from_python_value(each) for each in (destination, source)]
        for value in pair:
            yield from nodes.of_value(value, repr(value), "circle")
        yield nodes.edge(pair[1].key, pair[0].key, "style=dotted")
        pending += pair
    seen: set[Operation] = set()
    while pending:
        value = pending.pop()
        operation = None if value.source is None else value.source.op
        if operation is not None and operation not in seen:
            seen.add(operation)
            pending += operation.inputs.values()
            yield from _operation(operation, nodes)
    yield "}\n"


class _Nodes:
    """The names of the nodes so far, by what they stand for."""

    def __init__(self) -> None:
        self._names: dict[object, str] = {}

    def of(self, key: object, label: str, shape: str) -> str:
        """The line of a new node."""
        name = self._names[key] = f"n{len(self._names) + 1}"
        return f"  {name} [label={json.dumps(label)} shape={shape}];\n"

    def of_value(self, value: Value, label: str, shape: str) -> Iterator[str]:
        """The line of a value's node, unless it has one."""
        if value.key not in self._names:
            yield self.of(value.key, label, shape)

    def edge(self, start: object, end: object, attributes: str) -> str:
        """The line of an edge between two nodes."""
        return f"  {self._names[start]} -> {self._names[end]} [{attributes}];\n"


def _operation(operation: Operation, nodes: _Nodes) -> Iterator[str]:
    """The lines of an operation, its values and the edges between them."""
    yield nodes.of(operation, operation.name, "oval")
    for value in (*operation.inputs.values(), *operation.outputs.values()):
        yield from nodes.of_value(value, repr(value), "box")
    for label, value in operation.inputs.items():
        yield nodes.edge(value.key, operation, f"label={json.dumps(label)}")
    for label, value in operation.outputs.items():
        yield nodes.edge(operation, value.key, f"label={json.dumps(label)}")

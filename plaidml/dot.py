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
    names: dict[object, str] = {}

    def node(key: object, label: str, shape: str) -> str:
        names[key] = f"n{len(names) + 1}"
        return f"  {names[key]} [label={json.dumps(label)} shape={shape}];\n"

    for title, value in inputs:
        yield node(value.key, f"{title}\n{value!r}", "circle")
    pending: list[Value] = []
    for title, value in outputs:
        if value.key not in names:
            yield node(value.key, f"{title}\n{value!r}", "doublecircle")
        pending.append(value)
    for destination, source in updates or ():
        pair = [Value.from_python_value(each) for each in (destination, source)]
        for value in pair:
            if value.key not in names:
                yield node(value.key, repr(value), "circle")
        yield f"  {names[pair[1].key]} -> {names[pair[0].key]} [style=dotted];\n"
        pending += pair
    seen: set[Operation] = set()
    while pending:
        value = pending.pop()
        operation = None if value.source is None else value.source.op
        if operation is None or operation in seen:
            continue
        seen.add(operation)
        yield node(operation, operation.name, "oval")
        for label, each in [*operation.inputs.items(), *operation.outputs.items()]:
            if each.key not in names:
                yield node(each.key, repr(each), "box")
        for label, each in operation.inputs.items():
            ends = f"{names[each.key]} -> {names[operation]}"
            yield f"  {ends} [label={json.dumps(label)}];\n"
            pending.append(each)
        for label, each in operation.outputs.items():
            ends = f"{names[operation]} -> {names[each.key]}"
            yield f"  {ends} [label={json.dumps(label)}];\n"
    yield "}\n"

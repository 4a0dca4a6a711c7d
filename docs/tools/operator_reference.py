"""The text of `docs/onnx-operators.md`: the operators of ONNX, and what they become."""

from __future__ import annotations

from collections import Counter

import onnx
from docstrings import on_one_line, table

from gingham.frontend.onnx.table import rows
from gingham.runtime.onnx.bodies import has_body
from gingham.runtime.onnx.control import CONTROL

_INTRODUCTION = """\
What becomes of the operators of [models of ONNX](onnx.md), of version {opset} and in the
form of onnx {version}. Earlier versions of an operator become the same.

* **device**: it is compiled. Where inputs are named, the program is made for their
  values: a call with other values compiles it anew.
* **function**: ONNX itself defines it by other operators, which stand in its place.
* **walk**: it decides what is compiled, and is nothing that runs.
* **host**: the reference implementation of ONNX runs it between programs, as it does
  forms of other operators that a program has no words for, such as elements of 4 bits.
  A warning says so."""

_DOMAINS = {
    "": "ONNX",
    "ai.onnx.ml": "ai.onnx.ml",
    "ai.onnx.preview": "ai.onnx.preview",
}


def text() -> str:
    """The whole page."""
    states: Counter[str] = Counter()
    parts: list[str] = []
    for domain, title in _DOMAINS.items():
        found = _rows_of(domain, states)
        columns = ("operator", "state", "what it does here")
        parts += [f"## {title}", table(columns, found)]
    version = ".".join(onnx.__version__.split(".")[:2])
    introduction = _INTRODUCTION.format(
        opset=onnx.defs.onnx_opset_version(), version=version
    )
    counts = ", ".join(f"{count} {state}" for state, count in states.most_common())
    head = ["# Operators of ONNX", introduction, f"In all: {counts}."]
    return "\n\n".join([*head, *parts]) + "\n"


def _rows_of(domain: str, states: Counter[str]) -> list[tuple[str, str, str]]:
    """The rows of the operators of a domain."""
    newest: dict[str, onnx.defs.OpSchema] = {}
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == domain and not schema.deprecated:
            newest[schema.name] = schema
    found: list[tuple[str, str, str]] = []
    for name, schema in sorted(newest.items()):
        state, meaning = _state(domain, name, schema)
        states[state] += 1
        found.append((f"`{name}`", state, meaning))
    return found


def _state(domain: str, name: str, schema: onnx.defs.OpSchema) -> tuple[str, str]:
    row = rows().get((domain, name))
    if row is not None:
        inputs = [schema.inputs[n].name for n in row.known if n < len(schema.inputs)]
        known = f" For the values of {', '.join(inputs)}." if inputs else ""
        return "device", on_one_line(row.lower.__doc__ or "") + known
    if not domain and name in CONTROL:
        return "walk", on_one_line(CONTROL[name].__doc__ or "")
    if has_body(schema):
        return "function", ""
    return "host", ""

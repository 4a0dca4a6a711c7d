"""The text of `docs/torch-operators.md`: the operators of PyTorch that are compiled."""

from __future__ import annotations

from docstrings import on_one_line, table

from gingham.frontend.torch.rows import Row
from gingham.frontend.torch.table import ROWS

_INTRODUCTION = """\
What becomes of operators in [models of PyTorch](torch.md). These are compiled;
overloads with one meaning share a row. PyTorch itself writes most of its other
operators in terms of these before a graph comes here, and those that are left over it
runs itself, with a warning that names them. Operators that draw random numbers are
always PyTorch's own, so that a seed gives the same numbers as without a compiler."""


def text() -> str:
    """The whole page."""
    overloads: dict[Row, list[str]] = {}
    for name, row in ROWS.items():
        overloads.setdefault(row, []).append(name)
    areas: dict[str, list[tuple[str, str]]] = {}
    for row, names in overloads.items():
        area = row.__module__.rpartition(".")[2].replace("elementwise", "element-wise")
        shown = "<br>".join(f"`{name}`" for name in sorted(names))
        areas.setdefault(area, []).append((shown, on_one_line(row.__doc__ or "")))
    parts = ["# Operators of PyTorch", _INTRODUCTION, f"In all: {len(ROWS)} overloads."]
    for area, found in sorted(areas.items()):
        columns = ("operator", "what it does here")
        parts += [f"## {area.capitalize()}", table(columns, sorted(found))]
    return "\n\n".join(parts) + "\n"

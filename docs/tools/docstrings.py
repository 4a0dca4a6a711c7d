"""Docstrings, also those below an attribute, which Python does not keep."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from itertools import pairwise


def of_attributes(owner: type) -> dict[str, str]:
    """What stands in a string below attributes of a class, by their names.

    Those that it has from classes of ours are there, too.
    """
    docs: dict[str, str] = {}
    for each in reversed(owner.__mro__):
        if not each.__module__.startswith("gingham."):
            continue
        source = inspect.getsource(sys.modules[each.__module__])
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and node.name == each.__name__:
                docs |= dict(_documented(node))
    return docs


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, following in pairwise(node.body):
        name = _assigned_name(statement)
        match following:
            case ast.Expr(value=ast.Constant(value=str(text))) if name is not None:
                yield name, inspect.cleandoc(text)
            case _:
                pass


def _assigned_name(statement: ast.stmt) -> str | None:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return None


def of(thing: object) -> str:
    """The docstring of a module, class or function, without its indentation."""
    return inspect.cleandoc(getattr(thing, "__doc__", None) or "")


def capitalized(sentence: str) -> str:
    """The sentence with a capital letter at its start."""
    return sentence[:1].upper() + sentence[1:]


def on_one_line(text: str) -> str:
    """A docstring as the cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

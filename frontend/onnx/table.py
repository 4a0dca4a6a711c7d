"""The table of operators: for each the function that makes it of tensors of the eDSL.

A function of a row takes a `Node` and gives a tensor, or one for each output. It raises
`Unsupported` for a form of the operator that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ..edsl.tensors import Tensor
    from .node import Node

Lowering: TypeAlias = Callable[["Node"], "Tensor | Sequence[Tensor | None] | Any"]
"""The outputs of a node; None for one that nobody asked for."""

_MODULES = (
    "elementwise",
    "features",
    "images",
    "networks",
    "products",
    "quantization",
    "recurrent",
    "reductions",
    "shapes",
    "signals",
    "sizes",
    "training",
)
"""The modules in `rows` that have rows."""


@dataclass(frozen=True)
class Row:
    """What is known of an operator."""

    domain: str
    op_type: str
    lower: Lowering
    known: Sequence[int] = ()
    """The inputs on whose values the program depends, such as sizes and axes."""


# No constant: it grows while the modules of rows are imported.
_rows: dict[tuple[str, str], Row] = {}


def operator(
    *op_types: str, known: Sequence[int] = (), domain: str = ""
) -> Callable[[Lowering], Lowering]:
    """Make a function the row of some operators.

    The inputs that are to be `known` are so before it is asked, so that it has sizes.
    """

    def add(lower: Lowering) -> Lowering:
        for op_type in op_types:
            _rows[domain, op_type] = Row(domain, op_type, lower, known)
        return lower

    return add


def has_own_rows() -> bool:
    """Whether somebody has added rows to those of this package, so far."""
    package = __package__ or ""
    return any(not r.lower.__module__.startswith(package) for r in _rows.values())


@cache
def rows() -> dict[tuple[str, str], Row]:
    """The whole table."""
    for module in _MODULES:
        import_module(f".rows.{module}", __package__)
    return _rows

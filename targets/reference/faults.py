"""What errors of the interpreter name: values, sizes, operations that it lacks."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...errors import GinghamError


class UnknownOperationError(GinghamError):
    """The interpreter does not know an operation, which may be right all the same."""


def display(value: SSAValue) -> str:
    """The name of a value in a message; values without one have no name to show."""
    return f"%{value.name_hint}" if value.name_hint else "a value without a name"


def display_sizes(sizes: tuple[int, ...]) -> str:
    """Sizes as in a type: `64x32`, or `()` for a single element."""
    return "x".join(map(str, sizes)) or "()"

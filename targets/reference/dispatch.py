"""The table from op type to meaning, which the levels fill."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import singledispatch
from typing import TypeAlias

from xdsl.ir import Operation

from .faults import UnknownOperationError, fault
from .frame import Frame

Step: TypeAlias = Callable[[Frame], None]
"""Runs an operation for all points of a frame, which holds its operands and results."""


@singledispatch
def prepare(op: Operation) -> Step:
    """What an operation does, as a function.

    Each level registers a function for each of its op types: `@prepare.register(Type)`.
    It looks at the operation once; the step that it returns may run many times.
    """
    error = fault(
        op,
        f"the reference interpreter does not know '{op.name}'",
        "it runs the dialects func, eltwise, tile, stripe and opencl",
    )
    raise UnknownOperationError(error.message, error.location, error.hint)


def prepare_all(operations: Iterable[Operation]) -> Step:
    """The operations of a body as one step that runs them one after the other."""
    steps = [prepare(op) for op in operations]

    def run(frame: Frame) -> None:
        for step in steps:
            step(frame)

    return run

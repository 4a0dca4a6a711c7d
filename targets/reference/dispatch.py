"""The table from op type to handler, which the levels fill."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

from xdsl.ir import Operation

from .faults import UnknownOperationError, fault
from .frame import Frame


@singledispatch
def execute(op: Operation, frame: Frame) -> None:
    """Run one operation for all points of a frame.

    Each level registers a handler for each of its op types: `@execute.register(Type)`.
    """
    error = fault(
        op,
        f"the reference interpreter does not know '{op.name}'",
        "it runs the dialects func, eltwise, tile, stripe and opencl",
    )
    raise UnknownOperationError(error.message, error.location, error.hint)


def execute_all(operations: Iterable[Operation], frame: Frame) -> None:
    """Run the operations of a body, one after the other."""
    for op in operations:
        execute(op, frame)

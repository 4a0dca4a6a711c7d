"""Source locations in passes: copied onto what is built, shown in errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, UnregisteredOp
from xdsl.ir import Operation

from ..dialects.locations import error_at as error_at
from ..dialects.locations import source_location as source_location
from ..errors import GinghamError
from .walking import operations

OperationType = TypeVar("OperationType", bound=Operation)


def located(op: OperationType, origin: Operation) -> OperationType:
    """`op`, where it and what is in it have no location yet at that of `origin`."""
    for inner in operations(op) if op.regions else (op,):
        if inner.location is UNKNOWN_LOC:
            inner.location = origin.location
    return op


def not_lowered(
    op: Operation, message: str, dialects: Sequence[str], hint: str | None = None
) -> GinghamError:
    """The error for an operation that a pass cannot take.

    `{}` in the message stands for its name. The hint is for operations of the
    `dialects` that the pass takes; of others it says so.
    """
    name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
    dialect = name.partition(".")[0]
    if dialect not in dialects:
        known = " and ".join(dialects)
        hint = f"it is of the dialect {dialect}, and only {known} are lowered here"
    return error_at(op, message.format(f"'{name}'"), hint)


def check_positive(module: Operation, **options: int) -> None:
    """Raise a GinghamError for an option of a pass that is less than 1."""
    for name, value in options.items():
        if value < 1:
            raise error_at(module, f"expected {name} of 1 or more, got {value}")

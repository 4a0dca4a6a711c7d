"""The table from op type to meaning, which the levels fill."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import singledispatch
from math import prod
from typing import Final, TypeAlias

from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Operation

from ...dialects.locations import error_at
from .budget import LEAST
from .faults import UnknownOperationError
from .frame import Frame

MOST_LANES: Final = 2**16
"""Elements that the results of a statement may have at each point."""

Step: TypeAlias = Callable[[Frame], None]
"""Runs an operation for all points of a frame, which holds its operands and results."""


@singledispatch
def prepare(op: Operation) -> Step:
    """What an operation does, as a function.

    Each level registers a function for each of its op types: `@prepare.register(Type)`.
    It looks at the operation once; the step that it returns may run many times.
    """
    error = error_at(
        op,
        f"the reference interpreter does not know '{op.name}'",
        "it runs the dialects func, eltwise, tile, stripe and opencl",
    )
    raise UnknownOperationError(error.message, error.location, error.hint)


def prepare_all(operations: Iterable[Operation]) -> Step:
    """The operations of a body as one step that runs them one after the other."""
    listed = list(operations)
    for op in listed:
        if cells_of(op) > MOST_LANES:
            raise error_at(
                op,
                f"the results of '{op.name}' have {cells_of(op):,} elements at each "
                f"point: more than the {MOST_LANES:,} that the interpreter runs",
            )
    lanes = sum(max(1, cells_of(op)) for op in listed)
    steps = [prepare(op) for op in listed]
    if not steps:
        return _nothing

    def run(frame: Frame) -> None:
        frame.budget.spend(listed[0], lanes * frame.count + len(steps) * LEAST)
        for step in steps:
            step(frame)

    return run


def _nothing(frame: Frame) -> None:
    """What a body without operations does."""


def cells_of(op: Operation) -> int:
    """The cells that the results of an operation have, the lanes of vectors, say."""
    types = [result.type for result in op.results]
    sizes = [t.get_shape() for t in types if isinstance(t, TensorType | VectorType)]
    return sum(map(prod, sizes))

"""Sizes as numbers, where they are known while the user's code runs."""

from __future__ import annotations

from ...limits import LARGEST_INTEGER
from .graph import Input, Literal, Node, Trace
from .locations import error
from .size_nodes import NumberOf, SizeOf


def size_value(size: Node) -> int:
    """The number that a size stands for.

    Raises GinghamError where programs are for tensors of any size. In a function that
    is traced for shapes the trace notes that it was asked.
    """
    values: dict[Node, int] = {}
    pending = [size]
    while pending:
        node = pending[-1]
        is_given = isinstance(node, SizeOf | NumberOf)
        missing = [] if is_given else _missing(node, values)
        if missing:
            pending += missing
            continue
        pending.pop()
        values[node] = _value(node, values)
    return values[size]


def _missing(node: Node, values: dict[Node, int]) -> list[Node]:
    return [operand for operand in node.operands if operand not in values]


def _value(node: Node, values: dict[Node, int]) -> int:
    if isinstance(node, Literal):
        return int(node.number)
    if isinstance(node, SizeOf):
        return _extent(node)
    if isinstance(node, NumberOf):
        trace = _trace_of(node)
        return trace.number_of(node.input)
    value = node.fold(*(values[operand] for operand in node.operands))
    if not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
        raise error(f"the size {value} does not fit 64 bits", None, node.location)
    return value


def _extent(size: SizeOf) -> int:
    tensor = size.tensor
    if isinstance(tensor, Input) and tensor.shape is not None:
        known = tensor.shape[size.axis]
        if known is not None:
            return known
    return _trace_of(size).sizes_of(tensor)[size.axis]


def _trace_of(size: Node) -> Trace:
    """The call that has a number for a size, and is bound to it from now on."""
    if size.trace is None:
        raise error(
            f"the size '{size.name or '?'}' has no number here: the program is for "
            "tensors of any size",
            "in a function of gingham.jit sizes have numbers",
        )
    size.trace.looked_at_sizes = True
    return size.trace

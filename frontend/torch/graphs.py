"""The walk over a graph of `torch.fx`: from its nodes to tensors of the eDSL.

A node is read by what it has: `op`, `target`, `args`, `kwargs`, and under "val" in its
`meta` what PyTorch says of its value. All sizes there are numbers; whoever compiles for
sizes that change says anew what they are (`runtime/torch/signatures.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import GinghamError
from ..edsl.locations import one_operation
from ..edsl.tensors import Tensor
from .places import place_of
from .rows import Call, NotLowered, Result, as_type, dtype_named
from .table import ROWS


class Refused(Exception):
    """A node that has no lowering, and why; the rest of the graph may have one."""

    def __init__(self, node: Any, reason: str) -> None:
        super().__init__(f"{operator_of(node)}: {reason}")
        self.node = node
        self.reason = reason


def operator_of(node: Any) -> str:
    """The name of the operator that a node calls, such as `aten.mm.default`."""
    return str(node.target)


def is_lowered(node: Any) -> bool:
    """Whether there is a row for what a node does, and tensors can hold its value."""
    if node.op != "call_function":
        return node.op in ("placeholder", "output")
    if node.target is operator.getitem and isinstance(node.args[0], type(node)):
        return is_lowered(node.args[0])
    if is_number(node):
        return True
    if operator_of(node) not in ROWS:
        return False
    operands = [used.meta.get("val") for used in node.all_input_nodes]
    return all(map(_can_be_held, [*operands, *_used_values(node)]))


def _used_values(node: Any) -> list[Any]:
    """What PyTorch says of each result of a node; None for those that nobody uses."""
    value = node.meta.get("val")
    if not _is_several(value):
        return [value]
    used = {user.args[1] for user in node.users}
    return [each if number in used else None for number, each in enumerate(value)]


def is_number(node: Any) -> bool:
    """Whether a node is a number of Python, or a size that is known when it runs."""
    value = node.meta.get("val")
    return value is not None and not hasattr(value, "shape") and not _is_several(value)


def _is_several(value: object) -> bool:
    return isinstance(value, list | tuple)


def _can_be_held(value: Any) -> bool:
    if _is_several(value):
        return True  # its parts are looked at where they are used
    if not hasattr(value, "shape"):
        return value is None or not isinstance(value, complex)
    try:
        dtype_named(value.dtype)
    except NotLowered:
        return False
    # A size of 0 that is a number; one that may become 0 is seen when it is one.
    return not any(isinstance(size, int) and size == 0 for size in value.shape)


def result_of(value: Any) -> Result | None:
    """What a value of PyTorch is as a result; None for what is no tensor."""
    if not hasattr(value, "shape"):
        return None
    return Result(dtype_named(value.dtype), tuple(int(size) for size in value.shape))


def lower(nodes: Iterable[Any], known: Mapping[Any, Any]) -> dict[Any, Any]:
    """The values of nodes in order: tensors, tuples of them, or numbers.

    `known` has those of placeholders. Raises Refused for a node without a lowering.
    """
    values = dict(known)
    for node in nodes:
        if node.op == "call_function" and node not in values:
            with one_operation(place_of(node)):
                values[node] = _value(node, values)
    return values


def _value(node: Any, values: Mapping[Any, Any]) -> Any:
    arguments = [_argument(argument, values) for argument in node.args]
    if node.target is operator.getitem:
        return arguments[0][arguments[1]]
    options = {name: _argument(value, values) for name, value in node.kwargs.items()}
    name, value = operator_of(node), node.meta.get("val")
    if name not in ROWS:
        raise Refused(node, "there is no row for it")
    try:
        call = Call(name, tuple(map(result_of, _used_values(node))))
        given = ROWS[name](call, *arguments, **options)
    except NotLowered as reason:
        raise Refused(node, str(reason)) from reason
    except GinghamError as mistake:
        raise Refused(node, mistake.message) from mistake
    except TypeError as mistake:
        reason = f"arguments that its row does not know: {mistake}"
        raise Refused(node, reason) from mistake
    if not _is_several(value):
        return _checked(node, given, call.results[0])
    return tuple(
        None if tensor is None or wanted is None else _checked(node, tensor, wanted)
        for tensor, wanted in zip(given, call.results, strict=True)
    )


def _argument(argument: Any, values: Mapping[Any, Any]) -> Any:
    if _is_several(argument):
        return [_argument(each, values) for each in argument]
    if not hasattr(argument, "all_input_nodes"):
        return argument
    return argument.meta["val"] if is_number(argument) else values[argument]


def _checked(node: Any, given: Any, wanted: Result | None) -> Tensor:
    """The tensor in the type that PyTorch says, if it has the sizes that it says."""
    if wanted is None or not isinstance(given, Tensor):
        raise Refused(node, "its result is no tensor")
    sizes: Sequence[int | None] = given.known_sizes
    if tuple(sizes) != wanted.sizes:
        raise Refused(node, f"its row gives {list(sizes)}, not {list(wanted.sizes)}")
    return as_type(given, wanted.dtype)

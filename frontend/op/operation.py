"""What makes a function an operation: one name and one place for all that it makes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar
from typing import cast as seen_as

from ...errors import GinghamError
from ..edsl.graph import Literal
from ..edsl.locations import assigned_names, here, is_in_operation, one_operation
from ..edsl.operands import tensor_node
from ..edsl.tensors import Tensor, cast

TensorLike: TypeAlias = Any
"""A tensor, a size, a number or an array: what can be used like a tensor."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def operation(
    function: Callable[_Parameters, _Result],
) -> Callable[_Parameters, _Result]:
    """The function, with its results named by the variables that they are assigned to.

    All nodes that it makes are at the place of the user's call, and so are errors.
    """

    @functools.wraps(function)
    def call(*operands: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        if is_in_operation():
            return function(*operands, **options)
        names = assigned_names()
        first = Literal(0).serial
        with one_operation(here()):
            result = function(*operands, **options)
        if names:
            _name(result, names, first)
        return result

    return call


def _name(result: object, names: Sequence[str], first: int) -> None:
    """Give names to results, but not to what was there before the operation."""
    results: Sequence[object] = [result]
    if isinstance(result, tuple):
        results = seen_as("tuple[object, ...]", result)
    if len(results) != len(names):
        return
    for each, name in zip(results, names, strict=True):
        if isinstance(each, Tensor) and each.node.serial > first:
            each.node.name = each.node.name or name


def in_type_of(x: Tensor, result: Tensor) -> Tensor:
    """The result in the element type of x, if that is one of floats and is known."""
    try:
        dtype = x.dtype
    except GinghamError:
        return result
    return cast(result, dtype) if "float" in dtype.value else result


def as_tensor(x: TensorLike) -> Tensor:
    """What can be used like a tensor, as a tensor."""
    return x if isinstance(x, Tensor) else Tensor.of(tensor_node(x))

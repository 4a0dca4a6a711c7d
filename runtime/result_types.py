"""The types that tensors of the eDSL have, found out by programs of these alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .arguments import signature_of, tensor_types

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import TensorType
    from xdsl.ir import Attribute

    from ..frontend.edsl.graph import Node

_NO_NUMBERS: Mapping[int, int] = {}
_NO_TYPES: Mapping[Node, TensorType[Attribute]] = {}


def result_type(
    inputs: Sequence[Node],
    types: Sequence[TensorType[Attribute]],
    node: Node,
    known: Mapping[Node, TensorType[Attribute]] = _NO_TYPES,
    numbers: Mapping[int, int] = _NO_NUMBERS,
) -> TensorType[Attribute]:
    """The type of a tensor for inputs of these types.

    `known` are the types of further tensors; what they are computed from is not looked
    at. `numbers` are those of the inputs that are sizes.
    """
    from xdsl.dialects.builtin import TensorType
    from xdsl.dialects.func import ReturnOp

    from ..frontend.edsl.emission import build_program, reached
    from ..passes.tile.specialize import specialize

    given = [n for n in reached([node], known) if n in known and n not in inputs]
    outputs = [("O", node)]
    built = build_program(inputs, outputs, node.location, checked=False, given=given)
    constants = tensor_types(signature_of(list(built.constants.values())))
    arguments = [*types, *(known[n] for n in given), *constants]
    module = specialize(built.module, arguments, numbers=numbers)
    for operation in module.walk():
        if isinstance(operation, ReturnOp):
            type = operation.arguments[0].type
            if isinstance(type, TensorType):
                return type
    raise ValueError("expected the program to return a tensor")


def zeros_of(node: Node) -> NDArray[Any]:
    """An array of the type of a tensor, all elements of which are the same memory."""
    import numpy as np

    from ..dialects.eltwise.numpy_types import numpy_dtype
    from ..frontend.edsl.known_types import type_of

    type = type_of(node)
    zero = np.zeros((), numpy_dtype(type.element_type))
    return np.broadcast_to(zero, type.get_shape())

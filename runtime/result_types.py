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


def result_type(
    inputs: Sequence[Node],
    types: Sequence[TensorType[Attribute]],
    node: Node,
    numbers: Mapping[int, int] = _NO_NUMBERS,
) -> TensorType[Attribute]:
    """The type of a tensor for inputs of these types; `numbers` are those of sizes."""
    from xdsl.dialects.builtin import TensorType
    from xdsl.dialects.func import ReturnOp

    from ..frontend.edsl.emission import build_program
    from ..passes.tile.specialize import specialize

    built = build_program(inputs, [("O", node)], node.location, types=types)
    constants = tensor_types(signature_of(list(built.constants.values())))
    module = specialize(built.module, [*types, *constants], numbers=numbers)
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

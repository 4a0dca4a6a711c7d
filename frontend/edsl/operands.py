"""What can be used like a tensor, as nodes of the graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .accesses import Aggregated, Combined
from .dims import Dimension, size_node
from .graph import Input, Literal, Node
from .indices import IndexExpression
from .lens import TensorLens
from .locations import error

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TensorHandle(ABC):
    """What stands for a node that is a tensor; `Tensor` computes with it."""

    @property
    @abstractmethod
    def node(self) -> Node:
        """The node. Raises GinghamError where it has none yet."""

    @property
    @abstractmethod
    def lens(self) -> TensorLens | None:
        """How its axes are seen; None when they are as in memory."""


def tensor_node(value: Any) -> Node:
    """The node of what can be used like a tensor: sizes, numbers and arrays too."""
    if isinstance(value, TensorHandle | Dimension):
        value.node.check_tensor()
        return value.node
    if isinstance(value, bool | int | float):
        return Literal(value)
    if isinstance(value, Combined | Aggregated):
        raise error(
            "an access such as A[i, j] is part of a contraction and no tensor",
            "compute with the whole tensor A, or write O[i, j] = A[i, j] to an output",
        )
    if isinstance(value, IndexExpression):
        raise error(
            "an index is part of a contraction and no tensor",
            "index([M, N], axis) is the tensor of an index's values",
        )
    if hasattr(value, "__array__"):
        return constant_node(value, None)
    raise error(
        f"expected a tensor, a size or a number, got {type(value).__name__}",
        "an array of NumPy is a constant of the program",
    )


def given_node(value: Any, name: str | None) -> Node:
    """The node of a number, which has no name, or of an array."""
    is_number = isinstance(value, bool | int | float)
    return Literal(value) if is_number else constant_node(value, name)


def constant_node(value: Any, name: str | None) -> Input:
    """The node of an array that is known while the program is made."""
    from ...dialects.eltwise.numpy_types import NUMPY_NAMES

    array = _unchanging(value)
    if array.dtype.name not in NUMPY_NAMES:
        raise error(
            f"a constant has elements of type {array.dtype}",
            f"tensors hold {', '.join(NUMPY_NAMES)}",
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    element = NUMPY_NAMES[array.dtype.name]
    return Input(array.shape, element, name, array)


def _unchanging(value: Any) -> NDArray[Any]:
    """An array as it is now: what becomes of it later does not change the program.

    Arrays over bytes, such as the weights in a file of ONNX, nobody can change.
    """
    # NumPy is imported when an array is used, not when a tool starts.
    import numpy as np

    memory = value
    while isinstance(memory, np.ndarray):
        memory = memory.base
    is_plain = type(value) is np.ndarray and value.flags.c_contiguous
    if is_plain and isinstance(memory, bytes):
        return value
    return np.array(value, order="C")


def flattened(items: Sequence[Any]) -> list[Any]:
    """The items of nested lists and tuples, in order."""
    flat: list[Any] = []
    for item in items:
        flat += flattened(item) if _is_nested(item) else [item]
    return flat


def _is_nested(item: object) -> bool:
    return isinstance(item, list | tuple)


def size_nodes(dims: Sequence[Any]) -> list[Node]:
    """The nodes of sizes and integers in nested lists, in order."""
    return [size_node(dim, "a size") for dim in flattened(dims)]

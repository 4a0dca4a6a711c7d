"""What stands for a size of a tensor: a dimension, or an integer."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NoReturn

from .evaluation import size_value
from .graph import Literal, Node
from .locations import assigned_name, error


class Dimension:
    """A size that has a number, or will have one; `TensorDim` computes with it."""

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class.

    def __init__(self, name: str | None = None) -> None:
        self._name = assigned_name() if name is None else name
        self._node: Node | None = None

    @property
    def name(self) -> str | None:
        """What the program calls it; None if it does not."""
        return self._name

    @property
    def is_bound(self) -> bool:
        """Whether it stands for a number already."""
        return self._node is not None

    @property
    def node(self) -> Node:
        """Its node in the graph; GinghamError when it stands for nothing yet."""
        if self._node is None:
            name = f" '{self._name}'" if self._name else ""
            raise error(
                f"the dimension{name} has no size yet",
                "bind_dims of a tensor gives dimensions their sizes: call it first",
            )
        return self._node

    def bind(self, node: Node) -> None:
        """Make a dimension that stands for nothing yet stand for a size."""
        self._node = node

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    def __int__(self) -> int:
        """The number, where it is known: in a function that is traced for shapes."""
        return size_value(self.node)

    __index__ = __int__

    def __bool__(self) -> bool:
        return int(self) != 0

    def __iter__(self) -> Iterator[NoReturn]:
        raise error("a TensorDim is one size and cannot be iterated over")


def is_integer(value: object) -> bool:
    """Whether it is an integer of Python or NumPy."""
    return isinstance(value, Integral)


def is_size(value: object) -> bool:
    """Whether it is a `TensorDim` or an integer."""
    return isinstance(value, Dimension) or is_integer(value)


def size_node(value: Any, what: str) -> Node:
    """The node of a size or an integer; `what` it is for, in words."""
    if isinstance(value, Dimension):
        return value.node
    if isinstance(value, bool):
        return Literal(value)
    if is_integer(value):
        return Literal(operator.index(value))
    # A tensor has no number, but a static argument has one.
    is_tensor = callable(getattr(value, "bind_dims", None))
    raise error(
        f"expected {what} to be a TensorDim or an integer, got {type(value).__name__}",
        "as_dim(x) is the integer that an input of rank 0 is" if is_tensor else None,
    )

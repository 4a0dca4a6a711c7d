"""`TensorDim`: the sizes of tensors, as integers that programs compute with."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NoReturn

from ...dialects.eltwise.table import FUNCTIONS
from .evaluation import size_value
from .graph import Apply, Literal, Node
from .locations import assigned_name, error, names_of_several


class TensorDim:
    """A size: unknown until `bind_dims` of a tensor, or computed from others.

    Arithmetic gives further sizes; `/` and `//` are the same and truncate toward zero.
    With a tensor or a float the result is a tensor, with an index an index expression.
    """

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class.

    def __init__(self, name: str | None = None) -> None:
        self._name = assigned_name() if name is None else name
        self._node: Node | None = None

    @staticmethod
    def make(name: str | None, node: Node | None = None) -> TensorDim:
        """The dimension of this name, which stands for a size or nothing yet."""
        dim = TensorDim.__new__(TensorDim)
        dim._name, dim._node = name, node
        return dim

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
        return f"TensorDim({self._name!r})"

    # The number

    def __int__(self) -> int:
        """The number, where it is known: in a function that is traced for shapes."""
        return size_value(self.node)

    __index__ = __int__

    def __bool__(self) -> bool:
        return int(self) != 0

    def __iter__(self) -> Iterator[NoReturn]:
        raise error("a TensorDim is one size and cannot be iterated over")

    # Arithmetic

    def __add__(self, other: Any) -> Any:
        return _apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("div", other, self)

    __floordiv__ = __truediv__
    __rfloordiv__ = __rtruediv__

    def __mod__(self, other: Any) -> Any:
        return _apply("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _apply("mod", other, self)

    def __neg__(self) -> Any:
        return _apply("neg", self)

    def __pos__(self) -> TensorDim:
        return self

    def __abs__(self) -> Any:
        return _apply("abs", self)

    # Comparisons: a condition, which has a number and so a truth value like any size.

    def __lt__(self, other: Any) -> Any:
        return _apply("cmp_lt", self, other)

    def __le__(self, other: Any) -> Any:
        return _apply("cmp_le", self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply("cmp_gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return _apply("cmp_ge", self, other)

    def __eq__(self, other: object) -> Any:
        return _apply("cmp_eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _apply("cmp_ne", self, other)

    __hash__ = object.__hash__


def TensorDims(names: int | str) -> list[TensorDim]:
    """Several dimensions: as many as said, or one for each name of `"M N"`.

    Those that are counted are called as the variables that they are assigned to.
    """
    return [TensorDim.make(name) for name in names_of_several(names)]


def is_integer(value: object) -> bool:
    """Whether it is an integer of Python or NumPy."""
    return isinstance(value, Integral)


def is_size(value: object) -> bool:
    """Whether it is a `TensorDim` or an integer."""
    return isinstance(value, TensorDim) or is_integer(value)


def size_node(value: Any, what: str) -> Node:
    """The node of a size or an integer; `what` it is for, in words."""
    if isinstance(value, TensorDim):
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


def apply_to_sizes(function: str, *operands: Any) -> TensorDim:
    """A function of sizes and integers, at least one a size."""
    nodes = [size_node(operand, f"an operand of '{function}'") for operand in operands]
    is_division = function in ("div", "mod")
    if is_division and isinstance(nodes[1], Literal) and not nodes[1].number:
        raise error("division of a size by zero")
    name = assigned_name()
    return TensorDim.make(name, Apply(FUNCTIONS[function], nodes, name))


def _apply(function: str, *operands: Any) -> Any:
    """A function of a size and anything; an index and a tensor know what to do."""
    if all(map(is_size, operands)):
        return apply_to_sizes(function, *operands)
    # Tensors know sizes, so sizes import them when there is one to make.
    from .tensors import Tensor, apply

    # Python would have a tensor on the right compare the other way round.
    if any(isinstance(operand, float | Tensor) for operand in operands):
        return apply(function, *operands)
    return NotImplemented

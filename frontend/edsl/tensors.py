"""`Tensor` and `TensorDim`: values of a program, and sizes, that code computes with.

They stand for nodes of the graph. What makes nodes (`operands`, `axes`, `accesses`,
`special_nodes`, `einsum_node`) knows nothing of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.table import FUNCTIONS
from ...errors import SourceLocation
from ..builder import ProgramBuilder, Value
from .accesses import Aggregated, IndexedTensor, combined
from .axes import bind_sizes, check_rank, input_node, known_rank, named_sizes
from .dims import Dimension, is_size, size_node
from .dtypes import DType, TensorShape, dtype_of, element_type
from .einsum_node import einsum_node
from .graph import Apply, Call, Literal, Node, SizeSymbol
from .indices import IndexExpression, index_expression
from .known_types import element_of, sizes_of
from .lens import TensorLens
from .locations import assigned_name, assigned_names, error, names_of_several
from .operands import (
    TensorHandle,
    flattened,
    given_node,
    size_nodes,
    tensor_node,
)
from .operators import Operators, SizeArithmetic
from .size_nodes import SizeOf, Sizes
from .special_nodes import special_node


class Tensor(Operators["Tensor"], TensorHandle):
    """A tensor of a program: an input, or computed from others.

    `Tensor(TensorShape(DType.FLOAT32, [4, 5]))` is a `Placeholder`, `Tensor(value=x)` a
    `Constant`.

    Operators work on all elements and broadcast as those of NumPy do; `A[i, j]` with
    indices is an access for a contraction.
    """

    _node: Node | None
    _lens: TensorLens | None

    def __init__(
        self, shape: Any = None, *, value: Any = None, name: str | None = None
    ) -> None:
        if (shape is None) == (value is None):
            raise error(
                "expected either a shape or a value",
                "Tensor(TensorShape(DType.FLOAT32, [4, 5])) or Tensor(value=x)",
            )
        name = assigned_name() if name is None else name
        self._lens = None
        if value is None:
            self._node = input_node(shape, (), name)
        else:
            self._node = given_node(value, name)

    @staticmethod
    def of(node: Node, lens: TensorLens | None = None) -> Tensor:
        """The tensor that a node is."""
        tensor = Tensor.__new__(Tensor)
        tensor._node, tensor._lens = node, lens
        return tensor

    @property
    def node(self) -> Node:
        """Its node in the graph; GinghamError for an output without a contraction."""
        if self._node is None:
            raise error("the tensor has no value yet")
        return self._node

    @property
    def name(self) -> str | None:
        """What the program calls it; None if it does not."""
        return self.node.name

    def __repr__(self) -> str:
        name = f" {self._node.name}" if self._node and self._node.name else ""
        return f"<gingham.edsl.{type(self).__name__}{name}>"

    # What is known of it

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return known_rank(self.node)

    @property
    def rank(self) -> int:
        """The number of axes, as PlaidML calls it."""
        return self.ndim

    @property
    def shape(self) -> TensorSizes:
        """The sizes of the axes; `M, N = A.shape` also names them."""
        names: Sequence[str | None] = assigned_names()
        if len(names) != self.ndim:
            names = (None,) * self.ndim
        node = self.node
        sizes = named_sizes(node)
        if sizes is None:
            sizes = Sizes(node, [SizeSymbol(None) for _ in range(self.ndim)])
            node.checks.append(sizes)
        for symbol, name in zip(sizes.symbols, self._to_memory(names), strict=True):
            symbol.name = symbol.name or name
        dims = [
            TensorDim.make(symbol.name, SizeOf(sizes, axis))
            for axis, symbol in enumerate(sizes.symbols)
        ]
        return TensorSizes(self, dims if self._lens is None else self._lens.undo(dims))

    @property
    def dtype(self) -> DType:
        """The element type, where it is known.

        That is in a trace, and where the placeholders that it is computed from say
        their types. Raises GinghamError elsewhere.
        """
        return dtype_of(element_of(self.node))

    def compute_shape(self) -> TensorShape:
        """The element type and the sizes, 0 for those that are not known.

        Raises GinghamError where the type is not known.
        """
        return TensorShape(self.dtype, [size or 0 for size in self.known_sizes])

    @property
    def known_sizes(self) -> Sequence[int | None]:
        """The sizes as numbers, None for those that are not known."""
        sizes = sizes_of(self.node)
        return sizes if self._lens is None else self._lens.undo(list(sizes))

    def bind_dims(self, *dims: Any) -> None:
        """Give sizes to dimensions, one for each axis, or compare them.

        A `TensorDim` that has no size yet stands for that of the axis from now on; one
        that has a size, or an integer, must be equal to it, which is checked when the
        sizes are known. None says nothing of an axis.
        """
        bind_sizes(self.node, self._to_memory(flattened(dims)))

    @property
    def lens(self) -> TensorLens | None:
        """How its axes are seen; None when they are as in memory."""
        return self._lens

    def use(self, lens: TensorLens) -> Tensor:
        """The same tensor, with its axes in the order of the lens's target."""
        check_rank(self.node, len(lens.source))
        return Tensor.of(self.node, lens)

    def element(self, number: int) -> Tensor:
        """One of the results of a function that has several."""
        raise error(
            f"{self.node.describe()} is one tensor and has no element {number}",
            "functions such as prng_step have results that element tells apart",
        )

    def astype(self, dtype: object) -> Tensor:
        """The elements converted to another type."""
        return cast(self, dtype)

    def reshape(self, *dims: Any) -> Tensor:
        """The elements in the same order with other sizes, as many in all."""
        sizes = size_nodes(dims)
        return Tensor.of(special_node("reshape", [self.node], sizes, {}))

    # Contractions

    def __getitem__(self, key: Any) -> IndexedTensor:
        indices = self._subscripts(key)
        if self._node is not None:
            check_rank(self._node, len(indices), "index", "indices")
        return IndexedTensor(self, indices)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(value, Aggregated):
            value = Aggregated(Aggregation.ASSIGN, combined(value))
        self.write(tuple(self._subscripts(key)), value)

    def write(self, indices: Sequence[IndexExpression], value: Aggregated) -> None:
        """Make a contraction its value: only for those that TensorOutput made."""
        raise error(
            f"{self.node.describe()} has a value already and is no output of a "
            "contraction",
            "TensorOutput(M, N) makes a tensor that a contraction can write",
        )

    def _subscripts(self, key: Any) -> list[IndexExpression]:
        return self._to_memory([index_expression(index) for index in flattened([key])])

    def __matmul__(self, other: Any) -> Tensor:
        return _matrix_product(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _matrix_product(other, self)

    def _apply(self, function: str, *operands: Any) -> Tensor:
        return apply(function, *operands)

    def _to_memory(self, items: Sequence[Any]) -> list[Any]:
        """What is said of the axes, in the order in which the tensor has them."""
        if self._lens is None or not items:
            return list(items)
        return self._lens.apply(items)


def apply(function: str, *operands: Any) -> Tensor:
    """A function of the element-wise table, by its name."""
    nodes = [tensor_node(operand) for operand in operands]
    return Tensor.of(Apply(FUNCTIONS[function], nodes, assigned_name()))


def cast(x: Any, dtype: object) -> Tensor:
    """The elements of `x` converted to another type."""
    element = element_type(dtype)
    node = tensor_node(x)

    def build(
        builder: ProgramBuilder, values: list[Value], at: SourceLocation
    ) -> Value:
        return builder.cast(values[0], element, at)

    return Tensor.of(
        Call(
            build,
            [node],
            node.rank,
            assigned_name(),
            sizes=node.known_sizes,
            element=element,
        )
    )


def _matrix_product(left: Any, right: Any) -> Tensor:
    """`left @ right` as NumPy has it: vectors, matrices, and stacks of matrices."""
    ranks = [known_rank(tensor_node(operand)) for operand in (left, right)]
    if 0 in ranks:
        raise error("'@' takes no tensor of rank 0", "write '*'")
    first, second = ("j" if ranks[0] == 1 else "...ij"), ("j", "...jk")[ranks[1] > 1]
    equation = f"{first},{second}->{_product_axes(*ranks)}"
    return Tensor.of(einsum_node([equation, left, right]))


def _product_axes(left: int, right: int) -> str:
    axes = ("" if left == 1 else "i") + ("" if right == 1 else "k")
    return axes if left == right == 1 else f"...{axes}"


class TensorDim(SizeArithmetic[Any], Dimension):
    """A size: unknown until `bind_dims` of a tensor, or computed from others.

    Arithmetic gives further sizes; `/` and `//` are the same and truncate toward zero.
    With a tensor or a float the result is a tensor, with an index an index expression.
    """

    @staticmethod
    def make(name: str | None, node: Node | None = None) -> TensorDim:
        """The dimension of this name, which stands for a size or nothing yet."""
        dim = TensorDim.__new__(TensorDim)
        dim._name, dim._node = name, node
        return dim

    def _apply(self, function: str, *operands: Any) -> Any:
        return _apply_to_any(function, *operands)

    def __floordiv__(self, other: Any) -> Any:
        return _apply_to_any("div", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _apply_to_any("div", other, self)

    def __pos__(self) -> TensorDim:
        return self

    def __eq__(self, other: object) -> Any:
        return _apply_to_any("cmp_eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _apply_to_any("cmp_ne", self, other)

    __hash__ = object.__hash__


class TensorSizes(tuple[TensorDim, ...]):
    """The sizes of a tensor, and what PlaidML's shapes tell besides."""

    tensor: Tensor

    def __new__(cls, tensor: Tensor, dims: Sequence[TensorDim]) -> TensorSizes:
        """The sizes of a tensor, in the order of its axes."""
        sizes = super().__new__(cls, dims)
        sizes.tensor = tensor
        return sizes

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self)

    @property
    def int_dims(self) -> list[int]:
        """The sizes as numbers, 0 for those that are not known."""
        return [size or 0 for size in self.tensor.known_sizes]

    @property
    def dtype(self) -> DType:
        """The element type of the tensor."""
        return self.tensor.dtype


def TensorDims(names: int | str) -> list[TensorDim]:
    """Several dimensions: as many as said, or one for each name of `"M N"`.

    Those that are counted are called as the variables that they are assigned to.
    """
    return [TensorDim.make(name) for name in names_of_several(names)]


def apply_to_sizes(function: str, *operands: Any) -> TensorDim:
    """A function of sizes and integers, at least one a size."""
    nodes = [size_node(operand, f"an operand of '{function}'") for operand in operands]
    is_division = function in ("div", "mod")
    if is_division and isinstance(nodes[1], Literal) and not nodes[1].number:
        raise error("division of a size by zero")
    name = assigned_name()
    return TensorDim.make(name, Apply(FUNCTIONS[function], nodes, name))


def _apply_to_any(function: str, *operands: Any) -> Any:
    """A function of a size and anything; an index and a tensor know what to do."""
    if all(map(is_size, operands)):
        return apply_to_sizes(function, *operands)
    # Python would have a tensor on the right compare the other way round.
    if any(isinstance(operand, float | Tensor) for operand in operands):
        return apply(function, *operands)
    return NotImplemented

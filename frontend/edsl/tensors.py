"""`Tensor`: values of a program that read like arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.table import FUNCTIONS
from ...errors import SourceLocation
from ..builder import ProgramBuilder, Value
from .accesses import Access, Aggregated, Combined, combined
from .dims import TensorDim, size_node
from .dtypes import DType, TensorShape, dtype_of, element_type
from .graph import (
    Apply,
    Call,
    Input,
    Literal,
    Node,
    SizeCheck,
    SizeOf,
    Sizes,
    SizeSymbol,
)
from .indices import IndexExpression, index_expression
from .known_types import element_of, sizes_of
from .lens import TensorLens
from .locations import assigned_name, assigned_names, error
from .operators import Operators


class Tensor(Operators):
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
        # Inputs are tensors, so they are imported when one is made.
        from .inputs import Constant, Placeholder

        if (shape is None) == (value is None):
            raise error(
                "expected either a shape or a value",
                "Tensor(TensorShape(DType.FLOAT32, [4, 5])) or Tensor(value=x)",
            )
        given = Placeholder(shape) if value is None else Constant(value)
        self._node, self._lens = given.node, None
        self._node.name = assigned_name() if name is None else name

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
        if self.node.rank is None:
            raise error(
                f"the number of axes of {self.node.describe()} is not known here",
                "bind_dims of the input that it comes from says what it is",
            )
        return self.node.rank

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
        sizes = _named_sizes(node)
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

        That is in a trace, and where all placeholders that it is computed from say
        their types and sizes. Raises GinghamError elsewhere.
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
        wanted = self._to_memory(flattened(dims))
        node = self.node
        _learn_rank(node, len(wanted))
        check_rank(node, len(wanted))
        existing = _named_sizes(node)
        symbols = [SizeSymbol(None) for _ in wanted]
        if existing is not None:
            symbols = list(existing.symbols)
        first: dict[TensorDim, int] = {}
        _check_known(node, wanted)
        for axis, dim in enumerate(wanted):
            if not isinstance(dim, TensorDim):
                continue
            if dim.is_bound:
                symbols[axis] = _symbol(dim) or symbols[axis]
            elif dim in first:
                symbols[axis] = symbols[first[dim]]
            else:
                first[dim] = axis
                symbols[axis].name = symbols[axis].name or dim.name
        sizes = existing
        if sizes is None or symbols != list(sizes.symbols):
            sizes = Sizes(node, symbols)
            node.checks.append(sizes)
        for dim, axis in first.items():
            dim.bind(SizeOf(sizes, axis))
        for axis, dim in enumerate(wanted):
            if dim is not None and not _is_named(dim):
                self._require(sizes, axis, dim)

    def _require(self, sizes: Sizes, axis: int, size: Any) -> None:
        """Have the size of an axis compared with a number or a computed size."""
        wanted = size_node(size, f"the size of axis {axis}")
        self.node.checks.append(SizeCheck(SizeOf(sizes, axis), wanted))

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
        # Functions of tensors are made of tensors.
        from .specials import reshape

        return reshape(self, *dims)

    # Contractions

    def __getitem__(self, key: Any) -> Access:
        indices = self._subscripts(key)
        if self._node is not None:
            check_rank(self._node, len(indices), "index", "indices")
        return Access(self, indices)

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

    return Tensor.of(Call(build, [node], node.rank, assigned_name()))


def _matrix_product(left: Any, right: Any) -> Tensor:
    """`left @ right` as NumPy has it: vectors, matrices, and stacks of matrices."""
    from .einsum import einsum

    ranks = [Tensor.of(tensor_node(operand)).ndim for operand in (left, right)]
    if 0 in ranks:
        raise error("'@' takes no tensor of rank 0", "write '*'")
    first, second = ("j" if ranks[0] == 1 else "...ij"), ("j", "...jk")[ranks[1] > 1]
    return einsum(f"{first},{second}->{_product_axes(*ranks)}", left, right)


def _product_axes(left: int, right: int) -> str:
    axes = ("" if left == 1 else "i") + ("" if right == 1 else "k")
    return axes if left == right == 1 else f"...{axes}"


def tensor_node(value: Any) -> Node:
    """The node of what can be used like a tensor: sizes, numbers and arrays too."""
    if isinstance(value, Tensor | TensorDim):
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


def constant_node(value: Any, name: str | None) -> Input:
    """The node of an array that is known while the program is made."""
    # NumPy is imported when an array is used, not when a tool starts.
    import numpy as np

    from ...dialects.eltwise.numpy_types import NUMPY_NAMES

    # A copy: what becomes of the array later does not change the program.
    array = np.array(value, order="C")
    if array.dtype.name not in NUMPY_NAMES:
        raise error(
            f"a constant has elements of type {array.dtype}",
            f"tensors hold {', '.join(NUMPY_NAMES)}",
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    element = NUMPY_NAMES[array.dtype.name]
    return Input(array.shape, element, name, array)


def flattened(items: Sequence[Any]) -> list[Any]:
    """The items of nested lists and tuples, in order."""
    flat: list[Any] = []
    for item in items:
        flat += flattened(item) if _is_nested(item) else [item]
    return flat


def _is_nested(item: object) -> bool:
    return isinstance(item, list | tuple)


def check_rank(
    node: Node, count: int, noun: str = "size", plural: str = "sizes"
) -> None:
    """Raise GinghamError when a tensor has another number of axes."""
    if node.rank is None or node.rank == count:
        return
    axes = "1 axis" if node.rank == 1 else f"{node.rank} axes"
    raise error(
        f"{node.describe()} has {axes}, got {count} {noun if count == 1 else plural}",
        f"it is made at {node.location}",
    )


def _named_sizes(node: Node) -> Sizes | None:
    """What names the sizes of a tensor, if something does."""
    return next((check for check in node.checks if isinstance(check, Sizes)), None)


def _symbol(dim: TensorDim) -> SizeSymbol | None:
    """The name of a size that is that of an axis; None for a computed one."""
    return dim.node.symbol if isinstance(dim.node, SizeOf) else None


def _is_named(dim: object) -> bool:
    return isinstance(dim, TensorDim) and _symbol(dim) is not None


def _learn_rank(node: Node, rank: int) -> None:
    """An input of any rank has the rank that bind_dims says."""
    if isinstance(node, Input) and node.shape is None:
        node.rank, node.shape = rank, (None,) * rank
    if node.rank is None:
        raise error(
            f"the number of axes of {node.describe()} is not known here",
            "bind_dims of the input that it comes from says what it is",
        )


def _check_known(node: Node, wanted: Sequence[Any]) -> None:
    """Compare sizes with what they have to be, where both are known already."""
    numbers: dict[TensorDim, int | None] = {}
    for axis, (known, dim) in enumerate(
        zip(node.known_sizes or (), wanted, strict=True)
    ):
        if dim is None:
            continue
        number, name = None, ""
        if not isinstance(dim, TensorDim):
            number = size_node(dim, f"the size of axis {axis}").known_number
        elif dim.is_bound:
            number, name = dim.node.known_number, dim.name
        else:
            number, name = numbers.setdefault(dim, known), dim.name
        if None in (known, number) or known == number:
            continue
        what = f"{name} = {number}" if name else f"{number}"
        raise error(f"axis {axis} of {node.describe()} has size {known}, not {what}")

"""`Value`: a tensor of a composed program, and the sizes that nobody knows yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..frontend.edsl.dtypes import DType, dtype_of, element_type
from ..frontend.edsl.graph import Input
from ..frontend.edsl.operators import Arithmetic
from .dtypes import convert_np_dtype_to_pml
from .errors import LogicError
from .operations import Bindings, Operation, Shape, Source
from .slices import slice_text
from .tensors import Tensor
from .variables import Integer, Placeholder, Real, Var, as_symbol

if TYPE_CHECKING:
    from .context import Context
    from .devices import Device


class Value(Arithmetic[Any]):
    """A tensor of a composed program: an input, or computed by an operation.

    It has a variable, or the operation that it comes from, or both. Operators work on
    all elements and broadcast; `v[1:, 0]` takes a part. A size of its shape that is
    known only when the program runs is a `Value`, too. Two values are equal if they are
    the same; `op.equal` compares elements.
    """

    def __init__(
        self, shape: Shape, var: Any, source: Source | None, name: str | None = None
    ) -> None:
        if var is None and source is None:
            raise LogicError("a value needs a variable or an operation")
        self._var = var
        self.source = source
        self._name = name
        dims = [
            dim if dim is not None else SymbolicDim(self, shape.ndims, axis).size
            for axis, dim in enumerate(shape.dims)
        ]
        self.shape = Shape(shape.dtype, tuple(dims))

    def __repr__(self) -> str:
        dims = ", ".join("?" if isinstance(d, Value) else str(d) for d in self.dims)
        dtype = self.shape.dtype.value if self.shape.dtype else "?"
        return f"<gingham.plaidml.tile.Value {self.name} {dtype}[{dims}]>"

    @property
    def var(self) -> Any:
        """Its variable; None where its operation is bound by a composition only."""
        if self._var is None and self.source is not None:
            operation, output = self.source
            if operation.is_lazy:
                operation.bind_early()
            if operation.variables is not None:
                self._var = operation.variables[output]
        return self._var

    @property
    def name(self) -> str:
        """What it is called: its own name, or that of its operation."""
        if self._name:
            return self._name
        if self.source is None:
            return "<unnamed>"
        operation, output = self.source
        several = len(operation.outputs) > 1
        return f"{operation.name}/{output}" if several else operation.name

    @property
    def key(self) -> tuple[Any, Source | None]:
        """What it has in common with all values of the same tensor."""
        return self._var if self.source is None else None, self.source

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return self.shape.ndims

    @property
    def dims(self) -> Sequence[Any]:
        """The size of each axis: an integer, or a `Value`."""
        return self.shape.dims

    @property
    def is_number(self) -> bool:
        """Whether it is a number of Python."""
        return isinstance(self._var, Integer | Real | bool | int | float)

    def bind(self, bindings: Bindings) -> Any:
        """Its variable in a composition. Raises LogicError before that is known."""
        if self.var is not None or self.source is None:
            return self.var
        return bindings.lookup(self.source.op)[self.source.output_name]

    def is_bound(self, bindings: Bindings) -> bool:
        """Whether its variable in a composition is known."""
        if self.var is not None or self.source is None:
            return True
        return bindings.is_bound(self.source.op)

    @staticmethod
    def for_op(
        shape: Shape, operation: Operation, output: str, name: str | None = None
    ) -> Value:
        """An output of an operation."""
        return Value(shape, None, Source(operation, output), name)

    @staticmethod
    def from_ndims(
        ndims: int, dtype: DType | None = DType.FLOAT32, name: str | None = None
    ) -> Value:
        """An input of so many axes."""
        return Value.from_dimensions([None] * ndims, dtype, name)

    @staticmethod
    def from_dimensions(
        dimensions: Sequence[Any],
        dtype: DType | None = DType.FLOAT32,
        name: str | None = None,
    ) -> Value:
        """An input of these sizes; None for one that is not known."""
        sizes = [dim if isinstance(dim, int) else None for dim in dimensions]
        placeholder = Placeholder.of_node(Input(sizes, None, None))
        return Value.from_var(placeholder, dimensions, dtype, name)

    @staticmethod
    def from_var(
        var: Any,
        dimensions: Sequence[Any] | None = None,
        dtype: DType | None = DType.FLOAT32,
        name: str | None = None,
    ) -> Value:
        """A variable, tensor or number as a value; a tensor knows its dimensions."""
        if dimensions is None:
            if isinstance(var, Tensor):
                dimensions, dtype = var.shape.sizes, var.shape.dtype
            else:
                dimensions = [None] * as_symbol(var).ndim
        return Value(Shape(dtype, tuple(dimensions)), var, None, name)

    @staticmethod
    def from_python_value(
        py_val: Any,
        dtype: DType | str | None = None,
        name: str | None = None,
        ctx: Context | None = None,
        dev: Device | None = None,
    ) -> Value:
        """A number, or an array, as a value; values stay.

        An array becomes a tensor where a context and a device are given, otherwise a
        constant of the program.
        """
        if isinstance(py_val, Value):
            return py_val
        if isinstance(py_val, Var):
            return Value.from_var(py_val, name=name)
        import numpy as np

        from ..dialects.eltwise.numpy_types import numpy_dtype

        if isinstance(py_val, np.generic | np.ndarray) and py_val.shape == ():
            py_val = py_val.item()
        if isinstance(py_val, bool | int | float):
            return _number(py_val, dtype, name)
        chosen = None if dtype is None else numpy_dtype(element_type(dtype))
        array = np.asarray(py_val, chosen)
        if ctx is not None and dev is not None:
            made = Tensor.from_ndarray(ctx, dev, array)
            return Value.from_var(made, name=name or "NDArray")
        symbol = as_symbol(array)
        shape = Shape(symbol.dtype, array.shape)
        return Value(shape, Var(symbol), None, name or "NDArray")

    def __getitem__(self, key: Any) -> Any:
        """A part: for each axis an integer or a slice; `...` stands for all others.

        Of the shape of a value the sizes themselves. Raises IndexError for an index
        that is out of bounds, where sizes are known.
        """
        operation = None if self.source is None else self.source.op
        if isinstance(operation, ShapeOf):
            return operation.source.dims[key]
        text, sizes = slice_text(self.dims, key)
        shape = Shape(self.shape.dtype, sizes)
        return Operation(text, [("I", self)], [("O", shape)], "SliceOf").sole_output()

    def _apply(self, function: str, *operands: Any) -> Any:
        values = [Value.from_python_value(operand) for operand in operands]
        names = [f"X{number}" for number in range(len(values))]
        dims = broadcast_dims(*(value.dims for value in values))
        shape = Shape(_result_type(function, values), dims)
        arguments = ", ".join(names)
        code = f"function ({arguments}) -> (O) {{ O = {function}({arguments}); }}"
        inputs = list(zip(names, values, strict=True))
        return Operation(code, inputs, [("O", shape)], function).sole_output()

    def __floordiv__(self, other: Any) -> Any:
        return floor_division(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return floor_division(other, self)


class SymbolicDim(Operation):
    """The size of an axis that is not known yet, as a value."""

    is_lazy = True

    def __init__(self, value: Value, ndims: int, axis: int) -> None:
        sizes = ", ".join(f"D{number}" for number in range(ndims))
        code = f"function (I[{sizes}]) -> (O) {{ O = D{axis}; }}"
        super().__init__(code, [("I", value)], [("O", _SIZE)])

    @property
    def size(self) -> Value:
        """The size."""
        return self.sole_output()


class BroadcastDim(Operation):
    """The size that others are broadcast to, not all of which are known."""

    is_lazy = True

    def __init__(self, sizes: Sequence[Any]) -> None:
        self.sizes = sizes
        """What is broadcast: values, and at most one integer."""
        inputs = [
            (f"I{number}", size)
            for number, size in enumerate(sizes)
            if isinstance(size, Value)
        ]
        names = [name for name, _ in inputs]
        numbers = [str(size) for size in sizes if not isinstance(size, Value)]
        code = (
            f"function ({', '.join(names)}) -> (O) "
            f"{{ O = {_nested('broadcast', [*names, *numbers])}; }}"
        )
        super().__init__(code, inputs, [("O", _SIZE)])


class ShapeOf(Operation):
    """The sizes of a value as a tensor; the sizes it is indexed by are known sooner."""

    def __init__(self, x: Value) -> None:
        self.source = x
        shape = Shape(DType.INT32, (x.ndims,))
        super().__init__(
            "function (I) -> (O) { O = shape(I); }", [("I", x)], [("O", shape)]
        )


shape_of = ShapeOf.function
"""The sizes of a value, as a tensor of one axis."""


def unary_op(value: Any, op_str: str, name: str | None = None) -> Value:
    """A value computed of each element by an expression in terms of `I`."""
    value = Value.from_python_value(value)
    code = f"function (I) -> (O) {{ O = {op_str}; }}"
    return Operation(code, [("I", value)], [("O", value.shape)], name).sole_output()


def binary_op(
    lhs: Any,
    rhs: Any,
    op_str: str,
    dtype: DType | None = None,
    name: str | None = None,
) -> Value:
    """A value computed of all elements by an expression in terms of `L` and `R`.

    `dtype` is the element type that the expression gives; without it that of sums.
    """
    left, right = map(Value.from_python_value, (lhs, rhs))
    dims = broadcast_dims(left.dims, right.dims)
    shape = Shape(dtype or _result_type("add", [left, right]), dims)
    code = f"function (L, R) -> (O) {{ O = {op_str}; }}"
    inputs = [("L", left), ("R", right)]
    return Operation(code, inputs, [("O", shape)], name).sole_output()


def floor_division(lhs: Any, rhs: Any) -> Value:
    """The quotient, rounded down."""
    return binary_op(lhs, rhs, "floor(L / R)", name="FloorDiv")


def maximum(x: Any, y: Any) -> Any:
    """The larger of values or numbers; of numbers a number."""
    if isinstance(x, Value) or isinstance(y, Value):
        return binary_op(x, y, "max(L, R)", name="Maximum")
    return max(x, y)


def minimum(x: Any, y: Any) -> Any:
    """The smaller of values or numbers; of numbers a number."""
    if isinstance(x, Value) or isinstance(y, Value):
        return binary_op(x, y, "min(L, R)", name="Minimum")
    return min(x, y)


def broadcast_dims(*args: Sequence[Any]) -> tuple[Any, ...]:
    """The sizes that shapes are broadcast to: integers, or values where not known.

    Raises LogicError for sizes that do not fit.
    """
    rank = max((len(dims) for dims in args), default=0)
    found: list[Any] = []
    for axis in range(-rank, 0):
        sizes = [dims[axis] for dims in args if len(dims) >= -axis]
        found.append(_broadcast(sizes, args))
    return tuple(found)


def _broadcast(sizes: Sequence[Any], shapes: Sequence[Sequence[Any]]) -> Any:
    leaves: list[Any] = []
    for size in sizes:
        operation = size.source.op if isinstance(size, Value) and size.source else None
        leaves += operation.sizes if isinstance(operation, BroadcastDim) else [size]
    numbers = {leaf for leaf in leaves if not isinstance(leaf, Value)} - {1}
    if len(numbers) > 1:
        shown = ", ".join(str(tuple(dims)) for dims in shapes)
        first, second, *_ = sorted(numbers)
        raise LogicError(f"sizes {first} and {second} do not fit: shapes are {shown}")
    different = [*dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, Value))]
    different += numbers
    if not different:
        return 1
    if len(different) == 1:
        return different[0]
    for size in sizes:
        operation = size.source.op if isinstance(size, Value) and size.source else None
        if isinstance(operation, BroadcastDim) and {*operation.sizes} == {*different}:
            return size
    return BroadcastDim(different).sole_output()


def _nested(function: str, arguments: Sequence[str]) -> str:
    first, *others = arguments
    return f"{function}({first}, {_nested(function, others)})" if others else first


def _number(number: bool | int | float, dtype: Any, name: str | None) -> Value:
    wanted = None if dtype is None else convert_np_dtype_to_pml(dtype)
    is_real = isinstance(number, float)
    var = Real(number) if is_real else Integer(number)
    default = DType.FLOAT32 if is_real else DType.INT32
    return Value(Shape(wanted or default, ()), var, None, name)


def _result_type(function: str, values: Sequence[Value]) -> DType | None:
    """The element type of an arithmetic function, as far as it is known."""
    from ..dialects.eltwise.element_types import promote_weak

    if function.startswith("cmp_"):
        return DType.BOOLEAN
    if any(value.shape.dtype is None for value in values):
        return None
    known = [(value.is_number, element_type(value.shape.dtype)) for value in values]
    strong = [element for is_number, element in known if not is_number]
    weak = [element for is_number, element in known if is_number]
    return dtype_of(promote_weak(strong, weak))


_SIZE = Shape(DType.UINT64, ())

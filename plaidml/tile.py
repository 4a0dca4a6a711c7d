"""Operations and values: how a frontend composes Tile functions.

```python
class Scale(tile.Operation):
    def __init__(self, value, factor):
        super().__init__(
            "function (X, F) -> (Y) { Y = X * F; }",
            [("X", value), ("F", factor)],
            [("Y", value.shape)],
        )

x = tile.Value.from_ndims(2)
f = tile.compose(ctx, dev, inputs=[("X", x)], outputs=[("Y", Scale.function(x, 2))])
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import GinghamError
from ..frontend.edsl import tensors as edsl
from ..frontend.edsl.dtypes import DType, element_type
from ..frontend.edsl.graph import Input, Literal
from ..frontend.edsl.operators import Operators
from ..frontend.edsl.text import apply_text
from ..frontend.tile_text import TileFunction
from .composition import check_tensor, compose_function
from .devices import Context, Device
from .errors import check_name
from .functions import Function
from .slices import slice_text
from .tensors import Tensor
from .variables import Var, as_symbol

__all__ = ["Operation", "Shape", "Value", "compose"]


class Shape(NamedTuple):
    """What is known of a value: element type, and the size of each axis.

    The type is None, and a size is None, where it is known only when the program runs.
    """

    dtype: DType | None
    dims: tuple[Any, ...]

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self.dims)


class Value(Operators):
    """A tensor of a composed program: an input, or computed by an operation.

    Operators work on all elements and broadcast; `v[1:, 0]` takes a part.
    """

    def __init__(self, var: Any, shape: Shape, name: str | None = None) -> None:
        self.symbol = as_symbol(var)
        self.var = var if isinstance(var, Var) else Var(self.symbol)
        self.shape = shape
        self.name = name

    def __repr__(self) -> str:
        return f"<gingham.plaidml.tile.Value {self.name or ''} {self.shape.dims}>"

    @staticmethod
    def from_ndims(
        ndims: int, dtype: DType | None = None, name: str | None = None
    ) -> Value:
        """An input of so many axes."""
        return Value.from_dimensions([None] * ndims, dtype, name)

    @staticmethod
    def from_dimensions(
        dimensions: Sequence[int | None],
        dtype: DType | None = None,
        name: str | None = None,
    ) -> Value:
        """An input of these sizes; None for one that is not known."""
        element = None if dtype is None else element_type(dtype)
        node = Input(list(dimensions), element, None)
        return Value(Var(edsl.Tensor.of(node)), Shape(dtype, tuple(dimensions)), name)

    @staticmethod
    def from_var(
        var: Var,
        dimensions: Sequence[int | None] | None = None,
        dtype: DType | None = None,
        name: str | None = None,
    ) -> Value:
        """A variable or a tensor as a value."""
        if dimensions is None:
            if isinstance(var, Tensor):
                dimensions, dtype = var.shape.sizes, var.shape.dtype
            else:
                dimensions = [None] * var.symbol.ndim
        return Value(var, Shape(dtype, tuple(dimensions)), name)

    @staticmethod
    def from_python_value(
        value: Any,
        dtype: DType | str | None = None,
        ctx: Context | None = None,
        dev: Device | None = None,
        name: str | None = None,
    ) -> Value:
        """A number, or an array, as a constant of the program; values stay."""
        if isinstance(value, Value):
            return value
        if isinstance(value, Var):
            return Value.from_var(value, name=name)
        if isinstance(value, bool | int | float) and dtype is None:
            return Value(value, Shape(None, ()), name)
        import numpy as np

        from ..dialects.eltwise.numpy_types import numpy_dtype

        chosen = None if dtype is None else numpy_dtype(element_type(dtype))
        array = np.asarray(value, chosen)
        symbol = as_symbol(array)
        return Value(Var(symbol), Shape(symbol.dtype, array.shape), name)

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return self.shape.ndims

    @property
    def is_number(self) -> bool:
        """Whether it is a number of Python."""
        return isinstance(self.symbol.node, Literal)

    def __getitem__(self, key: Any) -> Value:
        """A part: for each axis an integer or a slice with a positive step.

        Raises IndexError for an index that is out of bounds, where sizes are known.
        """
        text, dims = slice_text(self.shape.dims, key)
        (part,) = apply_text(TileFunction(text, "<slice>"), [self.symbol])
        return Value(Var(part), Shape(self.shape.dtype, dims))

    def _apply(self, function: str, *operands: Any) -> Any:
        values = [Value.from_python_value(operand) for operand in operands]
        result = edsl.apply(function, *[value.symbol for value in values])
        dims = _broadcast([value.shape.dims for value in values])
        dtypes = {v.shape.dtype for v in values if not v.is_number}
        is_truth = function.startswith("cmp_")
        known = dtypes.pop() if len(dtypes) == 1 else None
        return Value(Var(result), Shape(DType.BOOLEAN if is_truth else known, dims))


class Operation:
    """A Tile function applied to values; a class of its own for each sort.

    `inputs` has the name and the value of each input, `outputs` the name of each output
    and the `Shape` that it will have. Raises GinghamError for a mistake in the code and
    for inputs that do not fit it.
    """

    def __init__(
        self,
        code: str,
        inputs: Sequence[tuple[str, Any]],
        outputs: Sequence[tuple[str, Shape]],
        name: str | None = None,
    ) -> None:
        self.name = name or type(self).__name__
        self.code = code
        tile = TileFunction(code, f"<{self.name}>")
        given = {check_name("input", each, tile.input_names): v for each, v in inputs}
        missing = [each for each in tile.input_names if each not in given]
        if missing:
            raise GinghamError(f"{self.name}: missing input {', '.join(missing)}")
        values = [Value.from_python_value(given[each]) for each in tile.input_names]
        results = apply_text(tile, [value.symbol for value in values])
        symbols = dict(zip(tile.output_names, results, strict=True))
        self.inputs = dict(zip(tile.input_names, values, strict=True))
        self.outputs: dict[str, Value] = {}
        for each, shape in outputs:
            symbol = symbols[check_name("output", each, tile.output_names)]
            self._check_rank(each, symbol, shape)
            self.outputs[each] = Value(Var(symbol), shape, each)

    def _check_rank(self, name: str, symbol: edsl.Tensor, shape: Shape) -> None:
        rank = symbol.node.rank
        if rank is not None and rank != len(shape.dims):
            raise GinghamError(
                f"{self.name}: output '{name}' has {rank} axes, its shape "
                f"{len(shape.dims)}"
            )

    @classmethod
    def function(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an operation: its output, of several a tuple."""
        outputs = cls(*args, **kwargs).output_tuple()
        return outputs[0] if len(outputs) == 1 else outputs

    def sole_output(self) -> Value:
        """The only output."""
        if len(self.outputs) != 1:
            raise GinghamError(f"{self.name} has {len(self.outputs)} outputs")
        return self.output_tuple()[0]

    def output_tuple(self) -> tuple[Value, ...]:
        """All outputs in order."""
        return tuple(self.outputs.values())


def compose(
    ctx: Context,
    dev: Device | None,
    inputs: Sequence[tuple[str, Value]],
    outputs: Sequence[tuple[str, Any]],
    updates: Sequence[tuple[Any, Any]] = (),
    name: str = "",
) -> Function:
    """One function of what operations compute, without anything between them in memory.

    `inputs` and `outputs` are names with values; each of `updates` is a tensor, or the
    value of one, and what is written to it in each run. Raises GinghamError for an
    input that is computed, and for a placeholder that is used but no input.
    """
    ctx.check()
    if dev is not None:
        dev.check()
    return compose_function(
        [(each, value.var) for each, value in inputs],
        [(each, Value.from_python_value(value).var) for each, value in outputs],
        [(_destination(to), Value.from_python_value(v).var) for to, v in updates],
        name,
    )


def _destination(value: Any) -> Tensor:
    return check_tensor(value.var if isinstance(value, Value) else value)


def _broadcast(shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """The sizes after broadcasting, as far as they are known."""
    rank = max(map(len, shapes))
    dims: list[Any] = []
    for axis in range(-rank, 0):
        sizes = [shape[axis] for shape in shapes if len(shape) >= -axis]
        larger = {size for size in sizes if size != 1}
        dims.append(larger.pop() if len(larger) == 1 else (None if larger else 1))
    return tuple(dims)

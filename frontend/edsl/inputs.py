"""`Placeholder` and `Constant`: where the tensors of a program come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dims import TensorDim
from .dtypes import TensorShape, element_type
from .graph import Input
from .locations import assigned_name, error, names_of_several
from .tensors import Tensor, constant_node, flattened, tensor_node


def Placeholder(
    dtype: Any = None, dims: Sequence[Any] | str | None = (), name: str | None = None
) -> Tensor:
    """A tensor that is given when the program runs.

    `dtype` is an element type, or a `TensorShape`, or None for any type. `dims` has the
    size of each axis: an integer, None or 0 for any, or a `TensorDim`, which then
    stands for it; `"M N"` only names the sizes; None says nothing, not even the rank.
    """
    if isinstance(dtype, TensorShape):
        dtype, dims = dtype.dtype, dtype.sizes
    if isinstance(dims, str):
        dims = [TensorDim.make(axis) for axis in names_of_several(dims)]
    element = None if dtype is None else element_type(dtype)
    name = assigned_name() if name is None else name
    if dims is None:
        return Tensor.of(Input(None, element, name))
    sizes = flattened([dims])
    tensor = Tensor.of(Input([_extent(size) for size in sizes], element, name))
    if any(isinstance(size, TensorDim) for size in sizes):
        named = [size if isinstance(size, TensorDim) else None for size in sizes]
        tensor.bind_dims(named)
    return tensor


def _extent(size: object) -> int | None:
    if size is None or isinstance(size, TensorDim):
        return None
    if not isinstance(size, int) or isinstance(size, bool):
        raise error(
            f"expected a size to be an integer, None or a TensorDim, got "
            f"{type(size).__name__}"
        )
    if size < 0:
        raise error(f"a size is negative: {size}")
    return size or None


def Constant(
    value: Any, dims: Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """A tensor that is known while the program is made: an array, or a number.

    Numbers of Python take the type of what they are combined with; arrays keep theirs.
    `dims` gives an array other sizes, as many elements in all.
    """
    name = assigned_name() if name is None else name
    if isinstance(value, bool | int | float):
        return Tensor.of(tensor_node(value))
    if dims is not None:
        import numpy as np

        value = np.reshape(value, tuple(dims))
    return Tensor.of(constant_node(value, name))

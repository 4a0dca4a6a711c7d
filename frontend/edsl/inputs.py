"""`Placeholder` and `Constant`: where the tensors of a program come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .axes import input_node
from .locations import assigned_name
from .operands import given_node
from .tensors import Tensor


def Placeholder(
    dtype: Any = None, dims: Sequence[Any] | str | None = (), name: str | None = None
) -> Tensor:
    """A tensor that is given when the program runs.

    `dtype` is an element type, or a `TensorShape`, or None for any type. `dims` has the
    size of each axis: an integer, None or 0 for any, or a `TensorDim`, which then
    stands for it; `"M N"` only names the sizes; None says nothing, not even the rank.
    """
    name = assigned_name() if name is None else name
    return Tensor.of(input_node(dtype, dims, name))


def Constant(
    value: Any, dims: Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """A tensor that is known while the program is made: an array, or a number.

    Numbers of Python take the type of what they are combined with; arrays keep theirs.
    `dims` gives an array other sizes, as many elements in all.
    """
    name = assigned_name() if name is None else name
    if dims is not None and not isinstance(value, bool | int | float):
        import numpy as np

        value = np.reshape(value, tuple(dims))
    return Tensor.of(given_node(value, name))

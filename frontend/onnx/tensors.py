"""Tensors and types of ONNX as arrays and element types of NumPy."""

from __future__ import annotations

import sys
from math import prod
from typing import TYPE_CHECKING, Any

from ...dialects.eltwise.numpy_types import NUMPY_NAMES
from ...errors import GinghamError
from ...limits import LARGEST_TENSOR, MOST_AXES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnx import TensorProto

_PACKED = {"UINT4": 2, "INT4": 2, "FLOAT4E2M1": 2, "UINT2": 4, "INT2": 4}
"""How many elements of a type stand in a byte, where there are several."""

_WIDE = {"COMPLEX64": 2, "COMPLEX128": 2}
"""How many numbers an element has, where there are several."""


def dtype_of(element: int) -> np.dtype[Any]:
    """The NumPy type of an element type of ONNX; that of text is `object`.

    Raises ValueError for what is none.
    """
    import numpy as np
    from onnx import TensorProto, helper

    if element == TensorProto.STRING:
        return np.dtype(object)
    try:
        return helper.tensor_dtype_to_np_dtype(element)
    except (KeyError, ValueError):
        raise ValueError(f"{element} is no element type") from None


def element_of(dtype: np.dtype[Any]) -> int:
    """The element type of ONNX that a NumPy type is."""
    from onnx import TensorProto, helper

    if dtype.kind in "OUST":
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(dtype)


def is_computable(dtype: np.dtype[Any]) -> bool:
    """Whether tensors of programs hold such elements."""
    return dtype.name in NUMPY_NAMES


def check_sizes(sizes: tuple[int, ...], itemsize: int, what: str) -> None:
    """Raise GinghamError for a shape that no tensor of a model may have."""
    if len(sizes) > MOST_AXES:
        raise GinghamError(f"{what} has {len(sizes)} axes: more than {MOST_AXES}")
    if any(size < 0 for size in sizes):
        raise GinghamError(f"{what} has a negative size: {list(sizes)}")
    size = prod(sizes) * itemsize
    if size > LARGEST_TENSOR:
        raise GinghamError(
            f"{what} takes {size} bytes: more than {LARGEST_TENSOR}",
            hint="a model is refused whose tensors would take all memory",
        )


def byte_count(tensor: TensorProto, what: str) -> int:
    """How many bytes the elements of a tensor take as raw data.

    Raises GinghamError for a type that is none, and for sizes that are too large.
    """
    from onnx import TensorProto

    try:
        dtype = dtype_of(tensor.data_type)
    except ValueError as reason:
        raise GinghamError(f"{what}: {reason}") from None
    sizes = tuple(tensor.dims)
    check_sizes(sizes, dtype.itemsize, what)
    packed = _PACKED.get(TensorProto.DataType.Name(tensor.data_type), 1)
    return -(-prod(sizes) * dtype.itemsize // packed)


def array_of(tensor: TensorProto, what: str) -> NDArray[Any]:
    """The array that a tensor holds itself.

    Raises GinghamError where its data are not as many as its sizes say.
    """
    import numpy as np
    from onnx import TensorProto, numpy_helper

    expected = byte_count(tensor, what)
    if tensor.HasField("segment"):
        raise GinghamError(f"{what} is a segment of a tensor, which is not supported")
    is_text = tensor.data_type == TensorProto.STRING
    raw: bytes | None = None
    if tensor.HasField("raw_data") and not is_text:
        # Each look at them is a copy.
        raw = tensor.raw_data
        found, unit = len(raw), "bytes"
    else:
        expected, found, unit = _typed_count(tensor, expected), _given(tensor), "values"
    if found != expected:
        raise GinghamError(
            f"{what} is {list(tensor.dims)}, which takes {expected} {unit}, and has "
            f"{found}"
        )
    try:
        dtype = dtype_of(tensor.data_type)
        if raw is not None and is_computable(dtype) and sys.byteorder == "little":
            return np.frombuffer(raw, dtype).reshape(tuple(tensor.dims))
        return numpy_helper.to_array(tensor)
    except Exception as error:
        # The helper meets what does not fit with whatever NumPy has for it.
        raise GinghamError(f"{what} cannot be read: {error}") from error


def _typed_count(tensor: TensorProto, byte_count: int) -> int:
    """How many values a tensor of such sizes has in the field of its type."""
    from onnx import TensorProto

    name = TensorProto.DataType.Name(tensor.data_type)
    return byte_count if name in _PACKED else prod(tensor.dims) * _WIDE.get(name, 1)


def _given(tensor: TensorProto) -> int:
    return max(
        len(field)
        for field in (
            tensor.float_data,
            tensor.int32_data,
            tensor.string_data,
            tensor.int64_data,
            tensor.double_data,
            tensor.uint64_data,
        )
    )

"""Element types of values: their names in NumPy, their widths, and which holds all."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..frontend.edsl.dtypes import DType

PLAIDML_DTYPE_TO_NUMPY: dict[DType, str] = {dtype: dtype.value for dtype in DType}
"""The name that NumPy has for each element type."""

NUMPY_DTYPE_TO_PLAIDML: dict[str, DType] = {dtype.value: dtype for dtype in DType}
"""The element type for each name of NumPy's."""


def convert_np_dtype_to_pml(dtype: Any) -> DType:
    """The element type for a type of NumPy or its name; a `DType` is itself.

    Raises ValueError for a type that tensors cannot have.
    """
    if isinstance(dtype, DType):
        return dtype
    name = dtype if isinstance(dtype, str) else _numpy_name(dtype)
    if name not in NUMPY_DTYPE_TO_PLAIDML:
        raise ValueError(f"there is no element type {dtype!r}")
    return NUMPY_DTYPE_TO_PLAIDML[name]


def convert_pml_dtype_to_np(dtype: DType) -> str:
    """NumPy's name of an element type. Raises ValueError for what is none."""
    if dtype not in PLAIDML_DTYPE_TO_NUMPY:
        raise ValueError(f"there is no element type {dtype!r}")
    return PLAIDML_DTYPE_TO_NUMPY[dtype]


def _numpy_name(dtype: Any) -> str:
    import numpy as np

    try:
        return np.dtype(dtype).name
    except TypeError:
        return ""


class DTypeInfo(NamedTuple):
    """What an element type is: bool, int, uint, float or bfloat, and its bytes."""

    base: str
    width: int

    @property
    def bitwidth(self) -> int:
        """The number of bits that say something."""
        return 1 if self.base == "bool" else 8 * self.width


DTYPE_INFOS: dict[DType, DTypeInfo] = {
    DType.BOOLEAN: DTypeInfo("bool", 1),
    DType.INT8: DTypeInfo("int", 1),
    DType.INT16: DTypeInfo("int", 2),
    DType.INT32: DTypeInfo("int", 4),
    DType.INT64: DTypeInfo("int", 8),
    DType.UINT8: DTypeInfo("uint", 1),
    DType.UINT16: DTypeInfo("uint", 2),
    DType.UINT32: DTypeInfo("uint", 4),
    DType.UINT64: DTypeInfo("uint", 8),
    DType.FLOAT16: DTypeInfo("float", 2),
    DType.BFLOAT16: DTypeInfo("bfloat", 2),
    DType.FLOAT32: DTypeInfo("float", 4),
    DType.FLOAT64: DTypeInfo("float", 8),
}
"""Sort and width of each element type."""

INFO_DTYPES: dict[DTypeInfo, DType] = {info: t for t, info in DTYPE_INFOS.items()}
"""The element type of each sort and width."""

_LARGEST = 8


def common_dtype(*args: DType) -> DType:
    """The smallest element type that holds the values of all of these.

    An integer is held by a float, or where signs differ by an integer, of twice its
    width; what would be wider than 64 bits is FLOAT64.
    """
    best = DTypeInfo("bool", 1)
    for dtype in args:
        best = _common(best, DTYPE_INFOS[dtype])
    return INFO_DTYPES[best]


def _common(first: DTypeInfo, second: DTypeInfo) -> DTypeInfo:
    if first.base == second.base:
        return max(first, second)
    if "bool" in (first.base, second.base):
        return second if first.base == "bool" else first
    bases = {first.base, second.base}
    if bases == {"float", "bfloat"}:
        return DTypeInfo("float", max(4, first.width, second.width))
    if "bfloat" in bases:
        return DTypeInfo("float", 4 if max(first.width, second.width) <= 2 else 8)
    target = "float" if "float" in bases else "int"
    width = max(
        each.width if each.base == target else 2 * each.width
        for each in (first, second)
    )
    if width <= _LARGEST:
        return DTypeInfo(target, width)
    return DTypeInfo("float", _LARGEST)

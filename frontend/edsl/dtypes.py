"""Element types and shapes as users of the eDSL name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import ELEMENT_TYPES
from ...dialects.eltwise.numpy_types import NUMPY_NAMES
from ...suggestions import did_you_mean
from .locations import error


class DType(Enum):
    """The element types of tensors; the value is the name of the NumPy type."""

    BOOLEAN = "bool"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"

    @classmethod
    def from_numpy(cls, dtype: object) -> DType:
        """The type of NumPy's `float32`, by its class, dtype or name.

        Raises GinghamError for what tensors do not hold.
        """
        return dtype_of(element_type(dtype))


@dataclass(frozen=True)
class TensorShape:
    """An element type and sizes; None or 0 is a size that is not known."""

    dtype: Any
    sizes: Sequence[Any] = ()

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self.sizes)

    @property
    def int_dims(self) -> list[int]:
        """The sizes, 0 for those that are not known."""
        return [size or 0 for size in self.sizes]


def element_type(dtype: object) -> Attribute:
    """The element type for a `DType`, a NumPy type, or the name of either.

    Names are those of NumPy (`float32`) and of the IR (`f32`).
    """
    if isinstance(dtype, DType):
        return NUMPY_NAMES[dtype.value]
    known = NUMPY_NAMES | ELEMENT_TYPES
    name = dtype if isinstance(dtype, str) else _numpy_name(dtype)
    if name not in known:
        shown = name if name is not None else type(dtype).__name__
        raise error(
            f"expected an element type, got {shown}",
            did_you_mean(shown, known)
            or f"DType.FLOAT32, 'float32' or numpy.float32; types are "
            f"{', '.join(ELEMENT_TYPES)}",
        )
    return known[name]


def _numpy_name(dtype: object) -> str | None:
    # A type such as numpy.float32 tells its name without NumPy; bool is Python's.
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    return name if isinstance(name, str) else None


def dtype_of(element: Attribute) -> DType:
    """The `DType` of an element type."""
    return DType(next(n for n, known in NUMPY_NAMES.items() if known == element))

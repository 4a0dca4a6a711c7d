"""`Shape`: the element type of a tensor, its sizes, and how it lies in memory."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from ..errors import GinghamError
from ..frontend.edsl.dtypes import DType
from .context import Context

if TYPE_CHECKING:
    import numpy as np

_LARGEST = 2**63 - 1


class Dimension(NamedTuple):
    """The size of an axis, and how many elements apart its neighbours are."""

    size: int
    stride: int


class Shape:
    """An element type, the size of each axis, and the order of the axes in memory.

    `layout` has the axes from the one whose elements are farthest apart to the one
    whose elements are neighbours; without it rows lie behind each other. Raises
    GinghamError for what is no size, and for more bytes than there are addresses.
    """

    def __init__(
        self,
        ctx: Context,
        dtype: DType | str,
        *dims: SupportsIndex,
        layout: Sequence[int] | None = None,
    ) -> None:
        ctx.check()
        self.dtype = _dtype(dtype)
        self.sizes = tuple(_size(axis, dim) for axis, dim in enumerate(dims))
        axes = range(len(dims))
        self.layout = tuple(axes if layout is None else layout)
        if sorted(self.layout) != list(axes):
            raise GinghamError(
                f"expected the layout to have each of {len(dims)} axes once, got "
                f"{self.layout}"
            )
        strides, count = [0] * len(dims), 1
        for axis in reversed(self.layout):
            strides[axis] = count
            count *= self.sizes[axis]
        self.dimensions = tuple(map(Dimension, self.sizes, strides))
        """The size and the stride, in elements, of each axis."""
        self.count = count
        """The number of elements."""
        # Strides of an empty tensor count as well: they must be numbers of the machine.
        if max([count, *strides, 1]) * self.numpy_dtype.itemsize > _LARGEST:
            raise GinghamError(f"a tensor of shape {self.sizes} has no address")

    @property
    def offset(self) -> int:
        """Where the first element is: 0."""
        return 0

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self.sizes)

    dimension_count = ndims

    @property
    def ctype(self) -> Any:
        """The type of `ctypes` that an element has in memory.

        C has no numbers of 16 bits with a point: of these it is c_uint16.
        """
        import numpy as np

        dtype = self.numpy_dtype
        is_known = dtype.kind in "biu" or dtype.itemsize > 2
        return np.ctypeslib.as_ctypes_type(dtype if is_known else np.dtype("uint16"))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The element type as one of NumPy."""
        from ..dialects.eltwise.numpy_types import NUMPY_NAMES, numpy_dtype

        return numpy_dtype(NUMPY_NAMES[self.dtype.value])

    @property
    def bytes(self) -> int:
        """The memory that a tensor takes."""
        return self.count * self.numpy_dtype.itemsize

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape):
            return NotImplemented
        mine, others = (self.dtype, self.dimensions), (other.dtype, other.dimensions)
        return mine == others

    def __hash__(self) -> int:
        return hash((self.dtype, self.dimensions))

    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.sizes))
        return f"{self.dtype.value}[{sizes}]"

    def __repr__(self) -> str:
        return f"<gingham.plaidml.Shape {self}>"


def _dtype(dtype: DType | str) -> DType:
    if isinstance(dtype, DType):
        return dtype
    try:
        return DType(dtype)
    except ValueError:
        names = ", ".join(known.name for known in DType)
        raise GinghamError(
            f"expected an element type, got {dtype!r}", hint=f"DType has {names}"
        ) from None


def _size(axis: int, dim: SupportsIndex) -> int:
    try:
        size = operator.index(dim)
    except TypeError:
        raise GinghamError(
            f"expected the size of axis {axis} to be an integer, got {dim!r}"
        ) from None
    if size < 0:
        raise GinghamError(f"the size of axis {axis} is negative: {size}")
    return size

"""`Buffer`: an array that programs of the eDSL take, as of PlaidML 0.7 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..frontend.edsl.dtypes import DType, TensorShape, element_type
from ..runtime.program import ProgramArgument

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Buffer:
    """Memory of a shape, with zeros in it, or with the elements of an array.

    `shape_or_data` is a `TensorShape` whose sizes are all known, an argument of a
    program, which has one, or an array; with a shape, `data` may be its elements.
    Raises GinghamError for other elements than tensors have, and for arrays of other
    shapes.
    """

    def __init__(self, shape_or_data: Any, data: ArrayLike | None = None) -> None:
        import numpy as np

        from ..dialects.eltwise.numpy_types import numpy_dtype
        from ..runtime.arrays.host_values import as_array

        if isinstance(shape_or_data, ProgramArgument):
            shape_or_data = shape_or_data.shape
        if isinstance(shape_or_data, TensorShape):
            sizes = tuple(shape_or_data.int_dims)
            if not all(sizes):
                raise GinghamError(f"a size of a buffer is not known: {sizes}")
            dtype = numpy_dtype(element_type(shape_or_data.dtype))
            self._array: NDArray[Any] = np.zeros(sizes, dtype)
        else:
            self._array = as_array("data", shape_or_data).copy()
        if data is not None:
            self.copy_from_ndarray(data)

    @property
    def shape(self) -> TensorShape:
        """Its element type and sizes."""
        return TensorShape(DType(self._array.dtype.name), list(self._array.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self._array if dtype is None else self._array.astype(dtype)

    def __repr__(self) -> str:
        return f"<gingham.plaidml.Buffer {self._array.dtype}{self._array.shape}>"

    def as_ndarray(self) -> NDArray[Any]:
        """The elements as a new array."""
        return self._array.copy()

    def copy_from_ndarray(self, src: ArrayLike) -> None:
        """Write all elements."""
        import numpy as np

        values = np.asarray(src)
        self._check(values.shape)
        self._array[...] = values

    def copy_to_ndarray(self, dst: NDArray[Any]) -> None:
        """Write all elements to an array."""
        self._check(dst.shape)
        dst[...] = self._array

    def _check(self, sizes: Any) -> None:
        if tuple(sizes) != self._array.shape:
            raise GinghamError(
                f"expected an array of shape {self._array.shape}, got {tuple(sizes)}"
            )

"""`View`: the elements of a tensor, in memory, while nobody else uses them."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GinghamError
from .context import Context
from .devices import Device
from .shapes import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

_Key: TypeAlias = "int | slice | tuple[int, ...]"


class View:
    """The elements of a tensor, by their number in memory or by an index of each axis.

    It is at hand inside the `with` statement that made it: used later, or when its
    context or device is closed, it raises GinghamError. Arrays that it gives are copies
    and stay. After writing, call `writeback`.
    """

    def __init__(
        self, array: NDArray[Any], shape: Shape, ctx: Context | None, device: Device
    ) -> None:
        self._array: NDArray[Any] | None = array
        # In memory, elements lie without gaps in the order of the layout.
        self._flat = array.transpose(shape.layout).reshape(-1)
        self._ctx = ctx
        self._device = device
        self.shape = shape
        self.needs_writeback = False
        """Whether something was written since the last `writeback`."""

    def close(self) -> None:
        """End it; the tensor does this."""
        self._array, self._flat = None, self._flat[:0]

    def __len__(self) -> int:
        self._logical()
        return self.shape.count

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __getitem__(self, key: _Key) -> Any:
        """An element, or of a slice those elements as a new array of one axis.

        Such an array compares with lists and tuples as those do: see `Elements`.
        Raises IndexError for an index that is out of bounds.
        """
        self._logical()
        value = self._flat[self._position(key)]
        if not isinstance(key, slice):
            return value
        from .elements import Elements

        return value.copy().view(Elements)

    def __setitem__(self, key: _Key, value: ArrayLike) -> None:
        """Write elements: one for each of a slice, or one for all.

        Raises IndexError for an index that is out of bounds, and GinghamError for
        values of which there are more or fewer, or that the elements cannot hold.
        """
        self._logical()
        position = self._position(key)
        values = self._fitting(value)
        # An index selects no axis, as an empty shape says.
        shape = self._flat[position].shape
        if values.ndim and values.shape != shape:
            raise GinghamError(
                f"expected {math.prod(shape)} value(s) in one axis, got an array of "
                f"shape {values.shape}",
                hint="array.flatten() has one axis; copy_from_ndarray takes all axes",
            )
        self._flat[position] = values.astype(self._flat.dtype)
        self.needs_writeback = True

    def copy_from_ndarray(self, src: ArrayLike) -> None:
        """Write all elements from an array of the tensor's shape.

        An array of one axis has them in the order of memory.
        """
        values = self._fitting(src)
        target = self._shaped_as(values)
        target[...] = values.astype(target.dtype)
        self.needs_writeback = True

    def copy_to_ndarray(self, dst: NDArray[Any]) -> None:
        """Write all elements to an array of the tensor's shape, or of one axis."""
        dst[...] = self._shaped_as(dst)

    def as_ndarray(self, ctx: Context | None = None) -> NDArray[Any]:
        """All elements as a new array of the tensor's shape."""
        return self._logical().copy(order="C")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a view gives copies only, as its memory is used by runs")
        array = self.as_ndarray()
        return array if dtype is None else array.astype(dtype)

    def raw(self) -> Any:
        """A pointer of `ctypes` to the first element, for the time of the view.

        Elements follow each other in the order of memory. Call `writeback` after
        writing there.
        """
        import ctypes

        self._logical()
        pointer_to: Callable[[Any], Any] = ctypes.POINTER
        return self._flat.ctypes.data_as(pointer_to(self.shape.ctype))

    def writeback(self) -> None:
        """Say that what was written is complete."""
        self._logical()
        self.needs_writeback = False

    def _shaped_as(self, array: NDArray[Any]) -> NDArray[Any]:
        """The elements in the axes of an array, which are the tensor's or one."""
        logical = self._logical()
        for elements in (logical, self._flat):
            if array.shape == elements.shape:
                return elements
        # An axis of size 1 changes nothing about where elements lie.
        if _without_ones(array.shape) == _without_ones(logical.shape):
            return logical.reshape(array.shape)
        raise GinghamError(
            f"expected an array of shape {logical.shape}, got {array.shape}"
        )

    def _logical(self) -> NDArray[Any]:
        """The elements, if it is still allowed to use them."""
        if self._array is None:
            raise GinghamError(
                "the view is closed",
                hint="use it inside its 'with' statement; arrays from it stay",
            )
        if self._ctx is not None:
            self._ctx.check()
        self._device.check()
        return self._array

    def _position(self, key: _Key) -> int | slice:
        """Where in memory the elements of a key are."""
        if isinstance(key, slice):
            return key
        if not isinstance(key, tuple):
            return _checked(key, self.shape.count, "the view")
        if len(key) != self.shape.ndims:
            raise IndexError(
                f"expected {self.shape.ndims} indices, one for each axis, got "
                f"{len(key)}"
            )
        return sum(
            _checked(index, size, f"axis {axis}") * stride
            for axis, (index, (size, stride)) in enumerate(
                zip(key, self.shape.dimensions, strict=True)
            )
        )

    def _fitting(self, value: ArrayLike) -> NDArray[Any]:
        """Values as an array, if elements can hold them; digits may be lost."""
        import numpy as np

        values, target = np.asarray(value), self._flat.dtype
        refused = values.dtype.kind not in "biufV" or (
            not _is_integer(values.dtype) and _is_integer(target)
        )
        if not refused and _is_integer(target) and target.kind != "b" and values.size:
            limits = np.iinfo(target)
            refused = values.min() < limits.min or values.max() > limits.max
        if refused:
            raise GinghamError(
                f"elements of type {target.name} cannot hold these of type "
                f"{values.dtype.name}"
            )
        return values


def _without_ones(sizes: tuple[int, ...]) -> list[int]:
    return [size for size in sizes if size != 1]


def _is_integer(dtype: Any) -> bool:
    return dtype.kind in "biu"


def _checked(index: int, size: int, what: str) -> int:
    """A number of an element, counted from the end where negative."""
    number = operator.index(index)
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds: {what} has size {size}")
    return number % size

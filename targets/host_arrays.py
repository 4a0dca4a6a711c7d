"""NumPy arrays as kernels need them: contiguous, aligned, in the machine's byte order.

Kernels see an array as its bytes in row-major order. Booleans take one byte each;
bfloat16 (of the library ml_dtypes) and float16 take two.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GinghamError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    Array: TypeAlias = NDArray[Any]
    ArrayType: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]

# A page: drivers of integrated GPUs share memory only by whole pages, and on CPUs it is
# a multiple of every vector and cache line.
PAGE_BYTES = 4096

_LARGE = 4 << 20
"""Bytes from which NumPy asks the system for large pages."""


def aligned_empty(
    shape: Sequence[int],
    dtype: DTypeLike,
    alignment: int = PAGE_BYTES,
    *,
    in_small_pages: bool = False,
) -> Array:
    """An uninitialised row-major array, its first byte at a multiple of `alignment`.

    Where that is said, it is in small pages. Kernels take some hundredths longer on
    them, but a virtual machine that gives free memory back has to get the parts of a
    large page from its host, 7 ms for 2 MiB, before anything is written there. Raises
    GinghamError when the machine does not have that much memory.
    """
    import numpy as np

    element = np.dtype(dtype)
    size = math.prod(shape) * element.itemsize
    try:
        if in_small_pages and size >= _LARGE and hasattr(mmap, "MAP_ANONYMOUS"):
            storage = _mapped(size + alignment)
        else:
            storage = np.empty(size + alignment, np.uint8)
    except (MemoryError, ValueError, OverflowError, OSError) as error:
        raise GinghamError(
            f"an array of shape {format_shape(shape)} and type {element.name} needs "
            f"{format_bytes(size)}, more than this machine can give"
        ) from error
    start = -storage.ctypes.data % alignment
    return storage[start : start + size].view(element).reshape(shape)


def _mapped(size: int) -> NDArray[np.uint8]:
    """Memory of a mapping of its own, in the pages that the system gives unasked."""
    import numpy as np

    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), np.uint8)


def let_pages_grow(array: Array) -> None:
    """Let the system put small pages of `aligned_empty` together when it has time."""
    memory: Any = array
    while getattr(memory, "base", None) is not None:
        memory = memory.base
    mapping = memory.obj if isinstance(memory, memoryview) else None
    if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_HUGEPAGE"):
        mapping.madvise(mmap.MADV_HUGEPAGE)


def fit_for_kernels(array: Array, alignment: int = 1) -> Array:
    """`array` itself when kernels can work on it in place, else a copy that fits.

    In place needs row-major contiguous elements in native byte order, the first at a
    multiple of the element size and of `alignment`. Raises GinghamError for a type of
    elements that no kernel knows.
    """
    import numpy as np

    array = np.asarray(array)
    check_element_type(array.dtype)
    native = array.dtype.newbyteorder("=")
    required = math.lcm(native.itemsize, alignment)
    in_place = (
        array.flags.c_contiguous
        and array.dtype.isnative
        # An empty array's address means nothing.
        and (array.size == 0 or array.ctypes.data % required == 0)
    )
    if in_place:
        return array
    copy = aligned_empty(array.shape, native, math.lcm(PAGE_BYTES, alignment))
    np.copyto(copy, array)
    return copy


def as_bytes(array: Array) -> NDArray[np.uint8]:
    """A flat view of a contiguous array's bytes.

    pyopencl takes arrays through the buffer protocol, which has no bfloat16.
    """
    import numpy as np

    return array.reshape(-1).view(np.uint8)


def check_element_type(dtype: np.dtype[Any]) -> None:
    """Refuse with GinghamError what is no boolean, integer or real number."""
    # ml_dtypes registers bfloat16 as a type of kind "V", like NumPy's records.
    if dtype.kind in "biuf" and dtype.itemsize <= 8:
        return
    if dtype.name == "bfloat16":
        return
    raise GinghamError(
        f"an array of type {dtype.name} can not be used on a device",
        hint="convert it to booleans, integers or floats of at most 64 bits",
    )


def format_shape(shape: Sequence[int]) -> str:
    """`2x3x4`, or `scalar` for no dimensions."""
    return "x".join(str(size) for size in shape) if shape else "scalar"


def format_bytes(count: int) -> str:
    """A number of bytes for people: `96 B`, `1.5 MiB`."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"

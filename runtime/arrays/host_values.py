"""What a caller has as arrays of NumPy that a tensor can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import GinghamError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def as_array(name: str, value: Any) -> NDArray[Any]:
    """A value as an array that a tensor can hold; Python numbers become f32 or si32."""
    import numpy as np

    from ...dialects.numpy_names import ELEMENT_NAMES

    if isinstance(value, bool):
        return np.asarray(value)
    if isinstance(value, int):
        if not -(2**31) <= value < 2**31:
            raise GinghamError(
                f"input '{name}': the integer {value} needs a NumPy type"
            )
        return np.asarray(value, np.int32)
    if isinstance(value, float):
        return np.asarray(value, np.float32)
    try:
        array = np.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        raise GinghamError(f"input '{name}' is not an array: {error}") from error
    if array.dtype.name not in ELEMENT_NAMES:
        raise GinghamError(
            f"input '{name}' has elements of type {array.dtype}",
            hint=f"tensors hold {', '.join(ELEMENT_NAMES)}",
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def host_of(x: Any, dtype: Any, copy: bool | None) -> tuple[NDArray[Any], bool]:
    """As `as_array`, of elements of a type and also from other libraries by DLPack.

    With it, whether its memory is new, not that of `x`. Raises GinghamError where
    `copy` is False and it would have to be new.
    """
    import numpy as np

    from .dlpack import imported

    is_foreign = not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__")
    source = imported(x) if is_foreign else x
    host = _converted(source, dtype, copy)
    is_new = not _shares(host, source)
    if copy is False and is_new and host.size:
        raise would_copy(f"{type(x).__name__} is no array that fits")
    return host, is_new


def _shares(host: NDArray[Any], x: Any) -> bool:
    """Whether an array is in the memory of what it was made of."""
    import numpy as np

    return isinstance(x, np.ndarray) and np.may_share_memory(host, x)


def _converted(x: Any, dtype: Any, copy: bool | None) -> NDArray[Any]:
    """A value as an array of NumPy that a tensor can hold."""
    import numpy as np

    if dtype is None:
        return as_array("x", x)
    wanted = element_type(dtype)
    if not isinstance(x, np.ndarray):
        # NumPy refuses Python's integers that do not fit, and wraps those of arrays.
        try:
            x = np.asarray(x, wanted)
        except (OverflowError, RuntimeError, TypeError, ValueError) as error:
            raise GinghamError(f"'x' is no array of {wanted.name}: {error}") from error
    host = as_array("x", x)
    if host.dtype == wanted:
        return host
    if copy is False:
        raise would_copy(f"elements are {host.dtype.name}, not {wanted.name}")
    return as_array("x", host.astype(wanted))


def element_type(dtype: Any) -> np.dtype[Any]:
    """What a caller gives as a type of elements, as one of NumPy."""
    import numpy as np

    try:
        return np.dtype(dtype)
    except TypeError as error:
        raise GinghamError(f"{dtype!r} is no type of elements") from error


def would_copy(why: str) -> GinghamError:
    """The error of `copy=False` where there has to be a copy."""
    return GinghamError(
        f"the array can not be used in place: {why}", hint="leave out copy=False"
    )

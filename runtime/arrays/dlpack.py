"""DLPack: arrays of other libraries, and arrays for them, without copies.

The protocol is that of https://dmlc.github.io/dlpack/latest/python_spec.html. NumPy
does all of it but bfloat16, which it does not know: such arrays go as 16-bit integers,
and the type is put right in the capsule.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError

if TYPE_CHECKING:
    from numpy.typing import NDArray

CPU = (1, 0)
OPENCL = (4, 0)
"""Devices by DLPack's types and their numbers."""


def imported(x: Any) -> NDArray[Any]:
    """The array of another library as one of NumPy, in the same memory.

    Raises GinghamError for one that is not in the memory of the host, or that the
    library does not give.
    """
    import numpy as np

    name = type(x).__name__
    try:
        kind, _ = x.__dlpack_device__()
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise GinghamError(f"the {name} can not be taken over: {error}") from error
    if int(kind) not in (CPU[0], 3):
        raise GinghamError(
            f"the {name} is not in the memory of the host",
            hint="copy it there first: x.cpu(), or cupy.asnumpy(x)",
        )
    try:
        bfloat16 = _bfloat16(x)
        return np.from_dlpack(x) if bfloat16 is None else bfloat16
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise GinghamError(
            f"the {name} can not be taken over: {error}",
            hint="detach() a tensor that needs gradients",
        ) from error


def check_request(
    host: NDArray[Any] | None,
    device: str,
    stream: object,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> None:
    """Raise BufferError for what can not be given of an array of a device.

    `host` is None where the device has memory of its own.
    """
    if stream is not None:
        raise BufferError("an array in the memory of the host knows no stream")
    if dl_device is not None and tuple(dl_device) != CPU:
        raise BufferError(f"the array can not be given to a device {dl_device}")
    if host is None and (dl_device is None or copy is False):
        raise BufferError(f"the array is in the memory of {device}; numpy() copies it")


def exported(
    host: NDArray[Any], max_version: tuple[int, int] | None, copy: bool | None
) -> Any:
    """A capsule of DLPack with an array of NumPy."""
    if host.dtype.name != "bfloat16":
        return host.__dlpack__(max_version=max_version, copy=copy)
    capsule = host.view("uint16").__dlpack__(max_version=max_version, copy=copy)
    _described(capsule).code = _BFLOAT
    return capsule


# In a capsule there is a `DLManagedTensor`, which begins with a `DLTensor`, or the
# versioned one, which has it last.


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_BFLOAT = 4
_PLACES = {b"dltensor": 0, b"dltensor_versioned": 32}
"""Where the `DLTensor` is in what a capsule of that name has."""


def _described(capsule: object) -> _Tensor:
    """What a capsule says of its tensor; valid as long as the capsule is."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
    for name, place in _PLACES.items():
        if is_valid(capsule, name):
            return _Tensor.from_address(get(capsule, name) + place)
    raise BufferError("it is no capsule of DLPack")


class _Bits:
    """The elements in a capsule as 16-bit integers, for NumPy."""

    def __init__(self, capsule: object, tensor: _Tensor) -> None:
        # Unless somebody takes it over, the capsule frees the memory when it goes.
        self._capsule = capsule
        axes = range(tensor.ndim)
        strides = tuple(2 * tensor.strides[n] for n in axes) if tensor.strides else None
        self.__array_interface__ = {
            "version": 3,
            "typestr": "<u2" if sys.byteorder == "little" else ">u2",
            "shape": tuple(tensor.shape[n] for n in axes),
            "strides": strides,
            "data": ((tensor.data or 0) + tensor.byte_offset, True),
        }


def _bfloat16(x: Any) -> NDArray[Any] | None:
    """The array of another library, if its elements are bfloat16; to be read only."""
    if "bfloat16" not in str(getattr(x, "dtype", "")):
        return None
    import ml_dtypes
    import numpy as np

    capsule = x.__dlpack__()
    tensor = _described(capsule)
    if (tensor.code, tensor.bits, tensor.lanes) != (_BFLOAT, 16, 1):
        return None
    return np.asarray(_Bits(capsule, tensor)).view(ml_dtypes.bfloat16)

"""Tensors whose data lie in files beside the model.

The model of a stranger names these files, so nothing is opened but regular files in the
model's folder or below it, reached without a link, and no byte is read that the tensor
does not take.
"""

from __future__ import annotations

import os
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from .tensors import byte_count, dtype_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import TensorProto

_KEYS = ("location", "offset", "length", "checksum")


def is_external(tensor: TensorProto) -> bool:
    """Whether the data of a tensor are said to lie in a file."""
    return tensor.data_location == tensor.EXTERNAL


def read_external(tensor: TensorProto, folder: str | None, what: str) -> NDArray[Any]:
    """The array whose data lie in a file of the folder.

    Raises GinghamError for a file that is not in the folder, is no file, is a link or
    has another name elsewhere, and for data that are not as many as the sizes say.
    """
    import numpy as np

    if folder is None:
        raise GinghamError(
            f"{what} has its data in a file, and the model is not of a file",
            hint="load the model by its path",
        )
    expected = byte_count(tensor, what)
    if tensor.data_type == tensor.STRING:
        raise GinghamError(f"{what} is text, whose data cannot lie in a file")
    entries = _entries(tensor, what)
    offset = _number(entries, "offset", 0, what)
    length = _number(entries, "length", expected, what)
    if length != expected:
        raise GinghamError(
            f"{what} is {list(tensor.dims)}, which takes {expected} bytes, and its "
            f"data are said to be {length}"
        )
    descriptor = _open(folder, entries["location"], what)
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if offset + length > size:
            raise GinghamError(
                f"{what} needs the bytes {offset} to {offset + length} of a file that "
                f"has {size}"
            )
        file.seek(offset)
        data = file.read(length)
    if len(data) != length:
        raise GinghamError(f"{what}: its file ended before its data")
    return (
        _as_array(tensor, data, what)
        if length
        else np.empty(tuple(tensor.dims), dtype_of(tensor.data_type))
    )


def _as_array(tensor: TensorProto, data: bytes, what: str) -> NDArray[Any]:
    from onnx import TensorProto

    from .tensors import array_of

    inside = TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=data)
    return array_of(inside, what)


def _entries(tensor: TensorProto, what: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    for entry in tensor.external_data:
        if entry.key not in _KEYS or entry.key in entries:
            raise GinghamError(
                f"{what} says '{entry.key}' of its data, or says it twice"
            )
        entries[entry.key] = entry.value
    if "location" not in entries:
        raise GinghamError(f"{what} does not say which file has its data")
    return entries


def _number(entries: dict[str, str], key: str, default: int, what: str) -> int:
    text = entries.get(key, str(default))
    # More digits than those of the largest file make no number worth having.
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise GinghamError(f"{what} has the {key} '{text}', which is no count of bytes")
    return int(text)


def _open(folder: str, location: str, what: str) -> int:
    """Open a file below the folder, step by step, without following a link."""
    path = PurePosixPath(location)
    parts = path.parts
    is_below = parts and not path.is_absolute() and ".." not in parts
    if not is_below or "\0" in location or "\\" in location:
        raise GinghamError(
            f"{what} has its data in '{location}', which is not below the folder of "
            "the model"
        )
    directory = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            inner = os.open(part, flags, dir_fd=directory)
            os.close(directory)
            directory = inner
        # Non-blocking, as opening a pipe would wait for its writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(parts[-1], flags, dir_fd=directory)
    except OSError as error:
        raise GinghamError(
            f"{what} has its data in '{location}', which cannot be opened: "
            f"{error.strerror}",
            hint="links are not followed",
        ) from None
    finally:
        os.close(directory)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        os.close(descriptor)
        raise GinghamError(
            f"{what} has its data in '{location}', which is no regular file, or has "
            "another name elsewhere"
        )
    return descriptor

"""The largest tensor: beyond it, no device and no NumPy array can count the bytes."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ..locations import error_at

MOST_ELEMENTS = 2**60 - 1
"""Elements; so many of 8 bytes are counted by a signed integer of 64 bits."""


def check_size(value: SSAValue) -> None:
    """Raise GinghamError when a specialized `value` is beyond the limit.

    Axes of size 0 do not count, as NumPy does not count them either: it refuses an
    array without elements whose other axes are too large.
    """
    if not isinstance(value.type, TensorType):
        return
    shape = value.type.get_shape()
    if prod(size for size in shape if size > 0) <= MOST_ELEMENTS:
        return
    raise error_at(
        value,
        f"{value.name_hint or 'the result'} of shape {'x'.join(map(str, shape))} is "
        "too large: its sizes multiply to 2^60 or more",
    )

"""The largest tensor: beyond it, NumPy has no array, and no device counts the bytes."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ...limits import MOST_AXES, MOST_ELEMENTS
from ..locations import error_at


def check_size(value: SSAValue) -> None:
    """Raise GinghamError when a specialized `value` is beyond the limits.

    Axes of size 0 do not count, as NumPy does not count them either: it refuses an
    array without elements whose other axes are too large.
    """
    if not isinstance(value.type, TensorType):
        return
    shape = value.type.get_shape()
    if len(shape) > MOST_AXES:
        raise error_at(
            value,
            f"expected {value.name_hint or 'the result'} to have at most {MOST_AXES} "
            f"axes, got {len(shape)}",
        )
    if prod(size for size in shape if size > 0) <= MOST_ELEMENTS:
        return
    raise error_at(
        value,
        f"{value.name_hint or 'the result'} of shape {'x'.join(map(str, shape))} is "
        "too large: its sizes multiply to 2^60 or more",
    )

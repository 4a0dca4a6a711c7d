"""Loads of innermost loops, and how much of a memory they read side by side."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import element_of
from ...dialects.opencl.ops import LoadOp


def lanes(load: LoadOp) -> int:
    """The elements that a load reads at once."""
    type = load.result.type
    return prod(type.get_shape()) if isinstance(type, VectorType) else 1


def element_bytes(load: LoadOp) -> int:
    """The bytes of an element, a truth value being one."""
    return max(bit_width(element_of(load.result.type)) // 8, 1)


def factors_of(load: LoadOp) -> dict[SSAValue, int]:
    """What each index of a load's position is multiplied by."""
    terms = zip(load.values, load.form.data.coefficients, strict=True)
    return {value: int(factor) for value, factor in terms if factor}


def side_by_side(load: LoadOp, unrolled: Mapping[SSAValue, int]) -> int | None:
    """The elements next to each other that all copies of a load read; None with gaps.

    `unrolled` has the indices of the loops that make the copies, with their extents.
    """
    factors = factors_of(load)
    length = lanes(load)
    used = [(factors[v], extent) for v, extent in unrolled.items() if v in factors]
    for factor, extent in sorted(used):
        if factor != length:
            return None
        length *= extent
    return length

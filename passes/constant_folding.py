"""Evaluation of element-wise ops of constants, with the rounding of their types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue

from ..dialects.eltwise.element_types import (
    Kind,
    bit_width,
    computation_type,
    fits,
    is_element_type,
    kind,
    name_of,
)
from ..dialects.eltwise.numpy_types import numpy_dtype
from ..dialects.eltwise.ops import ConstantOp, element_of
from ..dialects.eltwise.table import Function


def constant_of(value: SSAValue) -> int | float | None:
    """The number that a value always is, or None."""
    owner = value.owner
    return owner.number if isinstance(owner, ConstantOp) else None


def fold_function(
    function: Function, operands: Sequence[SSAValue], result: Attribute
) -> int | float | None:
    """The value of a function of constants, or None when an operand is none."""
    numbers = [constant_of(operand) for operand in operands]
    known = [number for number in numbers if number is not None]
    elements = [element_of(operand.type) for operand in operands]
    if len(known) < len(numbers):
        return None
    if all(isinstance(element, IndexType) for element in elements):
        return function.fold(*known) if function.fold is not None else None
    if not all(is_element_type(element) for element in elements):
        return None
    return evaluate_function(function, known, elements, element_of(result))


def evaluate_function(
    function: Function,
    numbers: Sequence[int | float],
    elements: Sequence[Attribute],
    result: Attribute,
) -> int | float | None:
    """The value of a function of numbers of these types; None for one they lack."""
    import numpy as np

    if not all(fits(n, e) for n, e in zip(numbers, elements, strict=True)):
        return None
    with np.errstate(all="ignore"):
        arguments = [
            np.asarray(number, dtype=numpy_dtype(element)).astype(
                numpy_dtype(computation_type(element))
            )
            for number, element in zip(numbers, elements, strict=True)
        ]
        value = np.asarray(function.evaluate(np, *arguments))
        return _number(value.astype(numpy_dtype(result)).item(), result)


def fold_cast(number: int | float, source: Attribute, target: Attribute) -> Any:
    """The number converted to another element type.

    None where C leaves the result open: a float outside the limits of an integer type.
    """
    import numpy as np

    if not (is_element_type(source) and is_element_type(target)):
        return None
    if not fits(number, source):
        return None
    with np.errstate(all="ignore"):
        value = np.asarray(number, dtype=numpy_dtype(source))
        is_float = kind(source) is Kind.FLOAT
        if is_float and kind(target) in (Kind.SIGNED, Kind.UNSIGNED):
            exact = float(value)
            if not math.isfinite(exact) or not fits(math.trunc(exact), target):
                return None
            return math.trunc(exact)
        if not is_float:
            # An integer becomes f16 or bf16 by way of f32.
            value = value.astype(numpy_dtype(computation_type(target)))
        return _number(value.astype(numpy_dtype(target)).item(), target)


def _number(value: bool | int | float, element: Attribute) -> int | float:
    return float(value) if kind(element) is Kind.FLOAT else int(value)


_MANTISSA_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_EXPONENT_BITS = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}


def is_exact_cast(source: Attribute, target: Attribute) -> bool:
    """Whether every value of one element type is also one of the other."""
    if source == target:
        return True
    kinds = kind(source), kind(target)
    if kinds[0] is Kind.BOOLEAN:
        return True
    if kinds[1] is Kind.BOOLEAN:
        return False
    if kinds[0] is Kind.FLOAT:
        return kinds[1] is Kind.FLOAT and all(
            bits[name_of(source)] <= bits[name_of(target)]
            for bits in (_MANTISSA_BITS, _EXPONENT_BITS)
        )
    digits = bit_width(source) - (kinds[0] is Kind.SIGNED)
    if kinds[1] is Kind.FLOAT:
        return digits <= _MANTISSA_BITS[name_of(target)]
    if kinds[0] is Kind.SIGNED and kinds[1] is Kind.UNSIGNED:
        return False
    return digits <= bit_width(target) - (kinds[1] is Kind.SIGNED)

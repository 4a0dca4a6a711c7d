"""Conversions between element types as expressions of a language like C.

f16 and bf16 are types of memory only, whose values are held as their bits, in ushort:
they are converted to and from f32, and f16 from f64 too, by functions that a language
has or defines.
"""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f16, f32, f64, i1
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import Kind, is_storage_type, kind
from ...errors import GinghamError
from .expressions import Expression
from .types import CType

_STORED = frozenset({(f16, f32), (f32, f16), (f64, f16), (f32, bf16)})
"""The conversions by functions; that of bf16 to f32 is a shift of bits."""


def cast(operand: Expression, target: Attribute) -> Expression:
    """An element-wise conversion, as the reference interpreter defines it.

    A float becomes an integer by truncation, within the limits of the type, and NaN
    becomes 0; integers wrap around; a truth value is a test against zero. Raises
    GinghamError for a conversion of f16 or bf16 that `opencl-emulate-types` rewrites.
    """
    source = operand.type
    if source.element == target:
        return operand
    if is_storage_type(source.element) or is_storage_type(target):
        return _cast_storage(operand, target)
    if target == i1:
        mask_bits = None if source.lanes is None else source.bits
        zero = "0" if source.lanes is None else f"({source.name})(0)"
        type = CType(i1, source.lanes, mask_bits)
        return Expression(f"{operand.atom} != {zero}", type)
    type = CType(target, source.lanes)
    if source.mask_bits is not None:
        return Expression(f"convert_{type.name}(-{operand.atom})", type)
    if source.kind is Kind.FLOAT and kind(target) is not Kind.FLOAT:
        # The standard leaves open what becomes of NaN, and drivers differ.
        value = operand.atom
        text = f"{value} == {value} ? {value} : ({source.name})(0)"
        return Expression(f"convert_{type.name}_sat_rtz({text})", type)
    if source.lanes is None:
        return Expression(f"({type.name}){operand.atom}", type)
    return Expression(f"convert_{type.name}({operand.text})", type)


def _cast_storage(operand: Expression, target: Attribute) -> Expression:
    """A conversion of a type that is held as its bits."""
    source = operand.type
    lanes = source.lanes or ""
    type = CType(target, source.lanes)
    if (source.element, target) == (bf16, f32):
        if source.lanes is None:
            return Expression(f"as_float((uint){operand.atom} << 16)", type)
        text = f"as_float{lanes}(convert_uint{lanes}({operand.text}) << 16)"
        return Expression(text, type)
    if (source.element, target) not in _STORED:
        raise GinghamError(
            f"kernels do not convert {source.element} to {target}",
            hint="run the pass opencl-emulate-types first",
        )
    if target == f32:
        return Expression(f"half_to_float{lanes}({operand.text})", type)
    name = "half" if target == f16 else "bfloat"
    return Expression(f"{name}_from_{source.name}({operand.text})", type)

"""The default tensor of a contraction, brought to the shape of the result."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ...affine.form import LinearForm
from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation, Combination
from ...dialects.eltwise.ops import broadcast_shape
from ...dialects.tile import ContractOp
from ..locations import error_at
from .argument_types import format_shape


def spread_default(
    op: ContractOp,
    default: SSAValue[TensorType[Attribute]],
    result: TensorType[Attribute],
) -> ContractOp | None:
    """The op that broadcasts a default tensor to the result's type by NumPy's rule.

    None when it has the shape already. Raises a GinghamError, located at the
    contraction, when it does not broadcast to that shape.
    """
    shape, target = default.type.get_shape(), result.get_shape()
    if shape == target:
        return None
    try:
        fits = broadcast_shape([shape, target]) == target
    except ValueError:
        fits = False
    if not fits:
        raise error_at(
            op,
            f"expected the default tensor to have the shape {format_shape(target)} of "
            f"{op.result.name_hint or 'the result'}, or one that broadcasts to it, got "
            f"{format_shape(shape)}",
        )
    rank = len(target)
    first = rank - len(shape)
    indices = [Polynomial.from_form(LinearForm.dimension(i, rank)) for i in range(rank)]
    origin = Polynomial.from_form(LinearForm.constant_of(0, rank))
    access = [
        indices[first + axis] if size == target[first + axis] else origin
        for axis, size in enumerate(shape)
    ]
    return ContractOp(
        Aggregation.ASSIGN,
        Combination.NONE,
        [default],
        [f"i{axis}" for axis in range(rank)],
        indices,
        [access],
        result,
    )

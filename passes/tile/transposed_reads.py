"""Tensors whose axes are in another order are read where they were before."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...affine.form import LinearForm
from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation
from ...dialects.tile.contract import ContractOp
from ..locations import located


class ReadBeforeTransposition(RewritePattern):
    """A contraction that reads a transposed tensor reads the tensor itself.

    Only flat contractions do: by then derivatives are there, which may be those by the
    transposed tensor.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractOp, rewriter: PatternRewriter) -> None:
        """Replace each input that is another tensor with its axes in another order."""
        if not op.is_flat:
            return
        arguments = op.arguments
        inputs, accesses = [*arguments["inputs"]], [*arguments["input_accesses"]]
        for number, value in enumerate(op.inputs):
            source = value.owner
            if isinstance(source, ContractOp) and _is_transposition(source):
                (inputs[number],) = source.inputs
                accesses[number] = _before(source, accesses[number])
        if inputs == [*op.inputs]:
            return
        arguments["inputs"], arguments["input_accesses"] = inputs, accesses
        rewriter.replace(op, located(ContractOp(**arguments), op))


def _is_transposition(op: ContractOp) -> bool:
    """Whether each element of its only input is moved, and axes stay what they are."""
    if not op.is_flat or len(op.inputs) != 1 or op.conditions:
        return False
    if op.aggregation.data is not Aggregation.ASSIGN:
        return False
    tensors = (op.result, *op.inputs)
    accesses = zip(tensors, op.linear_accesses(), strict=True)
    return all(_is_whole(op, tensor, access) for tensor, access in accesses)


def _is_whole(op: ContractOp, tensor: SSAValue, access: Sequence[LinearForm]) -> bool:
    """Whether each index goes through an axis of its own; other axes have size 1."""
    if not isinstance(tensor.type, TensorType):
        return False
    indices = [form.single_dimension for form in access]
    ranges = [1 if index is None else op.flat_ranges[index] for index in indices]
    used = sorted(index for index in indices if index is not None)
    return used == [*range(len(op.flat_ranges))] and ranges == [
        *tensor.type.get_shape()
    ]


def _before(op: ContractOp, places: Sequence[Polynomial]) -> list[Polynomial]:
    """Where the cell at these places was before the transposition."""
    result, access = op.linear_accesses()
    known = {
        form.single_dimension: place for form, place in zip(result, places, strict=True)
    }
    known[None] = Polynomial.constant(0)  # the only place on an axis of size 1
    return [known[form.single_dimension] for form in access]

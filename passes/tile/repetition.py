"""What a contraction gives all of whose points occur several times.

A sum is so many times as large, a product is a power, and a maximum stays what it is.
The power is taken by squaring, so that it is exact in integers and keeps its sign.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.aggregation import Aggregation, Combination
from ...dialects.eltwise.element_types import (
    Kind,
    bit_width,
    computation_type,
    i1,
    kind,
    si32,
)
from ...dialects.eltwise.ops import (
    FUNCTION_OPS,
    CastOp,
    ConstantOp,
    element_of,
    with_element,
)
from ...dialects.tile.contract import ContractOp
from ..locations import located


def replace_repeated(op: ContractOp, flat: ContractOp, count: int) -> None:
    """Replace `op` by `flat`, which has once each point that occurs `count` times.

    `flat` is flat and not part of the program yet.
    """
    Repetition(op).replace(flat, count)


class Repetition:
    """Adds ops before a contraction; all have its location."""

    def __init__(self, op: ContractOp) -> None:
        self._op = op
        self._element = op.result.type.element_type
        self._wide = computation_type(self._element)

    def replace(self, flat: ContractOp, count: int) -> None:
        """See `replace_repeated`."""
        once = self._add(self._without_default(flat))
        if self._op.aggregation.data is Aggregation.MUL:
            value = self._power(once, count)
        else:
            value = self._apply("mul", once, self._number(count))
        value = self._cast(value, self._element)
        if flat.default is not None:
            value = self._apply("cond", self._is_reached(flat), value, flat.default)
        value.name_hint = self._op.result.name_hint
        if isinstance(value.owner, Operation):
            value.owner.attributes |= self._op.attributes
        flat.erase()
        Rewriter.replace_op(self._op, [], [value])

    def _without_default(self, flat: ContractOp) -> ContractOp:
        """The contraction in the type that it is computed in.

        Cells without a point are zero there.
        """
        inputs = [
            self._cast(each, self._wide)
            if element_of(each.type) == self._element
            else each
            for each in flat.inputs
        ]
        type = with_element(flat.result.type, self._wide)
        return self._like(flat, flat.aggregation.data, inputs, type)

    def _is_reached(self, flat: ContractOp) -> SSAValue:
        """Whether a cell has a point."""
        one = self._add(ConstantOp(1, TensorType(si32, [])))
        type = with_element(flat.result.type, si32)
        points = self._like(flat, Aggregation.MAX, [one], type)
        zero = self._add(ConstantOp(0, TensorType(si32, [])))
        return self._apply("cmp_ne", self._add(points), zero)

    def _like(
        self,
        flat: ContractOp,
        aggregation: Aggregation,
        inputs: list[SSAValue],
        type: Attribute,
    ) -> ContractOp:
        """A contraction over the same points; of one new input, it is a number."""
        is_same = (
            len(inputs) == len(flat.inputs) and aggregation is flat.aggregation.data
        )
        output, *accesses = flat.accesses
        if not isinstance(type, TensorType):
            raise ValueError(f"expected a tensor, got {type}")
        return ContractOp(
            aggregation,
            flat.combination.data if is_same else Combination.NONE,
            inputs,
            flat.index_names,
            output,
            accesses if is_same else [()],
            type,
            constraints=flat.conditions,
            ranges=flat.flat_ranges,
            output_rank=flat.flat_output_rank,
        )

    def _power(self, base: SSAValue, exponent: int) -> SSAValue:
        result: SSAValue | None = None
        while exponent:
            if exponent & 1:
                result = base if result is None else self._apply("mul", result, base)
            exponent >>= 1
            if exponent:
                base = self._apply("mul", base, base)
        return base if result is None else result

    def _number(self, count: int) -> SSAValue:
        """A number of the type that is computed in, where integers wrap around."""
        number: int | float = float(count)
        if kind(self._wide) is not Kind.FLOAT:
            bits = bit_width(self._wide)
            number = count % 2**bits
            if kind(self._wide) is Kind.SIGNED and number >= 2 ** (bits - 1):
                number -= 2**bits
        return self._add(ConstantOp(number, TensorType(self._wide, [])))

    def _apply(self, name: str, *operands: SSAValue) -> SSAValue:
        element = i1 if name == "cmp_ne" else element_of(operands[-1].type)
        type = with_element(self._op.result.type, element)
        return self._add(FUNCTION_OPS[name].build_typed(operands, type))

    def _cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        if element_of(value.type) == element:
            return value
        return self._add(CastOp(value, with_element(value.type, element)))

    def _add(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(located(op, self._op), InsertPoint.before(self._op))
        return op.results[0]

"""The function that stands for an instruction, with its meaning written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.aggregation import Aggregation, AggregationAttr
from ....dialects.eltwise.element_types import vector_of
from ....dialects.eltwise.ops import (
    FUNCTION_OPS,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
)
from ....dialects.eltwise.shuffle import ShuffleOp
from ....dialects.opencl.functions import FunctionOp, ReturnOp
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....targets.hardware.instruction import Instruction
from ....targets.hardware.instruction_block import InstructionBlock, Operand

_ValueOf: TypeAlias = Callable[[Operand], SSAValue]


def function_of(
    name: str, instruction: Instruction, pattern: InstructionBlock
) -> FunctionOp:
    """The function that stands for an instruction.

    Its arguments are the inputs and, where the output aggregates, what it was before.
    """
    aggregation = pattern.aggregation
    operands = [*pattern.inputs]
    if aggregation is not Aggregation.ASSIGN:
        operands.append(pattern.output)
    function = FunctionOp(
        name, FunctionOp.empty_body([(each.type, each.name) for each in operands])
    )
    if aggregation is not Aggregation.ASSIGN:
        function.accumulates = AggregationAttr(aggregation)
    if pattern.native:
        function.native = StringAttr(pattern.native)
        if instruction.needs:
            function.needs = StringAttr(instruction.needs)
    meaning = _Meaning(function, pattern, operands)
    function.body.block.add_op(ReturnOp(meaning.result()))
    return function


class _Meaning:
    """Writes what an instruction's block computes to a function."""

    def __init__(
        self, function: FunctionOp, pattern: InstructionBlock, operands: list[Operand]
    ) -> None:
        self._body = function.body.block
        self._pattern = pattern
        self._arguments = dict(zip(operands, self._body.args, strict=True))
        self._picked: dict[tuple[Operand, int], SSAValue] = {}
        self._lanes = 1
        """Of all values: more than one where points are lanes of vectors."""

    def result(self) -> SSAValue:
        """Write all points; what the instruction gives."""
        if self._is_lane_by_lane():
            self._lanes = self._pattern.output.lanes
            return self._point(self._whole, self._before(self._whole))
        return self._one_by_one()

    def _is_lane_by_lane(self) -> bool:
        """Whether each point has a lane of its own, or a scalar, of all operands."""
        output = self._pattern.output
        own = tuple(range(output.lanes))
        return output.places == own and all(
            each.lanes == 1 or each.places == own for each in self._pattern.inputs
        )

    def _one_by_one(self) -> SSAValue:
        """Write the points one after the other."""
        output = self._pattern.output
        cells: dict[int, SSAValue] = {}
        for number, lane in enumerate(output.places):

            def value(operand: Operand, point: int = number) -> SSAValue:
                return self._lane(operand, operand.places[point])

            before = cells[lane] if lane in cells else self._before(value)
            cells[lane] = self._point(value, before)
        found = [cells[lane] for lane in range(output.lanes)]
        return found[0] if len(found) == 1 else self._add(ShuffleOp(found))

    def _before(self, value_of: _ValueOf) -> SSAValue | None:
        """What the output was, where that is an operand."""
        output = self._pattern.output
        return value_of(output) if output in self._arguments else None

    def _point(self, value_of: _ValueOf, before: SSAValue | None) -> SSAValue:
        """Write the statements of a point; what the output is then."""
        block = self._pattern.block
        operands = {each.view: each for each in self._pattern.inputs}
        values: dict[SSAValue, SSAValue] = {}
        stored: SSAValue | None = None
        for op in block.body.ops:
            match op:
                case LoadOp():
                    operand = operands[block.views.index(op.view)]
                    values[op.result] = value_of(operand)
                case StoreOp():
                    stored = self._aggregated(before, values[op.value])
                case ElementwiseOp():
                    arguments = [values[argument] for argument in op.arguments]
                    type = self._wide(op.result.type)
                    values[op.result] = self._add(op.build_typed(arguments, type))
                case CastOp():
                    type = self._wide(op.result.type)
                    cast = CastOp(values[op.argument], type)
                    values[op.result] = self._add(cast)
                case ConstantOp():
                    constant = ConstantOp(op.number, self._wide(op.result.type))
                    values[op.result] = self._add(constant)
                case _:
                    raise ValueError(f"the block of an instruction has no {op.name}")
        if stored is None:
            raise ValueError("the block of an instruction stores nothing")
        return stored

    def _aggregated(self, before: SSAValue | None, value: SSAValue) -> SSAValue:
        function = self._pattern.aggregation.function
        if function is None or before is None:
            return value
        combine = FUNCTION_OPS[function].build_typed([before, value], value.type)
        return self._add(combine)

    def _wide(self, type: Attribute) -> Attribute:
        return vector_of(type, self._lanes) if self._lanes > 1 else type

    def _whole(self, operand: Operand) -> SSAValue:
        """All lanes of an operand; a scalar in each of them."""
        value = self._arguments[operand]
        if operand.lanes == self._lanes:
            return value
        return self._add(BroadcastOp(value, vector_of(operand.element, self._lanes)))

    def _lane(self, operand: Operand, lane: int) -> SSAValue:
        """One lane of an operand."""
        value = self._arguments[operand]
        if operand.lanes == 1:
            return value
        key = operand, lane
        if key not in self._picked:
            self._picked[key] = self._add(ShuffleOp([value], [lane]))
        return self._picked[key]

    def _add(self, op: Operation) -> SSAValue:
        self._body.add_op(op)
        return op.results[0]

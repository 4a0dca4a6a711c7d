"""Groups of operands that have a name are what the definition says, at any time."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import test as any_ops
from xdsl.dialects.builtin import IndexType, f32
from xdsl.ir import Operation
from xdsl.irdl import operand_def, var_operand_def, var_result_def

from gingham.dialects.building import DialectOperation, operation_definition
from gingham.dialects.operands import operands_of


@operation_definition
class _Sized(DialectOperation):
    name = "test.sized"
    tensor = operand_def()
    sizes = var_operand_def(IndexType)
    parts = var_result_def()


def _values(count: int) -> list[Any]:
    types = [f32, *[IndexType()] * (count - 1)]
    return [*any_ops.TestOp(result_types=types).results]


def _sized(operands: list[Any], results: int) -> _Sized:
    return _Sized(operands=[operands[0], operands[1:]], result_types=[[f32] * results])


def test_groups_at_the_end_have_the_rest() -> None:
    for count in (1, 2, 4):
        values = _values(count)
        op = _sized(values, count - 1)
        assert op.tensor is values[0]
        assert [*op.sizes] == values[1:]
        assert [*op.parts] == [*op.results]


def test_operands_are_those_of_now() -> None:
    values, others = _values(3), _values(4)
    op: Operation = _sized(values, 0)
    assert [*operands_of(op)] == values
    op.operands[1] = others[1]
    assert [*operands_of(op)] == [values[0], others[1], values[2]]
    op.operands = others
    assert [*operands_of(op)] == [*op.operands] == others
    others[3].replace_all_uses_with(values[1])
    assert operands_of(op)[3] is values[1]

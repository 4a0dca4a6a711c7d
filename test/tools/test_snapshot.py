"""A snapshot of a module tells every change that a verifier could see."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.arith import AddiOp, ConstantOp, MuliOp
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from gingham.tools.optimizer.snapshot import Snapshot


def sums() -> ModuleOp:
    """`(x + 1) + (x + 1)`, the constant as an operation of its own."""
    function = FuncOp("main", ([i32], [i32]))
    one = ConstantOp.from_int_and_width(1, 32)
    inner = AddiOp(function.args[0], one)
    outer = AddiOp(inner, inner)
    function.body.block.add_ops([one, inner, outer, ReturnOp(outer)])
    return ModuleOp([function])


def operation(module: ModuleOp, number: int) -> Operation:
    return [*module.walk()][number]


def _attribute(module: ModuleOp) -> None:
    operation(module, 3).attributes["note"] = StringAttr("new")


def _property(module: ModuleOp) -> None:
    operation(module, 1).properties["sym_name"] = StringAttr("other")


def _operand(module: ModuleOp) -> None:
    operation(module, 4).operands[1] = operation(module, 2).results[0]


def _type(module: ModuleOp) -> None:
    Rewriter.replace_value_with_new_type(operation(module, 2).results[0], i64)


def _argument(module: ModuleOp) -> None:
    operation(module, 1).regions[0].block.insert_arg(i32, 1)


def _order(module: ModuleOp) -> None:
    one, inner = operation(module, 2), operation(module, 3)
    one.detach()
    operation(module, 1).regions[0].block.insert_op_after(one, inner)


def _added(module: ModuleOp) -> None:
    module.body.block.add_op(FuncOp.external("other", [], []))


def _erased(module: ModuleOp) -> None:
    Rewriter.erase_op(operation(module, 5))


def _replaced(module: ModuleOp) -> None:
    inner = operation(module, 3)
    left, right = inner.operands
    Rewriter.replace_op(inner, MuliOp(left, right))


@pytest.mark.parametrize(
    "change",
    [
        _attribute,
        _property,
        _operand,
        _type,
        _argument,
        _order,
        _added,
        _erased,
        _replaced,
    ],
)
def test_a_change_is_seen(change: Callable[[ModuleOp], None]) -> None:
    module = sums()
    snapshot = Snapshot(module)
    assert snapshot.is_still(module)
    change(module)
    assert not snapshot.is_still(module)


def test_a_copy_is_another_module() -> None:
    module = sums()
    assert not Snapshot(module).is_still(module.clone())

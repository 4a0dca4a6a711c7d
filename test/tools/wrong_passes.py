"""Passes that change what a program computes, for tests of `--validate-each`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from gingham.dialects.stripe.block import BlockOp


def main_function(module: ModuleOp) -> FuncOp:
    """The function @main."""
    return next(
        op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"
    )


def swap_operands(op: Operation) -> None:
    """Exchanges the first two operands."""
    first, second, *others = op.operands
    op.operands = [second, first, *others]


@dataclass(frozen=True)
class SwapOperandsPass(ModulePass):
    """Swap the operands of each operation of this name."""

    name = "test-swap-operands"

    operation: str = "eltwise.sub"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.name == self.operation:
                swap_operands(inner)


@dataclass(frozen=True)
class AddToRangesPass(ModulePass):
    """Change the ranges of each block."""

    name = "test-add-to-ranges"

    amount: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in op.walk():
            if isinstance(block, BlockOp):
                ranges = [extent + self.amount for extent in block.index_ranges]
                block.properties["ranges"] = DenseArrayBase.from_list(i64, ranges)


@dataclass(frozen=True)
class ReturnInputPass(ModulePass):
    """Return the first input in place of each result."""

    name = "test-return-input"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = main_function(op)
        first = function.args[0]
        for inner in function.walk():
            if isinstance(inner, ReturnOp):
                inner.operands = [first] * len(inner.operands)
                function.update_function_type()


@dataclass(frozen=True)
class InsertUnknownPass(ModulePass):
    """Insert an operation that the reference interpreter does not know."""

    name = "test-insert-unknown"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = main_function(op).body.block
        first = block.first_op
        if first is not None:
            block.insert_op_before(ConstantOp.from_int_and_width(1, 32), first)


@dataclass(frozen=True)
class RenameEntryPass(ModulePass):
    """Give @main another name."""

    name = "test-rename-entry"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main_function(op).sym_name = StringAttr("other")

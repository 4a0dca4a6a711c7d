"""What kernels compute apart from the table: calls of functions, division by scalars.

The body of a function runs in the frame of its caller.
"""

from __future__ import annotations

from xdsl.traits import SymbolTable

from ...dialects.eltwise.table import FUNCTIONS
from ...dialects.locations import error_at
from ...dialects.opencl.division import DivideOp
from ...dialects.opencl.functions import CallOp, FunctionOp
from .dispatch import Step, prepare, prepare_all
from .eltwise import meaning
from .frame import Frame


@prepare.register(CallOp)
def _prepare_call(op: CallOp) -> Step:
    function = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(function, FunctionOp):
        raise error_at(op, f"there is no function {op.callee}")
    parameters, arguments = function.body.block.args, tuple(op.arguments)
    returned, result = function.returned, op.result
    *statements, _ = function.body.block.ops
    body = prepare_all(statements)

    def step(frame: Frame) -> None:
        for parameter, argument in zip(parameters, arguments, strict=True):
            frame[parameter] = frame[argument]
        body(frame)
        frame[result] = frame[returned]

    return step


@prepare.register(DivideOp)
def _prepare_division(op: DivideOp) -> Step:
    argument, divisor, result = op.argument, op.divisor, op.result
    apply = meaning(FUNCTIONS["div"], [op.divisor.type] * 2, op.divisor.type)

    def step(frame: Frame) -> None:
        frame[result] = apply([frame.array(argument), frame[divisor][:, None]])

    return step

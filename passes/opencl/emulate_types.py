"""`opencl-emulate-types`: compute with f16 and bf16 in f32.

OpenCL C computes with half only by an extension that many devices lack, and never with
bf16. So both are types of memory: every function of them converts its operands to f32
and rounds its result, which is what f16 and bf16 mean at every level. For `+`, `-`,
`*`, `/` and `sqrt` that is the same number as rounding the exact result once, because
f32 has more than twice the digits.

```mlir
%x = opencl.load %A[%i] : !opencl.pointer<f16, global> -> f16
%y = eltwise.mul %x, %x : f16
%z = eltwise.add %y, %x : f16
opencl.store %z, %B[%i] : f16 -> !opencl.pointer<f16, global>
```

becomes

```mlir
%x = opencl.load %A[%i] : !opencl.pointer<f16, global> -> f16
%0 = eltwise.cast %x : f16 to f32
%1 = eltwise.mul %0, %0 : f32
%y = eltwise.cast %1 : f32 to f16
%2 = eltwise.cast %y : f16 to f32
%3 = eltwise.add %2, %0 : f32
%z = eltwise.cast %3 : f32 to f16
opencl.store %z, %B[%i] : f16 -> !opencl.pointer<f16, global>
```

Of conversions those to and from f32 remain, and that of f64 to f16, which must not
round twice. Loads, stores, constants, broadcasts and selections move values of any
type, so they stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType, f16, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.element_types import is_storage_type
from ...dialects.eltwise.ops import (
    FUNCTION_OPS,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
    with_element,
)
from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.kernel import KernelOp
from ..constant_folding import fold_cast
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations


@dataclass(frozen=True)
class OpenCLEmulateTypesPass(KernelPass):
    """Let kernels use f16 and bf16 in memory and f32 for computing."""

    name = "opencl-emulate-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Put conversions where kernels and functions compute, and compute in f32."""
        for kernel in op.ops:
            if isinstance(kernel, KernelOp | FunctionOp):
                _KernelEmulation().rewrite(kernel)


class _KernelEmulation:
    """Rewrites one kernel or function; remembers what each value is in f32."""

    def __init__(self) -> None:
        self._wide: dict[SSAValue, SSAValue] = {}

    def rewrite(self, kernel: KernelOp | FunctionOp) -> None:
        """Rewrite all functions and conversions, in order."""
        moved: list[Operation] = []
        for op in operations(kernel):
            match op:
                case ElementwiseOp() if not op.function.moves:
                    self._function(op)
                case CastOp():
                    self._cast(op)
                case ConstantOp() | BroadcastOp():
                    moved.append(op)
                case _:
                    pass
        # What is used in f32 only has been made anew in f32.
        for op in reversed(moved):
            if op.results[0].first_use is None:
                Rewriter.erase_op(op)

    def _function(self, op: ElementwiseOp) -> None:
        values = [*op.arguments, op.result]
        if not any(_is_stored(value.type) for value in values):
            return
        operands = [self._widened(argument) for argument in op.arguments]
        result, type = op.result.type, op.result.type
        if _is_stored(type):
            type = with_element(type, f32)
        wide = FUNCTION_OPS[op.function.name].build_typed(operands, type)
        if type == result:
            _replace(op, wide)
        else:
            _replace(op, wide, CastOp(wide.result, result))

    def _cast(self, op: CastOp) -> None:
        source, target = element_of(op.argument.type), element_of(op.result.type)
        if _is_stored(source) and target != f32:
            # The cast is now one of f32.
            op.operands[0] = self._widened(op.argument)
            source = f32
        if not _is_stored(target) or source == f32 or (source, target) == (f64, f16):
            return
        wide = CastOp(op.argument, with_element(op.result.type, f32))
        _replace(op, wide, CastOp(wide.result, op.result.type))

    def _widened(self, value: SSAValue) -> SSAValue:
        """The value in f32, made once and just behind the value itself."""
        if not _is_stored(value.type):
            return value
        known = self._wide.get(value)
        if known is not None:
            return known
        owner = value.owner
        if isinstance(owner, Operation):
            wide = located(self._wide_form(owner, value), owner)
            place = InsertPoint.after(owner)
        else:
            wide = CastOp(value, with_element(value.type, f32))
            place = InsertPoint.at_start(owner)
        Rewriter.insert_op(wide, place)
        self._wide[value] = wide.results[0]
        return self._wide[value]

    def _wide_form(self, owner: Operation, value: SSAValue) -> Operation:
        type = with_element(value.type, f32)
        if isinstance(owner, ConstantOp):
            number = fold_cast(owner.number, element_of(value.type), f32)
            return ConstantOp(number, type)
        if isinstance(owner, BroadcastOp) and isinstance(type, VectorType):
            return BroadcastOp(self._widened(owner.argument), type)
        return CastOp(value, type)


def _is_stored(type: Attribute) -> bool:
    return is_storage_type(element_of(type))


def _replace(op: Operation, *new: Operation) -> None:
    """Put other operations, the last of which has the result, in an op's place."""
    result = new[-1].results[0]
    Rewriter.insert_op([located(each, op) for each in new], InsertPoint.before(op))
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    Rewriter.erase_op(op)

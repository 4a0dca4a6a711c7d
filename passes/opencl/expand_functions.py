"""`opencl-expand-functions`: functions of f32 by our own formulas.

What `exp` of OpenCL C costs, and how exact it is, depends on the runtime: some take ten
times as long as others, some vectors are wrong. Where the runtime's function is not
good enough, this pass calls one of ours, written in multiplications, additions and
operations on bits (`passes/opencl/expansions`). Each is printed once as a function of
OpenCL C.

```mlir
opencl.kernel @powers(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<8xf32>
  %y = eltwise.exp %x : vector<8xf32>
  opencl.store %y, %A[0] : vector<8xf32> -> !opencl.pointer<f32, global>
}
```

becomes, with `functions="exp"`,

```mlir
opencl.function @exp_f32x8(%x : vector<8xf32>) -> vector<8xf32> {
  ...
  opencl.return %result : vector<8xf32>
}
opencl.kernel @powers(%A : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<8xf32>
  %y = opencl.call @exp_f32x8(%x) : (vector<8xf32>) -> vector<8xf32>
  opencl.store %y, %A[0] : vector<8xf32> -> !opencl.pointer<f32, global>
}
```

f16 and bf16 are computed in f32 (`opencl-emulate-types`, which comes first); functions
of f64 stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType, f32
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from ...dialects.eltwise.ops import ElementwiseOp, element_of
from ...dialects.opencl.functions import CallOp, FunctionOp, ReturnOp
from ...dialects.opencl.kernel import KernelOp
from ...errors import GinghamError
from ...suggestions import did_you_mean
from ..kernel_pass import KernelPass
from ..locations import located
from ..symbols import Symbols
from ..walking import operations
from .expansions import EXPANSIONS
from .expansions.number import arguments_of


@dataclass(frozen=True)
class OpenCLExpandFunctionsPass(KernelPass):
    """Let kernels call our own form of element-wise functions of f32."""

    name = "opencl-expand-functions"

    functions: tuple[str, ...] = ()
    """The functions, such as "exp"; all that there are formulas for when not given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace element-wise functions by calls, and add what they call.

        Raises GinghamError for the name of a function that has no formula.
        """
        for name in self.functions:
            if name not in EXPANSIONS:
                raise GinghamError(
                    f"there is no formula for the function '{name}'",
                    hint=did_you_mean(name, EXPANSIONS)
                    or f"there are some for {', '.join(EXPANSIONS)}",
                )
        expansion = _Expansion(op, frozenset(self.functions or EXPANSIONS))
        for kernel in list(op.ops):
            if isinstance(kernel, KernelOp | FunctionOp):
                expansion.expand(kernel, kernel)


class _Expansion:
    """Replaces functions in a module; remembers those that it has made."""

    def __init__(self, module: ModuleOp, functions: frozenset[str]) -> None:
        self._module = module
        self._functions = functions
        self._made: dict[tuple[str, Attribute], str] = {}
        self._symbols = Symbols(module)

    def expand(self, op: Operation, place: Operation) -> None:
        """Replace the functions in an op; new functions are put before `place`."""
        for inner in operations(op):
            if not isinstance(inner, ElementwiseOp):
                continue
            is_single = element_of(inner.result.type) == f32
            if inner.function.name in self._functions and is_single:
                name = self._function(inner, place)
                call = located(CallOp(name, inner.arguments, inner.result.type), inner)
                call.result.name_hint = inner.result.name_hint
                Rewriter.replace_op(inner, call)

    def _function(self, op: ElementwiseOp, place: Operation) -> str:
        """The symbol of the function that does what an op does."""
        key = (op.function.name, op.result.type)
        if key not in self._made:
            self._made[key] = self._unique(*key)
            function = _formula(op, self._made[key])
            # OpenCL C wants what it calls in turn defined before it.
            self.expand(function, place)
            self._module.body.block.insert_op_before(function, place)
        return self._made[key]

    def _unique(self, function: str, type: Attribute) -> str:
        lanes = f"x{type.get_shape()[0]}" if isinstance(type, VectorType) else ""
        return self._symbols.unique(f"{function}_f32{lanes}")


def _formula(op: ElementwiseOp, name: str) -> FunctionOp:
    """A function that computes what an op does, under a name."""
    arguments = [
        (argument.type, hint)
        for argument, hint in zip(op.arguments, ("x", "y"), strict=False)
    ]
    region = FunctionOp.empty_body(arguments)
    block = region.block
    result = EXPANSIONS[op.function.name](*arguments_of(block))
    if result.value.name_hint is None:
        result.named("result")
    block.add_op(ReturnOp(result.value))
    return FunctionOp(name, region)

"""`tile-differentiate`: gradients become ordinary ops, by reverse-mode differentiation.

```mlir
func.func @main(%X : tensor<4x5xf32>, %W : tensor<5xf32>) -> tensor<5xf32> {
  %Y = tile.contract add over [i, j] %X[i, j] * %W[j] -> [i : 4]
      : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
  %Z = eltwise.tanh %Y : tensor<4xf32>
  %L = tile.contract add over [i] %Z[i] -> [] : (tensor<4xf32>) -> tensor<f32>
  %0 = tile.gradient %L, %W : tensor<f32>, tensor<5xf32>
  func.return %0 : tensor<5xf32>
}
```

becomes, the first three ops unchanged,

```mlir
  %dL = eltwise.constant 1.0 : tensor<f32>
  %dZ = tile.contract add over [i] %dL[] -> [i : 4] : (tensor<f32>) -> tensor<4xf32>
  %0 = eltwise.mul %Z, %Z : tensor<4xf32>
  %1 = eltwise.constant 1.0 : tensor<f32>
  %2 = eltwise.sub %1, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %dY = eltwise.mul %dZ, %2 : tensor<4xf32>
  %dW = tile.contract add over [i, j] %X[i, j] * %dY[i] -> [j : 5]
      : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<5xf32>
  func.return %dW : tensor<5xf32>
```

The derivative of an element-wise function is a row of the table
`gingham.dialects.eltwise.derivatives`, summed over the axes along which an operand was
broadcast. A contraction is differentiated by contractions over the same points with the
tensors in other places (`contractions`, `products`), which are as exact and as fast as
any others. Of a maximum or minimum that several points reach, each gets an equal part.
A conversion between float types is differentiated, one to integers stops a gradient.
Gathers that interpolate are first expanded as `tile-expand-gather` does.

All gradients of one loss are found together, going once through the ops between the
loss and what it is differentiated by: the result is linear in the program, whatever is
used twice. A gradient of a gradient is the derivative of the ops that the first one
became, found in the order of the program where these are smooth functions of elements
(`tangents`); what equals an op before it is that op, so that it grows by what is new in
it (`known_operations`). Products by the derivative 1 of the loss are not written. Every
new op has the source location of the one that it is a derivative of.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ....dialects.tile.gradient import GradientOp
from ....errors import GinghamError
from ...locations import error_at
from ..expand_gather import TileExpandGatherPass
from .adjoints import Differentiation
from .known_operations import KnownOperations
from .requests import request_gradients


def expand_gradients(module: ModuleOp) -> ModuleOp:
    """A copy of a specialized module with its gradients expanded; itself without any.

    For whoever interprets a program, since gradients alone have no meaning there.
    """
    if not _has_gradients(module):
        return module
    copy = module.clone()
    TileDifferentiatePass().apply(Context(), copy)
    return copy


def _has_gradients(module: ModuleOp) -> bool:
    return any(isinstance(op, GradientOp) for op in module.walk())


@dataclass(frozen=True)
class TileDifferentiatePass(ModulePass):
    """Expand gradients into ordinary ops, or add gradients to a function.

    Without options every `tile.gradient` of the module is expanded. With `loss` and
    `wrt` the function `entry` returns, after its other results, the derivative of its
    result `loss` by each of the arguments `wrt`: `tile-differentiate{loss=L wrt=X,W}`.
    Both go by the names of the program; `wrt` alone differentiates the only result,
    `loss` alone differentiates by all arguments that have floats.
    """

    name = "tile-differentiate"

    loss: str | None = None
    wrt: tuple[str, ...] = ()
    entry: str = "main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Add the gradients that options ask for, then expand all there are.

        Raises GinghamError, located, for names that the program does not have, and for
        what has no derivative.
        """
        functions = [f for f in op.ops if isinstance(f, FuncOp)]
        if self.loss is not None or self.wrt:
            request_gradients(_entry(functions, self.entry), self.loss, self.wrt)
        if _has_gradients(op):
            TileExpandGatherPass().apply(ctx, op)
        for function in functions:
            _expand(function)


def _entry(functions: list[FuncOp], name: str) -> FuncOp:
    for function in functions:
        if function.sym_name.data == name:
            return function
    names = ", ".join(f"@{function.sym_name.data}" for function in functions)
    raise GinghamError(f"the module has no function @{name}, only {names or 'none'}")


def _expand(function: FuncOp) -> None:
    """Expand all gradients of a function, those of one loss together."""
    groups: dict[SSAValue, list[GradientOp]] = {}
    for op in function.walk():
        if isinstance(op, GradientOp):
            if len(function.body.blocks) > 1 or op.parent_op() is not function:
                raise error_at(op, "expected a gradient in a function of one block")
            groups.setdefault(op.loss, []).append(op)
    if not groups:
        return
    known = KnownOperations(function.body.block)
    # In the order of the program: a later loss may be made of an earlier gradient.
    for group in groups.values():
        pairs = [p for op in group for p in zip(op.wrt, op.gradients, strict=True)]
        wrt = [value for value, _ in pairs]
        derivatives = Differentiation(known, group[0].loss, wrt, group[0]).run()
        for value, gradient in pairs:
            derivative = derivatives[value]
            if derivative.name_hint is None:
                derivative.name_hint = gradient.name_hint
            gradient.replace_all_uses_with(derivative)
        for op in group:
            Rewriter.erase_op(op)

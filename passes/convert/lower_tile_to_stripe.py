"""`lower-tile-to-stripe`: tensors become buffers, ops become flat blocks.

```mlir
func.func @main(%A : tensor<4x5xf32>, %B : tensor<5x6xf32>, %S : tensor<6xf32>)
    -> tensor<4x6xf32> {
  %C = tile.contract add over [i : 4, j : 6 | k : 5] %A[i, k] * %B[k, j]
      -> [i : 4, j : 6] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %D = eltwise.mul %C, %S : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return %D : tensor<4x6xf32>
}
```

becomes

```mlir
func.func @main(%A : !stripe.view<4x5xf32>, %B : !stripe.view<5x6xf32>,
    %S : !stripe.view<6xf32>) -> !stripe.view<4x6xf32> {
  %C = stripe.alloc : !stripe.view<4x6xf32>
  stripe.block "C" [%i : 4, %j : 6, %k : 5]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  %D = stripe.alloc : !stripe.view<4x6xf32>
  stripe.block "D" [%i0 : 4, %i1 : 6]
      in %c = %C[%i0, %i1] : 1x1
      in %s = %S[%i1] : 1
      out %d = %D[%i0, %i1] : 1x1 {
    ...
  }
  func.return %D : !stripe.view<4x6xf32>
}
```

A contraction is one block over its ranges, and up to three more where cells have no
point (see `contraction_blocks`); an element-wise op is one block over its result, with
0-D constants in its body. Inputs are views, outputs are allocations of their own, even
when the program returns an input, or a tensor twice. A tensor without elements has no
block.

Special operations:

* `tile.gather` is one block over its result too, which loads at computed places;
* `tile.scatter` adds up in place, without atomic operations, or finds the last update
  of each cell and selects (see `scatter_blocks`);
* `tile.argsort` counts ranks in short runs and merges them (see `argsort_blocks`);
* `tile.prng` runs lanes in parallel and the steps of a lane in order;
* `tile.reshape` is a view of the same memory, copied only when it is returned;
* `tile.index` has no buffer: blocks that read coordinates compute them;
* `tile.shape` is one block that stores the sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ...dialects.stripe import AllocOp
from ...dialects.tile import ContractOp
from ..locations import check_positive, error_at, located, not_lowered
from ..stripe.edit.point_block import (
    PointBlock,
    Source,
    broadcast_access,
    identity_access,
    index_names,
)
from .argsort_blocks import lower_argsort
from .contraction_blocks import ContractionLowering
from .gather_blocks import lower_gather
from .prng_blocks import lower_prng
from .scatter_blocks import lower_scatter
from .shape_views import lower_index, lower_reshape, lower_shape
from .sort_order import Sorting
from .tensor_buffers import TensorBuffers, block_name, static_type


@singledispatch
def lower_special(op: Operation, buffers: TensorBuffers) -> None:
    """Emit what a special operation is in the stripe dialect."""
    raise not_lowered(
        op,
        "{} has no form in the stripe dialect",
        ("eltwise", "tile"),
        "run tile-specialize first",
    )


lower_special.register(lower_argsort)
lower_special.register(lower_gather)
lower_special.register(lower_index)
lower_special.register(lower_prng)
lower_special.register(lower_reshape)
lower_special.register(lower_scatter)
lower_special.register(lower_shape)


@dataclass(frozen=True)
class LowerTileToStripePass(ModulePass):
    """Lower every function over tensors; it must be specialized and flattened."""

    name = "lower-tile-to-stripe"

    run: int = 64
    """The keys that are sorted by counting, before runs of them are merged."""
    chunk: int = 2048
    """The keys that a point of a merge has."""
    chains: int = 4
    """The parts of a chunk that a point merges at once."""
    owners: int = 1
    """The points that go through all updates of a scatter, each for its own cells."""
    items: int = 256
    """The most work-items of a group that scatters, or draws random numbers.

    The states of so many stay in the first cache, and what they write is whole KiB.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace each function over tensors by one over views.

        Raises GinghamError, located, for sizes that are not known, contractions that
        are not flat, and options that are no powers of two.
        """
        options = {"run": self.run, "chunk": self.chunk, "chains": self.chains}
        options["owners"] = self.owners
        check_positive(op, **options, items=self.items)
        for option, given in options.items():
            if given & (given - 1):
                raise error_at(op, f"expected a power of two as {option}, got {given}")
        sorting = Sorting(self.run, self.chunk, self.chains)
        for function in [f for f in op.ops if isinstance(f, FuncOp)]:
            if _has_tensors(function):
                buffers = TensorBuffers(function, sorting, self.owners, self.items)
                _replace(function, _FunctionLowering(function, buffers).run())


def _has_tensors(function: FuncOp) -> bool:
    """Whether a value of the function's body is a tensor."""
    if function.is_declaration:
        return False
    if len(function.body.blocks) > 1:
        raise error_at(function, "expected a function of one block")
    values: list[SSAValue] = list(function.body.block.args)
    for op in function.body.block.ops:
        values.extend(op.results)
    tensors = (TensorType, UnrankedTensorType)
    return any(isinstance(value.type, tensors) for value in values)


def _replace(old: FuncOp, new: FuncOp) -> None:
    Rewriter.insert_op(new, InsertPoint.before(old))
    Rewriter.erase_op(old)


class _FunctionLowering:
    """Rebuilds one function; every tensor becomes a view or stays a number."""

    def __init__(self, function: FuncOp, buffers: TensorBuffers) -> None:
        self._function = function
        self._buffers = buffers

    def run(self) -> FuncOp:
        """The function over views."""
        old, block = self._function, self._buffers.block
        for argument in old.body.block.args:
            self._buffers.add_argument(argument)
        for op in old.body.block.ops:
            self._visit(op)
        self._buffers.erase_unused_shapes()
        terminator = block.last_op
        outputs = terminator.operand_types if terminator is not None else ()
        new = FuncOp(
            old.sym_name.data,
            ([argument.type for argument in block.args], outputs),
            Region(block),
            old.sym_visibility,
            arg_attrs=old.arg_attrs,
            res_attrs=old.res_attrs,
        )
        new.attributes |= old.attributes
        return located(new, old)

    def _visit(self, op: Operation) -> None:
        match op:
            case ConstantOp():
                type = static_type(op.result, op)
                source = Source(type.element_type, type.get_shape(), op.number)
                self._buffers.bind(op.result, source)
            case CastOp() | ElementwiseOp():
                self._elementwise(op)
            case ContractOp():
                self._contract(op)
            case ReturnOp():
                self._return(op)
            case _:
                lower_special(op, self._buffers)

    def _elementwise(self, op: CastOp | ElementwiseOp) -> None:
        buffers = self._buffers
        view = buffers.result(op.result, op)
        type = static_type(op.result, op)
        shape, element = type.get_shape(), type.element_type
        if 0 in shape:
            return
        block = PointBlock(shape, index_names(len(shape)), op)
        operands = [
            block.read(source, broadcast_access(source.shape, shape))
            for source in (buffers.source(operand) for operand in op.operands)
        ]
        if isinstance(op, CastOp):
            value = block.cast(operands[0], element)
        else:
            value = block.apply(op.function.name, operands, element)
        block.store(value, view, identity_access(len(shape)))
        buffers.emit(block.finish(block_name(op)), op)

    def _contract(self, op: ContractOp) -> None:
        buffers = self._buffers
        type = static_type(op.result, op)
        lowering = ContractionLowering(
            op,
            [buffers.source(operand) for operand in op.inputs],
            None if op.default is None else buffers.source(op.default),
            block_name(op),
            lambda shape, element, suffix: buffers.allocate(
                op.result, shape, element, suffix
            ),
            lambda block: buffers.emit(block, op),
        )
        view = lowering.lower()
        buffers.bind(op.result, Source(type.element_type, type.get_shape(), view))

    def _return(self, op: ReturnOp) -> None:
        outputs: dict[SSAValue, None] = {}
        for value in op.arguments:
            view = self._buffers.source(value).value
            is_own = isinstance(view, SSAValue) and isinstance(view.owner, AllocOp)
            if not isinstance(view, SSAValue) or not is_own or view in outputs:
                view = self._buffers.copy(value, op)
            outputs[view] = None
        self._buffers.emit(ReturnOp(*outputs), op)

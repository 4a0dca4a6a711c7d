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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.eltwise.element_types import is_element_type
from ...dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ...dialects.stripe import AllocOp
from ...dialects.stripe.attributes import ViewType
from ...dialects.tile import ContractOp
from ..locations import error_at, located
from .contraction_blocks import ContractionLowering
from .point_block import (
    PointBlock,
    Source,
    broadcast_access,
    identity_access,
    index_names,
)


@dataclass(frozen=True)
class LowerTileToStripePass(ModulePass):
    """Lower every function over tensors; it must be specialized and flattened."""

    name = "lower-tile-to-stripe"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [f for f in op.ops if isinstance(f, FuncOp)]:
            if _has_tensors(function):
                _replace(function, _FunctionLowering(function).run())


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
    block = old.parent
    if block is None:
        raise ValueError("expected the function to be part of the module")
    block.insert_op_before(new, old)
    old.detach()
    old.erase()


class _FunctionLowering:
    """Rebuilds one function; every tensor becomes a view or stays a number."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._block = Block()
        self._sources: dict[SSAValue, Source] = {}

    def run(self) -> FuncOp:
        """The function over views."""
        old = self._function
        for argument in old.body.block.args:
            self._add_argument(argument)
        for op in old.body.block.ops:
            self._visit(op)
        terminator = self._block.last_op
        outputs = terminator.operand_types if terminator is not None else ()
        new = FuncOp(
            old.sym_name.data,
            ([argument.type for argument in self._block.args], outputs),
            Region(self._block),
            old.sym_visibility,
            arg_attrs=old.arg_attrs,
            res_attrs=old.res_attrs,
        )
        new.attributes |= old.attributes
        return located(new, old)

    def _add_argument(self, argument: BlockArgument) -> None:
        type = _static_type(argument, self._function)
        shape = type.get_shape()
        view = self._block.insert_arg(
            ViewType.of(shape, type.element_type),
            argument.index,
            argument.location,
        )
        view.name_hint = argument.name_hint
        self._sources[argument] = Source(type.element_type, shape, view)

    def _visit(self, op: Operation) -> None:
        match op:
            case ConstantOp():
                type = _static_type(op.result, op)
                self._sources[op.result] = Source(
                    type.element_type, type.get_shape(), op.number
                )
            case CastOp() | ElementwiseOp():
                self._elementwise(op)
            case ContractOp():
                self._contract(op)
            case ReturnOp():
                self._return(op)
            case _:
                raise error_at(
                    op,
                    f"'{op.name}' has no form in the stripe dialect",
                    "run tile-specialize first",
                )

    def _elementwise(self, op: CastOp | ElementwiseOp) -> None:
        result = op.result
        type = _static_type(result, op)
        shape, element = type.get_shape(), type.element_type
        view = self._allocate(result, shape, element)
        self._sources[result] = Source(element, shape, view)
        if 0 in shape:
            return
        block = PointBlock(shape, index_names(len(shape)), op)
        operands = [
            block.read(source, broadcast_access(source.shape, shape))
            for source in (self._sources[operand] for operand in op.operands)
        ]
        if isinstance(op, CastOp):
            value = block.cast(operands[0], element)
        else:
            value = block.apply(op.function.name, operands, element)
        block.store(value, view, identity_access(len(shape)))
        self._emit(block.finish(_block_name(op)), op)

    def _contract(self, op: ContractOp) -> None:
        type = _static_type(op.result, op)
        lowering = ContractionLowering(
            op,
            [self._sources[operand] for operand in op.inputs],
            None if op.default is None else self._sources[op.default],
            _block_name(op),
            lambda shape, element, suffix: self._allocate(
                op.result, shape, element, suffix
            ),
            lambda block: self._emit(block, op),
        )
        view = lowering.lower()
        self._sources[op.result] = Source(type.element_type, type.get_shape(), view)

    def _return(self, op: ReturnOp) -> None:
        outputs: list[SSAValue] = []
        for value in op.arguments:
            view = self._sources[value].value
            is_own = isinstance(view, SSAValue) and not isinstance(view, BlockArgument)
            if not isinstance(view, SSAValue) or not is_own or view in outputs:
                view = self._copy(value, op)
            outputs.append(view)
        self._emit(ReturnOp(*outputs), op)

    def _copy(self, value: SSAValue, op: ReturnOp) -> SSAValue:
        """A new buffer with the elements of a tensor."""
        source = self._sources[value]
        view = self._allocate(value, source.shape, source.element)
        if 0 in source.shape:
            return view
        origin = value.owner if isinstance(value.owner, Operation) else op
        rank = len(source.shape)
        block = PointBlock(source.shape, index_names(rank), origin)
        access = identity_access(rank)
        block.store(block.read(source, access), view, access)
        name = "copy" if value.name_hint is None else f"{value.name_hint}_copy"
        self._emit(block.finish(name), origin)
        return view

    def _allocate(
        self,
        value: SSAValue,
        shape: Sequence[int],
        element: Attribute,
        suffix: str = "",
    ) -> SSAValue:
        """A buffer for a value, or a further one that is named after it."""
        alloc = AllocOp(ViewType.of(shape, element))
        hint = value.name_hint
        if suffix:
            hint = suffix if hint is None else f"{hint}_{suffix}"
        alloc.view.name_hint = hint
        owner = value.owner
        self._emit(alloc, owner if isinstance(owner, Operation) else self._function)
        return alloc.view

    def _emit(self, op: Operation, origin: Operation) -> None:
        self._block.add_op(located(op, origin))


def _static_type(value: SSAValue, op: Operation) -> TensorType[Attribute]:
    type = value.type
    if (
        isinstance(type, TensorType)
        and type.has_static_shape()
        and is_element_type(type.element_type)
    ):
        return type
    raise error_at(
        op,
        f"expected tensors of known shape and element type, got {type}",
        "run tile-specialize first",
    )


def _block_name(op: Operation) -> str | None:
    """The profiling name that the program gives, else the name of the result."""
    profiling = op.attributes.get("tile.pid")
    if isinstance(profiling, StringAttr):
        return profiling.data
    return op.results[0].name_hint

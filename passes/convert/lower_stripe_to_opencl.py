"""`lower-stripe-to-opencl`: every top-level block becomes a kernel and its launch.

Before:

```mlir
func.func @main(%A : !stripe.view<64x64xf32>) -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "scan" [%i : 64 grid, %j : 64, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      where %j - %k >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x64xf32>
}
```

After:

```mlir
opencl.kernel @scan(%A : !opencl.pointer<f32, global>,
                    %C : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  opencl.for %j : 64 {
    %0 = eltwise.constant 0 : f32
    opencl.store %0, %C[64 * %i + %j] : f32 -> !opencl.pointer<f32, global>
  }
  opencl.for %j : 64 {
    opencl.for %k : 64 {
      opencl.if %j - %k >= 0 {
        %x = opencl.load %A[64 * %i + %k] : !opencl.pointer<f32, global> -> f32
        %C_1 = opencl.load %C[64 * %i + %j] : !opencl.pointer<f32, global> -> f32
        %1 = eltwise.add %C_1, %x : f32
        opencl.store %1, %C[64 * %i + %j] : f32 -> !opencl.pointer<f32, global>
      }
    }
  }
}
func.func @main(%A : !opencl.buffer<64x64xf32>) -> !opencl.buffer<64x64xf32> {
  %C = opencl.allocate : !opencl.buffer<64x64xf32>
  opencl.launch @scan groups [64, 1, 1] (%A, %C) : ...
  func.return %C : !opencl.buffer<64x64xf32>
}
```

Indices bound to `grid` become work-groups and those bound to `group`, `subgroup` or
`lane` work-items of a group (see `opencl_grid`), also those of nested blocks (see
`opencl_groups`: sub-groups and lanes are told by the number of the work-item), for
which barriers are put as `opencl-synchronize` does; the others become loops, in order.
An index with one value has no loop. Conditions stand as far out as their indices are
known, and not where they always hold. A window is a pointer and a linear form; a
subscript that is a value becomes an index (`opencl.position`), a store with a condition
stands in `opencl.when`.
Blocks with the same number of `stripe.kernel` are launches of the first one's kernel.
Blocks without points have no launch. The points of a serial block are loops like any
other: those run in order. What is `stripe.unless_numbers` stands in `opencl.when`,
behind a sum that tells whether a cell is NaN.

A buffer under another shape is the same pointer. The function's result has the shape
under which it is returned.

It is an error when work-items could write one cell (see `opencl_races`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.opencl.attributes import BufferType
from ...dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ...dialects.stripe.attributes import KERNEL_ATTRIBUTE, MemorySpace, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp
from ...dialects.stripe.reshape import ReshapeOp
from ...dialects.work import keep_work
from ..locations import error_at, located, not_lowered
from ..opencl.barriers import synchronize
from ..stripe.analysis.kernels import buffer_pattern
from ..stripe.analysis.nests import root_buffer
from ..symbols import Symbols
from .opencl_kernel import KernelLowering, LoweredKernel


@dataclass(frozen=True)
class LowerStripeToOpenCLPass(ModulePass):
    """Lower every function over views to a host program and its kernels."""

    name = "lower-stripe-to-opencl"

    barriers: bool = True
    """Whether barriers are put where work-items use each other's cells."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace each function over views by a host program and put kernels beside it.

        Raises GinghamError, located, for what has no form in kernels: a reshape inside
        of a block, say.
        """
        self.lower(op, lambda block: [block], lambda kernel: None)

    def lower(
        self,
        module: ModuleOp,
        prepare: Callable[[BlockOp], Sequence[Operation]],
        finish: Callable[[KernelOp], None],
    ) -> None:
        """As `apply`; each block is prepared before, each kernel finished after.

        `prepare` gives what is to be lowered in place of a block. Kernels are in no
        module yet when they are finished.
        """
        names = KernelNames(module)
        for function in [f for f in module.ops if isinstance(f, FuncOp)]:
            types = [*function.function_type.inputs, *function.function_type.outputs]
            if any(isinstance(type, ViewType) for type in types):
                kernels = KernelSteps(names, self.barriers, prepare, finish)
                _HostLowering(function, kernels).replace()


class KernelNames(Symbols):
    """Hands out names for kernels that no symbol of a module has."""

    def of_block(self, wish: str | None) -> str:
        """An identifier of C made from a block's name."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", wish or "").strip("_") or "block"
        return self.unique(f"block_{base}" if base[0].isdigit() else base)


class KernelSteps(NamedTuple):
    """What a kernel goes through: see `LowerStripeToOpenCLPass.lower`."""

    names: KernelNames
    barriers: bool
    prepare: Callable[[BlockOp], Sequence[Operation]]
    finish: Callable[[KernelOp], None]

    def lowered(self, block: BlockOp) -> LoweredKernel | None:
        """The kernel of a block, or None for one that does nothing."""
        name = block.block_name.data if block.block_name is not None else None
        lowered = KernelLowering(block, self.names.of_block(name)).lower()
        if lowered is not None:
            if self.barriers:
                synchronize(lowered.kernel)
            self.finish(lowered.kernel)
        return lowered


class _HostLowering:
    """Replaces one function over views by one over buffers, with kernels before it."""

    def __init__(self, function: FuncOp, kernels: KernelSteps) -> None:
        self._function = function
        self._kernels = kernels
        self._block = Block()
        self._buffers: dict[SSAValue, SSAValue] = {}
        self._shared: dict[Attribute, tuple[BlockOp, LoweredKernel | None]] = {}
        """The first block of each kernel that several share."""
        self._returned: dict[SSAValue, SSAValue] = {}
        """For each memory that is returned, the view of it."""

    def replace(self) -> None:
        """Put the kernels and the host program in the function's place."""
        old = self._function
        module_block = old.parent
        if module_block is None:
            raise ValueError("expected the function to be part of a module")
        kernels: list[Operation] = []
        self._note_results()
        for argument in old.body.block.args:
            self._add_argument(argument)
        for op in [*old.body.block.ops]:
            parts = self._kernels.prepare(op) if isinstance(op, BlockOp) else [op]
            for part in parts:
                kernels += self._visit(part)
        module_block.insert_ops_before([*kernels, self._finish()], old)
        Rewriter.erase_op(old)

    def _finish(self) -> FuncOp:
        old = self._function
        last = self._block.last_op
        outputs = [] if last is None else list(last.operand_types)
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

    def _add_argument(self, argument: SSAValue) -> None:
        buffer = self._block.insert_arg(
            _buffer_type(argument, self._function), len(self._block.args)
        )
        buffer.location = self._function.location
        buffer.name_hint = argument.name_hint
        self._buffers[argument] = buffer

    def _note_results(self) -> None:
        returned = self._function.body.block.last_op
        if not isinstance(returned, ReturnOp):
            return
        for view in returned.arguments:
            root = root_buffer(view)
            known = self._returned.setdefault(root, view)
            is_input = not isinstance(root.owner, Operation)
            shape = root if is_input else known
            if view.type != shape.type:
                whose = "an input" if is_input else "another result"
                raise error_at(
                    returned,
                    f"a result is {whose} under another shape: {view.type} of "
                    f"{shape.type}",
                    "return a copy",
                )

    def _visit(self, op: Operation) -> list[Operation]:
        """Lower a statement of the host program; the kernels that it needs."""
        match op:
            case AllocOp():
                self._allocate(op)
            case ReshapeOp():
                # Kernels count elements, whatever the shape.
                pass
            case BlockOp():
                return self._launch(op)
            case ReturnOp():
                buffers = [self._buffers[root_buffer(value)] for value in op.arguments]
                self._block.add_op(located(ReturnOp(*buffers), op))
            case _:
                message = "{} has no form in a host program"
                raise not_lowered(op, message, ("eltwise", "stripe"))
        return []

    def _allocate(self, op: AllocOp) -> None:
        if op.view.type.space.data is not MemorySpace.GLOBAL:
            raise error_at(
                op,
                f"a function allocates {op.view.type.space.data.value} memory",
                "local and private memory belong in a block",
            )
        type = _buffer_type(self._returned.get(op.view, op.view), op)
        allocate = located(AllocateOp(type), op)
        allocate.buffer.name_hint = op.view.name_hint
        self._block.add_op(allocate)
        self._buffers[op.view] = allocate.buffer

    def _launch(self, op: BlockOp) -> list[Operation]:
        shared = op.attributes.get(KERNEL_ATTRIBUTE)
        if shared is not None and shared in self._shared:
            first, lowered = self._shared[shared]
            if buffer_pattern(first) == buffer_pattern(op):
                self._add_launch(lowered, op, first)
                return []
        lowered = self._kernels.lowered(op)
        if shared is not None:
            self._shared.setdefault(shared, (op, lowered))
        self._add_launch(lowered, op, op)
        return [] if lowered is None else [lowered.kernel]

    def _add_launch(
        self, lowered: LoweredKernel | None, op: BlockOp, first: BlockOp
    ) -> None:
        """Launch what `first` became with the buffers that `op` has in their places."""
        if lowered is None:
            return
        roots = map(root_buffer, first.buffers)
        own = dict(zip(roots, map(root_buffer, op.buffers), strict=True))
        buffers = [self._buffers[own[view]] for view in lowered.buffers]
        name = lowered.kernel.sym_name.data
        launch = LaunchOp(name, lowered.group_counts, buffers)
        keep_work(launch, op)
        self._block.add_op(located(launch, op))


def _buffer_type(view: SSAValue, op: Operation) -> BufferType:
    """The buffer that a view of the function is to the host."""
    type = view.type
    if not isinstance(type, ViewType):
        raise error_at(op, f"expected only views in a function of blocks, got {type}")
    if type.space.data is not MemorySpace.GLOBAL:
        raise error_at(op, f"expected a view of global memory, got {type}")
    return BufferType.of(type.sizes, type.element_type)

"""`opencl-limit-unrolling`: say how far the device's compiler unrolls long loops.

What is unrolled completely is decided before: `stripe-unroll` marks it. A device's
compiler does not know of that decision, and unrolls what is around it once more,
several times over, or loops of few steps completely. Of a body that is long already
that makes little faster, but much code: half a second to compile, where without it
takes a fifth.

It pays where a loop updates accumulators that leave registers free: several steps side
by side save what the loop itself costs, and loads of one run beside the arithmetic of
another. With few registers left they would only be spilled.

Before:

```mlir
opencl.for %k : 100 {
  opencl.for %i : 8 unroll {
    ...
  }
}
```

After, where the body has no accumulators:

```mlir
opencl.for %k : 100 unroll 1 {
  opencl.for %i : 8 unroll {
    ...
  }
}
```

A body is long with `statements` loads, stores and operations, those of unrolled loops
counted as often as they are copied, and where it has loops itself. Innermost loops of
shorter ones are left to the device's compiler. Accumulators are vectors in private
memory that an innermost loop stores in each step: with at most 5/8 as many of them as
there are registers, `steps` steps are put side by side where the loop has many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ...dialects.eltwise.ops import ElementwiseOp
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.functions import CallOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import ForOp, LoadOp, StoreOp
from ...dialects.stripe.attributes import MemorySpace
from ..locations import check_positive

_MOST_ACCUMULATED = 5 / 8
"""Of the registers: measured, 20 of 32 gain 3 to 15 percent, 27 lose up to half."""
_MANY = 4
"""As many times the steps side by side a loop has at least, to be worth more code."""


@dataclass(frozen=True)
class _Body:
    """What a loop runs in each step."""

    statements: int = 0
    accumulated: int = 0
    """Of them, stores of vectors to private memory."""
    has_loops: bool = False
    """Whether there are loops that stay."""

    def __add__(self, other: _Body) -> _Body:
        return _Body(
            self.statements + other.statements,
            self.accumulated + other.accumulated,
            self.has_loops or other.has_loops,
        )

    def copied(self, count: int) -> _Body:
        """The bodies of all steps of a loop that is unrolled, one after the other."""
        return replace(
            self,
            statements=self.statements * count,
            accumulated=self.accumulated * count,
        )


@dataclass(frozen=True)
class OpenCLLimitUnrollingPass(ModulePass):
    """Mark loops of long bodies with the steps that are put side by side."""

    name = "opencl-limit-unrolling"

    statements: int = 8
    """The loads, stores and operations that make a body long."""
    registers: int = 32
    """The vector registers of the device."""
    steps: int = 4
    """The steps side by side of a loop with few accumulators."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_positive(
            op,
            statements=self.statements,
            registers=self.registers,
            steps=self.steps,
        )
        for kernel in op.ops:
            if isinstance(kernel, KernelOp):
                self._mark(kernel.body.block)

    def _mark(self, block: Block) -> _Body:
        """Mark the loops in a block, and say what it holds."""
        found = _Body()
        for op in block.ops:
            inside = _Body()
            for part in (part for region in op.regions for part in region.blocks):
                inside += self._mark(part)
            if isinstance(op, ForOp) and op.unroll is not None:
                inside = inside.copied(op.extent.value.data)
            elif isinstance(op, ForOp):
                if inside.has_loops or inside.statements >= self.statements:
                    op.limit_unrolling(self._factor(op.extent.value.data, inside))
                inside = replace(inside, has_loops=True)
            found += inside
            if isinstance(op, LoadOp | StoreOp | ElementwiseOp | CallOp):
                found += _Body(1, accumulated=int(_accumulates(op)))
        return found

    def _factor(self, extent: int, body: _Body) -> int:
        """How many steps of a loop with such a body are put side by side."""
        if body.has_loops or extent < _MANY * self.steps:
            return 1
        most = self.registers * _MOST_ACCUMULATED
        return self.steps if 0 < body.accumulated <= most else 1


def _accumulates(op: Operation) -> bool:
    """Whether an operation stores a vector to private memory."""
    return (
        isinstance(op, StoreOp)
        and isinstance(op.value.type, VectorType)
        and isinstance(op.pointer.type, PointerType)
        and op.pointer.type.space.data is MemorySpace.PRIVATE
    )

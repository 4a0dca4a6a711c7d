"""`opencl-limit-unrolling`: say how far the device's compiler unrolls loops.

What is unrolled completely is decided before: `stripe-unroll` marks it. A device's
compiler does not know of that decision, and unrolls what is around it once more,
several times over, or loops of few steps completely. Of a body that is long already
that makes little faster, but much code: half a second to compile, where without it
takes a fifth. Or it makes vectors of the steps of a loop, where ours are made already,
and adds up sums in another order.

So every loop that stays is marked, and the compiler leaves marked loops as they are.
That is not only for speed: the vectorizer of Intel's runtime for CPUs gives wrong sums
and loops that never end.

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
counted as often as they are copied, and where it has loops itself. Of innermost loops
of shorter ones so many steps are put side by side that together they have `steps` times
as many, or as many fewer as divide the extent. Accumulators are vectors in private
memory that an innermost loop stores in each step: with at most 5/8 as many of them as
there are registers, `steps` steps are put side by side where the loop has many, or as
many fewer as divide its extent: compilers test for the end of a loop after each of the
steps otherwise, which takes them up to ten times as long, and gains nothing; one
version of Intel's crashes on some. Of the loops that update the same accumulators only
the one with the most work gets them, and those with half as much as long as they are
few: the others are what is left over at borders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.eltwise.ops import ElementwiseOp
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.functions import CallOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import ForOp, LoadOp, StoreOp
from ...dialects.stripe.attributes import MemorySpace
from ..locations import check_positive
from .loops import steps_of

_MOST_ACCUMULATED = 5 / 8
"""Of the registers: measured, 20 of 32 gain 3 to 15 percent, 27 lose up to half."""
_MUCH = 1 / 2
"""The part of the work of the largest loop that makes a loop worth more code."""
_MOST_STORES = 48
"""The most accumulators that all such loops update together."""
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
    memories: frozenset[SSAValue] = frozenset()
    """The private memories that vectors are stored to."""

    def __add__(self, other: _Body) -> _Body:
        return _Body(
            self.statements + other.statements,
            self.accumulated + other.accumulated,
            self.has_loops or other.has_loops,
            self.memories | other.memories,
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
    """Mark loops with the steps that are put side by side."""

    name = "opencl-limit-unrolling"

    statements: int = 8
    """The loads, stores and operations that make a body long."""
    registers: int = 32
    """The vector registers of the device."""
    steps: int = 4
    """The steps side by side, at most, of a loop with few accumulators."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Give loops of all kernels a factor.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(
            op,
            statements=self.statements,
            registers=self.registers,
            steps=self.steps,
        )
        for kernel in op.ops:
            if isinstance(kernel, KernelOp):
                loops: list[tuple[ForOp, _Body]] = []
                self._mark(kernel.body.block, loops)
                for loop, body in _largest(loops):
                    extent = loop.extent.value.data
                    loop.limit_unrolling(self._factor(extent, body))

    def _mark(self, block: Block, loops: list[tuple[ForOp, _Body]]) -> _Body:
        """Mark the loops in a block, and say what it holds.

        Those of which steps may be put side by side are added to `loops`.
        """
        found = _Body()
        for op in block.ops:
            inside = _Body()
            for part in (part for region in op.regions for part in region.blocks):
                inside += self._mark(part, loops)
            if isinstance(op, ForOp) and op.unroll is not None:
                inside = inside.copied(op.extent.value.data)
            elif isinstance(op, ForOp):
                if inside.has_loops or inside.statements >= self.statements:
                    op.limit_unrolling(1)
                    loops.append((op, inside))
                else:
                    most = self.steps * self.statements // max(inside.statements, 1)
                    op.limit_unrolling(_divisor(op.extent.value.data, most))
                inside = replace(inside, has_loops=True)
            found += inside
            if isinstance(op, LoadOp | StoreOp | ElementwiseOp | CallOp):
                found += _statement(op)
        return found

    def _factor(self, extent: int, body: _Body) -> int:
        """How many steps of a loop with such a body are put side by side."""
        if extent < _MANY * self.steps:
            return 1
        if body.accumulated > self.registers * _MOST_ACCUMULATED:
            return 1
        return _divisor(extent, self.steps)


def _divisor(extent: int, most: int) -> int:
    """The largest number up to `most` that divides an extent."""
    return max((n for n in range(1, most + 1) if extent % n == 0), default=1)


def _statement(op: Operation) -> _Body:
    """What one operation is."""
    if (
        isinstance(op, StoreOp)
        and isinstance(op.value.type, VectorType)
        and isinstance(op.pointer.type, PointerType)
        and op.pointer.type.space.data is MemorySpace.PRIVATE
    ):
        return _Body(1, accumulated=1, memories=frozenset({op.pointer}))
    return _Body(1)


def _largest(loops: Sequence[tuple[ForOp, _Body]]) -> list[tuple[ForOp, _Body]]:
    """Innermost loops with much of the work of those that store to the same memories.

    The largest of them, and of the others as many as make little code.
    """
    found = [
        (steps_of(loop) * body.accumulated, loop, body)
        for loop, body in loops
        if body.accumulated and not body.has_loops
    ]
    found.sort(key=lambda entry: -entry[0])
    most: dict[frozenset[SSAValue], int] = {}
    stores: dict[frozenset[SSAValue], int] = {}
    taken: list[tuple[ForOp, _Body]] = []
    for work, loop, body in found:
        memories = body.memories
        total = stores.get(memories, 0) + body.accumulated
        is_much = work >= _MUCH * most.setdefault(memories, work)
        if memories not in stores or (is_much and total <= _MOST_STORES):
            taken.append((loop, body))
            stores[memories] = total
    return taken

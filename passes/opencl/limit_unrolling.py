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

The limits are the hardware's. A body is long with `interleaved_statements` loads,
stores and operations, those of unrolled loops counted as often as they are copied, and
where it has loops itself. Of innermost loops of shorter ones so many steps are put side
by side that together they have `interleaved_steps` times as many, or as many fewer as
divide the extent. Accumulators are vectors in private memory that an innermost loop
stores in each step: where they take at most `interleaved_register_share` of the
registers, `interleaved_steps` steps are put side by side where the loop has many, or as
many fewer as divide its extent: compilers test for the end of a loop after each of the
steps otherwise, which takes them up to ten times as long, and gains nothing; one
version of Intel's crashes on some. Of the loops that update the same accumulators only
the one with the most work gets them, and those with half as much as long as they are
few: the others are what is left over at borders. A body four times as long gets them
only where all steps of a work-item together run `interleaved_work` statements: code
that runs for some microseconds is not worth the time to compile it four times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.eltwise.ops import ElementwiseOp
from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.functions import CallOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from ...targets.hardware import Hardware
from ...targets.hardware.overheads import Overheads
from ..hardware_pass import HardwarePass
from ..kernel_pass import KernelPass
from .loops import is_of_accumulator, steps_of
from .modules import kernels

_MUCH = 1 / 2
"""The part of the work of the largest loop that makes a loop worth more code."""
_MANY = 4
"""As many times the steps side by side a loop has at least, to be worth more code."""
_LONG = 4
"""As many times the statements of a long body take the compiler as long to copy."""


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
class OpenCLLimitUnrollingPass(KernelPass, HardwarePass):
    """Mark loops with the steps that are put side by side."""

    name = "opencl-limit-unrolling"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Give loops of all kernels a factor.

        Raises GinghamError for hardware that is not known.
        """
        hardware = self.figures
        overheads = hardware.overheads
        for kernel in kernels(op):
            loops: list[tuple[ForOp, _Body]] = []
            _mark(kernel.body.block, loops, overheads)
            for loop, body in _largest(loops, overheads):
                loop.limit_unrolling(_factor(loop, body, hardware))


def _mark(
    block: Block, loops: list[tuple[ForOp, _Body]], overheads: Overheads
) -> _Body:
    """Mark the loops in a block, and say what it holds.

    Those of which steps may be put side by side are added to `loops`.
    """
    long, steps = overheads.interleaved_statements, overheads.interleaved_steps
    found = _Body()
    for op in block.ops:
        inside = _Body()
        for part in (part for region in op.regions for part in region.blocks):
            inside += _mark(part, loops, overheads)
        if isinstance(op, ForOp) and op.unroll is not None:
            inside = inside.copied(op.steps)
        elif isinstance(op, ForOp):
            if inside.has_loops or inside.statements >= long:
                op.limit_unrolling(1)
                loops.append((op, inside))
            else:
                most = steps * long // max(inside.statements, 1)
                op.limit_unrolling(_divisor(op.steps, most))
            inside = replace(inside, has_loops=True)
        found += inside
        if isinstance(op, LoadOp | StoreOp | ElementwiseOp | CallOp):
            found += _statement(op)
    return found


def _factor(loop: ForOp, body: _Body, hardware: Hardware) -> int:
    """How many steps of a loop with such a body are put side by side."""
    overheads = hardware.overheads
    room = hardware.vector_registers * overheads.interleaved_register_share
    if loop.steps < _MANY * overheads.interleaved_steps or body.accumulated > room:
        return 1
    is_long = body.statements >= _LONG * overheads.interleaved_statements
    if is_long and steps_of(loop) * body.statements < overheads.interleaved_work:
        return 1
    return _divisor(loop.steps, overheads.interleaved_steps)


def _divisor(extent: int, most: int) -> int:
    """The largest number up to `most` that divides an extent."""
    return max((n for n in range(1, most + 1) if extent % n == 0), default=1)


def _statement(op: Operation) -> _Body:
    """What one operation is."""
    if isinstance(op, StoreOp) and is_of_accumulator(op):
        return _Body(1, accumulated=1, memories=frozenset({op.pointer}))
    return _Body(1)


def _largest(
    loops: Sequence[tuple[ForOp, _Body]], overheads: Overheads
) -> list[tuple[ForOp, _Body]]:
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
        if memories not in stores or (
            is_much and total <= overheads.interleaved_stores
        ):
            taken.append((loop, body))
            stores[memories] = total
    return taken

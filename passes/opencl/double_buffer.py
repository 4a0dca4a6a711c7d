"""`opencl-double-buffer`: copy the next pieces to local memory while these are used.

A loop whose steps copy pieces of global memory to local memory, wait, use them, and
wait again, is turned: a step begins to copy the pieces of the next one, to another half
of the local memory, uses its own, and waits once. What is copied as it is comes
asynchronously, while the work-item goes on.

Before:

```mlir
%t = opencl.array 64 : !opencl.pointer<f32, local>
opencl.for %k : 16 {
  %x = opencl.load %A[64 * %k + %i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
  opencl.barrier local
  ... uses %t[%j] ...
  opencl.barrier local
}
```

After:

```mlir
%t = opencl.array 128 : !opencl.pointer<f32, local>
opencl.for %k_1 : 1 {
  %x = opencl.load %A[64 * %k_1 + %i] : !opencl.pointer<f32, global> -> f32
  opencl.store asynchronous %x, %t[%i] : f32 -> !opencl.pointer<f32, local>
}
opencl.barrier asynchronous local
opencl.for %k : 16 {
  %pair, %turn = opencl.delinearize %k into [8, 2]
  opencl.if 14 - %k >= 0 {
    %x = opencl.load %A[64 * %k + %i + 64] : !opencl.pointer<f32, global> -> f32
    opencl.store asynchronous %x, %t[-64 * %turn + %i + 64] : f32 -> ...
  }
  ... uses %t[64 * %turn + %j] ...
  opencl.barrier asynchronous local
}
```

It is done on devices whose description has the instruction `copy_asynchronously`, where
twice the local memory is there, nothing else in the kernel uses it, and nothing in the
kernel writes what is copied. Loops under a condition are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.element_types import si32
from ...dialects.eltwise.ops import value_bytes
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import IndexOp, PositionOp, WhenOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.memory import ArrayOp, LoadOp, StoreOp, is_plain_copy
from ...dialects.opencl.work_items import BarrierOp, DelinearizeOp
from ...dialects.stripe.attributes import MemorySpace
from ..hardware_pass import HardwarePass
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .check_limits import local_bytes
from .forms import FORMED, move, space_of, substitute
from .loops import ancestors
from .modules import kernels

_INSTRUCTION = "copy_asynchronously"
_WHOLE = 16
"""Bytes of which halves of local memory are multiples, so that vectors lie aligned."""


@dataclass(frozen=True)
class OpenCLDoubleBufferPass(KernelPass, HardwarePass):
    """Copy the next pieces to local memory while these are used."""

    name = "opencl-double-buffer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Turn the loops of all kernels that copy pieces to local memory and use them.

        Raises GinghamError for hardware that is not known.
        """
        hardware = self.figures
        if hardware.instruction(_INSTRUCTION) is None:
            return
        for kernel in kernels(op):
            for loop in [
                each for each in operations(kernel) if isinstance(each, ForOp)
            ]:
                step = _Step.of(loop, kernel)
                if step is not None and step.fits(kernel, hardware.array_memory_bytes):
                    step.turn()


@dataclass(frozen=True)
class _Step:
    """What a step of a loop does: it copies, waits, uses what was copied, and waits."""

    loop: ForOp
    copies: tuple[Operation, ...]
    uses: tuple[Operation, ...]
    arrays: tuple[ArrayOp, ...]
    """The local memory that it copies to."""

    @staticmethod
    def of(loop: ForOp, kernel: KernelOp) -> _Step | None:
        """The step of a loop; None where it is another."""
        body = [*loop.body.block.ops]
        waits = [n for n, op in enumerate(body) if isinstance(op, BarrierOp)]
        if loop.steps < 2 or len(waits) != 2 or waits[1] + 1 != len(body):
            return None
        # PoCL computes other sums where the first copies are under a condition, too.
        if any(isinstance(each, IfOp | WhenOp) for each in ancestors(loop)):
            return None
        copies, uses = tuple(body[: waits[0]]), tuple(body[waits[0] + 1 : -1])
        barriers = [op for op in operations(loop) if isinstance(op, BarrierOp)]
        is_plain = all(
            op.space.data is MemorySpace.LOCAL and op.asynchronous is None
            for op in barriers
        )
        if len(barriers) != len(waits) or not is_plain:
            return None
        stored = dict.fromkeys(each.pointer for each in _stores(copies))
        arrays = [pointer.owner for pointer in stored]
        found = tuple(op for op in arrays if isinstance(op, ArrayOp))
        step = _Step(loop, copies, uses, found)
        is_safe = len(found) == len(arrays) > 0 and step._is_apart(kernel)
        return step if is_safe else None

    def _is_apart(self, kernel: KernelOp) -> bool:
        """Whether copies may be made a step before what is copied is used."""
        own = {op for each in self.copies for op in operations(each)}
        later = {op for each in self.uses for op in operations(each)}
        pointers = {array.pointer for array in self.arrays}
        if any(space_of(pointer) is not MemorySpace.LOCAL for pointer in pointers):
            return False
        for op in own:
            if not isinstance(op, LoadOp | StoreOp | ForOp | IfOp) and op.regions:
                return False
            if isinstance(op, DelinearizeOp) and op.index is self.loop.index:
                continue
            if any(use.operation not in own for r in op.results for use in r.uses):
                return False
            if self.loop.index in op.operands and not isinstance(op, FORMED):
                return False
        loaded = {op.pointer for op in own if isinstance(op, LoadOp)}
        written = {op.pointer for op in operations(kernel) if isinstance(op, StoreOp)}
        if any(space_of(p) is not MemorySpace.GLOBAL or p in written for p in loaded):
            return False
        return all(
            use.operation in own
            or (use.operation in later and isinstance(use.operation, LoadOp))
            for pointer in pointers
            for use in pointer.uses
        )

    def fits(self, kernel: KernelOp, limit: int) -> bool:
        """Whether there is room for twice the memory."""
        more = sum(_half(array) * _element_bytes(array) for array in self.arrays)
        return local_bytes(kernel) + more <= limit

    def turn(self) -> None:
        """Rewrite the loop."""
        loop, body = self.loop, self.loop.body.block
        halves: dict[SSAValue, int] = {a.pointer: _half(a) for a in self.arrays}
        for array in self.arrays:
            array.length = IntegerAttr(2 * _half(array), array.length.type)
        first = self._first()
        waits = [op for op in body.ops if isinstance(op, BarrierOp)]
        Rewriter.erase_op(waits[0])
        waits[1].asynchronous = UnitAttr()
        start = BarrierOp(MemorySpace.LOCAL)
        start.asynchronous = UnitAttr()
        begin = [located(first, loop), located(start, loop)]
        Rewriter.insert_op(begin, InsertPoint.before(loop))
        apart = DelinearizeOp(self.loop.index, (-(-self.loop.steps // 2), 2))
        half = IndexSum.value(apart.coordinates[1])
        apart.coordinates[1].name_hint = "turn"
        for op in self._inside(self.uses):
            if isinstance(op, LoadOp) and op.pointer in halves:
                move(op, half * halves[op.pointer])
        taken_apart = [op for op in self.copies if isinstance(op, DelinearizeOp)]
        for op in taken_apart:
            self._copy_for_uses(op)
        following = self._following()
        for op in self._inside(self.copies):
            if isinstance(op, StoreOp) and op.pointer in halves:
                move(op, (-half + 1) * halves[op.pointer])
        for op in taken_apart:
            self._advance(op)
        top = [located(apart, loop), located(following, loop)]
        Rewriter.insert_op(top, InsertPoint.at_start(body))
        for op in (*operations(first), *operations(following)):
            if isinstance(op, StoreOp) and is_plain_copy(op):
                op.asynchronous = UnitAttr()

    def _first(self) -> ForOp:
        """What copies the first pieces, in front of the loop."""
        region = ForOp.empty_body(self.loop.index.name_hint)
        values: dict[SSAValue, SSAValue] = {self.loop.index: region.block.args[0]}
        for op in self.copies:
            region.block.add_op(op.clone(values))
        return ForOp(1, region)

    def _following(self) -> IfOp:
        """What copies the next pieces, if there are any: the copies move there."""
        region = Region(Block())
        for op in self.copies:
            op.detach()
            region.block.add_op(op)
        index = IndexSum.value(self.loop.index)
        for op in self._inside(self.copies):
            substitute(op, {self.loop.index: index + 1})
        condition, values = (-index + (self.loop.steps - 2)).as_form()
        return IfOp([condition], values, region)

    def _copy_for_uses(self, apart: DelinearizeOp) -> None:
        """Let what uses the pieces of a step have its own coordinates of the index."""
        later = {op for op in self._inside(self.uses)}
        own = located(DelinearizeOp(self.loop.index, apart.extents), apart)
        for before, after in zip(apart.coordinates, own.coordinates, strict=True):
            after.name_hint = before.name_hint
            before.replace_uses_with_if(after, lambda use: use.operation in later)
        if any(each.first_use is not None for each in own.coordinates):
            Rewriter.insert_op(own, InsertPoint.before(self.uses[0]))

    def _advance(self, apart: DelinearizeOp) -> None:
        """Take the index of the next step apart."""
        form, values = (IndexSum.value(self.loop.index) + 1).as_form()
        number = IndexOp(form, values, si32)
        following = PositionOp(number.result, self.loop.steps)
        top = [located(number, apart), located(following, apart)]
        Rewriter.insert_op(top, InsertPoint.before(apart))
        apart.operands = [following.result]

    @staticmethod
    def _inside(statements: Sequence[Operation]) -> Iterator[Operation]:
        return (op for each in statements for op in operations(each))


def _stores(statements: Sequence[Operation]) -> Iterator[StoreOp]:
    for statement in statements:
        for op in operations(statement):
            if isinstance(op, StoreOp):
                yield op


def _element_bytes(array: ArrayOp) -> int:
    return value_bytes(array.pointer.type.element_type)


def _half(array: ArrayOp) -> int:
    """The elements of a half: whole vectors."""
    whole = max(_WHOLE // _element_bytes(array), 1)
    return -(-array.length.value.data // whole) * whole

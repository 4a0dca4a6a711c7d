"""Which buffers a kernel reads and which it writes."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from .kernel import KernelOp
from .ops import LoadOp, StoreOp


class Use(NamedTuple):
    """What a kernel does with one of its arguments."""

    reads: bool = False
    writes: bool = False

    def __or__(self, other: Use) -> Use:
        return Use(self.reads or other.reads, self.writes or other.writes)


def argument_uses(kernel: KernelOp) -> list[Use]:
    """The use of each argument; what is no plain load or store may do both."""
    uses: dict[SSAValue, Use] = {argument: Use() for argument in kernel.body.block.args}
    for op in kernel.walk():
        for operand in op.operands:
            if operand in uses:
                uses[operand] |= _use_by(op, operand)
    return list(uses.values())


def _use_by(op: object, pointer: SSAValue) -> Use:
    match op:
        case LoadOp():
            return Use(reads=True)
        case StoreOp() if op.value is not pointer:
            return Use(writes=True)
        case _:
            return Use(True, True)

"""Which buffers a kernel reads and which it writes."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from .choose import ChooseOp
from .kernel import KernelOp
from .memory import LoadOp, StoreOp
from .prefetch import PrefetchOp


class Use(NamedTuple):
    """What a kernel does with one of its arguments."""

    reads: bool = False
    writes: bool = False

    def __or__(self, other: Use) -> Use:
        return Use(self.reads or other.reads, self.writes or other.writes)


def argument_uses(kernel: KernelOp) -> list[Use]:
    """The use of each argument; what is no plain load or store may do both."""
    return [pointer_use(argument) for argument in kernel.body.block.args]


def pointer_use(pointer: SSAValue) -> Use:
    """What is done with a pointer, also under the names that `opencl.choose` gives."""
    found = Use()
    for user in {use.operation: None for use in pointer.uses}:
        found |= _use_by(user, pointer)
    return found


def _use_by(op: object, pointer: SSAValue) -> Use:
    match op:
        case ChooseOp():
            found = Use()
            for case in op.cases:
                for own, argument in zip(case, op.body.block.args, strict=True):
                    if own is pointer:
                        found |= pointer_use(argument)
            return found
        case PrefetchOp():
            return Use()
        case LoadOp():
            return Use(reads=True)
        case StoreOp() if op.value is not pointer:
            return Use(writes=True)
        case _:
            return Use(True, True)

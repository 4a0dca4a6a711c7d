"""The loops of a kernel as passes see them: which are around an operation, over what.

An index runs from 0 to below its extent, in a loop or over the work-groups. Loops that
are unrolled make copies of what is inside; the others stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.memory import StoreOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ..walking import operations
from .forms import space_of


@dataclass(frozen=True)
class Index:
    """An index that runs from 0, in a loop or over the work-groups."""

    value: SSAValue
    extent: int

    @staticmethod
    def of(loop: ForOp) -> Index:
        """The index of a loop."""
        return Index(loop.index, loop.steps)


def ancestors(op: Operation) -> Iterator[Operation]:
    """What an operation is inside of, up to its kernel, the innermost first."""
    around = op.parent_op()
    while around is not None:
        yield around
        if isinstance(around, KernelOp):
            return
        around = around.parent_op()


def loops_around(op: Operation) -> list[ForOp]:
    """The loops around an operation, the innermost first."""
    return [each for each in ancestors(op) if isinstance(each, ForOp)]


def steps_of(loop: ForOp) -> int:
    """How often the body of a loop runs in a work-item, all conditions aside."""
    return prod(each.steps for each in (loop, *loops_around(loop)))


def extent_of(value: SSAValue) -> int | None:
    """How many values the index of a loop has; None for any other value."""
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return loop.steps if isinstance(loop, ForOp) else None


def conditions_around(op: Operation) -> tuple[IndexSum, ...]:
    """What is at least zero where an operation runs."""
    return tuple(
        IndexSum.of(condition.data, each.values)
        for each in ancestors(op)
        if isinstance(each, IfOp)
        for condition in each.conditions
    )


def group_numbers(kernel: KernelOp) -> list[WorkItemOp]:
    """What asks for the numbers of a work-group, in order."""
    return [
        item
        for item in operations(kernel)
        if isinstance(item, WorkItemOp) and item.query.data is WorkItemQuery.GROUP_ID
    ]


def indices_around(op: Operation, numbers: Sequence[WorkItemOp]) -> list[Index]:
    """The indices of the work-groups and of the loops around, the outermost first.

    `numbers` are the `group_numbers` of the kernel.
    """
    loops = [Index.of(loop) for loop in reversed(loops_around(op))]
    return [*_group_indices(op, numbers), *loops]


def _group_indices(op: Operation, numbers: Sequence[WorkItemOp]) -> Iterator[Index]:
    """What the numbers of a work-group are taken apart into where `op` stands."""
    blocks = [op.parent_block(), *(each.parent_block() for each in ancestors(op))]
    known = [n for block in blocks for n in numbers if n.parent_block() is block]
    # Along dimension 0 they run fastest.
    for item in sorted(known, key=lambda item: -item.dimension.value.data):
        users = [use.operation for use in item.result.uses]
        apart = [
            user
            for user in users
            if isinstance(user, DelinearizeOp) and user.parent_block() in blocks
        ]
        if users and len(apart) == len(users):
            parts = zip(apart[0].coordinates, apart[0].extents, strict=True)
            yield from (Index(value, extent) for value, extent in parts)
        else:
            yield Index(item.result, item.bound.value.data)


def innermost_loops(kernel: KernelOp) -> list[ForOp]:
    """The loops that stay and have none inside that stay, too."""
    return [
        loop
        for loop in operations(kernel)
        if isinstance(loop, ForOp)
        and loop.unroll is None
        and all(inner.unroll is not None for inner in _loops_inside(loop))
    ]


def copies_of(loop: ForOp) -> dict[SSAValue, int]:
    """The indices of the unrolled loops inside an innermost one, with their extents."""
    indices = [Index.of(inner) for inner in _loops_inside(loop)]
    return {index.value: index.extent for index in indices}


def accumulators(loop: ForOp) -> int:
    """The vectors of private memory that each step of an innermost loop stores."""
    copies = copies_of(loop)
    return sum(
        prod(copies.get(each.index, 1) for each in loops_around(op))
        for op in operations(loop)
        if isinstance(op, StoreOp) and is_of_accumulator(op)
    )


def is_of_accumulator(store: StoreOp) -> bool:
    """Whether a store keeps a vector in private memory, as accumulators are."""
    is_private = space_of(store.pointer) is MemorySpace.PRIVATE
    return is_private and isinstance(store.value.type, VectorType)


def _loops_inside(loop: ForOp) -> list[ForOp]:
    return [op for op in operations(loop)[1:] if isinstance(op, ForOp)]

"""Barriers of a kernel, between accesses that depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from xdsl.ir import Block, Operation

from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import WhenOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.work_items import BarrierOp
from ...dialects.stripe.attributes import MemorySpace
from ..locations import error_at, located
from .accesses import MemoryAccess, accesses_in, differs_between_items, meet

_EFFORT = 100
"""How much more a question may spend that is hard; of what sizes leave over, some."""
_HARD_QUESTIONS = 64
"""Of one kernel, each of a fifth of a second at most; mostly they take milliseconds."""


def synchronize(kernel: KernelOp) -> None:
    """Put barriers into a kernel. Raises GinghamError where none can be."""
    if prod(kernel.group_size) > 1:
        _Barriers().synchronize(kernel.body.block, [])


class _Barriers:
    """The barriers of one kernel."""

    def __init__(self) -> None:
        self._known: dict[tuple[MemoryAccess, MemoryAccess], bool] = {}
        self._hard = _HARD_QUESTIONS

    def _may_meet(self, one: MemoryAccess, other: MemoryAccess) -> bool:
        """Whether work-items may use one cell; also where that is too hard to tell."""
        if (one, other) not in self._known:
            found = meet(one, other)
            if found is None and self._hard:
                self._hard -= 1
                found = meet(one, other, _EFFORT)
            self._known[one, other] = found is not False
        return self._known[one, other]

    def synchronize(
        self, block: Block, pending: list[MemoryAccess]
    ) -> list[MemoryAccess]:
        """Put barriers into a block that all work-items of a group run.

        `pending` are the accesses since the last barrier before the block; the result
        are those at its end.
        """
        for op in list(block.ops):
            if isinstance(op, BarrierOp):
                pending = _without(pending, [op.space.data])
                continue
            own = accesses_in(op)
            spaces = self._conflicts(pending, own)
            block.insert_ops_before(_barriers(spaces, op), op)
            pending = _without(pending, spaces)
            if op.regions and (self._conflicts(own, own) or _has_barrier(op)):
                pending = self._in_body(op, own, pending)
            else:
                pending = _joined(pending, own)
        return pending

    def _in_body(
        self, op: Operation, own: list[MemoryAccess], pending: list[MemoryAccess]
    ) -> list[MemoryAccess]:
        """Put barriers into a loop or under a condition; what is pending behind it."""
        body = op.regions[0].block
        _check_uniform(op)
        tail = self.synchronize(body, [])
        if not isinstance(op, ForOp):
            return _joined(pending, own)
        spaces = [
            space
            for space in MemorySpace
            if space in self._conflicts(tail, _before_barrier(body, space))
        ]
        body.add_ops(_barriers(spaces, op))
        passed = {o.space.data for o in body.ops if isinstance(o, BarrierOp)}
        return _joined(_without(pending, passed), _without(tail, spaces))

    def _conflicts(
        self, first: Iterable[MemoryAccess], second: Iterable[MemoryAccess]
    ) -> list[MemorySpace]:
        """The spaces in which different work-items use a cell that one writes."""
        later = list(second)
        spaces: set[MemorySpace] = set()
        for one in first:
            for other in later:
                if one.space in spaces or not (one.writes or other.writes):
                    continue
                if self._may_meet(one, other):
                    spaces.add(one.space)
        return [space for space in MemorySpace if space in spaces]


def _check_uniform(op: Operation) -> None:
    """Refuse a condition that some work-items of a group fulfil and others do not."""
    depends = (
        "on data"
        if isinstance(op, WhenOp)
        else "on the work-item"
        if isinstance(op, IfOp) and any(map(differs_between_items, op.values))
        else None
    )
    if depends is not None:
        raise error_at(
            op,
            "work-items use each other's cells under a condition that depends "
            f"{depends}, where no barrier can be",
            "end the condition before the others use the cells",
        )


def _before_barrier(block: Block, space: MemorySpace) -> list[MemoryAccess]:
    """The accesses of a block before its first barrier for a memory space."""
    found: list[MemoryAccess] = []
    for op in block.ops:
        if isinstance(op, BarrierOp) and op.space.data is space:
            break
        if isinstance(op, ForOp) and _has_barrier(op, space):
            return _joined(found, _before_barrier(op.body.block, space))
        found = _joined(found, accesses_in(op))
    return found


def _has_barrier(op: Operation, space: MemorySpace | None = None) -> bool:
    return any(
        isinstance(inner, BarrierOp) and space in (None, inner.space.data)
        for inner in op.walk()
    )


def _barriers(spaces: Iterable[MemorySpace], origin: Operation) -> list[Operation]:
    return [located(BarrierOp(space), origin) for space in spaces]


def _without(
    accesses: Sequence[MemoryAccess], spaces: Iterable[MemorySpace]
) -> list[MemoryAccess]:
    gone = set(spaces)
    return [access for access in accesses if access.space not in gone]


def _joined(
    first: Iterable[MemoryAccess], second: Iterable[MemoryAccess]
) -> list[MemoryAccess]:
    return list(dict.fromkeys([*first, *second]))

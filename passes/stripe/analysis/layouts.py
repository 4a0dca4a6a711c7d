"""Buffers of which the axes may have another order, and which of them want the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue, Use
from xdsl.utils.disjoint_set import DisjointSet

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from .nests import (
    is_leaf,
    is_number,
    is_subscripted,
    is_top_level,
    output_indices,
    statements,
)
from .schedules import is_scheduled


@dataclass(eq=False)
class Tied:
    """Buffers that have their axes in one order.

    Some block steps through the same axis of each by the same indices, as element-wise
    functions do, windows that are aggregated, and a concatenation.
    """

    buffers: list[AllocOp]

    @property
    def rank(self) -> int:
        """How many axes each of them has."""
        return self.buffers[0].view.type.rank


@dataclass(eq=False)
class Connected:
    """Tied buffers, and all blocks that use some of them, and these alone."""

    ties: list[Tied] = field(default_factory=list[Tied])
    tie_of: dict[SSAValue, Tied] = field(default_factory=dict[SSAValue, Tied])
    """Those of each buffer."""
    blocks: list[BlockOp] = field(default_factory=list[BlockOp])


def may_permute(buffer: AllocOp) -> bool:
    """Whether all that use a buffer are blocks that see a number of it at a time."""
    return buffer.view.type.rank > 1 and all(map(_sees_a_number, buffer.view.uses))


def _sees_a_number(use: Use) -> bool:
    block = use.operation
    if not isinstance(block, BlockOp) or not is_top_level(block) or not is_leaf(block):
        return False
    if is_scheduled(block) or block.is_serial or not all(block.index_ranges):
        return False
    view = block.view(use.index)
    return is_number(block.view_type(use.index)) and not is_subscripted(view)


def connected_buffers(function: FuncOp, rank: int) -> list[Connected]:
    """The buffers of a function that may be permuted, and who uses them, in parts.

    They are those with so many axes or more. No block uses buffers of two parts.
    """
    found = statements(function)
    buffers = [
        op
        for op in found
        if isinstance(op, AllocOp) and op.view.type.rank >= rank and may_permute(op)
    ]
    views: dict[SSAValue, AllocOp] = {buffer.view: buffer for buffer in buffers}
    ties, parts = DisjointSet([*views]), DisjointSet([*views])
    users: dict[BlockOp, SSAValue] = {}
    for block in found:
        if not isinstance(block, BlockOp):
            continue
        numbers = [n for n, buffer in enumerate(block.buffers) if buffer in views]
        for one, other in combinations(numbers, 2):
            pair = block.buffer(one), block.buffer(other)
            parts.union(*pair)
            if _steps(block, one) == _steps(block, other):
                ties.union(*pair)
        if numbers:
            users[block] = block.buffer(numbers[0])
    connected: dict[SSAValue, Connected] = defaultdict(Connected)
    tied: dict[SSAValue, Tied] = {}
    for view, buffer in views.items():
        part = connected[parts.find(view)]
        if (root := ties.find(view)) not in tied:
            tied[root] = Tied([])
            part.ties.append(tied[root])
        tied[root].buffers.append(buffer)
        part.tie_of[view] = tied[root]
    for block, view in users.items():
        connected[parts.find(view)].blocks.append(block)
    return [*connected.values()]


def _steps(block: BlockOp, number: int) -> Sequence[frozenset[int]]:
    """For each axis of a buffer, the indices of outputs that step through it."""
    kept = output_indices(block)
    access = block.refinement(number).access
    return [frozenset(kept.intersection(form.support)) for form in access]

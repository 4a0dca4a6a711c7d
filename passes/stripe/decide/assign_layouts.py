"""`stripe-assign-layouts`: decide the order of axes of buffers, for a whole program.

What a program computes on its way may lie in memory in any order. Vectors run along the
last axis of an output, and where that is short, or windows step over it, another one is
better: of images with channels first, the channels. But what is good for one block is
not for the next, so the order is decided for all buffers that blocks connect.

Before:

```mlir
%O = stripe.alloc : !stripe.view<64x14x14xf32>
stripe.block "O" [%co : 64, %y : 14, %x : 14, %ci : 64] ...
    out %o = %O[%co, %y, %x] : 1x1x1 add init 0 { ... }
stripe.block "R" [%c : 64, %y : 14, %x : 14] ...
```

After:

```mlir
%O = stripe.alloc {layout = #stripe.layout<[1, 2, 0]
    because "12.1 us for 2 blocks, at least 40.3 us with the axes as they are">}
    : !stripe.view<64x14x14xf32>
```

`stripe-permute-axes` applies it. Buffers that some block steps through alike are tied:
they get one order. The cost model predicts each block with its buffers in one order and
in another; what has no arithmetic to speak of takes the time of a copy where the orders
of its buffers differ. First all buffers of a part of the program get the axis last that
is the best for all; then those of which the blocks lose by it go back, and forth again,
as long as the sum of times falls: iterated conditional modes (Besag, On the
Statistical Analysis of Dirty Pictures, 1986).

A search takes tens of milliseconds, so blocks that are fast by the bound of their
arithmetic are not asked how much faster they were with the axes as they are.

Only parts of the program are looked at in which a block takes `worth` percent of the
time of its arithmetic in whole vectors. Matrices, what is an input or an output of the
program, is reshaped, or is seen in windows of several numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.layout import LayoutAttr
from ....targets.hardware import Hardware
from ...clock import time_text
from ...walking import functions
from ..analysis.facts import carried_indices
from ..analysis.layouts import Connected, Tied, connected_buffers
from .layout_costs import LayoutCosts, LayoutPass, Orders, Slow

_RANK = 3
"""The axes that buffers have at least: a matrix is transposed where it is staged."""
_ROUNDS = 4
"""How often each of the tied buffers is looked at again."""
_KEPT = 0.95
"""The part of its time that a program may take afterwards."""

Assignment: TypeAlias = "Mapping[Tied, tuple[int, ...]]"
"""The orders of axes of tied buffers; others stay as they are."""


@dataclass(frozen=True)
class StripeAssignLayoutsPass(LayoutPass):
    """Decide the order of axes of buffers, for a whole program."""

    name = "stripe-assign-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the layouts of buffers that are better with another order of axes.

        Raises GinghamError for options that are less than 1.
        """
        hardware = self.checked_hardware(op)
        costs = LayoutCosts(hardware, self.worth, self.parallelism)
        for function in functions(op):
            for part in connected_buffers(function, _RANK):
                slow = self._slow(part, hardware)
                costs.note(slow)
                if slow and costs.may_gain(part.blocks, 1 - _KEPT):
                    _assign(part, slow, costs)

    def _slow(self, part: Connected, hardware: Hardware) -> dict[BlockOp, Slow]:
        """The blocks for which another order of axes may be better."""
        found = {
            block: self.slow(block, hardware)
            for block in part.blocks
            if any(block.buffer(number) in part.tie_of for number in block.written)
        }
        return {block: slow for block, slow in found.items() if slow is not None}


def _axes(slow: Mapping[BlockOp, Slow]) -> set[tuple[int, int]]:
    """Ranks of buffers, and axes of them of which blocks have whole vectors."""
    found: set[tuple[int, int]] = set()
    for block, own in slow.items():
        (number,) = block.written
        lasts = [order[-1] for order in own.orders]
        rank = len(block.refinement(number).access)
        carried = carried_indices(block, number)
        found |= {(rank, axis) for axis, index in carried.items() if index in lasts}
    return found


def _assign(part: Connected, slow: Mapping[BlockOp, Slow], costs: LayoutCosts) -> None:
    """Write the layouts of a part of the program, if there are better ones."""
    axes = sorted(_axes(slow))
    if not axes:
        return
    plain = costs.least_as_they_are(part.blocks)
    network = _Network.of(part, costs)
    best = network.improved(network.best_start(axes))
    seconds = network.seconds(best)
    if seconds > _KEPT * plain and seconds > _KEPT * (plain := network.seconds({})):
        return
    reason = (
        f"{time_text(seconds)} for {len(part.blocks)} blocks, at least "
        f"{time_text(plain)} with the axes as they are"
    )
    for tied, order in best.items():
        for buffer in tied.buffers:
            buffer.layout = LayoutAttr.of(order, reason)


@dataclass(frozen=True)
class _Network:
    """A part of a program whose time depends on the layouts of its buffers."""

    part: Connected
    costs: LayoutCosts
    users: Mapping[Tied, Sequence[BlockOp]]

    @staticmethod
    def of(part: Connected, costs: LayoutCosts) -> _Network:
        users: dict[Tied, dict[BlockOp, None]] = {tied: {} for tied in part.ties}
        for block in part.blocks:
            for buffer in block.buffers:
                if buffer in part.tie_of:
                    users[part.tie_of[buffer]][block] = None
        blocks = {tied: [*own] for tied, own in users.items()}
        return _Network(part, costs, blocks)

    def best_start(self, axes: Sequence[tuple[int, int]]) -> Assignment:
        """All buffers of a rank with an axis last, of those that are given."""
        best, least = dict[Tied, tuple[int, ...]](), inf
        for rank, axis in axes:
            start = self.moved(rank, axis)
            seconds = self._below(least, start)
            if seconds is not None:
                best, least = start, seconds
        return best

    def _below(self, limit: float, assignment: Assignment) -> float | None:
        """The seconds of all blocks if they are fewer.

        No further block is asked when those with the most arithmetic say that they are
        not.
        """
        arithmetic = {block: self.costs.least(block) for block in self.part.blocks}
        total = sum(arithmetic.values())
        for block in sorted(arithmetic, key=lambda each: -arithmetic[each]):
            seconds = self.costs.seconds(block, self._orders(block, assignment))
            total += seconds - arithmetic[block]
            if total >= limit:
                return None
        return total

    def moved(self, rank: int, axis: int) -> dict[Tied, tuple[int, ...]]:
        """All buffers of a rank with an axis last."""
        order = (*(n for n in range(rank) if n != axis), axis)
        return {tied: order for tied in self.part.ties if tied.rank == rank}

    def improved(self, start: Assignment) -> Assignment:
        """An assignment of which no tied buffers alone are better as they are.

        Those are looked at of which the blocks were faster before.
        """
        lost = [tied for tied in start if self._loses(tied, start)]
        now = dict(start)
        for _ in range(_ROUNDS):
            changed = [
                tied for tied in lost if self._change_if_better(tied, start, now)
            ]
            if not changed:
                break
        return now

    def _loses(self, tied: Tied, assignment: Assignment) -> bool:
        return any(
            self.costs.loses(block, self._orders(block, assignment))
            for block in self.users[tied]
        )

    def _change_if_better(
        self, tied: Tied, start: Assignment, now: dict[Tied, tuple[int, ...]]
    ) -> bool:
        """Give buffers the other one of their two orders; whether it is better so."""
        before, own = self._of(tied, now), now.pop(tied, None)
        if own is None:
            now[tied] = start[tied]
        if self._of(tied, now) < before:
            return True
        if own is None:
            del now[tied]
        else:
            now[tied] = own
        return False

    def seconds(self, assignment: Assignment) -> float:
        """Of all blocks."""
        return self._sum(self.part.blocks, assignment)

    def _of(self, tied: Tied, assignment: Assignment) -> float:
        """Of the blocks that use some buffers."""
        return self._sum(self.users[tied], assignment)

    def _sum(self, blocks: Sequence[BlockOp], assignment: Assignment) -> float:
        return sum(
            self.costs.seconds(block, self._orders(block, assignment))
            for block in blocks
        )

    def _orders(self, block: BlockOp, assignment: Assignment) -> Orders:
        tied = [self.part.tie_of.get(buffer) for buffer in block.buffers]
        return tuple(
            (number, assignment[own])
            for number, own in enumerate(tied)
            if own is not None and own in assignment
        )

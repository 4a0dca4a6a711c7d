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
    because "12.1 us for 2 blocks, 40.3 us with the axes as they are">}
    : !stripe.view<64x14x14xf32>
```

`stripe-permute-axes` applies it. Buffers that some block steps through alike are tied:
they get one order. The cost model predicts each block with its buffers in one order and
in another; what has no arithmetic to speak of takes the time of a copy where the orders
of its buffers differ. First all buffers of a part of the program get the axis last that
is the best for all; then those of which the blocks lose by it go back, and forth again,
as long as the sum of times falls: iterated conditional modes (Besag, On the
Statistical Analysis of Dirty Pictures, 1986).

Only parts of the program are looked at in which a block takes `worth` percent of the
time of its arithmetic in whole vectors; what is an input or an output of the program,
is reshaped, or is seen in windows of several numbers stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.layout import LayoutAttr
from ....targets.hardware import Hardware, hardware_with
from ...clock import time_text
from ...hardware_pass import HardwarePass
from ...locations import check_positive
from ...walking import functions
from ..analysis.facts import carried_indices
from ..analysis.layouts import Connected, Tied, connected_buffers
from .layout_costs import LayoutCosts, Orders, Slow

_ROUNDS = 4
"""How often each of the tied buffers is looked at again."""
_GAIN = 0.97
"""The part of its time that a program must not take any more."""

Assignment: TypeAlias = "Mapping[Tied, tuple[int, ...]]"
"""The orders of axes of tied buffers; others stay as they are."""


@dataclass(frozen=True)
class StripeAssignLayoutsPass(HardwarePass):
    """Decide the order of axes of buffers, for a whole program."""

    name = "stripe-assign-layouts"

    bits: int = 0
    """The width of the device's vectors in bits; 0 is as the hardware says."""
    worth: int = 150
    """The time of blocks that are looked at, in percent of that of their arithmetic."""
    parallelism: int = 32
    """Rows with fewer cells than these are left to `stripe-split-reduction`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the layouts of buffers that are better with another order of axes.

        Raises GinghamError for options that are less than 1.
        """
        check_positive(op, worth=self.worth, parallelism=self.parallelism)
        hardware = hardware_with(self.figures, vector_bits=self.bits)
        for function in functions(op):
            for part in connected_buffers(function):
                axes = self._axes(part, hardware)
                if axes:
                    _assign(part, axes, LayoutCosts(hardware, self.parallelism))

    def _axes(self, part: Connected, hardware: Hardware) -> set[tuple[int, int]]:
        """Ranks, and axes of which slow blocks have whole vectors."""
        own = _ties(part)
        found: set[tuple[int, int]] = set()
        for block in part.blocks:
            number = _written(block)
            if block.buffer(number) not in own:
                continue
            slow = Slow.of(block, hardware, self.worth, self.parallelism)
            carried = carried_indices(block, number)
            lasts = [] if slow is None else [order[-1] for order in slow.orders]
            rank = own[block.buffer(number)].rank
            found |= {(rank, axis) for axis, n in carried.items() if n in lasts}
        return found


def _ties(part: Connected) -> dict[SSAValue, Tied]:
    return {buffer.view: tied for tied in part.ties for buffer in tied.buffers}


def _written(block: BlockOp) -> int:
    """The number of the first buffer that a block writes."""
    refinements = enumerate(block.refinement_list)
    return next((n for n, each in refinements if each.direction.writes), 0)


def _assign(part: Connected, axes: set[tuple[int, int]], costs: LayoutCosts) -> None:
    """Write the layouts of a part of the program, if there are better ones."""
    network = _Network.of(part, costs)
    plain = network.seconds({})
    starts = [network.moved(rank, axis) for rank, axis in sorted(axes)]
    start = min(starts, key=network.seconds)
    best = network.improved(start)
    seconds = network.seconds(best)
    if seconds > _GAIN * plain:
        return
    reason = (
        f"{time_text(seconds)} for {len(part.blocks)} blocks, {time_text(plain)} with "
        "the axes as they are"
    )
    for tied, order in best.items():
        for buffer in tied.buffers:
            buffer.layout = LayoutAttr.of(order, reason)


@dataclass(frozen=True)
class _Network:
    """A part of a program whose time depends on the layouts of its buffers."""

    part: Connected
    costs: LayoutCosts
    ties: Mapping[SSAValue, Tied]
    users: Mapping[Tied, Sequence[BlockOp]]

    @staticmethod
    def of(part: Connected, costs: LayoutCosts) -> _Network:
        ties = _ties(part)
        users: dict[Tied, dict[BlockOp, None]] = {tied: {} for tied in part.ties}
        for block in part.blocks:
            for buffer in block.buffers:
                if buffer in ties:
                    users[ties[buffer]][block] = None
        return _Network(
            part, costs, ties, {tied: [*own] for tied, own in users.items()}
        )

    def moved(self, rank: int, axis: int) -> Assignment:
        """All buffers of a rank with an axis last."""
        order = (*(n for n in range(rank) if n != axis), axis)
        return {tied: order for tied in self.part.ties if tied.rank == rank}

    def improved(self, start: Assignment) -> Assignment:
        """An assignment of which no tied buffers alone are better as they are.

        Those are looked at of which the blocks were faster before.
        """
        lost = [tied for tied in start if self._of(tied, start) > self._of(tied, {})]
        now = dict(start)
        for _ in range(_ROUNDS):
            before = dict(now)
            for tied in lost:
                other = {each: own for each, own in now.items() if each is not tied}
                if tied not in now:
                    other[tied] = start[tied]
                if self._of(tied, other) < self._of(tied, now):
                    now = other
            if now == before:
                break
        return now

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
        tied = [self.ties.get(buffer) for buffer in block.buffers]
        return tuple(
            (number, assignment[own])
            for number, own in enumerate(tied)
            if own is not None and own in assignment
        )

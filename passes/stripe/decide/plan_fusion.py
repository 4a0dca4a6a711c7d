"""`stripe-plan-fusion`: decide which blocks become one nest, and over which tiles.

Writes its decision into the schedules of the members of each group, with the reason in
that of the first; `stripe-fuse-nests` applies it. A block that did not join a group
before it has a reason, too. The IR is otherwise unchanged:

```mlir
stripe.block "S" [%m : 4096, %n : 4096] ...
    out %s = %S[%m] : 1 add init 0
    attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0]
      tiles [[4], [1]] because "2 blocks, 20.1 MB less traffic, ...">} { ... }
stripe.block "Y" [%i : 4096, %j : 4096] ...
    in %s = %S[%i] : 1
    out %y = %Y[%i, %j] : 1x1
    attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0]
      tiles [[4], [1]]>} { ... }
```

A block joins the group of an earlier one that it exchanges a buffer with, and brings
together the groups of several such, when

* it is legal: there are indices of all members whose points use cells of their own of
  every buffer that a member writes (see `shared_indices`), and no statement depends on
  one member and is needed by another;
* it pays: `fusion/cost.py` predicts less time for the nest than apart.

The shared indices are as many as possible. Where a contraction's outputs have no other
indices, its tiles become those of the group, so that the members after it work on what
is still in registers. Otherwise the indices along which contiguous elements lie stay
inside, and a point is one row, or with a contraction as many as its registers want.

A group of 32 blocks is full, so that planning takes time in proportion to the blocks.
At the end, groups that were full join as wholes, up to 512 blocks. No group gets more
contractions than a device's compiler builds in 0.6 s, as `model/code.py` predicts: it
takes longer for each of them, the more a kernel has, and builds several kernels side by
side. A block asks the nearest 16 groups, and a group spans 2048 statements.

A block that joins no other is in no group. Left alone: blocks inside others, serial
ones, those with tiles, with subscripts, and what points only initialize together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.fusion import Alone, Fusion
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ....dialects.stripe.schedule import Schedule, schedule_of, set_schedule
from ...hardware_pass import HardwarePass
from ...walking import functions
from ..analysis.nests import statements
from ..edit.join import outer_memories
from .fusion.cost import FusionCost
from .fusion.plan import Plan, PlannedGroup
from .fusion.tiling import GroupCost


@dataclass(frozen=True)
class StripePlanFusionPass(HardwarePass):
    """Decide which blocks become one nest."""

    name = "stripe-plan-fusion"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the group into the schedules of its members.

        Raises GinghamError for hardware that is not known.
        """
        cost = FusionCost(self.figures)
        for function in functions(op):
            plan_function(function, cost)


def plan_function(function: FuncOp, cost: FusionCost) -> None:
    """Write the decisions for the blocks of a function."""
    plan = Plan(cost, outer_memories(function))
    for position, statement in enumerate(statements(function)):
        if isinstance(statement, BlockOp) and not _is_member(statement):
            plan.add(statement, position)
        elif not isinstance(statement, AllocOp | ReshapeOp):
            plan.forget()
    plan.join_full_groups()
    found = [group for group in plan.groups() if len(group.members) > 1]
    for number, group in enumerate(found):
        if group.cost is not None:
            _write(group, group.cost, number)
    refusals = plan.refusals()
    for position, statement in enumerate(statements(function)):
        if position in refusals and isinstance(statement, BlockOp):
            _add_reason(statement, refusals[position])


def _write(group: PlannedGroup, cost: GroupCost, number: int) -> None:
    tiles = tuple([tuple([sizes[n] for n in cost.order]) for sizes in cost.tiles])
    for member, leaf in zip(group.members, cost.leaves, strict=True):
        shared = tuple([(member.shared[index],) for index in cost.order])
        schedule = Schedule() if leaf is None else leaf
        set_schedule(member.block, schedule.with_part(Fusion(number, shared, tiles)))
    _add_reason(group.members[0].block, _reason(group, cost))


def _is_member(block: BlockOp) -> bool:
    """Whether a block is part of a nest by an earlier decision."""
    return schedule_of(block).part(Fusion) is not None


def _add_reason(block: BlockOp, reason: str) -> None:
    """Say why a block is part of a nest, or of none."""
    schedule = schedule_of(block)
    part = schedule.part(Fusion) or schedule.part(Alone) or Alone()
    words = f"{part.reason}; {reason}" if part.reason else reason
    set_schedule(block, schedule.with_part(replace(part, reason=words)))


def _reason(group: PlannedGroup, cost: GroupCost) -> str:
    return (
        f"{len(group.members)} block(s), {cost.seconds * 1e6:.1f} us instead of "
        f"{group.alone * 1e6:.1f} us, {cost.traffic_bytes / 1e6:.2f} MB moved, "
        f"{cost.scratch_bytes} bytes of scratch"
    )

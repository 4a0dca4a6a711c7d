"""Nests that work-items share by their points, each of which is one work-item's.

Where blocks inside a nest hand values on, and no work-items share them, a point runs as
it would on a core. Lanes that run at the same time each have another one:

```mlir
stripe.block "O_run" [%row : 1000, %run : 15]
    in %a = %A[%row, 64 * %run] : 1x64
    out %o = %O[%row, 64 * %run] : 1x64
    attributes {stripe.schedule = #stripe.schedule<
      tile [8, 15] bind [grid, grid],
      points bind [group, group]>} { ... blocks ... }
```

There are as many in a group as leave groups for all cores.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from .....dialects.stripe.binding import Binding
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.schedule import Schedule
from .....targets.hardware.description import Hardware
from ...analysis.nests import (
    all_blocks,
    assigns_at_subscripts,
    is_injective,
    reduction_indices,
)
from ...analysis.schedules import is_scheduled
from ...analysis.work_groups import is_spread, wants_work_items
from ..model.sharing import shared


def decision(block: BlockOp, hardware: Hardware) -> Schedule:
    """The schedule of a nest; empty where its points are not for single work-items."""
    is_shared = is_spread(block) or wants_work_items(block)
    is_decided = any(is_scheduled(inner) for inner in all_blocks(block))
    if is_shared or is_decided or not _has_own_cells(block):
        return Schedule()
    whole = reduction_indices(block)
    bindings = enumerate(block.index_bindings)
    order = [n for n, own in bindings if own is Binding.UNDECIDED and n not in whole]
    points = prod(block.index_ranges[index] for index in order)
    lanes = hardware.items_at_once
    items = min(points // hardware.cores, hardware.work_group_size)
    if items > lanes:
        items -= items % lanes
    if items <= 1:
        return Schedule()
    ranges = block.index_ranges
    loops = [extent if n in whole else 1 for n, extent in enumerate(ranges)]
    sharing = shared(
        ranges, order, width=1, turns=1, most_items=items, lanes=lanes, loops=loops
    )
    return replace(sharing.schedule(), reason=f"points: {sharing}")


def _has_own_cells(block: BlockOp) -> bool:
    """Whether no two points write the same cell, but for those that aggregate."""
    return all(
        is_injective(block, number) or assigns_at_subscripts(block, number)
        for number in block.written
    )

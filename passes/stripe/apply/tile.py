"""`stripe-tile`: split a block into a block of tiles around a block of points.

The sizes come from the block's schedule, `tile [...]` for each level of tiling,
outermost first, with one size per index; or from the option `sizes`, for blocks without
tiles that have as many indices. A size of 0 means the whole range.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 60, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<tile [8, 32, 32]>} { ... }
```

After:

```mlir
stripe.block "C" [%i : 8, %j : 2]
    in %a = %A[8 * %i, 0] : 8x32
    in %b = %B[0, 32 * %j] : 32x32
    out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0 {
  stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
      in %a_1 = %a[%i_1, %k] : 1x1
      in %b_1 = %b[%k, %j_1] : 1x1
      out %c_1 = %c[%i_1, %j_1] : 1x1 add
      where 59 - 32 * %j - %j_1 >= 0 { ... }
}
```

The inner block has the indices that only aggregate first, so that its innermost loops
run over independent cells; a level of tiles and the points may have another order of
loops (see `dialects/stripe/tiling.py`). A range that the size does not divide gives a
constraint; the last windows then overhang their buffers, where nothing is accessed.
Where the cells are complete within one tile, `init` moves inward with the points; it
stays at the innermost level, or at the first that cuts an index which aggregates:
inside, points only aggregate. An index that is bound to work-items stays so in the
tiles, one that is bound to `vector` in the points, `loop` and `unroll` hold for both.
Bindings of the schedule, `tile [8, 32, 0] bind [grid, grid, _]`, go to the block of
their level. Where work-items share points whose cells have `init`, each gets a block of
its own, which sets its cells: `points bind [lane, lane, loop]` are then `tile [1, 1, 0]
bind [lane, lane, _], points bind [_, _, loop]`. Schedules that make the same loops make
the same nest.

It is an error when an output has `init` and its tiles would set cells that no point
reaches: where points leave gaps in a tile, or where the last tile reaches further than
they do. It is one, too, when a serial block has tiles: its points are in order.

After PlaidML's ApplyTile (Stripe, section on tiling with uneven edges).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.binding import IN_GROUP, Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, schedule_of, set_schedule
from ....dialects.stripe.tiling import Tiles
from ..analysis.nests import (
    all_blocks,
    top_level_blocks,
)
from ..edit.schedules import take_loops
from ..edit.split import tile_nest


@dataclass(frozen=True)
class StripeTilePass(ModulePass):
    """Split blocks into tiles, by their schedules or by option."""

    name = "stripe-tile"

    sizes: tuple[int, ...] = ()
    """One size per index, for top-level blocks without tiles and of that many indices.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split the blocks that have the attribute, and top-level ones by the option.

        Raises GinghamError, located, for sizes that do not fit the block's indices.
        """
        top_level = set(top_level_blocks(op))
        for block in all_blocks(op):
            loops, rest = take_loops(block), schedule_of(block)
            is_free = block in top_level and not loops.levels
            if is_free and self._has_size_for(block):
                loops = replace(loops, levels=(Tiles(self.sizes),))
            if _sets_shared_cells(block, loops):
                loops, rest = _of_own_cells(loops, rest)
            # What else is decided counts the blocks of the nest.
            set_schedule(block, Schedule())
            nest = tile_nest(block, loops)
            set_schedule(nest[0], rest)

    def _has_size_for(self, block: BlockOp) -> bool:
        if block.is_serial or not self.sizes:
            return False
        return len(self.sizes) == len(block.index_ranges)


def _sets_shared_cells(block: BlockOp, loops: Schedule) -> bool:
    """Whether a tile sets the cells of points that are those of several work-items."""
    is_shared = any(binding in IN_GROUP for binding in loops.points.bind)
    initializes = any(each.init is not None for each in block.refinement_list)
    return is_shared and initializes and bool(loops.levels)


def _of_own_cells(loops: Schedule, rest: Schedule) -> tuple[Schedule, Schedule]:
    """The same with a level of tiles for work-items, which have one point of each.

    So each work-item sets its own cells. What is copied counts that level, too.
    """
    points, count = loops.points, len(loops.levels)
    sizes = tuple([int(binding in IN_GROUP) for binding in points.bind])
    undecided = Binding.UNDECIDED
    items, inside = (
        tuple(
            [own if (own in IN_GROUP) == wanted else undecided for own in points.bind]
        )
        for wanted in (True, False)
    )
    level = Tiles(sizes, points.order, items)
    stages = [
        replace(each, window=each.window + (each.window >= count))
        for each in rest.stages
    ]
    return (
        replace(
            loops,
            levels=(*loops.levels, level),
            points=replace(points, bind=inside),
        ),
        replace(rest, stages=tuple(stages)),
    )

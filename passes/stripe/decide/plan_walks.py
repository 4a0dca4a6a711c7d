"""`stripe-plan-walks`: decide which aggregations one walk computes, and in what steps.

Blocks that exchange values along an index over which some of them aggregate, while
others need what is aggregated, go through all values again and again, and keep these
between. Where the algebra allows one walk in their place (see `stripe-walk`), and its
products can be shared by the work-items of a group, the pass predicts both: the walk,
and each product alone with the values moved through memory. The faster is written into
the schedules: blocks of a walk are fused over tiles of rows, and walked in steps.

Before:

```mlir
stripe.block "S" [%q : 2048, %k : 2048, %d : 64] ...
    out %s = %S[%q, %k] : 1x1 add init 0 { ... }
stripe.block "M" [%q : 2048, %k : 2048] ...
    out %m = %M[%q] : 1 max init -inf { ... }
stripe.block "E" [%q : 2048, %k : 2048] ...
    out %e = %E[%q, %k] : 1x1 { ... exp(s - m) ... }
stripe.block "O" [%q : 2048, %d : 64, %k : 2048] ...
    out %o = %O[%q, %d] : 1x1 add init 0 { ... }
```

After:

```mlir
stripe.block "S" [%q : 2048, %k : 2048, %d : 64] ...
    out %s = %S[%q, %k] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      fuse group 0 shared [0] tiles [[64]] because "488.1 us instead of 901.3 us, ...",
      walk 1 by 64>} { ... }
... the others likewise ...
```

A walk pays where rows are enough for all cores; where both ways are predicted to take
about the same time, it is taken, as it needs no memory for the values. Lanes have to
divide the columns of outputs. Blocks with a schedule are left alone. Devices of vectors
have no such walks: a core's caches hold the values of some rows, and each of the walks
over them is one of vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ....dialects.eltwise.ops import value_bytes
from ....dialects.stripe.attributes import view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.fusion import Fusion
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.walking import Walk
from ....targets.hardware import Hardware
from ...clock import Clock
from ...hardware_pass import HardwarePass
from ...walking import functions
from ..analysis.nests import reduction_indices, root_buffer, statements
from ..analysis.problem import problem_of
from ..analysis.statement_order import StatementOrder
from ..analysis.walks import WalkGroup, walk_groups
from .gpu import contractions
from .model.walk import Product, Way, fastest_way

_SIZES = (16, 32, 64, 128)
"""Rows of a tile, and values of a step."""
_WORTH = 1.1
"""A walk may be predicted to take so much longer: it needs no memory for values."""


@dataclass(frozen=True)
class StripePlanWalksPass(HardwarePass):
    """Decide which aggregations one walk computes."""

    name = "stripe-plan-walks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write walks that pay into the schedules of their blocks.

        Raises GinghamError for hardware that is not known.
        """
        for function in functions(op):
            for number, (group, plan) in enumerate(_planned(function, self.figures)):
                plan.write(group, number)


def _planned(function: FuncOp, hardware: Hardware) -> Iterator[tuple[WalkGroup, _Plan]]:
    """The walks of a function that pay."""
    blocks = [each for each in statements(function) if isinstance(each, BlockOp)]
    for group in walk_groups(blocks, StatementOrder(function)):
        plan = _best(group, hardware)
        if plan is not None and plan.seconds < _WORTH * plan.alone:
            yield group, plan


@dataclass(frozen=True)
class _Plan:
    """A walk, and what it is predicted to take."""

    tiles: tuple[int, ...]
    """Rows of a group along each of their indices."""
    size: int
    """Values of a step."""
    way: Way
    seconds: float
    alone: float = 0.0
    """What the blocks take without a walk."""

    @property
    def reason(self) -> str:
        """For people."""
        own, without = self.seconds * 1e6, self.alone * 1e6
        return f"{own:.1f} us instead of {without:.1f} us, {self.way.sharings[0]}"

    def write(self, group: WalkGroup, number: int) -> None:
        """Write it into the schedules of the blocks."""
        blocks = zip(group.blocks, group.rows, group.indices, strict=True)
        for place, (block, rows, index) in enumerate(blocks):
            shared = tuple([(row,) for row in rows])
            reason = "" if place else self.reason
            fusion = Fusion(number, shared, (self.tiles,), reason=reason)
            set_schedule(block, Schedule(parts=(fusion, Walk(index, self.size))))


def _best(group: WalkGroup, hardware: Hardware) -> _Plan | None:
    """The fastest walk of a group; None where none can be shared."""
    products = [n for n, b in enumerate(group.blocks) if _multiplies(b)]
    row = _tiled_row(group, products)
    if row is None or any(_has_other_rows(group, number) for number in products):
        return None
    found: list[_Plan] = []
    rows = group.row_ranges
    for size, step in [(size, step) for size in _SIZES for step in _SIZES]:
        if step >= group.extent:
            continue
        shapes = tuple([_shape(group, n, row, size, step) for n in products])
        groups = prod(rows) // rows[row] * -(-rows[row] // size)
        steps = -(-group.extent // step)
        tiles = tuple([size if n == row else 1 for n in range(len(rows))])
        if way := fastest_way(shapes, groups, steps, hardware):
            seconds = way.seconds(groups, steps, hardware)
            found.append(_Plan(tiles, step, way, seconds))
    best = min(found, key=lambda plan: plan.seconds, default=None)
    alone = _seconds_alone(group, products, hardware)
    return None if best is None else replace(best, alone=alone)


def _multiplies(block: BlockOp) -> bool:
    """Whether a block has two inputs, and uses each number of them several times."""
    inputs = [r for r in block.refinement_list if not r.direction.writes]
    wide = {n for n, extent in enumerate(block.index_ranges) if extent > 1}
    used = [{n for form in r.access for n in form.support} & wide for r in inputs]
    sums = reduction_indices(block) & wide
    return len(inputs) == 2 and len(sums) == 1 and all(wide - own for own in used)


def _tiled_row(group: WalkGroup, products: Sequence[int]) -> int | None:
    """The index of rows that one input of each product has, and the other has not."""
    found = [
        row
        for row in range(len(group.row_ranges))
        if all(_is_row_of(group, number, row) for number in products)
    ]
    return found[-1] if products and found else None


def _is_row_of(group: WalkGroup, number: int, row: int) -> bool:
    block, index = group.blocks[number], group.rows[number][row]
    inputs = [r for r in block.refinement_list if not r.direction.writes]
    used = [any(index in form.support for form in r.access) for r in inputs]
    return used.count(True) == 1


def _has_other_rows(group: WalkGroup, number: int) -> bool:
    """Whether a product is several, one for each value of an index that is no row."""
    block = group.blocks[number]
    wide = {n for n, extent in enumerate(block.index_ranges) if extent > 1}
    for refinement in block.refinement_list:
        wide &= {n for form in refinement.access for n in form.support}
    return not wide <= {*group.rows[number]}


def _shape(group: WalkGroup, number: int, row: int, rows: int, step: int) -> Product:
    """What a product is in a step."""
    block, walked = group.blocks[number], group.found.blocks[number]
    own = {*group.rows[number]}
    sums = reduction_indices(block)
    sizes = [
        step if n == group.indices[number] else extent
        for n, extent in enumerate(block.index_ranges)
    ]
    columns = [n for n in range(len(sizes)) if n not in own and n not in sums]
    inside = sum(
        root_buffer(block.buffer(n)) in group.found.cells
        for n, r in enumerate(block.refinement_list)
        if not r.direction.writes
    )
    return Product(
        rows,
        prod(sizes[n] for n in columns),
        prod(sizes[n] for n in sums),
        2 - inside,
        keeps=not walked.aggregates,
        element_bytes=value_bytes(block.view_type(walked.output).element_type),
    )


def _seconds_alone(
    group: WalkGroup, products: Sequence[int], hardware: Hardware
) -> float:
    """What the products take one by one, with the values between them in memory.

    What is between products is one kernel, which reads what one of them has written and
    writes what the next one reads. A kernel behind others takes a launch at least.
    """
    clock = Clock(hardware)
    seconds = moved = 0.0
    for number in products:
        block = group.blocks[number]
        problem = problem_of(block, hardware.vector_bits)
        fastest = next(contractions.candidates(block, problem, hardware), None)
        if fastest is None:
            return inf
        seconds += max(fastest.seconds - clock.launch, clock.launch)
        for buffer in map(root_buffer, block.buffers):
            if buffer in group.found.cells:
                # Written by one kernel, read by the next one.
                moved += 2 * clock.memory(view_type(buffer).bytes)
    return seconds + max(moved, (len(products) - 1) * clock.launch)

"""`stripe-scan`: compute running aggregations in one walk along each row.

Where each output cell aggregates all values up to its own place, the index space is a
triangle: the work grows with the square of the length. Every cell but the first is what
the cell before it holds and one value more, so that a walk over the row does the same
in linear work. A long row is cut into chunks that are walked in parallel: first each
chunk is aggregated as a whole, then these few numbers are scanned, which gives what
every chunk starts from.

Before:

```mlir
stripe.block "O" [%m : 2, %i : 1000, %k : 1000]
    in %a = %A[%m, %k] : 1x1
    out %o = %O[%m, %i] : 1x1 add init 0
    where %i - %k >= 0 {
  %x = stripe.load %a : !stripe.view<1x1xf32>
  stripe.store %x, %o : !stripe.view<1x1xf32>
}
```

After, with `parallelism=4 chains=2`, each of the 8 chunks of 125 values:

```mlir
stripe.block "O_chunks" [%m : 2, %c : 8, %t : 125]
    in %a = %A[%m, 125 * %c + %t] : 1x1
    out %o = %O_chunks[%c, %m] : 1x1 add init 0 { ... }
stripe.block "O_starts" [%m : 2] ... {
  ... serial: starts[c + 1, m] = starts[c, m] + chunks[c, m]
}
stripe.block "O" [%m : 2, %c : 4]
    in %a = %A[%m, 250 * %c] : 1x250
    in %start = %O_starts[2 * %c, %m] : 2x1
    out %o = %O[%m, 250 * %c] : 1x250 {
  %state = stripe.alloc : !stripe.view<2x1xf32, private>
  stripe.block [%e0 : 2]
      in %from = %start[%e0, 0] : 1x1
      out %to = %state[%e0, 0] : 1x1 { ... copy ... }
  stripe.block serial [%t : 125, %c_1 : 2]
      in %a_1 = %a[0, 125 * %c_1 + %t] : 1x1
      inout %s = %state[%c_1, 0] : 1x1
      out %o_1 = %o[0, 125 * %c_1 + %t] : 1x1 {
    %0 = stripe.load %s : !stripe.view<1x1xf32, private>
    %x = stripe.load %a_1 : !stripe.view<1x1xf32>
    %1 = eltwise.add %0, %x : f32
    stripe.store %1, %s : !stripe.view<1x1xf32, private>
    stripe.store %1, %o_1 : !stripe.view<1x1xf32>
  }
}
```

Of very many chunks, what they start from is a running aggregation like any other: with
more than `longest`, it is cut into chunks in turn.

With `items`, as many work-items of a group walk over a piece of a row together: they
copy it to local memory, and each adds up a few neighbouring values there. What an item
starts from are the sums of the items before it, and of the pieces before that of the
group, all of which each group adds up itself, unless there are more than `longest`.
The first groups have the last pieces, which caches still have.

```mlir
stripe.block "O" [%c : 3]
    in %a = %A[-1024 * %c + 2048] : 1024
    out %o = %O[-1024 * %c + 2048] : 1024
    in %sums = %O_chunks[0] : 2 {
  %O_piece = stripe.alloc : !stripe.view<1x32x33xf32, local>
  ... the sum of %sums before 2 - %c, by a tree, into %start; %a into %O_piece ...
  ... the sums of each item's 16 values in %O_piece, and of 8 items each ...
  stripe.block [%row : 1 group, %section : 8 group, %line : 4 group, %own : 2 group]
      inout %piece = %O_piece[%row, 4 * %section + %line, 16 * %own] : 1x1x16
      in %start_1 = %start[0] : 1
      in %sections = %sums_2[%row, 0] : 1x8
      in %items = %sums_1[%row, %section, 0, 0] : 1x1x4x2 {
    %state = stripe.alloc : !stripe.view<1xf32, private>
    ... %start_1, and what of %sections and %items is before, into %state ...
    stripe.block serial [%t : 16]
        inout %s = %state[0] : 1
        inout %p = %piece[0, 0, %t] : 1x1x1 { ... add %p to %s, and keep it in both }
  }
  ... %O_piece into %o ...
}
```

`chains` independent walks take turns in one work-item, because each of them waits for
its own last step; where another index steps through the last axis of all buffers, they
are its lanes, for vectors. What else aggregates at a place (`O[i] = +(A[k, r])`, `k <=
i`) is aggregated first, in a block of its own. Walks from the end (`k >= i`) are walks
along the mirrored row; where the output runs the other way (`k <= 999 - i`), only its
row is mirrored.

Left alone are blocks with another constraint, with subscripts, where the values depend
on the index of the output, and where the row of the values is shorter than the output.
The order of the aggregation depends on the sizes alone. Chunks after G. Blelloch,
Prefix Sums and Their Applications (1990).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from ....dialects.stripe.attributes import Direction
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import IndexOp, LoadOp, StoreOp
from ...locations import check_positive, error_at
from ..analysis.lanes import FEWEST_LANES, unit_steps
from ..analysis.nests import (
    aggregates_from_nothing,
    is_injective,
    is_leaf,
    reduction_indices,
    root_buffer,
    top_level_blocks,
)
from ..analysis.schedules import is_scheduled
from ..edit.group_scan import walk_together
from ..edit.partition import split_block
from ..edit.scan import Piece, Scan
from ..edit.scans import walk
from .gpu.walks import Limits, team_of


@dataclass(frozen=True)
class StripeScanPass(ModulePass):
    """Compute running aggregations in linear work."""

    name = "stripe-scan"

    chains: int = 4
    """How many walks take turns in one work-item."""
    lanes: int = 64
    """How many neighbouring walks do so where they are lanes of vectors."""
    parallelism: int = 16
    """How many work-items there should be at least; rows are cut for that."""
    shortest: int = 64
    """The least number of steps that a chunk of a row has."""
    longest: int = 0
    """With more chunks in a row than these, what they start from is scanned in chunks,
    too; 0 is never."""
    items: int = 0
    """Work-items that walk over a row together, in local memory; 0 if none do."""
    steps: int = 16
    """Values that each of these walks over."""
    line: int = 32
    """Cells of local memory that are in different banks."""
    memory: int = 32768
    """Bytes of local memory of a group."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every top-level block that is a running aggregation.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, chains=self.chains, lanes=self.lanes)
        check_positive(op, parallelism=self.parallelism, shortest=self.shortest)
        check_positive(op, steps=self.steps, line=self.line, memory=self.memory)
        for name, given in (("longest", self.longest), ("items", self.items)):
            if given < 0:
                raise error_at(op, f"expected {name} of 0 or more, got {given}")
        for block in list(top_level_blocks(op)):
            scan = find_scan(block)
            if scan is not None:
                self._rewrite(scan)

    def _rewrite(self, scan: Scan) -> None:
        if reduction_indices(scan.block) != {scan.source}:
            scan = scan.with_values_first()
        if self.items and lane_index(scan) is None:
            groups = max(self.parallelism // self.items, 1)
            limits = Limits(self.items, self.steps, self.line, self.memory)
            team = team_of(scan, limits, groups, self.longest)
            walk_together(scan, team, self.longest, self._rewrite)
            scan.block.replace_by()
            return
        for part, index, step in self._parts(scan):
            pieces = self._pieces(part, index, step)
            is_long = 0 < self.longest < pieces[0].chunks
            walk(part, pieces, index, step, self._rewrite if is_long else None)
            part.block.replace_by()

    def _parts(self, scan: Scan) -> list[tuple[Scan, int | None, int]]:
        """The scan cut so that an index is a multiple of the walks that take turns.

        With the index, if any, whose values these walks are, and their number.
        """
        index = lane_index(scan)
        step = self.lanes
        if index is None:
            index, step = self._row_index(scan), self.chains
        if index is None:
            return [(scan, None, 1)]
        extent = scan.block.index_ranges[index]
        if extent <= step:
            return [(scan, index, extent)]
        rest = extent % step
        if not rest:
            return [(scan, index, step)]
        other = replace(scan, block=split_block(scan.block, index, extent - rest))
        return [(scan, index, step), (other, index, rest)]

    def _row_index(self, scan: Scan) -> int | None:
        """An index of rows of which there are enough without cutting them."""
        ranges = scan.block.index_ranges
        rows = [index for index in scan.others if ranges[index] >= self.chains]
        count = prod(ranges[index] for index in scan.others)
        if not rows or count < self.chains * self.parallelism:
            return None
        return rows[-1]

    def _pieces(self, scan: Scan, index: int | None, step: int) -> list[Piece]:
        """The chunks of each row, and a shorter one of what they leave over."""
        length = scan.length
        ranges = scan.block.index_ranges
        items = prod(ranges[other] for other in scan.others) // step
        chains = self.chains if index is None else 1
        chunks = -(-self.parallelism // max(items, 1)) * chains
        most = length // self.shortest
        if self.longest and index is None:
            # Lanes walk over neighbouring chunks, however many there are.
            chunks = most
        chunks = min(chunks, most - most % chains)
        if chunks <= 1:
            return [Piece(0, 1, length, 1)]
        steps = length // chunks
        if self.longest:
            steps -= steps % self.shortest
            chunks = length // steps
        pieces = [Piece(0, chunks, steps, chains)]
        if rest := length - chunks * steps:
            pieces.append(Piece(chunks * steps, 1, rest, 1))
        return pieces


def find_scan(block: BlockOp) -> Scan | None:
    """The running aggregation that a block computes, if it is one."""
    if not is_leaf(block) or block.is_serial or block.captures:
        return None
    if is_scheduled(block) or not all(block.index_ranges):
        return None
    if any(each is not Binding.UNDECIDED for each in block.index_bindings):
        return None
    if not _has_plain_statements(block) or not _has_plain_outputs(block):
        return None
    ends = _triangle(block)
    if ends is None:
        return None
    target, source = ends
    (condition,) = block.conditions
    is_reversed = condition.coefficients[source] > 0
    is_mirrored = condition.coefficients[target] == condition.coefficients[source]
    length, values = block.index_ranges[target], block.index_ranges[source]
    first = (length - 1) * condition.coefficients[target] if is_mirrored else 0
    if condition.constant != -first:
        return None
    if values < length or (is_reversed and values != length):
        return None
    if _depends_on(block, target):
        return None
    return Scan(block, target, source, is_reversed, is_mirrored)


def _triangle(block: BlockOp) -> tuple[int, int] | None:
    """The indices of the output and of the values, where these are ordered.

    The only constraint compares the one, or its distance from somewhere, to the other.
    """
    if len(block.conditions) != 1:
        return None
    (condition,) = block.conditions
    if [abs(condition.coefficients[index]) for index in condition.support] != [1, 1]:
        return None
    aggregated = reduction_indices(block)
    sources = [index for index in condition.support if index in aggregated]
    targets = [index for index in condition.support if index not in aggregated]
    return (targets[0], sources[0]) if len(sources) == 1 else None


def _has_plain_statements(block: BlockOp) -> bool:
    """Whether statements only compute values and store them where windows are."""
    return all(
        operation.subscripts is None and operation.condition is None
        if isinstance(operation, StoreOp)
        else isinstance(operation, LoadOp | IndexOp) or is_side_effect_free(operation)
        for operation in block.body.ops
    )


def _has_plain_outputs(block: BlockOp) -> bool:
    """Whether every output aggregates one value of each point into its own cells."""
    roots = [root_buffer(buffer) for buffer in block.buffers]
    return all(
        aggregates_from_nothing(block, number)
        and block.view(number).has_one_use()
        and is_injective(block, number)
        and roots.count(roots[number]) == 1
        for number in block.written
    )


def _depends_on(block: BlockOp, index: int) -> bool:
    """Whether the values depend on an index."""
    return block.indices[index].first_use is not None or any(
        form.coefficients[index]
        for refinement in block.refinement_list
        if refinement.direction is Direction.IN
        for form in refinement.access
    )


def lane_index(scan: Scan) -> int | None:
    """The index that steps through the last axis of all buffers, or is not in them."""
    block = scan.block
    rank = len(block.index_ranges)
    candidates = {i for i in scan.others if block.index_ranges[i] >= FEWEST_LANES}
    for refinement in block.refinement_list:
        used = {index for form in refinement.access for index in form.support}
        steps = unit_steps(refinement, rank)
        if refinement.direction.writes:
            candidates &= steps
        else:
            candidates = {c for c in candidates if c in steps or c not in used}
    return max(candidates, key=lambda c: block.index_ranges[c], default=None)

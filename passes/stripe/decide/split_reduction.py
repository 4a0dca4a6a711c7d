"""`stripe-split-reduction`: aggregate long reductions by vectors and in parallel.

A block whose outputs do not depend on the index that steps through its inputs one by
one can not be computed by vectors as it stands: all values of that index meet on one
cell. It becomes two: the first aggregates every `lanes`-th value on a cell of its own,
along which vectors run, the second aggregates those cells.

Before:

```mlir
stripe.block "S" [%i : 16, %k : 4096]
    in %x = %X[%i, %k] : 1x1
    out %s = %S[%i] : 1 add init 0 { ... }
```

After, with `lanes=32`:

```mlir
%S_parts = stripe.alloc : !stripe.view<16x32xf32>
stripe.block "S" [%i : 16, %k : 128, %lane : 32]
    in %x = %X[%i, 32 * %k + %lane] : 1x1
    out %s = %S_parts[%i, %lane] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<tile ...>} { ... }
stripe.block "S" [%i : 16, %lane : 32]
    in %part = %S_parts[%i, %lane] : 1x1
    out %s = %S[%i] : 1 add init 0 { ... }
```

With few output cells, other indices that only aggregate are cut into chunks which have
cells of their own too, so that the first block can run in parallel:

```mlir
stripe.block "S" [%c : 32, %i : 128, %k : 128, %lane : 32]
    in %x = %X[128 * %c + %i, 32 * %k + %lane] : 1x1
    out %s = %S_parts[%c, %lane] : 1x1 add init 0 { ... }
```

Columns, along which vectors run as they are, get such chunks of rows, and tiles in
which a whole row of cells is aggregated: the input is then read as it lies in memory,
while the cells stay in the nearest cache. Where columns are few, rows take turns
(`lanes`) as well.

Sums of floats that are longer than `longest` are cut into chunks, too, wherever they
are, as the error of a sum grows with its length: `%i : 100000` becomes

```mlir
%S_parts = stripe.alloc : !stripe.view<98xf32>
stripe.block "S" [%c : 98, %i : 1021] where -1021 * %c - %i + 99999 >= 0
    in %x = %X[1021 * %c + %i] : 1
    out %s = %S_parts[%c] : 1 add init 0 { ... }
stripe.block "S" [%c : 98]
    in %part = %S_parts[%c] : 1
    out %s = %S[] : 0 add init 0 { ... }
```

and the second block is split in turn, where the parts are as many. Sums of which each
input number is used for many (a product of matrices) may be eight times as long, as
their parts cost more; parts take no more memory than the inputs, and in blocks inside
others no more than a cache holds.

With many rows, enough for all cores, the parts of each stay near it: a block over rows,
some of them a work-group, has one row inside, and that is split.

```mlir
stripe.block "S" [%i : 64]
    in %x = %X[%i, 0] : 1x4096
    out %s = %S[%i] : 1 {
  %s_parts = stripe.alloc : !stripe.view<1x32xf32, private>
  stripe.block [%k : 128, %lane : 32]
      in %x_1 = %x[0, 32 * %k + %lane] : 1x1
      out %s_1 = %s_parts[0, %lane] : 1x1 add init 0 { ... }
  stripe.block [%lane : 32]
      in %part = %s_parts[0, %lane] : 1x1
      out %s_1 = %s[0] : 1 add init 0 { ... }
}
```

Where `lanes` does not divide a row, a third block adds what is left over, and rows are
cut into so many chunks that this is little. The order of
the aggregation depends on the sizes alone. Left alone are short rows, and products with
enough output cells that are not too long; constrained rows; blocks with subscripts,
with tiles, and serial ones. In blocks inside others the cells are private, and nothing
is cut for parallelism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.element_types import Kind, kind
from ....dialects.stripe.attributes import Direction, ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ...hardware_pass import HardwarePass
from ...locations import check_positive
from ..analysis.lanes import vector_index
from ..analysis.nests import (
    all_blocks,
    is_top_level,
    output_indices,
    points_around,
    reduction_indices,
)
from ..analysis.reductions import (
    aggregates_plainly,
    cells_of_outputs,
    is_stream,
    longest_sum,
    row_index,
)
from ..analysis.shared_indices import Member, find_conflict, may_be_member
from ..edit.blocks import leave_to_inside
from ..edit.partial import Chunk, Lanes, split_reduction
from ..edit.partition import split_block
from ..edit.split import tile_block


@dataclass(frozen=True)
class StripeSplitReductionPass(HardwarePass):
    """Let vectors aggregate along rows, and many cells share long aggregations."""

    name = "stripe-split-reduction"

    lanes: int = 64
    """How many cells take turns along a row at most: several vectors."""
    rounds: int = 4
    """How many values each of them must get at least."""
    parallelism: int = 32
    """With fewer independent pieces than these, rows are cut into chunks."""
    longest: int = 1024
    """How many values are aggregated one after the other into a cell at most."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split the aggregation of every block for which that pays.

        Raises GinghamError for an option that is not positive, or hardware that is not
        known.
        """
        check_positive(
            op,
            lanes=self.lanes,
            rounds=self.rounds,
            parallelism=self.parallelism,
            longest=self.longest,
        )
        for block in all_blocks(op):
            self._split(block)

    def _split(self, block: BlockOp) -> None:
        if not aggregates_plainly(block):
            return
        if vector_index(block) is None:
            self._split_rows(block)
        elif is_top_level(block):
            self._split_columns(block)

    def _split_rows(self, block: BlockOp) -> None:
        index = row_index(block)
        if index is None:
            self._cut(block)
            return
        extent = block.index_ranges[index]
        lanes = self.lanes
        while lanes > max(1, self.lanes // 4) and extent < lanes * self.rounds:
            lanes //= 2
        if extent < lanes * self.rounds:
            self._cut(block)
            return
        cells = cells_of_outputs(block) * points_around(block)
        streams = is_stream(block)
        if not streams and cells >= self.parallelism:
            self._cut(block)
            return
        if cells >= self.parallelism and is_top_level(block) and _has_rows(block):
            self._split_rows(self._in_rows(block))
            return
        chunks = self._chunks(block, cells, Lanes(index, lanes))
        size = next((c.size * c.count for c in chunks if c.index == index), lanes)
        if rest := extent % size if size == lanes else extent - size:
            _accumulate(split_block(block, index, extent - rest))
        kept, values = len(output_indices(block)), _values(block)
        first, second = split_reduction(block, chunks, Lanes(index, lanes))
        if streams:
            rows = sorted(output_indices(first))[len(chunks) : -1]
            tiles = self._row_tiles(first, rows, len(chunks))
            set_tiles(first, tiles, "a part of a row at a time")
        if not self._split_long(second, values) and streams:
            tiles = self._row_tiles(second, range(kept), 0)
            set_tiles(second, tiles, "the parts of a row at a time")

    def _in_rows(self, block: BlockOp) -> BlockOp:
        """Put blocks over rows around a block, so that its parts meet inside of them.

        Returns what one row is.
        """
        indices: Sequence[int] = _numbers(block)
        rows = sorted(output_indices(block))
        for sizes in self._row_tiles(block, rows, 0):
            own = [sizes[index] for index in indices]
            around, block, kept = tile_block(block, own, is_innermost=False)
            leave_to_inside(around)
            indices = [indices[number] for number in kept]
        return block

    def _cut(self, block: BlockOp) -> None:
        """Cut what is too long for one sum, and not for lanes."""
        if not rounds(block) or _values(block) <= longest_sum(block, self.longest):
            return
        values = _values(block)
        if chunks := self._chunks(block, cells_of_outputs(block), None):
            _, second = split_reduction(block, chunks, None)
            self._split_long(second, values)

    def _split_long(self, block: BlockOp, values: int) -> bool:
        """Split the sum of the parts of so many values, where these are many, too."""
        is_long = rounds(block) and self.longest < _values(block) < values
        if is_long:
            self._split(block)
        return is_long

    def _split_columns(self, block: BlockOp) -> None:
        column = vector_index(block)
        reductions = reduction_indices(block)
        if column is None or not reductions:
            return
        if not is_stream(block):
            self._cut(block)
            return
        extent = block.index_ranges[column]
        tiles = -(-extent // self._cells)
        chunks = self._chunks(block, cells_of_outputs(block) // extent * tiles, None)
        if not chunks:
            return
        row = max(reductions, key=lambda index: block.index_ranges[index])
        lanes = self._turns(block, row, extent, chunks)
        if lanes is not None and (rest := block.index_ranges[row] % lanes.count):
            position = block.index_ranges[row] - rest
            _accumulate(split_block(block, row, position))
            chunks = self._chunks(
                block, cells_of_outputs(block) // extent * tiles, None
            )
        chunks = whole_turns(block, chunks, lanes)
        values = _values(block)
        first, second = split_reduction(block, chunks, lanes)
        sizes = [1 if n in output_indices(first) else 0 for n in _numbers(first)]
        tile = -(-extent // tiles)
        sizes[len(chunks) + column] = -(-tile // self.lanes) * self.lanes
        if tiles == 1:
            sizes[len(chunks) + column] = 0
        if lanes is not None:
            sizes[-1] = 0
        set_tiles(first, [sizes], "a part of some columns at a time")
        self._split_long(second, values)

    def _turns(
        self, block: BlockOp, row: int, columns: int, chunks: Sequence[Chunk]
    ) -> Lanes | None:
        """Rows that take turns, where columns are fewer than lanes."""
        count = self.lanes // columns
        sizes = {chunk.index: chunk.size for chunk in chunks}
        rows = sizes.get(row, block.index_ranges[row])
        if count < 2 or rows < count * self.rounds:
            return None
        return Lanes(row, count, is_last=False)

    def _chunks(
        self, block: BlockOp, pieces: int, lanes: Lanes | None
    ) -> tuple[Chunk, ...]:
        """How aggregating indices are cut, the first of them before the others.

        `pieces` are those that there are without.
        """
        turns = 1 if lanes is None else lanes.count
        parallel = self._parallel_chunks(block, pieces)
        most = max(self._room(block) // (cells_of_outputs(block) * turns), 1)
        chain = -(-_values(block) // turns)
        longest = longest_sum(block, self.longest) if rounds(block) else chain
        chunks: list[Chunk] = []
        reductions = sorted(reduction_indices(block))
        if parallel < (needed := min(-(-chain // longest), most)):
            reductions.sort(key=lambda index: block.index_ranges[index] % needed != 0)
        reductions.sort(key=lambda index: lanes is not None and index == lanes.index)
        for index in reductions:
            extent = block.index_ranges[index]
            takes_turns = lanes is not None and index == lanes.index
            unit = turns if takes_turns else 1
            needed = min(-(-chain // longest), most)
            count = min(extent // unit, max(parallel, needed))
            if count < 2:
                continue
            if takes_turns:
                count = _with_least_rest(extent // unit, count)
            size = unit * (extent // unit // count)
            if not takes_turns:
                size = -(-extent // count)
                count = -(-extent // size)
            chunks.append(Chunk(index, count, size))
            parallel //= count
            most //= count
            chain = -(-chain * size // extent)
        return tuple(chunks)

    def _room(self, block: BlockOp) -> int:
        """How many numbers the parts may be: as many as inputs, in blocks a tile."""
        if not is_top_level(block):
            return self._cells
        return sum(
            prod(block_type.sizes)
            for number, refinement in enumerate(block.refinement_list)
            if refinement.direction is Direction.IN
            and isinstance(block_type := block.buffer(number).type, ViewType)
        )

    @property
    def _grain(self) -> int:
        """How many values a chunk has at least, where it is cut for parallelism."""
        return self.figures.overheads.group_elements

    @property
    def _cells(self) -> int:
        """How many cells a tile of columns has at most: half of the nearest cache."""
        elements = self.figures.caches[0].size_bytes // 2 // 4
        return 1 << (elements.bit_length() - 1)

    def _parallel_chunks(self, block: BlockOp, pieces: int) -> int:
        """How many chunks let so many pieces run in parallel."""
        if not is_top_level(block):
            return 1
        wanted = -(-self.parallelism // max(pieces, 1))
        return min(wanted, prod(block.index_ranges) // self._grain)

    def _row_tiles(
        self, block: BlockOp, rows: Sequence[int], chunks: int
    ) -> list[list[int]]:
        """Tiles of one row, and around them some rows that are worth a start."""
        ranges = block.index_ranges
        inner = [1 if n in rows or n < chunks else 0 for n in _numbers(block)]
        if not rows or not is_top_level(block):
            return [inner]
        values = prod(e for n, e in enumerate(ranges) if n not in rows)
        count = prod(ranges[row] for row in rows)
        wanted = min(self._grain // values, count // self.parallelism)
        extent = ranges[rows[-1]]
        fitting = [n for n in range(2, wanted + 1) if extent % n == 0]
        if not fitting:
            return [inner]
        outer = list(inner)
        outer[rows[-1]] = fitting[-1]
        return [outer, inner]


def _has_rows(block: BlockOp) -> bool:
    """Whether each cell can have a block of its own inside of one over all of them."""
    rows = sorted(output_indices(block))
    if not rows or may_be_member(block) is not None:
        return False
    return find_conflict([Member.of(block, rows)]) is None


def _numbers(block: BlockOp) -> range:
    return range(len(block.index_ranges))


def _values(block: BlockOp) -> int:
    """How many values are aggregated into each cell."""
    return prod(block.index_ranges[index] for index in reduction_indices(block))


def rounds(block: BlockOp) -> bool:
    """Whether some output is a sum of floats, whose errors grow with its length."""
    return any(
        refinement.aggregation is Aggregation.ADD
        and kind(block.view_type(number).element_type) is Kind.FLOAT
        for number, refinement in enumerate(block.refinement_list)
    )


def _with_least_rest(turns: int, count: int) -> int:
    """That many chunks or up to twice as many, so that little is left over."""
    return min(range(count, min(2 * count, turns + 1)), key=lambda n: turns % n)


def whole_turns(
    block: BlockOp, chunks: Sequence[Chunk], lanes: Lanes | None
) -> tuple[Chunk, ...]:
    """The chunks, in each of which all lanes get as many values.

    Else the last lanes of a chunk would take values of the next one.
    """
    if lanes is None:
        return (*chunks,)
    whole: list[Chunk] = []
    for chunk in chunks:
        if chunk.index == lanes.index:
            size = -(-chunk.size // lanes.count) * lanes.count
            extent = block.index_ranges[chunk.index]
            chunk = Chunk(chunk.index, -(-extent // size), size)
        whole.append(chunk)
    return (*whole,)


def set_tiles(block: BlockOp, levels: Sequence[Sequence[int]], reason: str) -> None:
    """Decide the tiles of a block; 0 is a whole range."""
    set_schedule(block, Schedule.of(levels, reason=reason))


def _accumulate(block: BlockOp) -> None:
    """Let a block add to what its output holds already."""
    refinements = [replace(r, init=None) for r in block.refinement_list]
    block.set_refinements(refinements)

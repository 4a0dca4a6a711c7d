"""`stripe-separate`: split innermost blocks so that their loops check no constraints.

A constraint that depends on an index of a tile is tested again and again in the
innermost loops, though it can only fail in tiles at a border. So a block inside another
is split into several, one after the other over the same windows: by conditions under
which a constraint holds for the whole tile, which are tested once per tile or in its
outer loops; where a constraint still matters, by the values of those indices that only
aggregate, until it shortens a range or always holds.

Before, with tiles of 14 pixels that take part in a convolution with borders:

```mlir
stripe.block [%ky : 3, %c : 64, %y_1 : 14]
    in %i_1 = %i[%ky + %y_1, %c] : 1x1
    in %k_1 = %k[%ky, %c] : 1x1
    out %o_1 = %o_acc[%y_1] : 1 add
    where %ky + %y_1 + 14 * %y - 1 >= 0 { ... }
```

After:

```mlir
stripe.block [%ky : 3, %c : 64, %y_1 : 14] ...
    where %ky + 14 * %y - 1 >= 0 { ... }
stripe.block [%ky : 1, %c : 64, %y_1 : 13]
    in %i_1 = %i[%ky + %y_1 + 1, %c] : 1x1
    in %k_1 = %k[%ky, %c] : 1x1
    out %o_1 = %o_acc[%y_1 + 1] : 1 add
    where -%y >= 0 { ... }
```

What tiles leave over at the end of a range is such a border, too. An index of vectors,
whose range is no multiple of them then, gets blocks of whole vectors and of shorter
ones.

A constraint stays where a test is rare: where at least `grain` vectors are computed
after each, or `tile_grain` where the test is of an index of accumulators, or of one
that moves what they read along them: such loops are unrolled, and share loads. It also
stays in pieces with less than one of `share` points, and where splitting would make
more than `limit` times as much code. But most points are never tested, and an index of
vectors is always split, whatever the limit. Serial blocks, blocks that set cells
(`init`) and top-level blocks are left alone.

Index-set splitting: see `affine/separation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....affine.form import LinearForm
from ....affine.separation import Nest, Piece, separate
from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ...hardware_pass import HardwarePass
from ...kernel_pass import KernelPass
from ...locations import check_positive
from ..analysis.kernels import blocks_of_kernels
from ..analysis.lanes import FEWEST_LANES, index_of_vectors, vector_index, widest_vector
from ..analysis.nests import is_leaf, output_indices
from ..analysis.work_groups import is_spread
from ..edit.partition import replace_by_pieces, split_block


@dataclass(frozen=True)
class StripeSeparatePass(KernelPass, HardwarePass):
    """Split innermost blocks until their loops check no constraints."""

    name = "stripe-separate"

    bits: int = 512
    """The width of the device's vectors in bits."""
    grain: int = 8
    """Vectors of work after a test that make it cheap."""
    tile_grain: int = 32
    """As many in a tile of accumulators, whose instructions it parts."""
    limit: int = 12
    """How many times as much code splitting by numbers may make."""
    share: int = 200
    """Pieces with fewer points than one in so many are not split."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split leaves at their constraints, then where whole vectors end.

        Raises GinghamError for an option that is not positive, or hardware that is not
        known.
        """
        check_positive(
            op,
            bits=self.bits,
            grain=self.grain,
            tile_grain=self.tile_grain,
            limit=self.limit,
            share=self.share,
        )
        for block in blocks_of_kernels(op):
            if _is_candidate(block):
                for part in self.split_by_constraints(block):
                    split_by_vectors(part, self.bits)

    def split_by_constraints(self, block: BlockOp) -> list[BlockOp]:
        """Replace a block by blocks that check less; those blocks, in order."""
        if not block.conditions:
            return [block]
        loops = _Loops.of(block, self)
        vital = () if loops.vector is None else (loops.vector,)
        pieces = separate(
            loops.nest,
            loops.is_costly,
            self.limit,
            1 / self.share,
            vital,
            loops.size_of_code,
        )
        return replace_by_pieces(block, pieces)


@dataclass(frozen=True)
class _Loops:
    """What is to be known of the loops of a block to tell which tests are rare."""

    nest: Nest
    options: StripeSeparatePass
    vector: int | None
    """The index along which vectors would be used if no constraint depended on it."""
    lanes: int
    start: int | None
    """Where its first value is in a private buffer."""
    unrolled: frozenset[int]
    """The indices of a tile of accumulators, and of loops that share loads in it."""
    tested_code: float
    """See `Overheads`."""

    @staticmethod
    def of(block: BlockOp, options: StripeSeparatePass) -> _Loops:
        vector = index_of_vectors(block, options.bits)
        lanes = 1 if vector is None else widest_vector(block, options.bits)
        tile, own = _tile(block), len(block.index_ranges)
        nest = Nest(
            tuple(map(index_range, block.form_values)),
            own,
            block.conditions,
            frozenset(range(own)) - tile - {vector},
        )
        start, code = _start_in_registers(block), options.figures.overheads.tested_code
        unrolled = _unrolled(block, tile)
        return _Loops(nest, options, vector, lanes, start, unrolled, code)

    def is_costly(self, piece: Piece, form: LinearForm) -> bool:
        """Whether a form is tested after little work, or keeps from using vectors."""
        last = self.nest.last_own(form)
        if last is None:
            return False
        if self.vector is not None and form.coefficients[self.vector]:
            return True
        work = 1
        for index in range(last + 1, self.nest.own):
            extent = piece.extent(index)
            work *= -(-extent // self.lanes) if index == self.vector else extent
        options = self.options
        return work < (options.tile_grain if last in self.unrolled else options.grain)

    def size_of_code(self, piece: Piece) -> float:
        """How much code the blocks of a piece become, in whole tiles without tests."""
        tile = [d for d in range(self.nest.own) if d not in self.nest.cuttable]
        copies = prod(piece.extent(d) for d in tile if d != self.vector)
        whole = prod(self.nest.extents[d] for d in tile if d != self.vector)
        if any(self.is_costly(piece, form) for form in piece.pending):
            copies *= self.tested_code
        if self.vector is None:
            return copies / whole
        start = None if self.start is None else self.start + piece.lows[self.vector]
        extent, vectors = piece.extent(self.vector), 0
        while extent > 0:
            first = first_vectors(start, extent, self.lanes)
            vectors += -(-first // self.lanes)
            extent -= first
            start = None if start is None else start + first
        whole *= -(-self.nest.extents[self.vector] // self.lanes)
        return copies * vectors / whole


def _is_candidate(block: BlockOp) -> bool:
    is_nested = isinstance(block.parent_op(), BlockOp)
    initializes = any(r.init is not None for r in block.refinement_list)
    is_movable = is_leaf(block) and not block.is_serial and not initializes
    # In pieces, other work-items would have what is private memory of one.
    is_movable &= not is_spread(block)
    return is_nested and is_movable and all(block.index_ranges)


def _tile(block: BlockOp) -> frozenset[int]:
    """The indices of what a block accumulates in registers.

    Along these it is not cut: what is left of a tile would be too little work.
    """
    if any(
        refinement.direction.writes
        and block.view_type(number).space.data is MemorySpace.PRIVATE
        for number, refinement in enumerate(block.refinement_list)
    ):
        return frozenset(output_indices(block))
    return frozenset()


def _unrolled(block: BlockOp, tile: frozenset[int]) -> frozenset[int]:
    """The indices of a tile of accumulators, and those that move windows with them."""
    forms = [form for r in block.refinement_list for form in r.access]
    shared = [form.support for form in forms if not tile.isdisjoint(form.support)]
    return tile.union(*shared)


def split_by_vectors(block: BlockOp, bits: int) -> None:
    """Let each block compute whole vectors: shorter ones where these are left over."""
    index = vector_index(block)
    if index is None:
        return
    extent = block.index_ranges[index]
    lanes = widest_vector(block, bits)
    first = first_vectors(_start_in_registers(block), extent, lanes)
    if first == extent:
        return
    split_by_vectors(split_block(block, index, first), bits)


def first_vectors(start: int | None, extent: int, lanes: int) -> int:
    """How many values the first block of vectors of one length has.

    Where they lie in a private buffer, from `start` on, none may overlap another in
    part, or they were not held in registers: each starts at a multiple of its length,
    down to one element.
    """
    width = lanes
    while width > extent or (start is not None and start % width):
        width //= 2
    if start is None and width < FEWEST_LANES:
        return extent
    if start is None or width == lanes:
        return extent - extent % width
    return width


def _start_in_registers(block: BlockOp) -> int | None:
    """Where a block starts along the last axis of private buffers that it writes."""
    starts = [
        refinement.access[-1].constant.numerator
        for number, refinement in enumerate(block.refinement_list)
        if refinement.access
        and refinement.direction.writes
        and block.view_type(number).space.data is MemorySpace.PRIVATE
    ]
    return max(starts, default=None)

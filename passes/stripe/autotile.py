"""`stripe-autotile`: decide tile sizes from an analytic model of one core.

Writes its decision as the attribute `stripe.tile` on every innermost top-level block
that has none, and why as `stripe.tile_reason`; `stripe-partition-edges` and
`stripe-tile` apply it. The IR is otherwise unchanged:

```mlir
stripe.block "C" [%i : 1024, %j : 1024, %k : 1024] ...
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.tile = [array<i64: 8, 32, 1024>],
                stripe.tile_reason = "20 of 32 registers, ..."} { ... }
```

A block with indices that only aggregate is tiled for registers. A tile of the other
indices is held in accumulators while the loop over the former runs; one step of that
loop costs, in cycles,

    max(operations / 2, loads / 2, latency) + 1

with `operations` the vector operations of the tile, `loads` the vector loads and
broadcast scalars that its inputs need, and `latency` 4 for the dependent chain through
an accumulator. The tile with the least cost per element of work wins among those whose
accumulators, inputs and one temporary fit the registers. What a tile leaves over at the
edges of the index space is counted at the cost of narrower vectors.

A block without such indices streams through memory; it is cut into pieces of about
`elements` elements along its last axes, so that a piece is worth the cost of starting
it. The same holds for register tiles that are done too quickly: several of them, a
divisor of all, make one piece, as an outer level of tiling.

Where subscripts choose the cells of an output, there are no registers for them: the
other indices are cut like those of a stream, and what may meet on a cell stays whole.
Serial blocks are left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    ModuleOp,
    StringAttr,
    i1,
    i64,
)
from xdsl.passes import ModulePass

from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import element_of
from ...dialects.stripe.attributes import Direction
from ...dialects.stripe.block import BlockOp
from ..locations import check_positive
from .map import assigns_at_subscripts
from .nests import (
    initializes_own_cells,
    is_leaf,
    is_subscripted,
    output_indices,
    reduction_indices,
    top_level_blocks,
)
from .tile import REASON_ATTRIBUTE, TILE_ATTRIBUTE
from .vectorize import MOST_LANES, vector_index

_ROW_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
_VECTORS = (1, 2, 3, 4)
_LATENCY = 4
_LOOP_OVERHEAD = 1
_STEPS_PER_PIECE = 4096
_MOST_LOW_DIGITS = 8


@dataclass(frozen=True)
class StripeAutotilePass(ModulePass):
    """Choose tile sizes for registers and for the grain of parallel work."""

    name = "stripe-autotile"

    bits: int = 512
    """The width of the device's vectors in bits."""
    registers: int = 32
    """The number of vector registers."""
    elements: int = 16384
    """Elements that one piece of streaming work has at most."""
    pieces: int = 16
    """Pieces that streaming work is cut into at least, where it is large enough."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_positive(op, bits=self.bits, registers=self.registers)
        check_positive(op, elements=self.elements, pieces=self.pieces)
        for block in top_level_blocks(op):
            is_decided = TILE_ATTRIBUTE in block.attributes
            if is_decided or block.is_serial or not is_leaf(block):
                continue
            if not all(block.index_ranges):
                continue
            decision = self.decide(block)
            block.attributes[TILE_ATTRIBUTE] = ArrayAttr(
                [
                    DenseArrayBase.from_list(i64, list(sizes))
                    for sizes in decision.levels
                ]
            )
            block.attributes[REASON_ATTRIBUTE] = StringAttr(decision.reason)

    def decide(self, block: BlockOp) -> Decision:
        """The tile sizes for an innermost block, and why."""
        meeting = _meeting_indices(block)
        if meeting and not _is_scattering(block):
            return _decide_registers(block, self)
        return _decide_streaming(block, self, meeting)


@dataclass(frozen=True)
class Decision:
    """Sizes per level of tiling, outermost first, and the reason in words."""

    levels: tuple[tuple[int, ...], ...]
    reason: str


def native_lanes(block: BlockOp, bits: int) -> int:
    """How many of the block's widest elements a vector has at most."""
    elements = {
        element_of(view.element_type) for view in map(block.view_type, _numbers(block))
    }
    widest = max((bit_width(e) for e in elements if e != i1), default=8)
    return max(min(bits // widest, MOST_LANES), 1)


def _numbers(block: BlockOp) -> range:
    return range(len(block.refinements))


def _fixed_indices(block: BlockOp) -> set[int]:
    """The indices that must not be tiled.

    `init` sets all cells of a tile's window: its points must reach all of them, and it
    must be possible to split off what tiles leave over.
    """
    if not initializes_own_cells(block):
        return output_indices(block)
    fixed: set[int] = set()
    for refinement in block.refinement_list:
        if refinement.init is not None:
            uses = [index for form in refinement.access for index in form.support]
            fixed |= {index for index in uses if uses.count(index) > 1}
            fixed |= {
                index
                for form in refinement.access
                for index in form.support
                if abs(form.coefficients[index]) != 1
            }
    digits = _low_digits(block)
    return fixed - {high for _, high in digits} - {low for low, _ in digits}


def _low_digits(block: BlockOp) -> set[tuple[int, int]]:
    """Pairs of indices that are the two digits of a place in an output with `init`.

    In `2 * %x + %i` with two values of `%i` tiles of `%x` leave no gaps when `%i` is
    whole in them. Only where that takes few registers and no constraint depends on
    `%i`, which would then be checked for each register, and only of a place along one
    axis: along two of them a tile's points are a diagonal.
    """
    pairs: set[tuple[int, int]] = set()
    rank = len(block.index_ranges)
    for refinement in block.refinement_list:
        if refinement.init is None:
            continue
        used = [index for form in refinement.access for index in form.support]
        for form in refinement.access:
            steps = sorted((abs(form.coefficients[i]), i) for i in form.support)
            if len(steps) != 2 or any(index >= rank for _, index in steps):
                continue
            (step, low), (stride, high) = steps
            if used.count(low) > 1 or used.count(high) > 1:
                continue
            if step == 1 and stride == block.index_ranges[low]:
                pairs.add((low, high))
    lows = {low for low, _ in pairs}
    checked = any(lows & {*form.support} for form in block.conditions)
    registers = prod(block.index_ranges[low] for low in lows)
    return set() if checked or registers > _MOST_LOW_DIGITS else pairs


def _is_scattering(block: BlockOp) -> bool:
    """Whether subscripts choose the cells of some output."""
    return any(
        refinement.direction.writes and is_subscripted(view)
        for refinement, view in zip(block.refinement_list, block.views, strict=True)
    )


def _meeting_indices(block: BlockOp) -> set[int]:
    """The indices whose values may meet on cells of an output."""
    shares = any(
        refinement.direction.writes and not assigns_at_subscripts(block, number)
        for number, refinement in enumerate(block.refinement_list)
    )
    return reduction_indices(block) if shares else set()


def _decide_streaming(
    block: BlockOp, options: StripeAutotilePass, whole: Collection[int]
) -> Decision:
    """Pieces of a block; the indices in `whole` are not cut."""
    ranges = block.index_ranges
    lanes = native_lanes(block, options.bits)
    vector = vector_index(block)
    cut = [extent for index, extent in enumerate(ranges) if index not in whole]
    grain = prod(cut) // options.pieces
    remaining = max(min(grain, options.elements), lanes)
    sizes = [1] * len(ranges)
    fixed = _fixed_indices(block)
    for index in reversed(range(len(ranges))):
        if index in whole:
            sizes[index] = ranges[index]
        if index in fixed or index in whole:
            continue
        size = min(ranges[index], max(remaining, 1))
        if index == vector and size > lanes:
            size -= size % lanes
        sizes[index] = size
        remaining //= size
    reason = f"streams {prod(sizes)} of {prod(ranges)} elements at a time"
    return Decision((tuple(sizes),), reason)


@dataclass(frozen=True)
class _Candidate:
    """A register tile: a size per index (1 where it only aggregates), and lanes."""

    sizes: tuple[int, ...]
    lanes: int
    vector: int | None


def _decide_registers(block: BlockOp, options: StripeAutotilePass) -> Decision:
    reductions = reduction_indices(block)
    ranges = block.index_ranges
    lanes = native_lanes(block, options.bits)
    smallest = _Candidate((1,) * len(ranges), 1, None)
    best = min(
        _candidates(block, lanes, options.registers),
        key=lambda candidate: (
            _cost(block, candidate, lanes),
            [-size for size in reversed(candidate.sizes)],
        ),
        default=smallest,
    )
    tile = tuple(
        extent if index in reductions else size
        for index, (extent, size) in enumerate(zip(ranges, best.sizes, strict=True))
    )
    used = _registers(block, best)
    reason = (
        f"{used} of {options.registers} registers, "
        f"{_cost(block, best, lanes):.3f} cycles per element of work"
    )
    piece = _piece(block, tile, best.lanes)
    levels = (tile,) if piece == tile else (piece, tile)
    return Decision(levels, reason)


def _candidates(block: BlockOp, lanes: int, registers: int) -> Iterator[_Candidate]:
    """The register tiles that fit the registers."""
    untiled = reduction_indices(block) | _fixed_indices(block)
    whole = {low for low, _ in _low_digits(block)}
    vector = vector_index(block)
    if vector in untiled or vector in whole:
        vector = None
    choices: list[Sequence[int]] = []
    widths = (
        [lanes >> shift for shift in range(lanes.bit_length())]
        if vector is not None
        else [1]
    )
    for width in widths:
        if vector is not None and width > block.index_ranges[vector]:
            continue
        choices = [
            (extent,)
            if index in whole
            else _choices(index, extent, untiled, vector, width)
            for index, extent in enumerate(block.index_ranges)
        ]
        for sizes in _products(choices, registers * width):
            candidate = _Candidate(sizes, width, vector)
            if _registers(block, candidate) <= registers:
                yield candidate


def _choices(
    index: int, extent: int, untiled: set[int], vector: int | None, width: int
) -> Sequence[int]:
    if index in untiled:
        return (1,)
    if index == vector:
        return [width * n for n in _VECTORS if width * n <= extent]
    return [size for size in _ROW_SIZES if size <= extent]


def _products(
    choices: Sequence[Sequence[int]], limit: int
) -> Iterator[tuple[int, ...]]:
    """All combinations of choices whose product is at most `limit`."""
    if not choices:
        yield ()
        return
    for size in choices[0]:
        if size > limit:
            break
        for rest in _products(choices[1:], limit // size):
            yield (size, *rest)


def _vectors(block: BlockOp, number: int, candidate: _Candidate) -> int:
    """The vectors, or broadcast scalars, of a tile of refinement `number`."""
    refinement = block.refinement(number)
    used = {index for form in refinement.access for index in form.support}
    count = prod(size for index, size in enumerate(candidate.sizes) if index in used)
    return count // candidate.lanes if candidate.vector in used else count


def _inputs(block: BlockOp) -> list[int]:
    refinements = enumerate(block.refinement_list)
    return [n for n, r in refinements if r.direction is Direction.IN]


def _registers(block: BlockOp, candidate: _Candidate) -> int:
    """Registers of the accumulators, of the inputs kept over a step, and one more."""
    accumulators = prod(candidate.sizes) // candidate.lanes
    inputs = [_vectors(block, number, candidate) for number in _inputs(block)]
    # All inputs but the largest are kept, the largest streams through one register.
    kept = sum(inputs) - max(inputs, default=0)
    outputs = len(block.refinements) - len(inputs)
    return accumulators * outputs + kept + 2


def _cost(block: BlockOp, candidate: _Candidate, lanes: int) -> float:
    """Cycles per element of work, what is left over at the edges included."""
    operations = prod(candidate.sizes) // candidate.lanes
    loads = sum(_vectors(block, number, candidate) for number in _inputs(block))
    step = max(operations / 2, loads / 2, _LATENCY) + _LOOP_OVERHEAD
    cost = step / prod(candidate.sizes)
    whole = 1.0
    for size, extent in zip(candidate.sizes, block.index_ranges, strict=True):
        whole *= (extent - extent % size) / extent
    # An edge is a kernel of its own, with fewer accumulators and narrower vectors.
    edges = sum(
        extent % size != 0
        for size, extent in zip(candidate.sizes, block.index_ranges, strict=True)
    )
    edge_cost = max(cost, 1.0 / max(candidate.lanes // 2, 1))
    return (whole * cost + (1 - whole) * edge_cost) * (1 + 0.02 * edges)


def _piece(block: BlockOp, tile: Sequence[int], lanes: int) -> tuple[int, ...]:
    """The outer level of tiling: enough register tiles to be worth a start."""
    untiled = reduction_indices(block) | _fixed_indices(block)
    piece = list(tile)
    for index in reversed(range(len(piece))):
        steps = prod(piece) // lanes
        if index in untiled or steps >= _STEPS_PER_PIECE:
            continue
        tiles = block.index_ranges[index] // tile[index]
        wanted = -(-_STEPS_PER_PIECE // steps)
        divisors = [n for n in range(1, tiles + 1) if tiles % n == 0 and n <= wanted]
        piece[index] *= max(divisors, default=1)
    return tuple(piece)

"""What the cost model sees of a block: ranges, accesses by strides, and operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.ir import SSAValue

from ....dialects.aggregation import Aggregation
from ....dialects.constants import is_constant_argument
from ....dialects.eltwise.ops import CastOp, ElementwiseOp, value_bytes
from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import StoreOp
from ...arithmetic import weight_of
from .lanes import lanes_within, native_lanes, unit_steps
from .nests import (
    absolute_access,
    assigns_at_subscripts,
    initializes_own_cells,
    is_subscripted,
    output_indices,
    reduction_indices,
    root_buffer,
)
from .varying import may_step

_MOST_LOW_DIGITS = 8


@dataclass(frozen=True)
class Access:
    """How a block reads or writes one buffer."""

    number: int
    """Of the refinement."""
    rank: int
    """How many indices the block has."""
    is_output: bool
    element_bytes: int
    coefficients: tuple[tuple[int, ...], ...]
    """For each axis of the buffer, how far each index moves the window."""
    pitches: tuple[int, ...]
    """The bytes from one place to the next along each axis."""
    window: tuple[int, ...]
    """The sizes of what one point sees."""
    is_near: bool
    """Whether the buffer is a work-item's or a work-group's own."""
    low: tuple[int, ...]
    """Where the window of the first point starts along each axis."""
    sizes: tuple[int, ...]
    """The sizes of the buffer."""
    is_chosen: bool
    """Whether subscripts choose places in the window."""
    is_constant: bool = False
    """Whether a copy of the buffer is made once and serves many calls."""

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """The bytes that each index moves the access by."""
        return tuple(
            sum(
                row[index] * pitch
                for row, pitch in zip(self.coefficients, self.pitches, strict=True)
            )
            for index in range(self.rank)
        )

    def reaches_out(self, ranges: Sequence[int]) -> bool:
        """Whether windows of some points lie outside of the buffer."""
        axes = zip(self.coefficients, self.low, self.window, self.sizes, strict=True)
        for row, low, window, size in axes:
            moves = [c * (n - 1) for c, n in zip(row, ranges, strict=True)]
            first = low + sum(move for move in moves if move < 0)
            last = low + sum(move for move in moves if move > 0) + window
            if first < 0 or last > size:
                return True
        return False

    def uses(self, index: int) -> bool:
        """Whether an index moves the window."""
        return any(row[index] for row in self.coefficients)

    @cached_property
    def used(self) -> frozenset[int]:
        """The indices that move the window."""
        return frozenset(index for index in range(self.rank) if self.uses(index))


@dataclass(frozen=True)
class Problem:
    """A block of which tiles, staging and loop order are to be decided."""

    name: str
    ranges: tuple[int, ...]
    accesses: tuple[Access, ...]
    operations: float
    """Vector operations for each point; a multiplication that is added is one."""
    reductions: frozenset[int]
    """Indices that only aggregate."""
    fixed: frozenset[int]
    """Indices that must not be tiled."""
    whole: frozenset[int]
    """Indices that tiles hold all values of."""
    uncut: frozenset[int]
    """Indices that nothing may cut, as their values may meet on any cell."""
    vector: int | None
    """The index along which vectors may run, if inputs in its way are staged."""
    lanes: int
    """How many of the widest elements a vector has at most."""
    constrained: tuple[frozenset[int], ...]
    """The indices of each constraint."""
    is_nested: bool
    """Whether it is a statement of another block, so that there is no grid."""
    aggregates: bool
    """Whether cells collect values from several points."""

    @property
    def rank(self) -> int:
        """How many indices the block has."""
        return len(self.ranges)

    @property
    def points(self) -> int:
        """How many points the block has, those that constraints leave out included."""
        return prod(self.ranges)

    @property
    def vector_operations(self) -> float:
        """Those of all points, in whole vectors where some can be."""
        is_scalar = self.vector is None and not self.aggregates
        return self.points * self.operations / (1 if is_scalar else self.lanes)

    @cached_property
    def inputs(self) -> tuple[Access, ...]:
        """The accesses that only read."""
        return tuple(access for access in self.accesses if not access.is_output)

    @cached_property
    def outputs(self) -> tuple[Access, ...]:
        """The accesses that write; some of them read before."""
        return tuple(access for access in self.accesses if access.is_output)

    @cached_property
    def parallel(self) -> tuple[int, ...]:
        """The indices that do not only aggregate."""
        return tuple(n for n in range(self.rank) if n not in self.reductions)

    @cached_property
    def held(self) -> frozenset[int]:
        """The parallel indices as a set."""
        return frozenset(self.parallel)

    @cached_property
    def inner_order(self) -> tuple[int, ...]:
        """The order of loops inside others: over what only aggregates first."""
        return (*sorted(self.reductions), *self.parallel)

    @cached_property
    def kept(self) -> tuple[tuple[int, ...], ...]:
        """For each access, the parallel indices that move it."""
        return tuple(
            tuple(index for index in sorted(access.used) if index in self.parallel)
            for access in self.accesses
        )

    @cached_property
    def blocked(self) -> tuple[bool, ...]:
        """For each access, whether it is in the way of vectors."""
        return tuple(self.in_the_way(access) for access in self.accesses)

    def lanes_of(self, tile: Sequence[int]) -> int:
        """The lanes of the vectors in a tile of these sizes, 0 for a whole range.

        They are as wide as its size along them allows.
        """
        if self.vector is None:
            return 1
        size = tile[self.vector] or self.ranges[self.vector]
        return lanes_within(size, self.lanes)

    def in_the_way(self, access: Access) -> bool:
        """Whether vectors cannot be loaded from an access as it is."""
        vector = self.vector
        if vector is None or not access.uses(vector) or not access.coefficients:
            return False
        *outer, last = access.coefficients
        return last[vector] != 1 or any(row[vector] for row in outer)


def problem_of(block: BlockOp, vector_bits: int) -> Problem:
    """What the model sees of a block without blocks inside."""
    numbers = range(len(block.refinements))
    shares = any(
        block.refinement(number).direction.writes
        and not assigns_at_subscripts(block, number)
        for number in numbers
    )
    meeting = reduction_indices(block) if shares else set[int]()
    scatters = any(
        block.refinement(number).direction.writes and is_subscripted(block.view(number))
        for number in numbers
    )
    digits = low_digits(block)
    rank = len(block.index_ranges)
    return Problem(
        name="" if block.block_name is None else block.block_name.data,
        ranges=block.index_ranges,
        accesses=tuple(_access(block, number) for number in numbers),
        operations=operations_of(block),
        reductions=frozenset(() if scatters else meeting),
        fixed=frozenset(fixed_indices(block)),
        whole=frozenset(low for low, _ in digits),
        uncut=frozenset(meeting if scatters else ()),
        vector=_vector_index(block),
        lanes=native_lanes(block, vector_bits),
        constrained=tuple(
            frozenset(index for index in form.support if index < rank)
            for form in block.conditions
        ),
        is_nested=isinstance(block.parent_op(), BlockOp),
        aggregates=bool(meeting),
    )


def _access(block: BlockOp, number: int) -> Access:
    refinement = block.refinement(number)
    window = block.view_type(number)
    buffer = absolute_access(block.buffer(number)).buffer_type
    element = window.element_type
    size = value_bytes(element)
    pitches: list[int] = []
    pitch = size
    for extent in reversed(buffer.sizes):
        pitches.append(pitch)
        pitch *= max(extent, 1)
    rank = len(block.index_ranges)
    return Access(
        number,
        rank,
        refinement.direction.writes,
        size,
        tuple(tuple(map(int, f.coefficients[:rank])) for f in refinement.access),
        tuple(reversed(pitches)),
        window.sizes,
        window.space.data is not MemorySpace.GLOBAL,
        tuple(int(form.constant) for form in refinement.access),
        buffer.sizes,
        is_subscripted(block.view(number)),
        is_constant_argument(root_buffer(block.buffer(number))),
    )


def operations_of(block: BlockOp) -> float:
    """Vector operations of a point; one that feeds a sum is part of it."""
    total = 0.0
    for statement in block.body.ops:
        total += weight_of(statement)
        if isinstance(statement, CastOp):
            total += 1.0
        elif isinstance(statement, StoreOp) and not _is_fused(statement, block):
            total += 1.0 if _aggregation(block, statement.view) else 0.0
    return max(total, 0.25)


def _is_fused(store: StoreOp, block: BlockOp) -> bool:
    """Whether what is added was just multiplied: one instruction does both."""
    value = store.value.owner
    return (
        _aggregation(block, store.view) is Aggregation.ADD
        and isinstance(value, ElementwiseOp)
        and value.function.symbol == "*"
    )


def _aggregation(block: BlockOp, view: SSAValue) -> Aggregation | None:
    """How stores through a view are aggregated; None where they just replace."""
    for number, own in enumerate(block.views):
        if own is view:
            found = block.refinement(number).aggregation
            return None if found is Aggregation.ASSIGN else found
    return None


def _vector_index(block: BlockOp) -> int | None:
    """The index that steps through the last axis of all outputs one by one.

    Constraints may depend on it: `stripe-separate` splits off where they matter.
    """
    if block.is_serial:
        return None
    candidates: set[int] | None = None
    for refinement in block.refinement_list:
        if refinement.direction.writes:
            steps = unit_steps(refinement, len(block.index_ranges))
            candidates = steps if candidates is None else candidates & steps
    wide = [c for c in candidates or () if block.index_ranges[c] > 1]
    wide = [c for c in wide if may_step(block, c)]
    return max(wide, key=lambda index: block.index_ranges[index], default=None)


def fixed_indices(block: BlockOp) -> set[int]:
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
    digits = low_digits(block)
    return fixed - {high for _, high in digits} - {low for low, _ in digits}


def low_digits(block: BlockOp) -> set[tuple[int, int]]:
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

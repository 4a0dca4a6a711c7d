"""What the nest that a schedule makes of a block is like: its loops, its copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.schedule import Schedule
from ....dialects.stripe.staging import Staging
from .footprint import box
from .problem import Access, Problem


@dataclass(frozen=True)
class Loop:
    """One loop of a nest."""

    block: int
    """The block of the nest that it belongs to, 0 the outermost."""
    index: int
    """The index of the problem that it steps."""
    steps: int
    size: int
    """By how much one step moves the index."""


def loops_of(problem: Problem, nest: Schedule, ranges: Sequence[int]) -> list[Loop]:
    """The loops of a nest over `ranges`, outermost first, those of one step left out.

    Inside the outermost block the indices that only aggregate come first.
    """
    loops: list[Loop] = []
    sizes = list(ranges)
    for block, inner in enumerate((*nest.sizes, (1,) * problem.rank)):
        order: Sequence[int] = problem.inner_order if block else range(problem.rank)
        if listed := nest.orders[block]:
            order = (*listed, *(index for index in order if index not in listed))
        for index in order:
            size = min(inner[index], sizes[index]) or sizes[index]
            if size < sizes[index]:
                loops.append(Loop(block, index, -(-sizes[index] // size), size))
                sizes[index] = size
    return loops


def blocks_of_reductions(problem: Problem, nest: Schedule) -> tuple[int, ...] | None:
    """The outermost level that cuts an index which only aggregates, if there is one."""
    for level in nest.sizes:
        if any(0 < level[i] < problem.ranges[i] for i in problem.reductions):
            return level
    return None


def tile_window(access: Access, sizes: Sequence[int]) -> tuple[int, ...]:
    """The window that a tile of `sizes` sees of a buffer, along each axis."""
    return box(access.coefficients, sizes, access.window)


def sizes_inside(nest: Schedule, block: int, ranges: Sequence[int]) -> tuple[int, ...]:
    """How many values of each index one point of a block of the nest holds."""
    sizes = tuple(ranges)
    for level in nest.sizes[: block + 1]:
        pairs = zip(level, sizes, strict=True)
        sizes = tuple(min(own, outer) or outer for own, outer in pairs)
    return sizes


def loop_strides(
    problem: Problem, nest: Schedule, access: Access, loops: Sequence[Loop]
) -> list[int]:
    """The bytes that each loop moves an access by, in the memory that it then reads.

    An input that is staged is read from its scratch: the loops outside move through
    none of it, those of the blocks that it is staged over through its first axes.
    """
    stage = nest.staged.get(access.number)
    if stage is None:
        return [access.strides[loop.index] * loop.size for loop in loops]
    inside = sizes_inside(nest, stage.window, problem.ranges)
    window = tile_window(access, inside)
    pitches = [0] * len(window)
    pitch = access.element_bytes
    for axis in reversed(stage.order):
        pitches[axis] = pitch
        pitch *= window[axis]
    strides = [0] * len(loops)
    for number in reversed(range(len(loops))):
        loop = loops[number]
        if not access.uses(loop.index) or loop.block < stage.before:
            continue
        if loop.block > stage.window:
            places = zip(access.coefficients, pitches, strict=True)
            strides[number] = loop.size * sum(row[loop.index] * p for row, p in places)
        else:
            strides[number] = pitch
            pitch *= loop.steps
    return strides


def scratch_bytes(
    problem: Problem, nest: Schedule, stage: Staging, ranges: Sequence[int]
) -> int:
    """How large the scratch of a staging is."""
    access = problem.accesses[stage.refinement]
    inside = sizes_inside(nest, stage.window, ranges)
    copies = prod(
        loop.steps
        for loop in loops_of(problem, nest, ranges)
        if stage.before <= loop.block <= stage.window and access.uses(loop.index)
    )
    return prod(tile_window(access, inside)) * copies * access.element_bytes


def packing(
    problem: Problem, access: Access, window: int, vector: int | None
) -> Staging:
    """Copies an input into the order in which the leaf of a nest walks through it.

    The axes that only aggregating indices move come first, in their order, then the
    others, the one that vectors run along last.
    """
    rank = len(access.coefficients)

    def place(axis: int) -> tuple[int, int]:
        row = access.coefficients[axis]
        moving = [index for index, c in enumerate(row) if c]
        if vector in moving:
            return (2, axis)
        if moving and all(index in problem.reductions for index in moving):
            return (0, min(moving))
        return (1 if moving else -1, axis)

    order = tuple(sorted(range(rank), key=place))
    return Staging(access.number, 0, window, order, MemorySpace.GLOBAL)

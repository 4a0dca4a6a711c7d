"""Cutting the index space of a block into tiles: what `stripe-tile` applies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.ir import Block, Region, SSAValue

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Refinement, ViewType
from ....dialects.stripe.binding import PARALLEL, Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.schedule import Schedule, schedule_of, set_schedule
from ...locations import error_at
from ..analysis.nests import (
    absolute_access,
    is_injective,
    reduction_indices,
)
from ..analysis.readers import is_unread_where
from .blocks import (
    Window,
    build_block,
    compute_indices,
    move_statements,
    substitute_captures,
)
from .loop_order import bind_loops, order_loops


def tile_nest(
    block: BlockOp, schedule: Schedule, *, is_whole: bool = True
) -> list[BlockOp]:
    """Tile a block by all levels of a schedule; the nest's blocks, outermost first.

    Their loops are ordered and bound as it says. Unless that is the whole of it, the
    last block is still to be tiled. Raises GinghamError for sizes that do not fit.
    """
    count = len(block.index_ranges)
    numbers = list(range(count))
    blocks: list[tuple[BlockOp, list[int]]] = []
    for level, sizes in enumerate(schedule.sizes):
        if len(sizes) != count or any(size < 0 for size in sizes):
            raise error_at(
                block,
                f"expected {count} tile size(s) of 0 or more, one per index, got "
                f"{list(sizes)}",
            )
        own = [sizes[number] for number in numbers]
        split = _Split.of(block, own)
        is_last = is_whole and level + 1 == len(schedule.levels)
        outer, inner, kept = tile_block(
            block, own, is_innermost=is_last or split.cuts(reduction_indices(block))
        )
        blocks.append((outer, [numbers[index] for index in split.outer]))
        block, numbers = inner, [numbers[index] for index in kept]
    blocks.append((block, numbers))
    for (each, own), loops in zip(blocks, schedule.loops, strict=True):
        bind_loops(each, own, loops.bind)
        order_loops(each, own, loops.order)
    return [each for each, _ in blocks]


@dataclass(frozen=True)
class _Split:
    """How each index is split: `index = size * outer + inner`."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    outer: tuple[int, ...]
    """The indices of the outer block, by their numbers in the original."""
    inner: tuple[int, ...]

    @staticmethod
    def of(block: BlockOp, sizes: Sequence[int]) -> _Split:
        ranges = block.index_ranges
        whole = [
            min(size, extent) if size else extent
            for size, extent in zip(sizes, ranges, strict=True)
        ]
        used = tuple(max(size, 1) for size in whole)
        counts = tuple(-(-r // s) for r, s in zip(ranges, used, strict=True))
        reductions = reduction_indices(block)
        inner = [index for index, size in enumerate(used) if size > 1]
        inner.sort(key=lambda index: index not in reductions)
        outer = tuple(index for index, count in enumerate(counts) if count != 1)
        return _Split(used, counts, outer, tuple(inner))

    @property
    def padded(self) -> tuple[int, ...]:
        """The values of each index that whole tiles have."""
        return tuple(s * c for s, c in zip(self.sizes, self.counts, strict=True))

    def cuts(self, indices: Collection[int]) -> bool:
        """Whether some of these indices have values in several tiles."""
        return any(self.counts[index] != 1 for index in indices)

    def reach(self, form: LinearForm) -> tuple[int, int]:
        """Smallest and largest value of a form's part in the inner indices."""
        low, high = LinearForm(form.coefficients[: len(self.sizes)]).bounds(self.sizes)
        return int(low), int(high)


class Tiled(NamedTuple):
    """The blocks that have taken the place of one."""

    outer: BlockOp
    """That of tiles."""
    inner: BlockOp
    """That of points."""
    kept: tuple[int, ...]
    """Which of the original's indices that has."""


def tile_block(
    block: BlockOp, sizes: Sequence[int], *, is_innermost: bool = True
) -> Tiled:
    """Replace `block` by a block of tiles around a block of points.

    What is still to be done with the block is for that of points.

    With `is_innermost`, `init` stays with the tiles and points accumulate; otherwise it
    moves inward, and every tile must hold all points of its cells. Raises GinghamError
    when the sizes do not fit.
    """
    split = _Split.of(block, sizes)
    _check(block, split, is_innermost)
    views = list(enumerate(block.views))
    outer_body = BlockOp.empty_body(
        [block.indices[d].name_hint for d in split.outer],
        [(_tile_window(block, n, split), view.name_hint) for n, view in views],
    )
    inner_body = BlockOp.empty_body(
        [block.indices[d].name_hint for d in split.inner],
        [(block.view_type(n), view.name_hint) for n, view in views],
    )
    tiles = _Tiles.of(block, split, outer_body, inner_body)
    outer_windows: list[Window] = []
    inner_windows: list[Window] = []
    for number, buffer in enumerate(block.buffers):
        outer_use, inner_use = _uses(block.refinement(number), is_innermost)
        starts = tiles.starts(number)
        outer_windows.append(Window(buffer, [start for start, _ in starts], outer_use))
        view = outer_body.block.args[len(split.outer) + number]
        inner_windows.append(Window(view, [start for _, start in starts], inner_use))
    outer_where, inner_where = tiles.conditions(is_innermost)
    outer = build_block(
        [split.counts[d] for d in split.outer],
        outer_windows,
        outer_body,
        outer_where,
        [_of_tiles(block.index_bindings[d]) for d in split.outer],
        like=block,
    )
    outer.attributes |= block.attributes
    schedule = schedule_of(block)
    set_schedule(outer, Schedule())
    outer.location = block.location
    tiles.move_statements()
    inner = build_block(
        [split.sizes[d] for d in split.inner],
        inner_windows,
        inner_body,
        inner_where,
        [_of_points(block.index_bindings[d]) for d in split.inner],
    )
    inner.location = block.location
    set_schedule(inner, schedule.over(split.inner))
    outer_body.block.add_op(inner)
    block.replace_by(outer)
    return Tiled(outer, inner, split.inner)


def _of_tiles(binding: Binding) -> Binding:
    """What tiles are bound to: vectors are of points."""
    return Binding.UNDECIDED if binding is Binding.VECTOR else binding


def _of_points(binding: Binding) -> Binding:
    """What points are bound to: work-items are of tiles."""
    return Binding.UNDECIDED if binding in PARALLEL else binding


def _check(block: BlockOp, split: _Split, is_innermost: bool) -> None:
    """Refuse tiles that would set cells of an output at the wrong time or place."""
    for number, refinement in enumerate(block.refinement_list):
        if refinement.init is None:
            continue
        if is_innermost:
            _check_gapless(block, split, number, refinement)
        else:
            _check_complete(block, split, number)
        _check_reach(block, split, number, refinement)


def _check_complete(block: BlockOp, split: _Split, number: int) -> None:
    """Refuse to set cells once per tile that several tiles aggregate into."""
    shared = set(range(len(split.sizes)))
    if is_injective(block, number):
        shared = reduction_indices(block)
    if any(split.counts[d] != 1 for d in shared):
        raise error_at(
            block,
            "expected an index that only aggregates to be whole at all levels of "
            f"tiling but the innermost, got sizes {list(split.sizes)}",
        )


def _check_gapless(
    block: BlockOp, split: _Split, number: int, refinement: Refinement
) -> None:
    """Refuse tiles of which the points reach a part only."""
    window = block.view_type(number).sizes
    for axis, form in enumerate(refinement.access):
        others = [f for a, f in enumerate(refinement.access) if a != axis]
        moving = [d for d in split.inner if form.coefficients[d]]
        is_diagonal = any(f.coefficients[d] for f in others for d in moving)
        if is_diagonal or not _is_gapless(form, split, window[axis]):
            raise error_at(
                block,
                f"cannot tile: the points of a tile leave gaps along axis {axis} of an "
                f"output that has 'init', with sizes {list(split.sizes)}",
            )


def _is_gapless(form: LinearForm, split: _Split, window: int) -> bool:
    steps = [
        (abs(int(form.coefficients[d])), split.sizes[d])
        for d in split.inner
        if form.coefficients[d]
    ]
    covered = window
    for step, count in sorted(steps):
        if step > covered:
            return False
        covered += step * (count - 1)
    return True


def _check_reach(
    block: BlockOp, split: _Split, number: int, refinement: Refinement
) -> None:
    """Refuse tiles that reach further than the points, unless nothing is there."""
    for index in range(len(block.index_ranges)):
        if not _may_run_to(split.padded, block, number, refinement, index):
            raise error_at(
                block,
                f"cannot tile: sizes {list(split.sizes)} do not divide the ranges "
                f"{list(block.index_ranges)}, and the last tile would set cells "
                "that no point reaches",
                "run stripe-partition-edges first",
            )


def initializes_along(block: BlockOp, index: int) -> bool:
    """Whether other cells are set for other values of an index."""
    return any(
        refinement.init is not None
        and any(form.coefficients[index] for form in refinement.access)
        for refinement in block.refinement_list
    )


def may_overhang(block: BlockOp, sizes: Sequence[int], index: int) -> bool:
    """Whether the last tile along an index sets no cells that no point reaches."""
    return _outputs_may_run_to(_Split.of(block, sizes).padded, block, index)


def may_grow(block: BlockOp, index: int, padded: int) -> bool:
    """Whether outputs with `init` have no cells where the index has further values.

    What they set there must not be seen.
    """
    ranges = [*block.index_ranges]
    ranges[index] = padded
    return _outputs_may_run_to(ranges, block, index)


def _outputs_may_run_to(ranges: Sequence[int], block: BlockOp, index: int) -> bool:
    return all(
        refinement.init is None or _may_run_to(ranges, block, number, refinement, index)
        for number, refinement in enumerate(block.refinement_list)
    )


def _may_run_to(
    ranges: Sequence[int],
    block: BlockOp,
    number: int,
    refinement: Refinement,
    index: int,
) -> bool:
    """Whether an output has no cells where an index runs to the end of these ranges.

    Or none that anybody reads, as those at the ends of rows that are apart.
    """
    extent = block.index_ranges[index]
    moves = any(form.coefficients[index] for form in refinement.access)
    if not moves or ranges[index] == extent:
        return True
    further = [*ranges, *map(index_range, block.captures)]
    further[index] -= extent
    end = -IndexSum.value(block.indices[index]) + (extent - 1)
    return lies_beyond_buffer(block, number, index, further) or is_unread_where(
        absolute_access(block.view(number)), end
    )


def lies_beyond_buffer(
    block: BlockOp, number: int, index: int, ranges: Sequence[int]
) -> bool:
    """Whether a refinement shows nothing of its buffer where an index goes on.

    `ranges` are those of the block's forms, that of the index from its end on. Beyond
    a window there may be more of the buffer, beyond a buffer is nothing.
    """
    extent = block.index_ranges[index]
    around = absolute_access(block.buffer(number))
    for axis, form in enumerate(block.refinement(number).access):
        first, last = around.starts[axis].bounds(index_range)
        low, high = (form + form.coefficients[index] * extent).bounds(ranges)
        end = high + block.view_type(number).sizes[axis]
        if first + low >= around.buffer_type.sizes[axis] or last + end <= 0:
            return True
    return False


def _uses(refinement: Refinement, is_innermost: bool) -> tuple[Refinement, Refinement]:
    """How tiles and points use a window, wherever it starts."""
    if is_innermost:
        return refinement, replace(refinement, init=None)
    if refinement.init is None:
        return refinement, refinement
    assigned = replace(refinement, aggregation=Aggregation.ASSIGN, init=None)
    return assigned, refinement


def tile_windows(block: BlockOp, sizes: Sequence[int]) -> list[ViewType]:
    """What tiles of these sizes see of each window of a block."""
    split = _Split.of(block, sizes)
    return [_tile_window(block, n, split) for n in range(len(block.refinements))]


def _tile_window(block: BlockOp, number: int, split: _Split) -> ViewType:
    """What a tile sees of a window: all that its points do."""
    window, sizes = block.view_type(number), list[int]()
    access = block.refinement(number).access
    for form, size in zip(access, window.sizes, strict=True):
        low, high = split.reach(form)
        sizes.append(high - low + size)
    return window.resized(sizes)


@dataclass(frozen=True)
class _Tiles:
    """What the indices of a block are in the blocks that take its place."""

    block: BlockOp
    split: _Split
    tiles: dict[SSAValue, IndexSum]
    """Where the tile begins, over the indices of tiles."""
    points: dict[SSAValue, IndexSum]
    """Where in the tile the point is, over the indices of points."""
    body: Block
    """Of the points."""

    @staticmethod
    def of(block: BlockOp, split: _Split, outer: Region, inner: Region) -> _Tiles:
        tiles: dict[SSAValue, IndexSum] = dict.fromkeys(block.indices, IndexSum())
        points = dict(tiles)
        for number, tile in zip(split.outer, outer.block.args, strict=False):
            start = IndexSum.value(tile) * split.sizes[number]
            tiles[block.indices[number]] = start
        for number, point in zip(split.inner, inner.block.args, strict=False):
            points[block.indices[number]] = IndexSum.value(point)
        return _Tiles(block, split, tiles, points, inner.block)

    @property
    def both(self) -> dict[SSAValue, IndexSum]:
        """The whole index."""
        return {index: self.tiles[index] + self.points[index] for index in self.tiles}

    def starts(self, number: int) -> list[tuple[IndexSum, IndexSum]]:
        """Where the tile's window starts, and a point's inside it, along each axis."""
        captures = self.block.captures
        found: list[tuple[IndexSum, IndexSum]] = []
        forms = self.block.refinement(number).access
        for form, start in zip(forms, self.block.access(number), strict=True):
            low, _ = self.split.reach(form)
            own = start.without(captures) - start.constant
            inside = own.substitute(self.points) - low
            found.append((start.substitute(self.tiles) + low, inside))
        return found

    def conditions(self, is_innermost: bool) -> tuple[list[IndexSum], list[IndexSum]]:
        """Those of the tiles (nothing of the points is in them) and of the points.

        Points that set cells have them all: they set them also where they fail.
        """
        block, split = self.block, self.split
        initializes = any(r.init is not None for r in block.refinement_list)
        all_inner = initializes and not is_innermost
        extents = zip(block.indices, block.index_ranges, split.sizes, strict=True)
        uneven = [
            -IndexSum.value(index) + (extent - 1)
            for index, extent, size in extents
            if extent % size
        ]
        moving = {index for index, point in self.points.items() if point.terms}
        outer: list[IndexSum] = []
        inner: list[IndexSum] = []
        for condition in (*block.where, *uneven):
            if all_inner or not moving.isdisjoint(condition.values):
                inner.append(condition.substitute(self.both))
            else:
                outer.append(condition.substitute(self.tiles))
        return outer, inner

    def move_statements(self) -> None:
        """Make the statements those of the points."""
        old = self.block.body.block
        substitute_captures(old.ops, self.both)
        compute_indices(old, self.both)
        views = self.body.args[len(self.split.inner) :]
        for before, after in zip(self.block.views, views, strict=True):
            before.replace_all_uses_with(after)
        move_statements(old, self.body)

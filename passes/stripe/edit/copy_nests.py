"""The nests of copies into scratch: pieces, borders, and what is filled around them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.eltwise.ops import ConstantOp
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import StoreOp
from ....dialects.stripe.schedule import Schedule
from ....targets.hardware import Hardware
from ...locations import located
from ..analysis.nests import absolute_access
from .split import tile_nest

_LEAST_SHARE = 16
"""A piece has at least one in so many of the elements that are worth a work-group: a
copy ends sooner in many pieces, but each of them is to start a few streams only."""


def build_copy(copy: BlockOp, fill: int | float, hardware: Hardware) -> list[BlockOp]:
    """Make a nest of a block of `windows_copy`: see `_tiled`.

    Where windows stick out of the buffer, blocks beside the innermost one set the cells
    that it does not copy to `fill`. These blocks are returned.
    """
    conditions, cells = copy.where, copy.indices
    axes = _target_axes(copy)
    # Tiles would keep conditions that only they decide, and nothing could be filled.
    copy.set_constraints([])
    leaf = _tiled(copy, hardware)
    if not conditions:
        return []
    starts = absolute_access(leaf.view(1)).starts
    places: dict[SSAValue, IndexSum] = {
        cell: starts[axis] for cell, axis in zip(cells, axes, strict=True)
    }
    borders = [condition.substitute(places) for condition in conditions]
    fills = [
        _fill_beyond(leaf, borders[:number], border, fill)
        for number, border in enumerate(borders)
    ]
    leaf.add_where(*borders)
    return fills


def _target_axes(copy: BlockOp) -> list[int]:
    """The axis of the target that each index of a copy steps through."""
    access = copy.refinement(1).access
    return [
        next(axis for axis, form in enumerate(access) if form.coefficients[index])
        for index in range(len(copy.index_ranges))
    ]


def _fill_beyond(
    leaf: BlockOp, inside: Sequence[IndexSum], border: IndexSum, fill: int | float
) -> BlockOp:
    """Put a block in front of `leaf` that sets the cells beyond a border of the copy.

    The parts beyond several borders do not overlap: those of the borders before are
    left out.
    """
    target = leaf.refinement(1)
    window = leaf.view_type(1)
    names = [index.name_hint for index in leaf.indices]
    body = BlockOp.empty_body(names, [(window, leaf.view(1).name_hint)])
    constant = ConstantOp(fill, window.element_type)
    body.block.add_ops([constant, StoreOp(constant.result, body.block.args[-1])])
    block = BlockOp(
        leaf.index_ranges,
        [leaf.buffer(1)],
        [target],
        body,
        captures=leaf.captures,
        constraints=leaf.conditions,
    )
    Rewriter.insert_op(located(block, leaf), InsertPoint.before(leaf))
    pairs = zip(leaf.indices, block.indices, strict=True)
    own: dict[SSAValue, IndexSum] = {
        index: IndexSum.value(copied) for index, copied in pairs
    }
    beyond = (*inside, -border - 1)
    block.add_where(*(condition.substitute(own) for condition in beyond))
    return block


def _tiled(copy: BlockOp, hardware: Hardware) -> BlockOp:
    """Tile a copy into pieces that run in parallel, and order it; the innermost block.

    It reads and writes rows as long as possible. Where another axis is contiguous in
    the source than in the target, it goes along that of the source, a few rows of the
    target at a time: `stripe-vectorize` makes squares of the two.
    """
    ranges = copy.index_ranges
    if not ranges:
        return copy
    reads = _reads(copy)
    if not isinstance(copy.parent_op(), FuncOp):
        # What is staged near its use comes from far: whole rows, as they lie there.
        order = sorted(range(len(ranges)), key=lambda index: -reads[index])
        return tile_nest(copy, Schedule.of([], orders=[order]))[-1]
    row = _row(ranges, reads)
    order = [*(index for index in range(len(ranges)) if index != row), row]
    pieces = Schedule.of([_piece(ranges, reads, hardware)], orders=[(), order])
    return tile_nest(copy, pieces)[-1]


def _row(ranges: Sequence[int], reads: Sequence[int]) -> int:
    """The index that goes along the rows of the source, by the smallest steps."""
    last = len(ranges) - 1
    moving = [n for n, extent in enumerate(ranges) if reads[n] and extent > 1]
    return min(moving, key=lambda index: (reads[index], index != last), default=last)


def _reads(copy: BlockOp) -> list[int]:
    """How far a step of each index goes in the memory that is read."""
    sizes = absolute_access(copy.buffer(0)).buffer_type.sizes
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    pairs = list(zip(copy.refinement(0).access, strides, strict=True))
    return [
        abs(sum(int(form.coefficients[index]) * stride for form, stride in pairs))
        for index in range(len(copy.index_ranges))
    ]


def _piece(
    ranges: Sequence[int], reads: Sequence[int], hardware: Hardware
) -> list[int]:
    """What one work-group copies: a row, and what lies next to it in the source.

    So the source is read page by page, and as many rows as are in a piece are written
    behind each other.
    """
    last = len(ranges) - 1
    most = hardware.overheads.group_elements
    share = prod(ranges) // hardware.overheads.stream_pieces
    remaining = max(min(share, most), most // _LEAST_SHARE)
    line = hardware.cache_line_bytes // 4
    sizes = [1] * len(ranges)
    near = sorted(range(last), key=lambda index: (reads[index] == 0, reads[index]))
    for index in (last, *near):
        sizes[index] = _even(ranges[index], remaining, line)
        remaining = max(remaining // sizes[index], 1)
    return sizes


def _even(extent: int, limit: int, line: int) -> int:
    """A size of about `limit` at most that cuts a range into parts of one size.

    Where no divisor is near, long parts are whole cache lines, of `line` elements, but
    for the last.
    """
    count = -(-extent // max(limit, 1))
    size = -(-extent // count)
    divisors = [n for n in range(size, size // 2, -1) if extent % n == 0]
    if divisors:
        return divisors[0]
    return -(-size // line) * line if size >= 4 * line and count > 1 else size

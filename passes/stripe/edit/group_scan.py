"""A running aggregation of which work-items of a group walk over neighbouring parts.

A group copies a *piece* of one or several rows to local memory. Each of its items adds
up some values that follow each other there; what an item starts from are the sums of
the items before it, put together in two short steps; then it walks over its values once
more. What comes of them is copied back as it lies in memory.

Local memory has lines of cells with one unused cell behind each. Items walk over parts
of lines, so that at each step those of a sub-group are in different banks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import Tiles
from ...locations import located
from .blocks import Window, build_block
from .group_reduction import share_reduction, spread_cells
from .partial import Lanes
from .point_block import AccessMap, PointBlock
from .redirect import replace_cell
from .scan import Piece, Scan, Space, Target, derived
from .scans import add_sums, scan_sums
from .split import tile_block

_OUT = Refinement(Direction.OUT, ())
_TREE = 16
"""How many sums an item puts together, one after the other."""


@dataclass(frozen=True)
class Team:
    """The work-items that walk over a piece of rows; all numbers are powers of two."""

    rows: int
    items: int
    """Of each row."""
    steps: int
    """Values of each item."""
    line: int
    """Cells of local memory that follow each other: the values of one item or more."""

    @property
    def length(self) -> int:
        """The values of a piece of a row."""
        return self.items * self.steps

    @property
    def lines(self) -> int:
        """Of a row."""
        return self.length // self.line

    @property
    def cells(self) -> tuple[int, int, int]:
        """The shape of a piece in local memory."""
        return (self.rows, self.lines, self.line + 1)

    @property
    def cells_in_local_memory(self) -> int:
        """Of a piece, of sums of its items and sections, and of what it starts from.

        That is added up by all items at most, in a tree.
        """
        rows, sections, *_ = self.walks
        items = self.rows * self.items
        starts = items + -(-items // _TREE) + 1
        return prod(self.cells) + items + rows * sections + starts

    @property
    def walks(self) -> tuple[int, int, int, int]:
        """Its items: rows, sections of a row, lines of a section, items of a line."""
        of_line = self.line // self.steps
        root = 1 << (self.items.bit_length() // 2)
        section = max(min(root, self.items), of_line)
        return (self.rows, self.items // section, section // of_line, of_line)

    @property
    def copies(self) -> tuple[int, ...]:
        """Its cells: rounds of rows, of lines and of cells, then items along these."""
        count = self.rows * self.items
        cells = min(self.line, count)
        lines = min(self.lines, count // cells)
        rows = count // cells // lines
        rounds = (self.rows // rows, self.lines // lines, self.line // cells)
        return (*rounds, rows, lines, cells)


def walk_together(
    scan: Scan, team: Team, most: int, cut: Callable[[Scan], None]
) -> None:
    """Add the blocks that compute a scan, each piece of rows by a group.

    What a piece starts from is what the pieces before it add up to: of `most` at most
    the group puts these together itself, of more `cut` scans them.
    """
    pieces = -(-scan.length // team.length)
    sums: dict[int, SSAValue] = {}
    if pieces > 1:
        sums = add_sums(scan, Piece(0, pieces - 1, team.length, 1))
    is_long = pieces - 1 > most
    if is_long:
        sums = {n: scan_sums(scan, n, each, cut) for n, each in sums.items()}
    piece = _Piece.of(scan, team, pieces)
    walks: list[_Walk] = []
    for number, output in enumerate(scan.outputs, len(scan.inputs)):
        walk = _Walk.of(scan, piece, number, output)
        if output in sums:
            walk.begin(sums[output], is_summed=is_long)
        walks.append(walk)
    backs = [walk.stage() for walk in walks]
    _spread_copy(piece.copy, piece.rounds)
    for walk in walks:
        walk.walk()
    for walk, back in zip(walks, backs, strict=True):
        walk.add(back)
        _spread_copy(back, piece.rounds)


def _spread_copy(block: BlockOp, rounds: int) -> None:
    """Deal out the cells of a piece; the first indices count rounds of an item."""
    ranges = block.index_ranges
    # Cells that are set first are set one by one: those of an item are apart.
    is_set = any(refinement.init is not None for refinement in block.refinement_list)
    sizes = tuple([int(is_set or n >= rounds) for n in range(len(ranges))])
    bind = tuple(
        [
            Binding.GROUP if n >= rounds else Binding.UNDECIDED
            for n in range(len(ranges))
        ]
    )
    reason = "work-items take turns at the cells of a piece"
    set_schedule(block, Schedule((Tiles(sizes, bind=bind, reason=reason),)))


@dataclass(frozen=True)
class _Piece:
    """The nest over all pieces, as long as it only copies values."""

    team: Team
    nest: BlockOp
    """The block over all pieces."""
    copy: BlockOp
    """Inside: it stores the values of a piece as they are."""
    rounds: int
    """How many of its indices count an item's rounds; the others are items."""
    cell: tuple[IndexSum, ...]
    """The place in local memory of a value, over the indices of the copy."""
    place: IndexSum
    """Which piece of its rows it is, over the indices of the nest."""
    row: tuple[IndexSum, ...]
    """The row, where a piece has one: a sum for each index of rows."""

    @staticmethod
    def of(scan: Scan, team: Team, pieces: int) -> _Piece:
        """Add the nest to the blocks of a scan."""
        rows, ranges = scan.others, scan.block.index_ranges
        outer = [pieces, *(ranges[n] for n in rows)]
        if rows:
            outer[-1] = -(-outer[-1] // team.rows)
        extents = [*outer, *team.copies]
        forms = [LinearForm.dimension(n, len(extents)) for n in range(len(extents))]
        row, line, cell = _cell(team, forms[len(outer) :])
        # The last pieces are summed up last: what is in a cache then comes first here.
        place = -forms[0] + (pieces - 1)
        walked = place * team.length + line * team.line + cell
        own = dict(zip(rows, forms[1:], strict=False))
        where = [-walked + (scan.length - 1)]
        if rows:
            last = rows[-1]
            own[last] = own[last] * team.rows + row
            where.append(-own[last] + (ranges[last] - 1))
        own |= scan.ends(walked)
        names = ["c", *(scan.block.indices[n].name_hint for n in rows)]
        names += ["rows", "lines", "cells", "row", "line", "cell"]
        space = Space(names, extents, own)
        targets = [
            Target(n, scan.block.buffer(n), space.access(scan.block, n), _OUT)
            for n in scan.outputs
        ]
        flat = derived(scan, space, targets)
        flat.set_constraints([form for form in where if form.bounds(extents)[0] < 0])
        scan.add(flat)
        nest, copy, kept = tile_block(flat, [*[1] * len(outer), *team.copies])
        many = [n for n, extent in enumerate(outer) if extent > 1]
        sums = dict(zip([*many, *kept], [*nest.indices, *copy.indices], strict=True))
        values = [
            IndexSum.value(sums[n]) if n in sums else IndexSum()
            for n in range(len(extents))
        ]
        rounds = sum(n < len(outer) + len(team.cells) for n in kept)
        cells = tuple(_cell(team, values[len(outer) :]))
        group, *row = values[: len(outer)]
        last = -group + (pieces - 1)
        return _Piece(team, nest, copy, rounds, cells, last, tuple(row))


_Sum = TypeVar("_Sum", LinearForm, IndexSum[SSAValue])


def _cell(team: Team, indices: Sequence[_Sum]) -> list[_Sum]:
    """Row, line and cell of a value, over the indices of `Team.copies`."""
    axes = len(team.cells)
    return [
        indices[axis] * team.copies[axes + axis] + indices[axes + axis]
        for axis in range(axes)
    ]


@dataclass
class _Walk:
    """How an output's values become its running aggregation."""

    scan: Scan
    piece: _Piece
    number: int
    """Of the output among the windows of the copy."""
    output: int
    """Of the output among those of the scan's block."""
    values: SSAValue
    """The piece in local memory."""
    start: SSAValue | None = None
    """What the piece starts from, if anything: one cell."""

    @staticmethod
    def of(scan: Scan, piece: _Piece, number: int, output: int) -> _Walk:
        """With local memory for the values of a piece."""
        window = piece.copy.view_type(number)
        type = ViewType.of(piece.team.cells, window.element_type, MemorySpace.LOCAL)
        hint = scan.block.buffer(output).name_hint or "out"
        values = _allocated(type, f"{hint}_piece", piece.copy)
        return _Walk(scan, piece, number, output, values)

    @property
    def aggregation(self) -> Aggregation:
        return self.scan.block.refinement(self.output).aggregation

    @property
    def element(self) -> Attribute:
        return view_type(self.values).element_type

    @property
    def identity(self) -> int | float:
        return self.aggregation.identity(self.element)

    def add(self, block: BlockOp) -> BlockOp:
        """Add a block at the end of the nest."""
        self.piece.nest.body.block.add_op(located(block, self.scan.block))
        return block

    def begin(self, sums: SSAValue, *, is_summed: bool) -> None:
        """Let a group find what its piece starts from.

        By the sum of each piece, or, if they are summed, of all pieces before one.
        """
        nest, copy = self.piece.nest, self.piece.copy
        type = view_type(sums)
        count, *_ = type.sizes
        first = self.piece.place if is_summed else IndexSum()
        size = 1 if is_summed else count
        window = type.resized([size, *[1] * (type.rank - 1)])
        starts = (first, *self.piece.row)
        access = tuple(start.form(nest.indices) for start in starts)
        view = nest.add_input(sums, Refinement(Direction.IN, access), window, "sums")
        if is_summed:
            self.start = view
            return
        start = _allocated(
            ViewType.of([1] * type.rank, self.element, MemorySpace.LOCAL), "start", copy
        )
        block = PointBlock([count], ["k"], self.scan.block, self.piece.place.values)
        other, _ = _dimensions(2)
        place = self.piece.place.form([*block.indices, *self.piece.place.values])
        corner = (block.zero,) * (type.rank - 1)
        value = block.load(view, (other, *corner))
        block.store(
            value, start, (block.zero, *corner), self.aggregation, self.identity
        )
        sum_of_pieces = block.finish(None, [place - other - 1])
        Rewriter.insert_op(located(sum_of_pieces, copy), InsertPoint.before(copy))
        team = self.piece.team
        turns = min(team.rows * team.items, 1 << (count - 1).bit_length())
        reason = f"{turns} work-items take turns at the pieces before"
        share_reduction(sum_of_pieces, Lanes(0, turns), _radices(turns), reason)
        self.start = start

    def stage(self) -> BlockOp:
        """Let the copy go to local memory; a block that stores what is there."""
        copy, number = self.piece.copy, self.number
        back = self._back()
        replace_cell(copy, number, self.values, self.piece.cell)
        if copy.conditions:
            used = copy.refinement(number)
            copy.set_refinement(
                number,
                replace(used, aggregation=self.aggregation, init=self.identity),
            )
        return back

    def _back(self) -> BlockOp:
        """A block that stores the cells of a piece where the copy stores now."""
        copy, number = self.piece.copy, self.number
        body = BlockOp.empty_body(
            [index.name_hint for index in copy.indices],
            [(view_type(self.values).cell, "from"), (copy.view_type(number), "to")],
        )
        *indices, source, target = body.block.args
        load = LoadOp(source)
        body.block.add_ops([load, StoreOp(load.result, target)])
        own = dict[SSAValue, IndexSum](
            zip(copy.indices, map(IndexSum.value, indices), strict=True)
        )
        places = [each.substitute(own) for each in self.piece.cell]
        cell = [each.substitute(own) for each in copy.access(number)]
        where = [each.substitute(own) for each in copy.where]
        windows = [
            Window(self.values, places, Refinement(Direction.IN, ())),
            Window(copy.buffer(number), cell, Refinement(Direction.OUT, ())),
        ]
        return build_block(copy.index_ranges, windows, body, where)

    def walk(self) -> None:
        """Add what makes a running aggregation of the values in local memory."""
        team = self.piece.team
        rows, sections, lines, own = team.walks
        origin = self.scan.block
        names = ["row", "section", "line", "own"]
        parts = sums = None
        if team.items > 1:
            parts = self._local([rows, sections, lines, own])
            block = PointBlock([*team.walks, team.steps], [*names, "t"], origin)
            row, section, line, item, step = _dimensions(5)
            cell = (row, section * lines + line, item * team.steps + step)
            value = block.load(self.values, cell)
            place = (row, section, line, item)
            block.store(value, parts, place, self.aggregation, self.identity)
            spread_cells(self.add(block.finish(None)), "an item's values")
        if parts is not None and sections > 1:
            sums = self._local([rows, sections])
            block = PointBlock([rows, sections, lines, own], names, origin)
            row, section, line, item = _dimensions(4)
            value = block.load(parts, (row, section, line, item))
            block.store(value, sums, (row, section), self.aggregation, self.identity)
            spread_cells(self.add(block.finish(None)), "a section's values")
        self._add_walks(parts, sums)

    def _local(self, shape: Sequence[int]) -> SSAValue:
        type = ViewType.of(shape, self.element, MemorySpace.LOCAL)
        return _allocated(type, "sums", self.piece.copy)

    def _add_walks(self, parts: SSAValue | None, sums: SSAValue | None) -> None:
        """Each item walks over its values, from what the items before it have."""
        team, origin = self.piece.team, self.scan.block
        _, sections, lines, own = team.walks
        nest = PointBlock(team.walks, ["row", "section", "line", "own"], origin)
        row, section, line, item = _dimensions(4)
        zero = nest.zero
        cell = (row, section * lines + line, item * team.steps)
        values = nest.window(
            self.values, Refinement(Direction.INOUT, cell), [1, 1, team.steps]
        )
        state = nest.allocate([1], self.element, "state")
        if self.start is None:
            first = PointBlock([], [], origin)
            first.store(
                first.constant(self.identity, self.element), state, (first.zero,)
            )
        else:
            rank = view_type(self.start).rank
            window = nest.window(
                self.start, Refinement(Direction.IN, (zero,) * rank), [1] * rank
            )
            first = PointBlock([], [], origin)
            first.store(first.load(window, (first.zero,) * rank), state, (first.zero,))
        nest.nest(first.finish(None))
        _, its_section, its_line, its_item = nest.indices
        if sums is not None:
            window = nest.window(
                sums, Refinement(Direction.IN, (row, zero)), [1, sections]
            )
            block = PointBlock([sections], ["k"], origin, [its_section])
            other, place = _dimensions(2)
            self._aggregate(block, window, (block.zero, other), state)
            nest.nest(block.finish(None, [place - other - 1], serial=True))
        if parts is not None:
            window = nest.window(
                parts,
                Refinement(Direction.IN, (row, section, zero, zero)),
                [1, 1, lines, own],
            )
            block = PointBlock([lines, own], ["k", "l"], origin, [its_line, its_item])
            line, item, at, place = _dimensions(4)
            self._aggregate(block, window, (block.zero, block.zero, line, item), state)
            before = (at - line) * own + place - item - 1
            nest.nest(block.finish(None, [before], serial=True))
        block = PointBlock([team.steps], ["t"], origin)
        cell = (block.zero, block.zero, LinearForm.dimension(0, 1))
        self._aggregate(block, values, cell, state, is_kept=True)
        nest.nest(block.finish(None, serial=True))
        self.add(nest.finish(None, bindings=[Binding.GROUP] * 4))

    def _aggregate(
        self,
        block: PointBlock,
        view: SSAValue,
        access: AccessMap,
        state: SSAValue,
        *,
        is_kept: bool = False,
    ) -> None:
        """Aggregate a cell into the state, which the cell may hold from then on."""
        function = self.aggregation.function
        if function is None:
            raise ValueError("expected an output that aggregates")
        direction = Direction.INOUT if is_kept else Direction.IN
        so_far = block.window(state, Refinement(Direction.INOUT, (block.zero,)), [1])
        cell = block.window(view, Refinement(direction, access), [1] * len(access))
        operands = [block.load_from(so_far), block.load_from(cell)]
        after = block.apply(function, operands, self.element)
        block.store_to(after, so_far)
        if is_kept:
            block.store_to(after, cell)


def _dimensions(rank: int) -> list[LinearForm]:
    return [LinearForm.dimension(n, rank) for n in range(rank)]


def _radices(parts: int) -> tuple[int, ...]:
    """Of a tree over a power of two of parts, in which no item has many of them."""
    found: list[int] = []
    while parts > 1:
        found.append(min(parts, _TREE))
        parts //= found[-1]
    return tuple(found)


def _allocated(type: ViewType, name: str, before: Operation) -> SSAValue:
    """A buffer that is allocated ahead of a block."""
    allocation = located(AllocOp(type, name), before)
    Rewriter.insert_op(allocation, InsertPoint.before(before))
    return allocation.view

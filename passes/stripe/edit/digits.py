"""Aggregations along rows whose cells are dealt out by digits of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, Refinement, view_type
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import Points, Tiles
from ...locations import located
from .blocks import Window, build_block, compute_indices, move_statements


@dataclass(frozen=True)
class Digits:
    """An index as `sum(digit * step)`, each digit with so many values and a binding."""

    counts: tuple[int, ...]
    steps: tuple[int, ...]
    bind: tuple[Binding, ...]

    @property
    def names(self) -> list[str]:
        """Of the digits."""
        return [each.value for each in self.bind]

    def value(self, digits: list[IndexSum]) -> IndexSum:
        """The index."""
        pairs = zip(digits, self.steps, strict=True)
        return sum((digit * step for digit, step in pairs), start=IndexSum())


def aggregate_parts(
    block: BlockOp,
    output: int,
    rows: tuple[int, Digits],
    columns: tuple[int, Digits],
    memory: SSAValue,
    reason: str,
) -> tuple[BlockOp, BlockOp]:
    """Replace a block that aggregates columns by one over parts, and one over these.

    A part has the values of a row that one work-item has: those with the same digits
    that are bound to work-items. Parts are rows of `memory`, of which the last axis is
    that of the rows, the one before that of the parts. `rows` and `columns` are indices
    of the block; others have one value.
    """
    row, of_rows = rows
    column, of_columns = columns
    split = _Parts(block, output, memory, row, of_rows, column, of_columns)
    first, last = split.first(), split.last()
    block.replace_by(located(first, block), located(last, block))
    taken = split.taken
    bind = [*of_rows.bind, *of_columns.bind]
    summed = {len(of_rows.counts) + n for n in range(len(taken)) if not taken[n]}
    none = Binding.UNDECIDED
    tile = tuple([0 if n in summed else 1 for n in range(len(bind))])
    outer = tuple([none if n in summed else own for n, own in enumerate(bind)])
    inner = tuple([own if n in summed else none for n, own in enumerate(bind)])
    levels = (Tiles(tile, bind=outer, reason=reason),)
    set_schedule(first, Schedule(levels, Points(bind=inner)))
    return first, last


@dataclass(frozen=True)
class _Parts:
    block: BlockOp
    output: int
    memory: SSAValue
    row: int
    of_rows: Digits
    column: int
    of_columns: Digits

    @property
    def taken(self) -> list[bool]:
        """Which digits of columns tell the part."""
        in_group = (Binding.SUBGROUP, Binding.LANE)
        return [binding in in_group for binding in self.of_columns.bind]

    @property
    def count(self) -> int:
        """How many parts there are."""
        total = 1
        for own, count in zip(self.taken, self.of_columns.counts, strict=True):
            total *= count if own else 1
        return total

    def _cell(self, part: IndexSum, row: IndexSum) -> list[IndexSum]:
        """Where a part is."""
        return [IndexSum()] * (view_type(self.memory).rank - 2) + [part, row]

    def first(self) -> BlockOp:
        """The block over digits, which aggregates parts."""
        old, rank = self.block, len(self.of_rows.counts)
        one = view_type(self.memory).cell
        types = [
            (one if n == self.output else old.view_type(n), view.name_hint)
            for n, view in enumerate(old.views)
        ]
        names = [*self.of_rows.names, *self.of_columns.names]
        body = BlockOp.empty_body(names, types)
        digits = [IndexSum.value(each) for each in body.block.args[: len(names)]]
        of_row, of_column = digits[:rank], digits[rank:]
        whole: dict[SSAValue, IndexSum] = dict.fromkeys(old.indices, IndexSum())
        whole[old.indices[self.row]] = self.of_rows.value(of_row)
        whole[old.indices[self.column]] = self.of_columns.value(of_column)
        part = IndexSum()
        for digit, own, count in zip(
            of_column, self.taken, self.of_columns.counts, strict=True
        ):
            part = part * count + digit if own else part
        windows: list[Window] = []
        for number, access in enumerate(old.accesses):
            starts = [start.substitute(whole) for start in access]
            use, buffer = old.refinement(number), old.buffer(number)
            if number == self.output:
                starts = self._cell(part, whole[old.indices[self.row]])
                element = old.view_type(number).element_type
                init = use.aggregation.identity(element)
                use, buffer = replace(use, init=init), self.memory
            windows.append(Window(buffer, starts, use))
        where = [condition.substitute(whole) for condition in old.where]
        compute_indices(old.body.block, whole)
        for before, after in zip(old.views, body.block.args[len(names) :], strict=True):
            before.replace_all_uses_with(after)
        move_statements(old.body.block, body.block)
        ranges = [*self.of_rows.counts, *self.of_columns.counts]
        return build_block(ranges, windows, body, where, like=old)

    def last(self) -> BlockOp:
        """The block that aggregates the parts of each row."""
        old = self.block
        element = old.view_type(self.output)
        one = view_type(self.memory).cell
        name = old.view(self.output).name_hint
        body = BlockOp.empty_body(["row", "part"], [(one, "part"), (element, name)])
        row, part, source, target = body.block.args
        load = LoadOp(source)
        body.block.add_ops([load, StoreOp(load.result, target)])
        own: dict[SSAValue, IndexSum] = dict.fromkeys(old.indices, IndexSum())
        own[old.indices[self.row]] = IndexSum.value(row)
        cell = [start.substitute(own) for start in old.access(self.output)]
        parts = self._cell(IndexSum.value(part), IndexSum.value(row))
        windows = [
            Window(self.memory, parts, Refinement(Direction.IN, ())),
            Window(old.buffer(self.output), cell, old.refinement(self.output)),
        ]
        column = old.indices[self.column]
        where = [
            each.substitute(own) for each in old.where if column not in each.values
        ]
        ranges = [old.index_ranges[self.row], self.count]
        return build_block(ranges, windows, body, where, like=old)

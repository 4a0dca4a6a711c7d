"""A nest over long rows as several nests over parts of them, one after the other.

What aggregates along a row is known when all parts of it have been read. So a nest like
softmax becomes as many as there are aggregations in turn, and one more:

```mlir
stripe.block "Y" [%m : 33]
    in %x = %X[%m, 0] : 1x100000
    out %y = %Y[%m, 0] : 1x100000 {
  %Top = stripe.alloc : !stripe.view<1x1xf32, private>
  ... the maximum of %x into %Top, exponentials, their sum, quotients ...
}
```

Each aggregates its parts of rows into a cell, and the next ones put the cells of a row
together again, each point for itself. What is computed of each value on the way is
computed again where it is needed, so that nothing else is handed on:

```mlir
%Top_parts = stripe.alloc : !stripe.view<33x25x1x1xf32>
stripe.block "Y" [%m : 33, %c : 25]
    in %x = %X[%m, 4000 * %c] : 1x4000
    out %top = %Top_parts[%m, %c, 0, 0] : 1x1x1x1 {
  ... the maximum of %x into %top ...
}
stripe.block "Y" [%m : 33, %c : 25]
    in %x = %X[%m, 4000 * %c] : 1x4000
    in %tops = %Top_parts[%m, 0, 0, 0] : 1x25x1x1
    out %sum = %Sum_parts[%m, %c, 0, 0] : 1x1x1x1 {
  ... the maximum of %tops into %Top, exponentials, their sum into %sum ...
}
stripe.block "Y" [%m : 33, %c : 25]
    in %x = %X[%m, 4000 * %c] : 1x4000
    in %tops = %Top_parts[%m, 0, 0, 0] : 1x25x1x1
    in %sums = %Sum_parts[%m, 0, 0, 0] : 1x25x1x1
    out %y = %Y[%m, 4000 * %c] : 1x4000 {
  ... %Top and %Sum, exponentials, quotients ...
}
```
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import located
from ..analysis.nests import output_indices, reduction_indices, root_buffer
from .blocks import Window, build_block, compute_indices
from .copies import copy_block
from .localize import localize
from .redirect import replace_cell
from .row_cut import RowCut, RowLeaf, RowUse, is_only_used_by


def cut_rows(
    nest: BlockOp, indices: Mapping[BlockOp, int | None], size: int
) -> list[BlockOp]:
    """Replace a nest by nests over parts of its rows, each of so many values.

    `indices` are those of the leaves that go along rows, if any. Returns the new nests;
    none where the nest is left as it is.
    """
    if RowCut.of(nest, indices, size) is None:
        return []
    handed_on = dict.fromkeys(root_buffer(buffer) for buffer in nest.buffers)
    scratch = [m.owner for m in handed_on if is_only_used_by(m, nest)]
    localize(nest, [op for op in scratch if isinstance(op, AllocOp)], sys.maxsize)
    cut = RowCut.of(nest, indices, size)
    return [] if cut is None else _apply(cut)


def _apply(cut: RowCut) -> list[BlockOp]:
    """Put the new nests in place of the old one; those."""
    parts: dict[SSAValue, SSAValue] = {}
    nests: list[BlockOp] = []
    for level in range(max(cut.levels.values()) + 1):
        wanted = [
            leaf
            for leaf in cut.leaves
            if cut.levels[leaf.block] == level
            and leaf.kind is not RowUse.IS_APART
            and (leaf.kind is RowUse.AGGREGATES or cut.is_result(leaf))
        ]
        if wanted:
            nests.append(_Phase(cut, wanted, parts, is_cut=True).build())
    results = [
        leaf
        for leaf in cut.leaves
        if leaf.kind is not RowUse.COMPUTES and cut.is_result(leaf)
    ]
    if results:
        nests.append(_Phase(cut, results, parts, is_cut=False).build())
    cut.nest.replace_by(*nests)
    return nests


class _Phase:
    """One of the new nests: some leaves, and those that they need."""

    def __init__(
        self,
        cut: RowCut,
        wanted: Sequence[RowLeaf],
        parts: dict[SSAValue, SSAValue],
        *,
        is_cut: bool,
    ) -> None:
        self._cut = cut
        self._nest = cut.nest
        self._wanted = wanted
        self._parts = parts
        self._is_cut = is_cut
        self._windows: list[Window] = []
        self._computed: set[BlockOp] = set()
        self._summed: set[BlockOp] = set()
        self._cells: dict[SSAValue, SSAValue] = {}
        for leaf in wanted:
            if leaf.kind is RowUse.AGGREGATES and not is_cut:
                self._summed.add(leaf.block)
            else:
                self._need(leaf)

    def _need(self, leaf: RowLeaf) -> None:
        """Note a leaf, and those whose values it reads."""
        if leaf.block in self._computed:
            return
        self._computed.add(leaf.block)
        for memory in leaf.used(reads=True):
            writer = self._cut.writers.get(memory)
            if writer is None:
                continue
            if writer.kind is RowUse.AGGREGATES:
                self._summed.add(writer.block)
            else:
                self._need(writer)

    @cached_property
    def _indices(self) -> list[SSAValue]:
        """The indices of the new nest: the old ones, and that of the part of rows."""
        return [*self._body.args[: len(self._ranges)]]

    @cached_property
    def _ranges(self) -> list[int]:
        cut = [self._cut.count] if self._is_cut else []
        return [*self._nest.index_ranges, *cut]

    @cached_property
    def _body(self) -> Block:
        names = [index.name_hint for index in self._nest.indices] + ["c"]
        body = Block(arg_types=[IndexType()] * len(self._ranges))
        for index, name in zip(body.args, names, strict=False):
            index.name_hint = name
        return body

    @property
    def _part(self) -> IndexSum:
        """Which part of its rows a point has."""
        return IndexSum.value(self._indices[-1])

    def build(self) -> BlockOp:
        """The nest; what it aggregates has a buffer of parts before the old one."""
        renamed = dict[SSAValue, SSAValue](
            zip(self._nest.indices, self._indices, strict=False)
        )
        for leaf in self._cut.leaves:
            is_target = leaf in self._wanted and leaf.kind is RowUse.AGGREGATES
            if leaf.block in self._computed:
                self._add_leaf(leaf, renamed, is_target=is_target)
            elif leaf.block in self._summed:
                self._add_sums(leaf, renamed)
        handed_out = [] if self._is_cut else [*self._handed_out()]
        nest = build_block(
            self._ranges,
            self._windows,
            Region(self._body),
            like=self._nest,
        )
        for cells, target in handed_out:
            # In the nest it is known which of the cells exist.
            nest.body.block.add_op(located(copy_block(cells, target), self._nest))
        return located(nest, self._nest)

    def _add_leaf(
        self, leaf: RowLeaf, renamed: dict[SSAValue, SSAValue], *, is_target: bool
    ) -> None:
        """A leaf, over a part of the rows if it goes along these."""
        for number, use in enumerate(leaf.block.refinement_list):
            if not (is_target and use.direction.writes):
                self._rename(leaf, number, renamed)
        block = leaf.block.clone()
        for operation in block.walk():
            operation.operands = [
                renamed.get(each, each) for each in operation.operands
            ]
        self._body.add_op(located(block, leaf.block))
        if self._is_cut and leaf.index is not None:
            self._narrow(leaf, block)
        if is_target:
            for number, use in enumerate(block.refinement_list):
                if use.direction.writes:
                    self._hand_on(leaf, block, number)

    def _rename(
        self, leaf: RowLeaf, number: int, renamed: dict[SSAValue, SSAValue]
    ) -> SSAValue:
        """What stands for a buffer of the old nest."""
        buffer = leaf.block.buffer(number)
        if buffer not in renamed:
            renamed[buffer] = self._buffer(leaf, number)
        return renamed[buffer]

    def _buffer(self, leaf: RowLeaf, number: int) -> SSAValue:
        """A window like one of the old nest, or memory of the new one."""
        buffer, memory = leaf.block.buffer(number), leaf.memories[number]
        if self._cut.is_cell(memory):
            if memory not in self._cells:
                private = view_type(buffer).in_space(MemorySpace.PRIVATE)
                self._cells[memory] = self._allocated(private, buffer)
            return self._cells[memory]
        type = view_type(buffer)
        axis = self._cut.axes[buffer] if self._is_cut else None
        if axis is not None:
            sizes = [*type.sizes]
            sizes[axis] = self._cut.size
            type = type.resized(sizes)
        if not isinstance(buffer, BlockArgument):
            return self._allocated(type, buffer)
        return self._shown(buffer, type, axis)

    def _allocated(self, type: ViewType, like: SSAValue) -> SSAValue:
        """Memory of the new nest, called like a buffer."""
        allocation = AllocOp(type, like.name_hint)
        self._body.add_op(located(allocation, self._nest))
        return allocation.view

    def _handed_out(self) -> Iterator[tuple[SSAValue, SSAValue]]:
        """The cells that leaves write, and windows to where the old nest has them."""
        for leaf in self._wanted:
            for number, memory in enumerate(leaf.memories):
                buffer = leaf.block.buffer(number)
                is_out = leaf.block.refinement(number).direction.writes
                if is_out and isinstance(buffer, BlockArgument):
                    target = self._shown(buffer, view_type(buffer), None)
                    yield self._cells[memory], target

    def _shown(
        self, buffer: BlockArgument, type: ViewType, axis: int | None
    ) -> SSAValue:
        """A window like one of the old nest; of a part of rows, along an axis."""
        old = self._nest.views.index(buffer)
        own = self._renamed_indices()
        starts = [start.substitute(own) for start in self._nest.access(old)]
        if axis is not None:
            starts[axis] += self._part * self._cut.size
        return self._window(
            self._nest.buffer(old), starts, self._nest.refinement(old), type, buffer
        )

    def _renamed_indices(self) -> dict[SSAValue, IndexSum]:
        new = map(IndexSum.value, self._indices)
        return dict(zip(self._nest.indices, new, strict=False))

    def _window(
        self,
        buffer: SSAValue,
        starts: Sequence[IndexSum],
        use: Refinement,
        type: ViewType,
        like: SSAValue,
    ) -> SSAValue:
        """Another window of the new nest."""
        self._windows.append(Window(buffer, starts, use))
        view = self._body.insert_arg(type, len(self._body.args))
        view.name_hint = like.name_hint
        return view

    def _narrow(self, leaf: RowLeaf, block: BlockOp) -> None:
        """Let a block go along a part of the rows."""
        if leaf.index is None:
            return
        cut, own = self._cut, block.indices[leaf.index]
        place = IndexSum.value(own) + self._part * cut.size
        whole: dict[SSAValue, IndexSum] = {own: place}
        accesses = [
            tuple([start.substitute(whole) for start in access])
            if cut.axes[buffer] is None
            else access
            for buffer, access in zip(leaf.block.buffers, block.accesses, strict=True)
        ]
        where = [condition.substitute(whole) for condition in block.where]
        if cut.length % cut.size:
            where.append(-place + (cut.length - 1))
        compute_indices(block.body.block, whole)
        block.set_range(leaf.index, cut.size)
        block.rewrite(accesses, where)

    def _hand_on(self, leaf: RowLeaf, block: BlockOp, number: int) -> None:
        """Let a block aggregate into a cell of the parts."""
        memory = leaf.memories[number]
        cells = view_type(leaf.block.buffer(number))
        shape = [*self._nest.index_ranges, self._cut.count, *cells.sizes]
        name = f"{memory.name_hint or 'out'}_parts"
        allocation = AllocOp(ViewType.of(shape, cells.element_type), name)
        located(allocation, self._nest)
        Rewriter.insert_op(allocation, InsertPoint.before(self._nest))
        self._parts[memory] = allocation.view
        rank = len(self._ranges)
        starts = [*map(IndexSum.value, self._indices), *[IndexSum()] * cells.rank]
        type = allocation.view.type.resized([*[1] * rank, *cells.sizes])
        use = Refinement(Direction.OUT, ())
        view = self._window(allocation.view, starts, use, type, block.view(number))
        cell = [*[IndexSum()] * rank, *block.access(number)]
        replace_cell(block, number, view, cell)

    def _add_sums(self, leaf: RowLeaf, renamed: dict[SSAValue, SSAValue]) -> None:
        """Put the parts of a row together that an earlier nest has found."""
        for number, use in enumerate(leaf.block.refinement_list):
            if use.direction.writes:
                self._add_sum(leaf, number, renamed)

    def _add_sum(
        self, leaf: RowLeaf, number: int, renamed: dict[SSAValue, SSAValue]
    ) -> None:
        old, memory = leaf.block, leaf.memories[number]
        buffer, parts = old.buffer(number), self._parts[memory]
        target_buffer = self._rename(leaf, number, renamed)
        count, rows = self._cut.count, len(self._nest.index_ranges)
        cells = view_type(buffer)
        type = view_type(parts).resized([*[1] * rows, count, *cells.sizes])
        starts = [*map(IndexSum.value, self._indices[:rows])]
        starts += [IndexSum()] * (1 + cells.rank)
        view = self._window(parts, starts, Refinement(Direction.IN, ()), type, parts)
        kept = sorted(output_indices(old))
        body = BlockOp.empty_body(
            [*(old.indices[index].name_hint for index in kept), "k"],
            [(type.cell, "part"), (old.view_type(number), old.view(number).name_hint)],
        )
        *_, target = body.block.args
        _set_space(target, target_buffer)
        *indices, source, target = body.block.args
        load = LoadOp(source)
        body.block.add_ops([load, StoreOp(load.result, target)])
        own = self._renamed_indices()
        for index, new in zip(kept, indices, strict=False):
            own[old.indices[index]] = IndexSum.value(new)
        cell = [start.substitute(own) for start in old.access(number)]
        part = [*[IndexSum()] * rows, IndexSum.value(indices[-1]), *cell]
        gone = {old.indices[index] for index in reduction_indices(old)}
        where = [
            condition.substitute(own)
            for condition in old.where
            if gone.isdisjoint(condition.values)
        ]
        windows = [
            Window(view, part, Refinement(Direction.IN, ())),
            Window(target_buffer, cell, old.refinement(number)),
        ]
        ranges = [*(old.index_ranges[index] for index in kept), count]
        block = build_block(ranges, windows, body, where, like=old)
        self._body.add_op(located(block, old))


def _set_space(view: SSAValue, buffer: SSAValue) -> None:
    """Let a window be in the memory of what it is cut from."""
    type, space = view_type(view), view_type(buffer).space.data
    if type.space.data is not space:
        Rewriter.replace_value_with_new_type(view, type.in_space(space))

"""How the work-items of a group share a nest over rows.

What fusion made one nest, as softmax or a norm, has blocks that aggregate along a row
and blocks that compute each of its cells, and buffers that hand values on. All of them
are dealt out along the index along which buffers are contiguous, in the same way: item
`n` of 256 has the cells `n`, `n + 256` and so on.

So a buffer that every block uses at its own cells is an item's, in registers: it is
*divided*. What the items of a row use together, as the maximum that a tree has found,
is in local memory. What several blocks read of an input is read once, into registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .....dialects.eltwise.ops import value_bytes
from .....dialects.stripe.attributes import Direction, MemorySpace, ViewType, view_type
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp, StoreOp
from .....targets.hardware import Hardware
from ....locations import located
from ...analysis.nests import (
    reduction_indices,
    root_buffer,
)
from ...edit.blocks import retarget
from ...edit.copies import cell_bounds, copy_block
from ...edit.cut_rows import cut_rows
from ...edit.group_reduction import deal_cells, share_reduction, spread_cells
from ...edit.partial import Lanes, deal_out
from ..model.tree import tree_radices
from .nest_leaves import LeafShare, NestLeaf, leaves_of
from .turns import part_of_rows, row_registers, turns_of

_STAGED_SHARE = 0.75
"""The part of the local memory that rows may take which are copied there."""


def share_nest(nest: BlockOp, hardware: Hardware) -> bool:
    """Let the work-items of groups share a nest; False where they can not."""
    leaves = leaves_of(nest)
    if leaves is None:
        return False
    sharing = _Sharing(nest, _with_turns(leaves, nest, hardware), hardware)
    if not sharing.fits():
        return False
    sharing.apply()
    return True


def cut_nest(nest: BlockOp, hardware: Hardware) -> list[BlockOp]:
    """Nests over parts of rows where rows are few or long; none where they are not.

    Groups of a nest over whole rows would leave most cores without work, or have more
    cells of a row than registers.
    """
    leaves = leaves_of(nest)
    if not leaves:
        return []
    length = _length(leaves)
    width = max(leaf.rows for leaf in leaves) if leaves[0].is_column else 1
    size = part_of_rows(length, prod(nest.index_ranges), hardware, width)
    if size >= length:
        return []
    indices = {
        leaf.block: leaf.index if leaf.extent == length else None for leaf in leaves
    }
    return cut_rows(nest, indices, size)


def _with_turns(
    leaves: Sequence[NestLeaf], nest: BlockOp, hardware: Hardware
) -> list[NestLeaf]:
    """The same, with as many items as are worth having.

    There are more than usual where the cells of one would not fit its registers.
    """
    rows = max((leaf.rows for leaf in leaves), default=1)
    longest = _length(leaves)
    buffers = sum(
        isinstance(view.type, ViewType) and prod(view.type.sizes) >= longest
        for view in _memories(nest)
    )
    most = row_registers(hardware) // max(buffers, 1)
    items = max(hardware.work_group_size // rows, 1)
    while 2 * items * rows <= hardware.work_group_limit and longest > items * most:
        items *= 2
    return [
        replace(leaf, turns=_turns(leaf, longest, items, hardware)) for leaf in leaves
    ]


def _length(leaves: Sequence[NestLeaf]) -> int:
    """The values of a row; what has a number for each row does not go along them."""
    rows = max((leaf.rows for leaf in leaves), default=1)
    return max((leaf.extent for leaf in leaves if leaf.rows == rows), default=1)


def _turns(leaf: NestLeaf, longest: int, items: int, hardware: Hardware) -> int:
    """How many items take turns: all that have something, at the parts of a row."""
    is_sum = leaf.index in reduction_indices(leaf.block)
    if is_sum and leaf.extent < longest:
        return 1 << (min(leaf.extent, items).bit_length() - 1)
    return turns_of(leaf.extent, items, hardware.lanes)


def _memories(nest: BlockOp) -> list[SSAValue]:
    """What may be kept in registers: the buffers of a nest, and what it reads."""
    inside = [op.view for op in nest.body.block.ops if isinstance(op, AllocOp)]
    return [*inside, *(nest.view(number) for number in _inputs(nest))]


def _inputs(nest: BlockOp) -> list[int]:
    """The windows of what nothing in a nest writes and several blocks read."""
    written = {root_buffer(nest.buffer(number)) for number in nest.written}
    return [
        number
        for number, refinement in enumerate(nest.refinement_list)
        if refinement.direction is Direction.IN
        and root_buffer(nest.buffer(number)) not in written
        and len([*nest.view(number).uses]) > 1
    ]


class _Sharing:
    """How a nest is shared; nothing is changed before `apply`."""

    def __init__(
        self, nest: BlockOp, leaves: Sequence[NestLeaf], hardware: Hardware
    ) -> None:
        self._nest = nest
        self._hardware = hardware
        self._leaves = {leaf.block: leaf for leaf in leaves}
        self._allocations = [
            op for op in nest.body.block.ops if isinstance(op, AllocOp)
        ]
        self._divided = {
            allocation: share
            for allocation in self._allocations
            if (share := self._share(allocation.view)) is not None
        }

    def _share(self, view: SSAValue) -> LeafShare | None:
        """How all blocks divide a buffer; None where they do not, or differently."""
        shares: set[LeafShare | None] = set()
        for use in view.uses:
            block = use.operation
            leaf = self._leaves.get(block) if isinstance(block, BlockOp) else None
            shares.add(None if leaf is None else leaf.share(use.index))
        return shares.pop() if len(shares) == 1 else None

    @property
    def _is_column(self) -> bool:
        return any(leaf.is_column for leaf in self._leaves.values())

    @cached_property
    def _items(self) -> int:
        """The work-items of a group."""
        leaves = self._leaves.values()
        return max((leaf.turns * leaf.rows for leaf in leaves), default=0)

    def fits(self) -> bool:
        """Whether groups are large enough, and so is local memory."""
        if not 1 < self._items <= self._hardware.work_group_limit:
            return False
        return self._needed <= self._hardware.local_memory_bytes

    @cached_property
    def _needed(self) -> int:
        """The local memory that is not for rows which are copied there."""
        shared = [each for each in self._allocations if each not in self._divided]
        used = sum(each.view.type.bytes for each in shared)
        # A tree has fewer parts behind its first level than there.
        for leaf in self._leaves.values():
            if leaf.turns > 1 and leaf.index in reduction_indices(leaf.block):
                used += 2 * 8 * leaf.turns * leaf.rows
        return used

    def apply(self) -> None:
        """Deal out the blocks, and put buffers where they belong."""
        copies = [self._stage(number) for number in self._staged]
        self._keep_inputs()
        for allocation in self._allocations:
            if allocation not in self._divided:
                move_to_local(allocation)
        for leaf in self._leaves.values():
            self._deal(leaf)
        for allocation, share in self._divided.items():
            if share.turns > 1:
                deal_cells(allocation, share.axis, share.turns)
        for copy in copies:
            self._deal_rows(copy)

    @cached_property
    def _staged(self) -> list[int]:
        """The windows of short rows: lanes would access few cells of each at a time.

        A group has the rows one behind the other, and copies all of them at once, as
        far as there is local memory; some is for the tree.
        """
        memory = self._hardware.local_memory_bytes
        left = min(memory * _STAGED_SHARE, memory - self._needed)
        found: list[int] = []
        for number in range(len(self._nest.views)):
            size = _padded(self._nest.view_type(number)).bytes
            if size <= left and self._is_staged(number):
                found.append(number)
                left -= size
        return found

    def _is_staged(self, number: int) -> bool:
        nest, view = self._nest, self._nest.view(number)
        type, share = nest.view_type(number), self._share(view)
        if share is None or type.rank < 2 or share.axis != type.rank - 1:
            return False
        *outer, rows, row = type.sizes
        sector = self._hardware.lanes.sector_bytes
        is_short = share.turns * value_bytes(type.element_type) < sector
        is_tall = prod(outer) == 1 < rows and share.turns < row <= self._items
        is_whole = view_type(nest.buffer(number)).sizes[-1] == row
        if not (is_short and is_tall and is_whole):
            return False
        root = root_buffer(nest.buffer(number))
        if [root_buffer(buffer) for buffer in nest.buffers].count(root) > 1:
            # What one block writes and another one reads is where they find it.
            return False
        direction = nest.refinement(number).direction
        return direction is Direction.IN or self._is_filled(number)

    def _is_filled(self, number: int) -> bool:
        """Whether one block assigns each cell of an output that the buffer has."""
        view = self._nest.view(number)
        leaf, *others = [use.operation for use in view.uses]
        if others or not isinstance(leaf, BlockOp):
            return False
        own = leaf.buffers.index(view)
        sizes = [
            prod(leaf.index_ranges[index] for index in form.support)
            for form in leaf.refinement(own).access
        ]
        stores = [use.operation for use in leaf.view(own).uses]
        return (
            all(isinstance(op, StoreOp) and op.condition is None for op in stores)
            and tuple(sizes) == view_type(view).sizes
            and {*leaf.where} <= {*cell_bounds(view, leaf.access(own))}
        )

    def _stage(self, number: int) -> BlockOp:
        """Let blocks use rows in local memory; the copy from there, or to there."""
        nest, view = self._nest, self._nest.view(number)
        type = _padded(view_type(view))
        name = f"{view.name_hint or 'row'}_rows"
        local = located(AllocOp(type.in_space(MemorySpace.LOCAL), name), nest)
        retarget(view, local.view)
        Rewriter.insert_op(local, InsertPoint.at_start(nest.body.block))
        if nest.refinement(number).direction.writes:
            copy = located(copy_block(local.view, view), nest)
            nest.body.block.add_op(copy)
        else:
            copy = located(copy_block(view, local.view), nest)
            Rewriter.insert_op(copy, InsertPoint.after(local))
        return copy

    def _keep_inputs(self) -> None:
        """Read what several blocks read into registers first, where these suffice."""
        most = row_registers(self._hardware)
        for number in _inputs(self._nest):
            view = self._nest.view(number)
            share = self._share(view)
            held = sum(self._rounds(*each) for each in self._divided.items())
            if share is None:
                continue
            type = view_type(view)
            private = AllocOp(type.in_space(MemorySpace.PRIVATE), view.name_hint)
            if held + self._rounds(private, share) > most:
                continue
            retarget(view, private.view)
            copy = copy_block(view, private.view)
            axes = [axis for axis, size in enumerate(type.sizes) if size > 1]
            start = InsertPoint.at_start(self._nest.body.block)
            opening = [located(private, self._nest), located(copy, self._nest)]
            Rewriter.insert_op(opening, start)
            self._leaves = {
                copy: NestLeaf(
                    copy, axes.index(share.axis), share.turns, self._is_column
                ),
                **self._leaves,
            }
            self._divided[private] = share

    def _rounds(self, allocation: AllocOp, share: LeafShare) -> int:
        """How many cells of a divided buffer an item has."""
        own = share.turns * prod(extent for _, extent in share.others)
        return -(-prod(allocation.view.type.sizes) // own)

    def _deal_rows(self, copy: BlockOp) -> None:
        """Copy as many rows at once as there are items for."""
        rows, row = copy.index_ranges
        count = min(self._items // row, rows)
        dealt = deal_out(copy, 0, count)
        reason = f"{count} rows are copied at once"
        unrolls = -(-rows // count) <= self._hardware.overheads.unrolled_copies
        spread_cells(
            dealt, reason, last_first=True, whole=0, unrolled=0 if unrolls else None
        )

    def _deal(self, leaf: NestLeaf) -> None:
        block, index = leaf.block, leaf.index
        unrolls = leaf.rounds <= self._hardware.overheads.unrolled_copies and any(
            root_buffer(buffer).owner in self._divided for buffer in block.buffers
        )
        line = "column" if leaf.is_column else "row"
        reason = f"{leaf.turns} work-items take turns at the cells of a {line}"
        unrolled = index if unrolls else None
        if index is None or leaf.turns == 1:
            reason = "a work-item for each row"
            spread_cells(block, reason, whole=index, unrolled=unrolled)
        elif index in reduction_indices(block):
            radices = tree_radices(leaf.turns, self._hardware)
            lanes = Lanes(index, leaf.turns, is_last=not leaf.is_column)
            share_reduction(block, lanes, radices, reason, unrolls=unrolls)
        else:
            dealt = deal_out(block, index, leaf.turns)
            last_first = leaf.is_column
            spread_cells(
                dealt, reason, last_first=last_first, whole=index, unrolled=unrolled
            )


def _padded(type: ViewType) -> ViewType:
    """Rows an odd number of cells apart: their lanes use different banks."""
    return type.resized([*type.sizes[:-1], *(size | 1 for size in type.sizes[-1:])])


def move_to_local(allocation: AllocOp) -> None:
    """Put a buffer of a nest into the memory that a group shares."""
    type = allocation.view.type.in_space(MemorySpace.LOCAL)
    local = located(AllocOp(type, allocation.view.name_hint), allocation)
    Rewriter.insert_op(local, InsertPoint.before(allocation))
    retarget(allocation.view, local.view)
    Rewriter.erase_op(allocation)

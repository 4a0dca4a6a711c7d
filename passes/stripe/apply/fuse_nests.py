"""`stripe-fuse-nests`: make one nest of blocks that share outer indices.

Blocks whose schedules say `fuse` with one group (see `Fusion`) become leaves of one
block over tiles of the indices that they share. Each point of it does what all members
do for its tile, member after member.

Before:

```mlir
%S = stripe.alloc : !stripe.view<64xf32>
stripe.block "S" [%m : 64, %n : 4096]
    in %x = %X[%m, %n] : 1x1
    out %s = %S[%m] : 1 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      fuse group 0 shared [0] tiles [[1]]>} { ... }
stripe.block "Y" [%i : 64, %j : 4096]
    in %x = %X[%i, %j] : 1x1
    in %s = %S[%i] : 1
    out %y = %Y[%i, %j] : 1x1
    attributes {stripe.schedule = #stripe.schedule<
      fuse group 0 shared [0] tiles [[1]]>} { ... }
```

After:

```mlir
%S = stripe.alloc : !stripe.view<64xf32>
stripe.block "Y" [%m : 64]
    in %x = %X[%m, 0] : 1x4096
    out %s = %S[%m] : 1
    in %s_1 = %S[%m] : 1
    out %y = %Y[%m, 0] : 1x4096 {
  stripe.block [%n : 4096]
      in %x_1 = %x[0, %n] : 1x1
      out %s_2 = %s[0] : 1 add init 0 { ... }
  stripe.block [%j : 4096]
      in %x_1 = %x[0, %j] : 1x1
      in %s_2 = %s_1[0] : 1
      out %y_1 = %y[0, %j] : 1x1 { ... }
}
```

`stripe-localize` then moves the buffers between the members into the nest. Where
sizes do not divide a range, the last tile reaches over it and its points are checked
(see `stripe-separate`), or, where a member aggregates, what is left over is a nest of
its own, unless with `overhangs`. With several levels of tiles there are as many blocks
around the leaves. The nest stands where the last member stood; statements between that
depend on a member follow it. A member hands its other attributes on to its leaf: its
schedule is over all indices that it had.

It is an error when members do not share the indices as the attribute says, when a cell
that one of them writes is used at other points of the shared indices, and when a
statement between them depends on one and is needed by another. After PlaidML's Fusion
pass, which fuses the outer blocks of tiled nests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ....dialects.stripe.attributes import ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.fusion import Alone, Fusion
from ....dialects.stripe.reshape import ReshapeOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.walking import Walk
from ...locations import error_at
from ...walking import functions
from ..analysis.nests import reduction_indices, statements
from ..analysis.schedules import checked_schedule, has_tiles
from ..analysis.shared_indices import Member, find_conflict, may_be_member
from ..analysis.statement_order import StatementOrder
from ..edit.blocks import leave_to_inside
from ..edit.join import join_blocks
from ..edit.merge import may_merge, merge_pair
from ..edit.partition import split_block
from ..edit.schedules import take_part
from ..edit.split import may_overhang, tile_block
from ..edit.widen import widen_windows


@dataclass(frozen=True)
class StripeFuseNestsPass(ModulePass):
    """Make one nest of the blocks of each group, by their schedules."""

    name = "stripe-fuse-nests"

    overhangs: bool = False
    """Whether the last tile reaches over a range that reductions share, too, where no
    member has tiles of its own."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace the members of each group by their nest, in the place of the last.

        Raises GinghamError, located, for members that no nest can hold.
        """
        for function in functions(op):
            _leave_alone(function)
            groups = _groups(function)
            if groups:
                share_reshapes(function)
            order = StatementOrder(function)
            for blocks in groups:
                fuse_group(order.sorted(blocks), order, overhangs=self.overhangs)
            share_reshapes(function)


def _groups(function: FuncOp) -> list[list[BlockOp]]:
    """The members of each group, in order."""
    groups: dict[int, list[BlockOp]] = {}
    for statement in statements(function):
        if isinstance(statement, BlockOp):
            fusion = checked_schedule(statement).part(Fusion)
            if fusion is not None:
                groups.setdefault(fusion.group, []).append(statement)
    return list(groups.values())


def _leave_alone(function: FuncOp) -> None:
    """Note which blocks are part of no nest."""
    for statement in statements(function):
        if isinstance(statement, BlockOp):
            take_part(statement, Alone)


def fuse_group(
    blocks: Sequence[BlockOp], order: StatementOrder, *, overhangs: bool = False
) -> None:
    """Replace the members of one group by one nest, or by several for the edges.

    Where members see a buffer under the same shape, it is by one reshape.
    """
    taken = [(block, take_part(block, Fusion)) for block in blocks]
    decided = [(block, fusion) for block, fusion in taken if fusion is not None]
    tiles = decided[0][1].tiles
    for block, fusion in decided:
        if fusion.tiles != tiles:
            raise error_at(block, "expected the tiles of all members to be the same")
    members = [_merge_shared(block, fusion) for block, fusion in decided]
    if any(len(each) > 1 for _, fusion in decided for each in fusion.shared):
        share_reshapes(blocks[0].parent_op())
    _check(members)
    order.gather(blocks)
    overhangs = overhangs and not any(has_tiles(block) for block in blocks)
    _fuse_levels([_TiledMember.of(member, overhangs) for member in members], tiles)


def _merge_shared(block: BlockOp, fusion: Fusion) -> Member:
    """Make one index of each shared one; the numbers of these."""
    shared = [list(numbers) for numbers in fusion.shared]
    for numbers in shared:
        while len(numbers) > 1:
            slow, fast = numbers[0], numbers.pop(1)
            if not may_merge(block, slow, fast):
                raise error_at(
                    block, f"indices {slow} and {fast} are not one in all buffers"
                )
            merge_pair(block, slow, fast)
            for others in shared:
                others[:] = [n - (n > fast) for n in others]
    return Member.of(block, [numbers[0] for numbers in shared])


def _check(members: Sequence[Member]) -> None:
    """Raise a GinghamError for members that can not be one nest."""
    first = members[0]
    ranges = [first.block.index_ranges[index] for index in first.shared]
    for member in members:
        block = member.block
        reason = may_be_member(block)
        if reason is not None:
            raise error_at(block, f"cannot fuse the block: {reason}")
        own = [block.index_ranges[index] for index in member.shared]
        if own != ranges:
            raise error_at(
                block, f"expected shared indices of ranges {ranges}, got {own}"
            )
    conflict = find_conflict(members)
    if conflict is not None:
        block = members[conflict.member].block
        raise error_at(block, f"cannot fuse the block: {conflict.reason}")


@dataclass(frozen=True)
class _TiledMember:
    """A member that is to be tiled."""

    block: BlockOp
    shared: tuple[int | None, ...]
    """The block's number of each shared index; None where it has one value left."""
    schedule: Schedule
    """That of its leaf, over the indices that it has by now."""
    leaf: Mapping[str, Attribute]
    """The other attributes that its leaf gets."""
    overhangs: bool
    """Whether the last tile may reach over a range though the block aggregates."""

    @staticmethod
    def of(member: Member, overhangs: bool) -> _TiledMember:
        schedule = checked_schedule(member.block)
        attributes = member.block.attributes
        leaf = dict(attributes)
        attributes.clear()
        return _TiledMember(member.block, member.shared, schedule, leaf, overhangs)

    def extent(self, shared: int) -> int:
        index = self.shared[shared]
        return 1 if index is None else self.block.index_ranges[index]

    def may_overhang(self, shared: int, sizes: Sequence[int]) -> bool:
        """Whether the last tile along a shared index may reach over its range.

        Reductions that are not tiled yet are easier to tile without constraints.
        """
        index = self.shared[shared]
        is_decided = bool(self.schedule.levels) or not reduction_indices(self.block)
        is_decided |= self.schedule.part(Walk) is not None
        is_decided |= self.overhangs
        return index is None or (
            is_decided and may_overhang(self.block, self.own_sizes(sizes), index)
        )

    def own_sizes(self, sizes: Sequence[int]) -> list[int]:
        """Tile sizes for all indices of the block: 0 for those that are not shared."""
        own = [0] * len(self.block.index_ranges)
        for index, size in zip(self.shared, sizes, strict=True):
            if index is not None:
                own[index] = size
        return own

    def split(self, shared: int, position: int) -> _TiledMember:
        """Keep the first values of a shared index; the member with the others."""
        index = self.shared[shared]
        if index is None:
            raise ValueError("the index has one value")
        return replace(self, block=split_block(self.block, index, position))


def _fuse_levels(
    members: Sequence[_TiledMember], tiles: Sequence[Sequence[int]]
) -> None:
    """Put blocks over tiles around members that are statements of one block."""
    extents = [members[0].extent(shared) for shared in range(len(members[0].shared))]
    if not tiles:
        for member in members:
            member.block.attributes.update(member.leaf)
            set_schedule(member.block, member.schedule)
        return
    sizes = [
        min(size, extent) if size else extent
        for size, extent in zip(tiles[0], extents, strict=True)
    ]
    for shared, (size, extent) in enumerate(zip(sizes, extents, strict=True)):
        if extent % size and not all(
            member.may_overhang(shared, sizes) for member in members
        ):
            position = extent - extent % size
            rest = [member.split(shared, position) for member in members]
            _fuse_levels(members, tiles)
            _fuse_levels(rest, tiles)
            return
    is_nested = isinstance(members[0].block.parent_op(), BlockOp)
    # What is staged counts the blocks around.
    is_counted = any(member.schedule.stages for member in members)
    if not is_nested or is_counted or sizes != extents:
        members = _fuse_level(members, sizes)
    _fuse_levels(members, tiles[1:])


def _fuse_level(
    members: Sequence[_TiledMember], sizes: Sequence[int]
) -> list[_TiledMember]:
    """Tile all members and join their outer blocks; the members inside."""
    inner: list[_TiledMember] = []
    outer: list[BlockOp] = []
    orders: list[list[int]] = []
    for member in members:
        orders.append(_outer_order(member, sizes))
        around, own = _tiled(member, sizes)
        leave_to_inside(around)
        outer.append(around)
        inner.append(own)
    joined = join_blocks(outer, orders)
    *others, last = outer
    last.replace_by(joined)
    for block in others:
        block.replace_by()
    widen_windows(joined)
    return inner


def _outer_order(member: _TiledMember, sizes: Sequence[int]) -> list[int]:
    """For each shared index of several tiles, its number in the outer block."""
    several = [
        index
        for shared, (index, size) in enumerate(zip(member.shared, sizes, strict=True))
        if index is not None and member.extent(shared) > size
    ]
    return [sorted(several).index(index) for index in several]


def _tiled(member: _TiledMember, sizes: Sequence[int]) -> tuple[BlockOp, _TiledMember]:
    """Put a block over tiles around a member; that block, and the member inside."""
    own = member.own_sizes(sizes)
    outer, block, kept = tile_block(member.block, own, is_innermost=False)
    shared = tuple(
        None if index is None or index not in kept else kept.index(index)
        for index in member.shared
    )
    schedule = member.schedule.over(kept)
    return outer, replace(member, block=block, shared=shared, schedule=schedule)


def share_reshapes(function: Operation | None) -> None:
    """Make one of reshapes that show one buffer under the same shape."""
    if not isinstance(function, FuncOp):
        return
    known: dict[tuple[SSAValue, ViewType], ReshapeOp] = {}
    for statement in statements(function):
        if not isinstance(statement, ReshapeOp):
            continue
        first = known.setdefault((statement.source, statement.view.type), statement)
        if first is not statement:
            statement.view.replace_all_uses_with(first.view)
            Rewriter.erase_op(statement)

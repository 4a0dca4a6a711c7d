"""How the work-items of a group share a walk over tiles of values.

A group has the tile of some rows, as `stripe-walk` has made it: in each step products
of the rows with a tile of columns, aggregations along the columns, and products that
are summed up over all steps.

* Products are shared as contractions are (see `contractions`): pieces of the inputs
  are in local memory, and each work-item has sub-tiles of cells. What a product adds
  to over all steps stays in the registers of the item that has the cell.
* The values of a step are in registers, too, until the next product reads them from
  local memory, with the rows side by side. A work-item aggregates its own columns of a
  row; then others put such parts together.
* What a row has one number of is in local memory.
* Where the last step has fewer values, others are set so that they change nothing (see
  `ends`).

```mlir
stripe.block serial [%kt : 32] ... {
  %S_turned = stripe.alloc : !stripe.view<1x64x68xf32, local>
  %S = stripe.alloc : !stripe.view<1x64x64xf32, private>
  ... %S is set to 0 ...
  stripe.block [%d : 64, %q : 64, %k : 64] ...
      out %s = %S[0, %q, %k] : 1x1x1 add
      attributes {stripe.schedule = #stripe.schedule<
        tile [16, 64, 64],
        tile [16, 32, 32] bind [_, subgroup, subgroup],
        tile [1, 16, 32] bind [unroll, unroll, unroll],
        tile [1, 4, 4] bind [_, lane, lane],
        points bind [_, unroll, vector],
        stage input 0 at -1 of 1 order [0, 2, 1] padding 4 local,
        stage input 1 at 1 of 1 order [0, 2, 1] padding 4 local>} { ... }
  ... the maxima of %S along a work-item's own columns are put into %S_turned ...
  stripe.block [%row : 64, %part : 16]
      in %part_1 = %S_turned[0, %part, %row] : 1x1x1
      out %m = %M[0, %row, 0] : 1x1x1 max
      attributes {stripe.schedule = #stripe.schedule<
        tile [1, 0] bind [group, _]>} { ... }
  ... %S is replaced by exponentials, and copied to %S_turned ...
  ... the product of %S_turned with other columns is added to what a group keeps ...
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .....dialects.aggregation import Aggregation
from .....dialects.eltwise.ops import value_bytes
from .....dialects.stripe.attributes import MemorySpace, ViewType, view_type
from .....dialects.stripe.binding import Binding
from .....dialects.stripe.block import BlockOp, window_of
from .....dialects.stripe.ops import AllocOp
from .....dialects.stripe.schedule import Schedule, set_schedule
from .....dialects.stripe.staging import Staging
from .....dialects.stripe.tiling import Points, Tiles
from .....targets.hardware import Hardware
from ....locations import located
from ...analysis.lanes import native_lanes
from ...analysis.nests import (
    is_leaf,
    is_number,
    is_subscripted,
    nested_blocks,
    reduction_indices,
    root_buffer,
)
from ...analysis.schedules import is_scheduled
from ...edit.copies import fill_block, turned_copy
from ...edit.digits import Digits, aggregate_parts
from ...edit.group_reduction import spread_cells
from ...edit.redirect import replace_cell
from ..model.tiling import Tiling
from ..model.walk import Product, Way, fastest_way
from .ends import set_ends
from .nests import move_to_local

_Given = TypeVar("_Given", int, Binding)

_SUBTILE = 4
"""Rows or columns of a lane side by side, and the padding of what is turned."""


@dataclass(frozen=True)
class _Product:
    """A block that sums up products of a row with a column."""

    block: BlockOp
    rows: int
    columns: int
    depth: int
    first: int
    """The number of the input that rows move."""
    second: int
    output: int

    @staticmethod
    def of(block: BlockOp) -> _Product | None:
        """The same of a block; None for other ones."""
        ranges, refinements = block.index_ranges, block.refinement_list
        written = block.written
        inputs = [n for n in range(len(refinements)) if n not in written]
        wide = [n for n, extent in enumerate(ranges) if extent > 1]
        sums = [n for n in wide if n in reduction_indices(block)]
        if len(written) != 1 or len(inputs) != 2 or len(wide) != 3 or len(sums) != 1:
            return None
        if refinements[written[0]].aggregation is Aggregation.ASSIGN:
            return None
        last = refinements[written[0]].access[-1].single_dimension
        rows = [n for n in wide if n not in (*sums, last)]
        if last is None or len(rows) != 1:
            return None
        uses = [
            {n for form in refinements[i].access for n in form.support} for i in inputs
        ]
        moved = [i for i, own in zip(inputs, uses, strict=True) if last in own]
        still = [i for i, own in zip(inputs, uses, strict=True) if rows[0] in own]
        if len(moved) != 1 or len(still) != 1 or moved == still:
            return None
        return _Product(block, rows[0], last, sums[0], still[0], moved[0], written[0])

    @property
    def shape(self) -> Product:
        """What the model sees of it."""
        ranges = self.block.index_ranges
        staged = sum(map(self.is_far, (self.first, self.second)))
        around = self.block.parent_op()
        memory = root_buffer(self.block.buffer(self.output))
        return Product(
            ranges[self.rows],
            ranges[self.columns],
            ranges[self.depth],
            staged,
            keeps=isinstance(memory.owner, AllocOp)
            and memory.owner.parent_op() is around,
            element_bytes=value_bytes(self.block.view_type(self.output).element_type),
        )

    def is_far(self, number: int) -> bool:
        """Whether an input is in global memory."""
        return self.block.view_type(number).space.data is MemorySpace.GLOBAL

    def schedule(self, sharing: Tiling, bits: int, *, is_once: bool) -> Schedule:
        """How work-items share it, which load and store so many bits at once."""
        subgroup, lane = Binding.SUBGROUP, Binding.LANE
        unroll, none = Binding.UNROLL, Binding.UNDECIDED
        vector = Binding.VECTOR if native_lanes(self.block, bits) > 1 else unroll
        (own, lanes, _), (across, width, _) = sharing.rows, sharing.columns
        high, wide = min(own, _SUBTILE), min(across, _SUBTILE)
        shape = self.shape
        depth = min(sharing.depth, shape.depth)

        def level(rows: int, columns: int, sums: int, bind: Sequence[Binding]) -> Tiles:
            return Tiles(self._each(rows, columns, sums), bind=self._each(*bind))

        levels = (
            level(shape.rows, shape.columns, depth, (none, none, none)),
            level(own * lanes, across * width, depth, (subgroup, subgroup, none)),
            level(high * lanes, wide * width, 1, (unroll, unroll, unroll)),
            level(high, wide, 1, (lane, lane, none)),
        )
        stages = [
            self._stage(number, index, is_once=is_once)
            for number, index in ((self.first, self.rows), (self.second, self.columns))
            if self.is_far(number)
        ]
        points = Points(bind=self._each(unroll, vector, none))
        return Schedule(levels, points, tuple(stages), reason=str(sharing))

    def _each(self, rows: _Given, columns: _Given, sums: _Given) -> tuple[_Given, ...]:
        """What is given for rows, columns and sums, by the block's indices."""
        given = {self.rows: rows, self.columns: columns, self.depth: sums}
        count = len(self.block.index_ranges)
        # All values of other indices, which are one.
        return tuple([given.get(n, sums) for n in range(count)])

    def _stage(self, number: int, near: int, *, is_once: bool) -> Staging:
        """A copy of an input with the rows or columns of a sub-group side by side."""
        access = self.block.refinement(number).access
        order = sorted(
            range(len(access)), key=lambda axis: near in access[axis].support
        )
        is_turned = order[-1] != len(order) - 1
        padding = _SUBTILE if is_turned else 0
        before = -1 if is_once and not self._is_walked(number) else 1
        return Staging(number, before, 1, tuple(order), MemorySpace.LOCAL, 0, padding)

    def _is_walked(self, number: int) -> bool:
        """Whether the steps of the walk see different parts of an input."""
        window = window_of(self.block.buffer(number))
        if window is None:
            return True
        serial, own = window
        return any(form.support for form in serial.refinement(own).access)


def share_walk(nest: BlockOp, hardware: Hardware) -> bool:
    """Let the work-items of groups share a walk; False where they can not."""
    found = _Walk.of(nest)
    if found is None:
        return False
    groups, steps = prod(nest.index_ranges), prod(found.serial.index_ranges)
    products = [each.shape for each in found.products]
    way = fastest_way(products, groups, steps, hardware)
    if way is None:
        return False
    found.apply(way, hardware.access_bits)
    return True


@dataclass(frozen=True)
class _Walk:
    nest: BlockOp
    serial: BlockOp
    products: tuple[_Product, ...]
    leaves: tuple[BlockOp, ...]
    """The other blocks."""

    @staticmethod
    def of(nest: BlockOp) -> _Walk | None:
        """The walk of a nest, if that is one with products."""
        if nest.conditions or nest.is_serial or is_scheduled(nest):
            return None
        serial = [each for each in nested_blocks(nest) if each.is_serial]
        if len(serial) != 1 or is_leaf(serial[0]):
            return None
        inside = nested_blocks(serial[0])
        leaves = [each for each in nested_blocks(nest) if not each.is_serial] + inside
        for leaf in leaves:
            if not is_leaf(leaf) or leaf.is_serial or is_scheduled(leaf):
                return None
            if any(map(is_subscripted, leaf.views)):
                return None
            if not all(is_number(leaf.view_type(n)) for n in range(len(leaf.views))):
                return None
        products = [found for leaf in inside if (found := _Product.of(leaf))]
        blocks = [each.block for each in products]
        rows = {each.shape.rows for each in products}
        if len(rows) != 1:
            return None
        others = [leaf for leaf in leaves if leaf not in blocks]
        found = _Walk(nest, serial[0], tuple(products), tuple(others))
        return found if found.is_shareable() else None

    def is_shareable(self) -> bool:
        """Whether all values are those of products, which others read as rows."""
        outputs = [
            root_buffer(each.block.buffer(each.output)) for each in self.products
        ]
        for op in self._allocations():
            if _is_of_columns(op) and op.view not in outputs:
                return False
        return all(
            each.is_far(each.second)
            and (each.is_far(each.first) or each.block.buffer(each.first) in outputs)
            for each in self.products
        )

    def apply(self, way: Way, bits: int) -> None:
        """Share all blocks, and put buffers where they belong."""
        cuts: dict[SSAValue, tuple[_Product, Tiling]] = {}
        kept: list[SSAValue] = []
        shared = zip(self.products, way.products, way.sharings, strict=True)
        for each, shape, sharing in shared:
            memory = root_buffer(each.block.buffer(each.output))
            kept.append(memory)
            if self._is_inside(memory):
                _set_before(each)
                cuts[memory] = each, sharing
            set_schedule(
                each.block, each.schedule(sharing, bits, is_once=shape.is_once)
            )
        for op in self._allocations():
            if op.view not in kept:
                move_to_local(op)
        set_ends(self.serial, [*cuts])
        near = [_copy_near(each) for each in self.products]
        for leaf in self.leaves:
            own = [b for b in map(root_buffer, leaf.buffers) if b in kept]
            found = next((cuts[memory] for memory in own if memory in cuts), None)
            if not own:
                spread_cells(leaf, "a work-item for each row")
            elif found is not None:
                _share_rows(leaf, *found, [memory for memory in near if memory])

    def _allocations(self) -> list[AllocOp]:
        """The memory of the nest, and that of a step."""
        blocks = (self.nest, self.serial)
        ops = [op for block in blocks for op in block.body.block.ops]
        return [op for op in ops if isinstance(op, AllocOp)]

    def _is_inside(self, memory: SSAValue) -> bool:
        """Whether a step has memory of its own."""
        owner = memory.owner
        return isinstance(owner, AllocOp) and owner.parent_op() is self.serial


def _is_of_columns(op: AllocOp) -> bool:
    """Whether there is more than a number for each row."""
    return len([size for size in op.view.type.sizes if size > 1]) > 1


def _set_before(product: _Product) -> None:
    """Let a product add to values that are set before it."""
    block, refinement = product.block, product.block.refinement(product.output)
    memory = block.buffer(product.output)
    fill = located(fill_block(memory, refinement.init or 0), block)
    Rewriter.insert_op(fill, InsertPoint.before(block))
    block.set_refinement(product.output, replace(refinement, init=None))


def _copy_near(product: _Product) -> SSAValue | None:
    """Let a product read values of the same step from local memory, with rows last.

    Returns that memory; None where it reads none.
    """
    block, number = product.block, product.first
    values = block.buffer(number)
    type = view_type(values)
    if type.space.data is not MemorySpace.PRIVATE:
        return None
    access = block.refinement(number).access
    order = sorted(
        range(type.rank), key=lambda axis: product.rows in access[axis].support
    )
    sizes = [type.sizes[axis] for axis in order]
    sizes[-1] += _SUBTILE
    turned = type.resized(sizes).in_space(MemorySpace.LOCAL)
    local = located(AllocOp(turned, f"{values.name_hint or 'values'}_turned"), block)
    copy = located(turned_copy(values, local.view, order), block)
    # Parts of aggregations are there before: see `_share_rows`.
    around = block.parent
    if around is None:
        raise ValueError("expected a block inside a block")
    Rewriter.insert_op(local, InsertPoint.at_start(around))
    Rewriter.insert_op(copy, InsertPoint.before(block))
    starts = block.access(number)
    replace_cell(block, number, local.view, [starts[axis] for axis in order])
    return local.view


def _share_rows(
    leaf: BlockOp, product: _Product, sharing: Tiling, near: Sequence[SSAValue]
) -> None:
    """Let each work-item aggregate its columns of its rows, and some all of a row.

    The parts are where the values of the step are put behind that, if there is room.
    """
    number = [*leaf.buffers].index(product.block.buffer(product.output))
    access = product.block.refinement(product.output).access
    own = leaf.refinement(number).access
    row, column = (
        next(
            f.single_dimension
            for f, a in zip(own, access, strict=True)
            if n in a.support
        )
        for n in (product.rows, product.columns)
    )
    if row is None or column is None or column not in reduction_indices(leaf):
        return
    (output,) = leaf.written
    parts = sharing.columns[1] * sharing.columns[2]
    element = leaf.view_type(output).element_type
    types = {view: view_type(view) for view in near}
    fitting = [
        view
        for view, type in types.items()
        if type.sizes[-2] >= parts and type.element_type == element
    ]
    memory = fitting[0] if fitting else None
    if memory is None:
        type = ViewType.of([parts, product.shape.rows], element, MemorySpace.LOCAL)
        allocation = located(AllocOp(type, "parts"), leaf)
        Rewriter.insert_op(allocation, InsertPoint.before(leaf))
        memory = allocation.view
    reason = f"{parts} work-items have parts of a row"
    rows, columns = (row, _digits(sharing.rows)), (column, _digits(sharing.columns))
    _, last = aggregate_parts(leaf, output, rows, columns, memory, reason)
    spread_cells(last, f"the parts of {parts} work-items")


def _digits(side: tuple[int, int, int]) -> Digits:
    """The rows, or columns, of work-items: by sub-groups, sub-tiles, lanes, inside."""
    own, lanes, subgroups = side
    high = min(own, _SUBTILE)
    return Digits(
        (subgroups, own // high, lanes, high),
        (own * lanes, high * lanes, high, 1),
        (Binding.SUBGROUP, Binding.UNROLL, Binding.LANE, Binding.UNROLL),
    )

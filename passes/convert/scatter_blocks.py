"""`tile.scatter` as blocks: without atomic operations, the same bits in each run.

Mode `normal` sees updates and result as `[before, n, behind]` and `[before, cell,
behind]`. A block adds up each update at its cell; it runs in parallel over what is
before and behind. Where that is little, and there are many more indices than cells,
several parts of the indices are added up apart, and then their sums.

With `owners`, as many points go through all indices, or through all of a part. Each
adds up what is for cells of its own: of so many cells that follow each other one.

```mlir
stripe.block "O" [%owners : 128 grid]
    in %i = %I[0] : 5000
    in %u = %U[0] : 5000
    out %o = %O_owned[0, %owners, 0] : 4x1x256 add {
  stripe.block [%owner : 256 group] ... {
    stripe.block [%n : 5000] ... {
      ...  // the cell, whether it is the owner's, and which of its own
      stripe.store %7, %o_2[%6, 0, 0] if %5 : !stripe.view<4x1x1xf32>
    }
  }
}
```

The modes that overwrite take two blocks. One finds for each cell the last index that
names it, as the largest position of an index, counted from 1:

```mlir
stripe.block "R_last" [%n : 6]
    in %i = %I[%n] : 1
    out %l = %R_last[0] : 9 max {
  %1 = stripe.load %i : !stripe.view<1xsi32>
  %2, %3 = ...  // clamped to 0..8
  %4 = stripe.index %n + 1 : si32
  stripe.store %4, %l[%3] : !stripe.view<9xsi32>
}
```

The other runs over the result, in parallel over all of it, and stores the base and,
where there is one, the update at that position.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ...affine.form import LinearForm
from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import (
    bit_width,
    computation_type,
    si32,
    si64,
)
from ...dialects.stripe import BlockOp
from ...dialects.stripe.attributes import Direction, Refinement, view_type
from ...dialects.stripe.binding import Binding
from ...dialects.tile.indexing import OutOfBounds
from ...dialects.tile.scatter import ScatterOp
from ...dialects.tile.special_shapes import ScatterMode
from ..stripe.edit.point_block import (
    AccessMap,
    PointBlock,
    Source,
    identity_access,
    index_names,
)
from ..stripe.edit.split import tile_block
from .places import Coordinates, Place, both, computed_window, place_of, read_window
from .tensor_buffers import TensorBuffers, block_name, name_after, static_type

PARTS = 16
"""The most parts of the indices that are added up apart, where no cell has an owner."""
_OWNERS = 32
"""Of the cells of a part at least, where parts are many, and so many of its indices."""
_MOST_CELLS = 1 << 24
"""Of all parts that owners have."""

_CELL = "cell"
"""The axis of the cells of an owner."""
_INDICES_PER_CELL = 4
"""A part is worth its own sums when it has this many times more indices than cells."""


def lower_scatter(op: ScatterOp, buffers: TensorBuffers) -> None:
    """Emit the blocks of a scatter."""
    result = buffers.result(op.result, op)
    shape = static_type(op.result, op).get_shape()
    if 0 in shape:
        return
    if op.options.mode is not ScatterMode.NORMAL:
        _Overwrite(op, buffers, shape).lower(result)
    elif 0 in static_type(op.indices, op).get_shape():
        zero = Source(static_type(op.result, op).element_type, shape, 0)
        buffers.fill(result, zero, block_name(op), op)
    else:
        _Sum.of(op, buffers).lower(result)


def _checks(op: ScatterOp) -> bool:
    return op.options.out_of_bounds is OutOfBounds.ZERO


@dataclass(frozen=True)
class _Sum:
    """Adds up updates `[before, count, behind]` in `[before, cells, behind]`."""

    op: ScatterOp
    buffers: TensorBuffers
    before: int
    count: int
    cells: int
    behind: int
    element: Attribute

    @staticmethod
    def of(op: ScatterOp, buffers: TensorBuffers) -> _Sum:
        type = static_type(op.result, op)
        shape, axis = type.get_shape(), op.options.axis
        return _Sum(
            op,
            buffers,
            prod(shape[:axis]),
            prod(static_type(op.indices, op).get_shape()),
            shape[axis],
            prod(shape[axis + 1 :]),
            computation_type(type.element_type),
        )

    @property
    def parts(self) -> int:
        """How many parts of the indices have sums of their own."""
        around = self.before * self.behind
        if self.buffers.owners > 1 and self.behind <= self.buffers.items:
            # Whoever goes through all of a part goes through less.
            most = min(self.buffers.owners // _OWNERS, self.count // _OWNERS)
            return max(1, min(most, _MOST_CELLS // (self.cells * around)))
        if around >= PARTS:
            return 1
        return max(1, min(PARTS, self.count // (_INDICES_PER_CELL * self.cells)))

    @property
    def _outer(self) -> dict[str, int]:
        """The axes before the cells that have more than one value, by name."""
        return {} if self.before == 1 else {"before": self.before}

    @property
    def _inner(self) -> dict[str, int]:
        return {} if self.behind == 1 else {"behind": self.behind}

    def lower(self, result: SSAValue) -> None:
        op, buffers = self.op, self.buffers
        shape = (*self._outer.values(), self.cells, *self._inner.values())
        flat = buffers.reshaped(result, shape)
        target = flat
        if static_type(op.result, op).element_type != self.element:
            target = buffers.allocate(op.result, shape, self.element, "sum")
        if self.parts == 1:
            self._add_up(target, {})
        else:
            parts = buffers.allocate(
                op.result, (self.parts, *shape), self.element, "parts"
            )
            self._add_up(parts, {"part": self.parts})
            self._add_parts(parts, target)
        if target is not flat:
            source = Source(self.element, shape, target)
            buffers.fill(flat, source, name_after(op.result, "cast"), op)

    def _add_up(self, target: SSAValue, parts: dict[str, int]) -> None:
        """The sums of all indices, or of each part of them."""
        op, buffers, owners = self.op, self.buffers, self._owners
        length = -(-self.count // self.parts)
        outer, inner = parts | self._outer, self._inner
        # Of so many cells that follow each other each owner has one.
        rounds = -(-self.cells // prod(owners.values()))
        axes = {**outer, _CELL: rounds, **owners, **inner}
        cells = (*outer.values(), rounds * prod(owners.values()), *inner.values())
        is_padded = view_type(target).sizes != cells
        whole = target
        if is_padded:
            whole = buffers.allocate(op.result, cells, self.element, "owned")
        sums = buffers.reshaped(whole, (*axes.values(),))
        zero = Source(self.element, (*axes.values(),), 0)
        buffers.fill(sums, zero, name_after(op.result, "fill"), op)
        groups, items = (
            (dict([each]) for each in owners.items()) if owners else ({}, {})
        )
        ranges = {**groups, **outer, "n": length, **items, **inner}
        block = PointBlock((*ranges.values(),), (*ranges,), op)
        forms = dict(zip(ranges, identity_access(len(ranges)), strict=True))
        position = forms["n"]
        if parts:
            position = position + forms["part"] * length
        shape = (*outer.values(), self.cells, *inner.values())
        place = self._place(block, position, shape, len(outer))
        value = block.cast(self._update(block, forms, position), self.element)
        apart = {n: forms[name] for n, name in enumerate(axes) if name != _CELL}
        access, sizes = computed_window(apart, (*axes.values(),), len(ranges))
        window = aggregated_window(block, sums, access, sizes, Aggregation.ADD)
        if owners:
            self._choose_owner(block, place, forms, len(outer))
        block.store_to(value, window, place.subscripts, place.inside)
        # The last parts may have no index at all.
        overhangs = self.parts * length > self.count
        rest = [-position + (self.count - 1)] if overhangs else []
        done = block.finish(block_name(op), rest)
        buffers.emit(done, op)
        if owners:
            _share_owners(done, 1 + len(outer), 1 + len(inner))
        if is_padded:
            own = PointBlock(shape, index_names(len(shape)), op)
            cell = identity_access(len(shape))
            own.store(own.load(whole, cell), target, cell)
            buffers.emit(own.finish(name_after(op.result, "copy")), op)

    @property
    def _owners(self) -> dict[str, int]:
        """The groups that go through all indices, and the items of each.

        An item adds up what is for every so many-th cell, in order. Both are powers of
        two; none where there is enough to do side by side without.
        """
        behind = self.behind
        most = self.buffers.owners // (self.parts * self.before * behind)
        if most < 2 or behind > self.buffers.items or self.cells < 2:
            return {}
        count = 1 << (min(most, self.cells).bit_length() - 1)
        most = self.buffers.items // behind
        items = min(1 << (most.bit_length() - 1), count)
        return {"owners": count // items, "owner": items}

    def _choose_owner(
        self, block: PointBlock, place: Place, forms: dict[str, LinearForm], axis: int
    ) -> None:
        """Let a place be one of its owner's, who has every so many-th cell."""
        items, count = self._owners["owner"], prod(self._owners.values())
        cell = place.subscripts[axis]
        if isinstance(cell, int):
            cell = block.constant(cell, si32)
        wide = si64 if bit_width(cell.type) == 64 else si32
        cell = block.cast(cell, wide)
        rest = block.apply("bit_and", [cell, block.constant(count - 1, wide)], wide)
        owner = block.index(forms["owners"] * items + forms["owner"], wide)
        is_own = block.apply("cmp_eq", [rest, owner], i1)
        bits = block.constant(count.bit_length() - 1, wide)
        place.subscripts[axis] = block.apply("bit_right", [cell, bits], wide)
        place.subscripts[axis + 1 : axis + 1] = [0, 0]
        place.inside = both(block, place.inside, is_own)

    def _place(
        self,
        block: PointBlock,
        position: LinearForm,
        shape: tuple[int, ...],
        axis: int,
    ) -> Place:
        op, buffers = self.op, self.buffers
        indices = buffers.reshaped(buffers.view(op.indices), (self.count,))
        element = static_type(op.indices, op).element_type
        source = Source(element, (self.count,), indices)
        coordinates = Coordinates(source, {axis: (position,)})
        return place_of(block, coordinates, shape, check=_checks(op))

    def _update(
        self, block: PointBlock, forms: dict[str, LinearForm], position: LinearForm
    ) -> SSAValue:
        sizes = self._outer | {"n": self.count} | self._inner
        updates = self.buffers.view(self.op.updates)
        updates = self.buffers.reshaped(updates, (*sizes.values(),))
        return block.load(updates, (*((forms | {"n": position})[n] for n in sizes),))

    def _add_parts(self, parts: SSAValue, target: SSAValue) -> None:
        op = self.op
        cells = self._outer | {"cell": self.cells} | self._inner
        block = PointBlock((*cells.values(), self.parts), (*cells, "part"), op)
        *cell, part = identity_access(len(cells) + 1)
        value = block.load(parts, (part, *cell))
        block.store(value, target, tuple(cell), Aggregation.ADD, 0)
        self.buffers.emit(block.finish(name_after(op.result, "sum")), op)


def _share_owners(block: BlockOp, groups: int, items: int) -> None:
    """Bind the first indices to groups, and the last ones to their items.

    These go through all indices; what they add to is no box, but their own.
    """
    ranges = block.index_ranges
    inside = (0,) * (len(ranges) - groups)
    around, inner, kept = tile_block(block, (*(1,) * groups, *inside))
    own = [0 if n < len(ranges) - items else 1 for n in kept]
    lanes = tile_block(inner, own).outer
    lanes.set_bindings([Binding.GROUP] * len(lanes.index_ranges))
    around.set_bindings([Binding.GRID] * len(around.index_ranges))


def aggregated_window(
    block: PointBlock,
    view: SSAValue,
    access: AccessMap,
    sizes: list[int],
    aggregation: Aggregation,
) -> SSAValue:
    """A window of cells to aggregate into."""
    return block.window(view, Refinement(Direction.OUT, access, aggregation), sizes)


@dataclass(frozen=True)
class _Overwrite:
    """Finds the last update of each cell, which then has it or the base."""

    op: ScatterOp
    buffers: TensorBuffers
    shape: tuple[int, ...]

    @property
    def _indices(self) -> tuple[int, ...]:
        return static_type(self.op.indices, self.op).get_shape()

    @property
    def _points(self) -> tuple[int, ...]:
        """The axes of the indices along which they are counted, or look apart."""
        shape = self._indices
        return shape[:-1] if self.op.options.mode is ScatterMode.UPDATE_ND else shape

    @property
    def _cells(self) -> tuple[int, ...]:
        """The shape of what indices choose from."""
        axis = self.op.options.axis
        match self.op.options.mode:
            case ScatterMode.UPDATE_SLICE:
                return self.shape[axis : axis + 1]
            case ScatterMode.UPDATE_ND:
                return self.shape[: self._indices[-1]]
            case _:
                return self.shape

    def lower(self, result: SSAValue) -> None:
        op, buffers = self.op, self.buffers
        if 0 in self._points:
            base = buffers.source(op.base)
            buffers.fill(result, base, block_name(op), op)
            return
        is_long = prod(self._points) >= 2**31 - 1
        element = si64 if is_long else si32
        last = buffers.allocate(op.result, self._cells, element, "last")
        zero = Source(element, self._cells, 0)
        buffers.fill(last, zero, name_after(op.result, "fill"), op)
        self._find_last(last, element)
        self._select(last, result)

    def _find_last(self, last: SSAValue, element: Attribute) -> None:
        op, buffers = self.op, self.buffers
        points, cells = self._points, self._cells
        block = PointBlock(points, [f"n{axis}" for axis in range(len(points))], op)
        own = identity_access(len(points))
        apart: dict[int, LinearForm] = {}
        axes: dict[int, AccessMap]
        position = _row_major(points)
        match op.options.mode:
            case ScatterMode.UPDATE_ND:
                axes = {
                    axis: (*own, LinearForm.constant_of(axis, len(points)))
                    for axis in range(len(cells))
                }
            case ScatterMode.UPDATE_ELT:
                axis = op.options.axis
                axes = {axis: own}
                apart = {other: own[other] for other in range(len(own))}
                position = apart.pop(axis)
            case _:
                axes = {0: own}
        coordinates = Coordinates(buffers.source(op.indices), axes)
        place = place_of(block, coordinates, cells, check=_checks(op))
        access, sizes = computed_window(apart, cells, len(points))
        window = aggregated_window(block, last, access, sizes, Aggregation.MAX)
        value = block.index(position + 1, element)
        block.store_to(value, window, place.subscripts, place.inside)
        buffers.emit(block.finish(name_after(op.result, "last")), op)

    def _select(self, last: SSAValue, result: SSAValue) -> None:
        op, buffers = self.op, self.buffers
        own = identity_access(len(self.shape))
        block = PointBlock(self.shape, index_names(len(self.shape)), op)
        axis = op.options.axis
        match op.options.mode:
            case ScatterMode.UPDATE_SLICE:
                access = own[axis : axis + 1]
            case ScatterMode.UPDATE_ND:
                access = own[: len(self._cells)]
            case _:
                access = own
        number = block.load(last, access)
        zero = block.constant(0, number.type)
        has_update = block.apply("cmp_gt", [number, zero], i1)
        update = self._update(block, number, zero)
        base = block.read(buffers.source(op.base), own)
        cell = Refinement(Direction.OUT, own)
        window = block.window(result, cell, (1,) * len(self.shape))
        # For a selection, vectors would need a truth value for each lane.
        block.store_to(base, window)
        block.store_to(update, window, condition=has_update)
        buffers.emit(block.finish(block_name(op)), op)

    def _update(self, block: PointBlock, number: SSAValue, zero: SSAValue) -> SSAValue:
        """The update with a number from 1 on; some update where that is 0."""
        op, buffers = self.op, self.buffers
        own = identity_access(len(self.shape))
        one = block.constant(1, number.type)
        position = block.apply("sub", [number, one], number.type)
        position = block.apply("max", [position, zero], number.type)
        updates = buffers.view(op.updates)
        axis = op.options.axis
        match op.options.mode:
            case ScatterMode.UPDATE_SLICE:
                behind = self.shape[axis + 1 :]
                shape = (*self.shape[:axis], prod(self._points), *behind)
                forms = {n: form for n, form in enumerate(own) if n != axis}
            case ScatterMode.UPDATE_ND:
                axis, depth = 0, len(self._cells)
                shape = (prod(self._points), *self.shape[depth:])
                forms = {n + 1: form for n, form in enumerate(own[depth:])}
            case _:
                shape = self._points
                # Beside the axis there may be fewer updates than cells.
                forms = {
                    n: form
                    for n, form in enumerate(own)
                    if n != axis and shape[n] == self.shape[n]
                }
        access, sizes = computed_window(forms, shape, len(own))
        window = read_window(block, buffers.reshaped(updates, shape), access, sizes)
        subscripts: list[SSAValue | int] = []
        for place, size in enumerate(shape):
            if place == axis:
                subscripts.append(position)
            elif place in forms:
                subscripts.append(0)
            else:
                limit = block.constant(size - 1, number.type)
                index = block.index(own[place], number.type)
                subscripts.append(block.apply("min", [index, limit], number.type))
        return block.load_from(window, subscripts)


def _row_major(shape: tuple[int, ...]) -> LinearForm:
    """The position of an element of a tensor in row-major order."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return LinearForm.of(strides)

"""`stripe-accumulate`: aggregate in private buffers, and write each cell once.

A block with an `out` refinement that has `init` is turned into one whose points own
their cells: the indices that only aggregate move into a nested block, which accumulates
into a private buffer; its cells are set before and copied out after.

Before:

```mlir
stripe.block "C" [%i : 8, %j : 2]
    in %a = %A[8 * %i, 0] : 8x32
    out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0 {
  stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
      in %a_1 = %a[%i_1, %k] : 1x1
      out %c_1 = %c[%i_1, %j_1] : 1x1 add { ... }
}
```

After:

```mlir
stripe.block "C" [%i : 8, %j : 2]
    in %a = %A[8 * %i, 0] : 8x32
    out %c = %C[8 * %i, 32 * %j] : 8x32 {
  %c_acc = stripe.alloc : !stripe.view<8x32xf32, private>
  stripe.block [%e0 : 8, %e1 : 32]
      out %x = %c_acc[%e0, %e1] : 1x1 { ... store 0 ... }
  stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
      in %a_1 = %a[%i_1, %k] : 1x1
      out %c_1 = %c_acc[%i_1, %j_1] : 1x1 add { ... }
  stripe.block [%e0 : 8, %e1 : 32]
      in %x = %c_acc[%e0, %e1] : 1x1
      out %y = %c[%e0, %e1] : 1x1 { ... copy ... }
}
```

Where blocks further inside sum up parts, as with tiles of the index `%k` at an outer
level, the cells are set first and every innermost tile collects its part privately and
aggregates it into them. Where every cell gets one value anyway, it is just assigned.
Cells that blocks inside assign are set in place; those that are assigned anyway, only
where constraints leave them out. Blocks are left alone where points
share cells in other ways (`O[i + j]`), where a point reads the output in
between, where subscripts choose the cells, and when they are serial. After PlaidML's
Cache pass for outputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import element_of
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import MemorySpace, ViewType
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import located
from ..analysis.facts import carried_indices, reaches_each_cell_once
from ..analysis.nests import (
    all_blocks,
    is_leaf,
    is_number,
    is_subscripted,
    nested_blocks,
    owns_cells,
    reduction_indices,
    root_buffer,
)
from ..edit.blocks import push_constraints_inward, retarget
from ..edit.copies import copy_block, fill_block
from ..edit.split import tile_block

_MOST_FILLS = 4
"""Blocks that set the cells which constraints leave out; with more, one sets all."""


@dataclass(frozen=True)
class StripeAccumulatePass(ModulePass):
    """Aggregate in private buffers, and write each cell once."""

    name = "stripe-accumulate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Put a private buffer between each block that aggregates and its output."""
        for block in all_blocks(op):
            if _initialized(block):
                own_cells(block)
        for block in all_blocks(op):
            for number in range(len(block.refinements)):
                if _has_partial_sums(block, number):
                    _accumulate_output(block, number)


def own_cells(block: BlockOp) -> None:
    """Let each point of `block` own the cells of its outputs that have `init`.

    They are accumulated in private buffers, or in place when blocks further inside
    have buffers for their parts.
    """
    if block.is_serial or _is_scattering(block):
        return
    if not all(owns_cells(block, number) for number in _initialized(block)):
        return
    in_place = any(not is_leaf(inner) for inner in nested_blocks(block))
    in_place |= not is_leaf(block) and _only_assigns(block)
    # A number is kept in a register, whatever is inside.
    in_place &= not all(is_number(block.view_type(n)) for n in _initialized(block))
    reductions = reduction_indices(block)
    if is_leaf(block) and not reductions and _is_assignment(block):
        _assign_once(block)
        return
    if is_leaf(block) or reductions:
        sizes = [
            extent if index in reductions else 1
            for index, extent in enumerate(block.index_ranges)
        ]
        block = tile_block(block, sizes).outer
    if not _can_push_constraints(block):
        return
    push_constraints_inward(block)
    for number in _initialized(block):
        if in_place:
            _set_first(block, number)
        else:
            _accumulate_output(block, number)


def _initialized(block: BlockOp) -> list[int]:
    """The numbers of the refinements that have `init`."""
    return [n for n, r in enumerate(block.refinement_list) if r.init is not None]


def _is_scattering(block: BlockOp) -> bool:
    """Whether subscripts choose cells of an output that has `init`."""
    return any(is_subscripted(block.view(number)) for number in _initialized(block))


def _is_assignment(block: BlockOp) -> bool:
    """Whether every cell gets one value, aggregated with what changes nothing."""
    return not block.conditions and all(
        _is_stored_once(block.view(number)) and _has_identity(block, number)
        for number in _initialized(block)
    )


def _only_assigns(block: BlockOp) -> bool:
    return all(
        block.refinement(number).aggregation is Aggregation.ASSIGN
        for number in _initialized(block)
    )


def _is_stored_once(view: SSAValue) -> bool:
    (use, *others) = [*view.uses] or [None]
    if use is None or others or not isinstance(use.operation, StoreOp):
        return False
    return use.operation.condition is None


def _has_identity(block: BlockOp, number: int) -> bool:
    """Whether the initial value changes nothing; what is assigned replaces any."""
    refinement = block.refinement(number)
    if refinement.aggregation is Aggregation.ASSIGN:
        return True
    element = element_of(block.view_type(number).element_type)
    return refinement.init == refinement.aggregation.identity(element)


def _assign_once(block: BlockOp) -> None:
    """Make the outputs plain: aggregating one value from the identity assigns it."""
    refinements = [
        replace(r, aggregation=Aggregation.ASSIGN, init=None)
        if r.init is not None
        else r
        for r in block.refinement_list
    ]
    block.set_refinements(refinements)


def _can_push_constraints(block: BlockOp) -> bool:
    """Whether without points the blocks inside do nothing, and nothing else does."""
    return not block.conditions or all(
        not _initialized(statement)
        if isinstance(statement, BlockOp)
        else not isinstance(statement, LoadOp | StoreOp)
        for statement in block.body.ops
    )


def _has_partial_sums(block: BlockOp, number: int) -> bool:
    """Whether the points inside aggregate more than once into cells of a window.

    Then each point can collect them and aggregate the results. A private buffer that
    was made for them is left alone.
    """
    refinement, view = block.refinement(number), block.view(number)
    if refinement.aggregation is Aggregation.ASSIGN or refinement.init is not None:
        return False
    window, root = block.view_type(number), root_buffer(view)
    if window.space.data is MemorySpace.PRIVATE and root.type == window:
        return False
    return not is_subscripted(view) and any(_sums_densely(use) for use in view.uses)


def _sums_densely(use: Use) -> bool:
    """Whether the points of a leaf meet on the cells of a window that it fills."""
    leaf = use.operation
    if not isinstance(leaf, BlockOp) or not is_leaf(leaf) or leaf.is_serial:
        return False
    ranges = leaf.index_ranges
    access = leaf.refinement(use.index).access
    moving = {index for form in access for index in form.support}
    reached = prod(extent for index, extent in enumerate(ranges) if index in moving)
    meeting = prod(extent for n, extent in enumerate(ranges) if n not in moving)
    own = prod(leaf.view_type(use.index).sizes)
    return meeting > 1 and reached * own >= prod(_sizes(leaf.buffer(use.index)))


def _sizes(view: SSAValue) -> tuple[int, ...]:
    return view.type.sizes if isinstance(view.type, ViewType) else ()


def _set_first(block: BlockOp, number: int) -> None:
    """Let every point set the cells of its window before all else.

    Where one block inside assigns them but for its constraints, only the others.
    """
    refinement, view = block.refinement(number), block.view(number)
    if refinement.init is None:
        raise ValueError("expected an output with an initial value")
    uses = [*view.uses]
    if len(uses) == 1 and _assigns_all_but_some(uses[0]):
        fills = _fill_others(uses[0], refinement.init)
    else:
        fills = [fill_block(view, refinement.init)]
    start = InsertPoint.at_start(block.body.block)
    Rewriter.insert_op([located(fill, block) for fill in fills], start)
    block.set_refinement(
        number, replace(refinement, aggregation=Aggregation.ASSIGN, init=None)
    )


def _assigns_all_but_some(use: Use) -> bool:
    """Whether a block assigns each cell of a view at one point, or by constraints not.

    Not where there are many constraints, as there would be a fill for each.
    """
    leaf = use.operation
    if not isinstance(leaf, BlockOp) or not is_leaf(leaf) or leaf.is_serial:
        return False
    if not 0 < len(leaf.conditions) <= _MOST_FILLS:
        return False
    is_stored = _is_stored_once(leaf.view(use.index))
    return is_stored and reaches_each_cell_once(leaf, use.index)


def _fill_others(use: Use, init: int | float) -> list[BlockOp]:
    """Blocks that set the cells at which some constraint of a leaf does not hold.

    Each those of one constraint where all constraints before it hold.
    """
    leaf = use.operation
    if not isinstance(leaf, BlockOp):
        raise ValueError(f"expected a block, got {leaf.name}")
    fills: list[BlockOp] = []
    for position, condition in enumerate(leaf.where):
        fill = fill_block(leaf.buffer(use.index), init)
        cell = fill.access(0)
        places: dict[SSAValue, IndexSum] = {
            leaf.indices[index]: cell[axis]
            for axis, index in carried_indices(leaf, use.index).items()
        }
        where = [*leaf.where[:position], -condition - 1]
        fill.add_where(*(each.substitute(places) for each in where))
        fills.append(fill)
    return fills


def _accumulate_output(block: BlockOp, number: int) -> None:
    """Collect output `number` of every point in a private buffer.

    What has no initial value is collected from the identity, and aggregated in the end.
    """
    refinement = block.refinement(number)
    aggregation, init = refinement.aggregation, refinement.init
    view = block.view(number)
    window = block.view_type(number)
    if init is not None:
        aggregation = Aggregation.ASSIGN
    else:
        init = aggregation.identity(element_of(window.element_type))
    private = window.in_space(MemorySpace.PRIVATE)
    accumulator = AllocOp(private, f"{view.name_hint or 'out'}_acc")
    retarget(view, accumulator.view)
    fill = fill_block(accumulator.view, init)
    copy = copy_block(accumulator.view, view, aggregation)
    axes = {*_vector_axes(accumulator.view)}
    for each in (fill, copy):
        _bind_axes(each, axes, Binding.VECTOR)
    start = InsertPoint.at_start(block.body.block)
    opening: list[Operation] = [accumulator, fill]
    Rewriter.insert_op([located(each, block) for each in opening], start)
    block.body.block.add_op(located(copy, block))
    block.set_refinement(
        number, replace(refinement, aggregation=aggregation, init=None)
    )


def _vector_axes(view: SSAValue) -> Iterator[int]:
    """The axes of a view along which blocks inside use it by vectors."""
    for use in view.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            continue
        for axis, form in enumerate(block.refinement(use.index).access):
            bindings = block.index_bindings
            bound = [bindings[n] for n in form.support if n < len(bindings)]
            if Binding.VECTOR in bound:
                yield axis
        yield from _vector_axes(block.view(use.index))


def _bind_axes(block: BlockOp, axes: Collection[int], binding: Binding) -> None:
    """Bind the indices that step through some axes of what a block writes."""
    access = block.refinement_list[-1].access
    moving = {n for axis in axes for n in access[axis].support}
    bindings = enumerate(block.index_bindings)
    block.set_bindings(binding if n in moving else own for n, own in bindings)

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

Where every cell gets one value anyway, it is just assigned. Blocks are left alone where
points share cells in other ways (`O[i + j]`), where a point reads the output in
between, where subscripts choose the cells, and when they are serial. After PlaidML's
Cache pass for outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...affine.form import LinearForm
from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.ops import ConstantOp, element_of
from ...dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
)
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ..locations import located
from .nests import (
    absolute_access,
    all_blocks,
    is_leaf,
    is_subscripted,
    nested_blocks,
    owns_cells,
    reduction_indices,
    replace_forms,
    retarget,
)
from .tile import tile_block


@dataclass(frozen=True)
class StripeAccumulatePass(ModulePass):
    """Aggregate in private buffers, and write each cell once."""

    name = "stripe-accumulate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in all_blocks(op):
            if any(r.init is not None for r in block.refinement_list):
                accumulate_privately(block)


def accumulate_privately(block: BlockOp) -> None:
    """Let each point of `block` own the cells of its outputs that have `init`."""
    if block.is_serial or _is_scattering(block):
        return
    if not all(owns_cells(block, number) for number in _initialized(block)):
        return
    reductions = reduction_indices(block)
    if is_leaf(block) and not reductions and _is_assignment(block):
        _assign_once(block)
        return
    if is_leaf(block) or reductions:
        sizes = [
            extent if index in reductions else 1
            for index, extent in enumerate(block.index_ranges)
        ]
        inner, _ = tile_block(block, sizes)
        outer = inner.parent_op()
        if not isinstance(outer, BlockOp):
            raise ValueError("tiling gave no outer block")
        block = outer
    if not _can_push_constraints(block):
        return
    _push_constraints_inward(block)
    for number in _initialized(block):
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
    replace_forms(block, refinements, block.conditions, block.captures)


def _can_push_constraints(block: BlockOp) -> bool:
    """Whether without points the blocks inside do nothing, and nothing else does."""
    return not block.conditions or all(
        not _initialized(statement)
        if isinstance(statement, BlockOp)
        else not isinstance(statement, LoadOp | StoreOp)
        for statement in block.body.ops
    )


def _push_constraints_inward(block: BlockOp) -> None:
    """Move the constraints of a block to the blocks inside it."""
    if not block.conditions:
        return
    values = block.form_values
    for inner in nested_blocks(block):
        own = len(inner.form_values)
        width = own + len(values)
        positions = {number: own + number for number in range(len(values))}
        pushed = [form.remap(positions, width) for form in block.conditions]
        kept = {number: number for number in range(own)}
        replace_forms(
            inner,
            [
                replace(r, access=tuple(f.remap(kept, width) for f in r.access))
                for r in inner.refinement_list
            ],
            [*(form.remap(kept, width) for form in inner.conditions), *pushed],
            [*inner.captures, *values],
        )
    replace_forms(block, block.refinement_list, [], block.captures)


def _accumulate_output(block: BlockOp, number: int) -> None:
    """Collect output `number` of every point in a private buffer."""
    refinements = list(block.refinement_list)
    init = refinements[number].init
    if init is None:
        raise ValueError("expected an output with an initial value")
    view = block.view(number)
    window = block.view_type(number)
    accumulator = AllocOp(
        ViewType.of(window.sizes, window.element_type, MemorySpace.PRIVATE)
    )
    accumulator.view.name_hint = f"{view.name_hint or 'out'}_acc"
    retarget(view, accumulator.view)
    body = block.body.block
    first = body.first_op
    opening: list[Operation] = [accumulator, fill_block(accumulator.view, init)]
    for operation in opening:
        located(operation, block)
        if first is None:
            body.add_op(operation)
        else:
            body.insert_op_before(operation, first)
    body.add_op(located(copy_block(accumulator.view, view), block))
    refinements[number] = replace(
        refinements[number], aggregation=Aggregation.ASSIGN, init=None
    )
    replace_forms(block, refinements, block.conditions, block.captures)


def _element_windows(view: SSAValue) -> tuple[ViewType, list[int], list[LinearForm]]:
    """The one-element window type, the index ranges over a view, and its access."""
    type = view.type
    if not isinstance(type, ViewType):
        raise ValueError(f"expected a view, got {type}")
    axes = [axis for axis, size in enumerate(type.sizes) if size != 1]
    access = [
        LinearForm.dimension(axes.index(axis), len(axes))
        if axis in axes
        else LinearForm.constant_of(0, len(axes))
        for axis in range(type.rank)
    ]
    ranges = [type.sizes[axis] for axis in axes]
    return type.resized([1] * type.rank), ranges, access


def fill_block(view: SSAValue, value: int | float) -> BlockOp:
    """A block that sets every cell of a view."""
    window, ranges, access = _element_windows(view)
    names = [f"e{axis}" for axis in range(len(ranges))]
    body = BlockOp.empty_body(names, [(window, "cell")])
    constant = ConstantOp(value, window.element_type)
    body.block.add_ops([constant, StoreOp(constant.result, body.block.args[-1])])
    return BlockOp(ranges, [view], [Refinement(Direction.OUT, tuple(access))], body)


def copy_block(source: SSAValue, target: SSAValue) -> BlockOp:
    """A block that copies the cells of a window, those inside the target's buffer."""
    window, ranges, access = _element_windows(source)
    target_type = target.type
    if not isinstance(target_type, ViewType):
        raise ValueError(f"expected a view, got {target_type}")
    names = [f"e{axis}" for axis in range(len(ranges))]
    body = BlockOp.empty_body(
        names, [(window, "from"), (target_type.resized(window.sizes), "to")]
    )
    *_, source_cell, target_cell = body.block.args
    load = LoadOp(source_cell)
    body.block.add_ops([load, StoreOp(load.result, target_cell)])
    constraints, captures = _inside(target, access)
    width = len(ranges) + len(captures)
    kept = {number: number for number in range(len(ranges))}
    forms = tuple(form.remap(kept, width) for form in access)
    return BlockOp(
        ranges,
        [source, target],
        [Refinement(Direction.IN, forms), Refinement(Direction.OUT, forms)],
        body,
        captures=captures,
        constraints=constraints,
    )


def _inside(
    target: SSAValue, access: Sequence[LinearForm]
) -> tuple[list[LinearForm], list[SSAValue]]:
    """The conditions that a cell of a window lies in the buffer below it.

    Forms are over the indices of `access`, then the values that are returned.
    Conditions that always hold are left out.
    """
    absolute = absolute_access(target)
    own = access[0].rank if access else 0
    width = own + len(absolute.values)
    ranges = absolute.ranges
    type = target.type
    if not isinstance(type, ViewType):
        raise ValueError(f"expected a view, got {type}")
    constraints: list[LinearForm] = []
    shift = {number: own + number for number in range(len(absolute.values))}
    kept = {number: number for number in range(own)}
    for axis, start in enumerate(absolute.access):
        low, high = start.bounds(ranges)
        size = absolute.buffer_type.sizes[axis]
        position = start.remap(shift, width) + access[axis].remap(kept, width)
        if low < 0:
            constraints.append(position)
        if high + type.sizes[axis] > size:
            constraints.append(-position + (size - 1))
    return constraints, list(absolute.values)

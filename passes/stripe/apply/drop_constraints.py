"""`stripe-drop-constraints`: run points beyond the end where nobody is the wiser.

What tiles leave over keeps work-items from running: a condition in the innermost loops,
which costs more than the points that it leaves out. It goes where these do no harm:

* what they compute goes to private memory, and whoever reads that has the condition; or
* what they compute is the identity of the aggregation, since all that they load was set
  to a number when it was copied to memory of the work-group. A product of two zeros
  changes no sum. (Of a zero and a number it may: the number may be infinite.)

In both cases all that they load must be in memory of the work-group, and set.

Before, with the sum over 50 values in pieces of 16 (`%a_stage`, `%b_stage` are 0 from
the 50th on), and 100 rows in tiles of 64:

```mlir
stripe.block [%i_1 : 64, %j_1 : 64, %k_1 : 16]
    in %a_2 = %a_stage[%k_1, %i_1] : 1x1
    in %b_2 = %b_stage[%k_1, %j_1] : 1x1
    out %c_2 = %c_acc[%i_1, %j_1] : 1x1 add
    where -16 * %k - %k_1 + 49 >= 0, -64 * %i - %i_1 + 99 >= 0 { ... }
stripe.block [%e0 : 64, %e1 : 64]
    in %from = %c_acc[%e0, %e1] : 1x1
    out %to = %c[%e0, %e1] : 1x1
    where -64 * %i - %e0 + 99 >= 0 { ... }
```

After:

```mlir
stripe.block [%i_1 : 64, %j_1 : 64, %k_1 : 16]
    in %a_2 = %a_stage[%k_1, %i_1] : 1x1
    in %b_2 = %b_stage[%k_1, %j_1] : 1x1
    out %c_2 = %c_acc[%i_1, %j_1] : 1x1 add { ... }
stripe.block [%e0 : 64, %e1 : 64] ...
    where -64 * %i - %e0 + 99 >= 0 { ... }
```

It is for `stripe-stage{fills=true}` and `stripe-collect-outputs` to come before, and
`stripe-distribute` after: copies must have one loop for each axis. What is set and
still read by nobody goes. Only blocks of floating-point numbers, in which garbage does
no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp, element_of
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import MemorySpace, view_type
from ....dialects.stripe.block import BlockOp, index_range
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...constant_folding import evaluate_function, fold_cast
from ..analysis.lanes import computes_with_floats
from ..analysis.nests import (
    AbsoluteAccess,
    absolute_access,
    all_blocks,
    is_leaf,
    is_number,
    is_top_level,
    nested_blocks,
    top_level_blocks,
)
from ..analysis.readers import indices_around, is_unread, keeps_below, readers
from ..analysis.work_groups import wants_work_items


@dataclass(frozen=True)
class StripeDropConstraintsPass(ModulePass):
    """Drop constraints of work-groups where points beyond the end do no harm."""

    name = "stripe-drop-constraints"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Drop constraints of the nests inside of work-groups."""
        for block in top_level_blocks(op):
            if wants_work_items(block):
                for nest in _nests(block, []):
                    _drop(nest)
        for block in all_blocks(op):
            if (
                not is_top_level(block)
                and _is_fill(block)
                and is_unread(block, may_round=False)
            ):
                Rewriter.erase_op(block)


def _nests(block: BlockOp, around: list[BlockOp]) -> Iterator[list[BlockOp]]:
    """The innermost blocks, each behind the blocks that only it is in."""
    inner = nested_blocks(block)
    if not inner:
        yield [*around, block]
        return
    outer = [*around, block] if len(inner) == 1 else []
    for each in inner:
        yield from _nests(each, outer)


def _drop(nest: Sequence[BlockOp]) -> None:
    leaf = nest[-1]
    if leaf.is_serial or not is_leaf(leaf) or not computes_with_floats(leaf):
        return
    if not any(block.conditions for block in nest):
        return
    scratches = _scratches(leaf)
    if scratches is None:
        return
    for block in nest:
        kept = [
            form
            for form, condition in zip(block.conditions, block.where, strict=True)
            if not (
                _is_unseen(leaf, condition) or _is_neutral(leaf, condition, scratches)
            )
        ]
        if len(kept) < len(block.conditions):
            block.set_constraints(kept)


def _is_fill(block: BlockOp) -> bool:
    """Whether a block sets scratch of a work-group to a number."""
    statements = [*block.body.block.ops]
    if len(statements) != 2 or len(block.buffers) != 1:
        return False
    first, last = statements
    is_constant = isinstance(first, ConstantOp) and isinstance(last, StoreOp)
    is_nested = not is_top_level(block)
    return is_nested and is_constant and isinstance(block.buffers[0].owner, AllocOp)


@dataclass(frozen=True)
class _Scratch:
    """Memory of a work-group that was copied to, and set where nothing was copied."""

    fill: int | float
    borders: tuple[IndexSum, ...]
    """What is at least zero at the cells that are copied: over `places`."""
    places: tuple[SSAValue | None, ...]
    """What stands in for the place along each axis."""

    def is_fill_beyond(self, condition: IndexSum, starts: Sequence[IndexSum]) -> bool:
        """Whether a cell that is read has the fill where a condition fails."""
        cell = {
            place: start
            for place, start in zip(self.places, starts, strict=True)
            if place is not None
        }
        return any(
            (condition - border.substitute(cell)).bounds(index_range)[0] >= 0
            for border in self.borders
        )


def _scratches(leaf: BlockOp) -> dict[SSAValue, _Scratch] | None:
    """What a leaf reads, by its views; None where that is not all set in the group."""
    found: dict[SSAValue, _Scratch] = {}
    for number, refinement in enumerate(leaf.refinement_list):
        view = leaf.view(number)
        access = absolute_access(view)
        if not _is_inside(access) or not is_number(leaf.view_type(number)):
            return None
        if refinement.direction.writes:
            is_own = view_type(access.buffer).space.data is MemorySpace.PRIVATE
            if refinement.direction.reads or not is_own:
                return None
            continue
        scratch = _scratch(access.buffer)
        if scratch is None:
            return None
        found[view] = scratch
    return found


def _is_inside(access: AbsoluteAccess) -> bool:
    """Whether all cells are in the buffer, whatever constraints say."""
    for start, size in zip(access.starts, access.buffer_type.sizes, strict=True):
        low, high = start.bounds(index_range)
        if low < 0 or high >= size:
            return False
    return True


def _scratch(buffer: SSAValue) -> _Scratch | None:
    """What sets a buffer: one copy, and a fill for each of its borders."""
    if not isinstance(buffer.owner, AllocOp):
        return None
    copies: list[BlockOp] = []
    fills: list[int | float] = []
    for use in buffer.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            return None
        if not block.refinement(use.index).direction.writes:
            continue
        stores = [op for op in block.body.block.ops if isinstance(op, StoreOp)]
        if not is_leaf(block) or len(stores) != 1:
            return None
        if isinstance(constant := stores[0].value.owner, ConstantOp):
            fills.append(constant.number)
        else:
            copies.append(block)
    if len(copies) != 1 or len({*fills}) > 1:
        return None
    (copy,) = copies
    if len(fills) != len(copy.conditions):
        return None
    places = _places(copy, buffer)
    return None if places is None else _Scratch((*fills, 0)[0], copy.where, places)


def _places(copy: BlockOp, buffer: SSAValue) -> tuple[SSAValue | None, ...] | None:
    """The index of a copy that steps through each axis of its target."""
    number = copy.buffers.index(buffer)
    places: list[SSAValue | None] = []
    for start in copy.access(number):
        if start.constant or len(start.terms) > 1:
            return None
        if not start.terms:
            places.append(None)
        elif start.single_value in copy.indices:
            places.append(start.single_value)
        else:
            return None
    return tuple(places)


def _is_unseen(leaf: BlockOp, condition: IndexSum) -> bool:
    """Whether what is computed where a condition fails is never read."""
    for number, refinement in enumerate(leaf.refinement_list):
        if refinement.direction.writes:
            access = absolute_access(leaf.view(number))
            around = {*indices_around(access.buffer)}
            axes = range(len(access.starts))
            # At cell `c` the condition is `limit - c`.
            limits = [condition + access.starts[axis] for axis in axes]
            if not any(
                {*limit.values} <= around
                and all(
                    keeps_below(reader, view, axis, limit)
                    for reader, view in readers(access.buffer)
                )
                for axis, limit in zip(axes, limits, strict=True)
            ):
                return False
    return True


def _is_neutral(
    leaf: BlockOp, condition: IndexSum, scratches: Mapping[SSAValue, _Scratch]
) -> bool:
    """Whether what is computed where a condition fails aggregates nothing."""
    numbers: dict[SSAValue, int | float] = {}
    for statement in leaf.body.block.ops:
        match statement:
            case LoadOp():
                scratch = scratches.get(statement.view)
                starts = absolute_access(statement.view).starts
                if scratch is not None and scratch.is_fill_beyond(condition, starts):
                    numbers[statement.result] = scratch.fill
            case ConstantOp():
                numbers[statement.result] = statement.number
            case ElementwiseOp() | CastOp():
                _evaluate(statement, numbers)
            case StoreOp():
                element = element_of(statement.value.type)
                aggregation = _aggregation(leaf, statement.view)
                identity = aggregation.identity(element)
                is_certain = statement.condition is None
                if not is_certain or numbers.get(statement.value) != identity:
                    return False
            case _:
                return False
    return True


def _aggregation(leaf: BlockOp, view: SSAValue) -> Aggregation:
    return leaf.refinement(leaf.views.index(view)).aggregation


def _evaluate(op: ElementwiseOp | CastOp, numbers: dict[SSAValue, int | float]) -> None:
    """Note the number that an operation gives, where it is known of its operands."""
    known = [numbers[operand] for operand in op.operands if operand in numbers]
    if len(known) < len(op.operands):
        return
    result = op.results[0]
    elements = [element_of(operand.type) for operand in op.operands]
    if isinstance(op, CastOp):
        number = fold_cast(known[0], elements[0], element_of(result.type))
    else:
        number = evaluate_function(
            op.function, known, elements, element_of(result.type)
        )
    if number is not None:
        numbers[result] = number

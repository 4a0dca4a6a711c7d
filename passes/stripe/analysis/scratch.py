"""Memory of a work-group that holds numbers around what there is.

What stages an input copies the cells that there are, and sets the others; values beyond
an end may be set right before they are read. So it is known what a block reads where a
condition on its points fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import (
    FUNCTION_OPS,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import MemorySpace, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...constant_folding import evaluate_function, fold_cast
from .effects import effects_of
from .nests import (
    AbsoluteAccess,
    absolute_access,
    is_leaf,
    is_number,
    nested_blocks,
)
from .readers import blocks_from, conditions_from, writers

_PRODUCT = FUNCTION_OPS["mul"].name


@dataclass(frozen=True)
class Scratch:
    """Memory of a work-group of which some cells are set to a number."""

    fill: int | float
    filled: tuple[tuple[IndexSum, ...], ...]
    """The number is where all of one of these are below zero: sums over `places`."""
    places: tuple[SSAValue | None, ...]
    """What stands in for the place along each axis."""

    def cell(self, starts: Sequence[IndexSum]) -> dict[SSAValue, IndexSum]:
        """What stands in for the places of a cell, with where these are."""
        return _cell(self.places, starts)

    def is_fill_beyond(self, condition: IndexSum, starts: Sequence[IndexSum]) -> bool:
        """Whether a cell that is read has the fill where a condition fails."""
        cell = self.cell(starts)
        if not all(_is_among(start, place) for place, start in cell.items()):
            return False
        return any(
            all(
                (condition - border.substitute(cell)).bounds(index_range)[0] >= 0
                for border in borders
            )
            for borders in self.filled
        )


@dataclass(frozen=True)
class Copied(Scratch):
    """Memory that is copied to, and set where nothing is copied."""

    copy: BlockOp


def scratches_of(leaf: BlockOp) -> dict[SSAValue, Scratch] | None:
    """What a leaf reads, by its views; None where that is not all set in the group."""
    found: dict[SSAValue, Scratch] = {}
    for number, refinement in enumerate(leaf.refinement_list):
        view = leaf.view(number)
        access = absolute_access(view)
        if not access.is_inside() or not is_number(leaf.view_type(number)):
            return None
        if refinement.direction.writes:
            is_own = view_type(access.buffer).space.data is MemorySpace.PRIVATE
            if refinement.direction.reads or not is_own:
                return None
            continue
        scratch = _set_before(leaf, access.buffer) or _copied(access.buffer)
        if scratch is None:
            return None
        found[view] = scratch
    return found


def _is_among(start: IndexSum, place: SSAValue) -> bool:
    """Whether a sum only has values that an index has."""
    low, high = start.bounds(index_range)
    return low >= 0 and high < index_range(place)


def _copied(buffer: SSAValue) -> Copied | None:
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
        stores = _stores(block)
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
    places = _places(copy, copy.view(copy.buffers.index(buffer)))
    if places is None:
        return None
    borders = tuple([(border,) for border in copy.where])
    return Copied((*fills, 0)[0], borders, places, copy)


def is_set_beyond(
    reader: BlockOp | None, view: SSAValue, axis: int, limit: IndexSum
) -> bool:
    """Whether all that is read beyond a limit along an axis is set right before."""
    if reader is None or view not in reader.views:
        return False
    access = absolute_access(view)
    found = _set_before(reader, access.buffer)
    return found is not None and found.is_fill_beyond(
        limit - access.starts[axis], access.starts
    )


def is_set_between(access: AbsoluteAccess, end: IndexSum, beyond: IndexSum) -> bool:
    """Whether cells are set that are read where `end` fails and `beyond` does not.

    What is no private memory is taken for set.
    """
    is_private = access.buffer_type.space.data is MemorySpace.PRIVATE
    return not is_private or any(
        _writes_between(writer, view, access, end, beyond)
        for writer, view in writers(access.buffer)
    )


def _writes_between(
    writer: BlockOp,
    view: SSAValue,
    access: AbsoluteAccess,
    end: IndexSum,
    beyond: IndexSum,
) -> bool:
    """Whether all conditions of a writer follow where one fails and one does not."""
    conditions = conditions_from(writer, access.buffer)
    if not conditions:
        return True
    places = _places(writer, view)
    if places is None:
        return False
    cell = _cell(places, access.starts)
    wanted = [condition.substitute(cell) for condition in conditions]
    return all(
        (each + end + 1).bounds(index_range)[0] >= 0
        or (each - beyond).bounds(index_range)[0] >= 0
        for each in wanted
    )


def _set_before(reader: BlockOp, buffer: SSAValue) -> Scratch | None:
    """What is set right before it is read, or before it is copied to what is read."""
    writer = _last_writer(reader, buffer)
    stores = [] if writer is None else _stores(writer)
    if writer is None or len(stores) != 1:
        return None
    store, value = stores[0], stores[0].value.owner
    places = _places(writer, store.view)
    is_plain = _aggregation(writer, store.view) is Aggregation.ASSIGN
    if places is None or not is_plain or store.condition or store.subscripts:
        return None
    conditions = conditions_from(writer, buffer)
    if isinstance(value, ConstantOp):
        borders = tuple([-condition - 1 for condition in conditions])
        return Scratch(value.number, (borders,), places)
    if conditions or not isinstance(value, LoadOp) or value.subscripts is not None:
        return None
    source = absolute_access(value.view)
    before = _set_before(writer, source.buffer)
    if before is None:
        return None
    cell = before.cell(source.starts)
    filled = [[each.substitute(cell) for each in borders] for borders in before.filled]
    return Scratch(before.fill, tuple(map(tuple, filled)), places)


def _last_writer(reader: BlockOp, buffer: SSAValue) -> BlockOp | None:
    """The innermost block of the statement that wrote a buffer last before a reader.

    None where it has several, or where the reader's own statement writes the buffer.
    """
    *_, statement = blocks_from(reader, buffer)
    if buffer in effects_of(statement).written:
        return None
    before: Operation | None = statement
    while before is not None and buffer not in effects_of(before).written:
        before = before.prev_op
    if not isinstance(before, BlockOp):
        return None
    block = before
    while len(inner := nested_blocks(block)) == 1:
        (block,) = inner
    return block if is_leaf(block) else None


def _stores(block: BlockOp) -> list[StoreOp]:
    return [op for op in block.body.block.ops if isinstance(op, StoreOp)]


def _places(writer: BlockOp, target: SSAValue) -> tuple[SSAValue | None, ...] | None:
    """The index of a block that steps through each axis of a buffer that it writes."""
    places: list[SSAValue | None] = []
    for start in absolute_access(target).starts:
        if start.constant or len(start.terms) > 1:
            return None
        if not start.terms:
            places.append(None)
        elif start.single_value in writer.indices:
            places.append(start.single_value)
        else:
            return None
    return tuple(places)


def _cell(
    places: Sequence[SSAValue | None], starts: Sequence[IndexSum]
) -> dict[SSAValue, IndexSum]:
    """What stands in for the places of a cell, with where these are."""
    pairs = zip(places, starts, strict=True)
    return {place: start for place, start in pairs if place is not None}


def is_neutral(
    leaf: BlockOp,
    condition: IndexSum,
    scratches: Mapping[SSAValue, Scratch],
    *,
    or_nan: bool = False,
) -> bool:
    """Whether what is computed where a condition fails aggregates nothing.

    With `or_nan` it may be NaN, too, where a number that is read is infinite or NaN.
    """
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
                _evaluate(statement, numbers, or_nan)
            case StoreOp():
                element = element_of(statement.value.type)
                aggregation = _aggregation(leaf, statement.view)
                if statement.condition or aggregation is Aggregation.ASSIGN:
                    return False
                if numbers.get(statement.value) != aggregation.identity(element):
                    return False
            case _:
                return False
    return True


def _aggregation(leaf: BlockOp, view: SSAValue) -> Aggregation:
    return leaf.refinement(leaf.views.index(view)).aggregation


def _evaluate(
    op: ElementwiseOp | CastOp, numbers: dict[SSAValue, int | float], or_nan: bool
) -> None:
    """Note the number that an operation gives, where it is known of its operands.

    With `or_nan` a product with 0 is 0.
    """
    known = [numbers[operand] for operand in op.operands if operand in numbers]
    result = op.results[0]
    if len(known) < len(op.operands):
        if or_nan and op.name == _PRODUCT and 0 in known:
            numbers[result] = 0
        return
    elements = [element_of(operand.type) for operand in op.operands]
    if isinstance(op, CastOp):
        number = fold_cast(known[0], elements[0], element_of(result.type))
    else:
        number = evaluate_function(
            op.function, known, elements, element_of(result.type)
        )
    if number is not None:
        numbers[result] = number

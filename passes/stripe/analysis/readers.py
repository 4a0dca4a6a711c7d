"""Who reads a buffer and who writes it; whether anybody reads what a block sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from ....affine.form import LinearForm
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from .lanes import MOST_LANES, computes_with_floats
from .nests import AbsoluteAccess, absolute_access, blocks_around, is_leaf, is_number

_Below: TypeAlias = Callable[[BlockOp | None, SSAValue, int, IndexSum], bool]
"""Whether a reader keeps to a limit along an axis of what a view shows."""


def readers(view: SSAValue) -> Iterator[tuple[BlockOp | None, SSAValue]]:
    """The views of a buffer that are loaded from, with their blocks.

    None in place of a block where something else is done with it.
    """
    for user, own in _statements(view):
        if isinstance(user, LoadOp):
            around = user.parent_op()
            yield around if isinstance(around, BlockOp) else None, own
        elif not isinstance(user, StoreOp) or user.subscripts is not None:
            yield None, own


def writers(view: SSAValue) -> Iterator[tuple[BlockOp, SSAValue]]:
    """The views of a buffer that are stored to, with their blocks."""
    for user, own in _statements(view):
        around = user.parent_op()
        if isinstance(user, StoreOp) and isinstance(around, BlockOp):
            yield around, own


def _statements(view: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
    """What uses a buffer in the innermost blocks, with the views that it uses."""
    for use in view.uses:
        if isinstance(use.operation, BlockOp):
            yield from _statements(use.operation.view(use.index))
        else:
            yield use.operation, view


def keeps_below(
    reader: BlockOp | None,
    view: SSAValue,
    axis: int,
    limit: IndexSum,
) -> bool:
    """Whether a reader only reads cells with `limit - cell >= 0` along an axis."""
    if reader is None or view not in reader.views:
        return False
    number = reader.views.index(view)
    if not is_number(reader.view_type(number)):
        return False
    access = absolute_access(view)
    wanted = limit - access.starts[axis]
    return wanted.bounds(index_range)[0] >= 0 or any(
        (wanted - known).bounds(index_range)[0] >= 0
        for known in conditions_from(reader, access.buffer)
    )


def is_unread_where(access: AbsoluteAccess, end: IndexSum, *others: _Below) -> bool:
    """Whether cells of points for which `end` is below zero are never read.

    They are cells of an allocation. Each reader keeps below them, or `others` say that
    what it reads there does no harm.
    """
    buffer, ways = access.buffer, (keeps_below, *others)
    if not isinstance(buffer.owner, AllocOp):
        return False
    around = {*indices_around(buffer)}
    # At cell `c` of an axis `end` is `limit - c`.
    limits = [start + end for start in access.starts]
    return any(
        {*limit.values} <= around
        and all(
            any(way(reader, view, axis, limit) for way in ways)
            for reader, view in readers(buffer)
        )
        for axis, limit in enumerate(limits)
    )


def hands_on_unread(
    reader: BlockOp | None, view: SSAValue, axis: int, limit: IndexSum
) -> bool:
    """Whether what is read beyond a limit only goes to cells that are never read."""
    if reader is None or not is_leaf(reader) or not computes_with_floats(reader):
        return False
    end = limit - absolute_access(view).starts[axis]
    return all(
        not refinement.direction.reads
        and is_unread_where(absolute_access(reader.view(number)), end)
        for number, refinement in enumerate(reader.refinement_list)
        if refinement.direction.writes
    )


def is_unread(fill: BlockOp, *, may_round: bool = True) -> bool:
    """Whether constraints keep all readers from the cells that a block sets.

    `fill` has one refinement. Where constraints of readers may be moved to the end of a
    vector later (see `stripe-round-up`), what is read then counts, too, and only those
    of the innermost blocks keep from anything.
    """
    place = absolute_access(fill.view(0))
    around = indices_around(place.buffer)
    ranges = [*place.buffer_type.sizes, *map(index_range, around)]
    beyond = _over_cells(fill, place, around)
    for reader, view in readers(place.buffer):
        if reader is None or view not in reader.views:
            return False
        if not is_number(reader.view_type(reader.views.index(view))):
            return False
        access = absolute_access(view)
        if may_round:
            read = _over_cells(reader, access, around)
            within = [_rounded_up(form, place.buffer_type.rank) for form in read]
        else:
            blocks = blocks_from(reader, place.buffer)
            within = [f for each in blocks for f in _over_cells(each, access, around)]
        if all((f + r).bounds(ranges)[1] >= 0 for r in within for f in beyond):
            return False
    return True


def blocks_from(reader: BlockOp, buffer: SSAValue) -> Iterator[BlockOp]:
    """A block and those around it that are inside of where a buffer is allocated."""
    outermost = None if isinstance(buffer.owner, Block) else buffer.owner.parent_op()
    blocks = (reader, *blocks_around(reader))
    return takewhile(lambda block: block is not outermost, blocks)


def conditions_from(block: BlockOp, buffer: SSAValue) -> list[IndexSum]:
    """What holds at the points of a block by these blocks' constraints."""
    return [each for around in blocks_from(block, buffer) for each in around.where]


def indices_around(buffer: SSAValue) -> list[SSAValue]:
    """What is the same during the life of an allocation."""
    if isinstance(buffer.owner, Block):
        return []
    return [index for block in blocks_around(buffer.owner) for index in block.indices]


def _over_cells(
    block: BlockOp, place: AbsoluteAccess, around: Sequence[SSAValue]
) -> list[LinearForm]:
    """The constraints of a block that its cell of a buffer decides.

    They are forms over the cell's place along each axis, then the values `around` the
    allocation; found where an index steps through one axis alone, one by one.
    """
    steps = [_lone_step(place, axis) for axis in range(len(place.starts))]
    found: list[LinearForm] = []
    for condition in block.where:
        coefficients = dict(condition.terms)
        factors = [0 if step is None else coefficients.get(step, 0) for step in steps]
        rest = condition
        for factor, start in zip(factors, place.starts, strict=True):
            rest -= start * factor
        if {*rest.values} <= {*around}:
            outer = rest.form(around).coefficients
            found.append(LinearForm((*factors, *outer), rest.constant))
    return found


def _lone_step(place: AbsoluteAccess, axis: int) -> SSAValue | None:
    """An index that steps through an axis one by one, and through no other."""
    for value, coefficient in place.starts[axis].terms:
        users = sum(value in start.values for start in place.starts)
        if coefficient == 1 and users == 1:
            return value
    return None


def _rounded_up(form: LinearForm, rank: int) -> LinearForm:
    """A constraint on cells where it may be moved to, at the end of some vector."""
    missing = 0
    lanes = 2
    while lanes <= MOST_LANES:
        for axis in range(rank):
            others = [c for n, c in enumerate(form.coefficients) if n != axis]
            if form.coefficients[axis] == -1 and not any(c % lanes for c in others):
                missing = max(missing, int(-(form.constant + 1) % lanes))
        lanes *= 2
    return form + missing

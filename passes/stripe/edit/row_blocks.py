"""Blocks over the cells of a view that compute with numbers of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from ....affine.form import LinearForm
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import MemorySpace, ViewType, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ...locations import located
from ..analysis.covariance import Term
from ..analysis.recurrences import Place
from .copies import cell_bounds
from .point_block import AccessMap, PointBlock


@dataclass(frozen=True)
class Factor:
    """A number for each row of another view."""

    view: SSAValue
    place: Place
    """Along which axis of the other view each axis of this one lies."""


@dataclass(frozen=True)
class Change:
    """What an aggregation was, and what it is."""

    new: SSAValue
    old: SSAValue | None = None
    """None for 1, or for what `none` says."""
    none: int | float | None = None
    """What nothing aggregates to: 0 was used in place of that."""

    def numbers(
        self, block: PointBlock, access: AccessMap
    ) -> tuple[SSAValue, SSAValue]:
        """Both at a place."""
        element = view_type(self.new).element_type
        new = block.load(self.new, access)
        if self.old is not None:
            return block.load(self.old, access), new
        if self.none is not None:
            return _or_zero(block, new, self.none), new
        return block.constant(1, element), new


def finite_block(view: SSAValue, none: int | float, origin: Operation) -> _Filled:
    """A buffer with an aggregation so far, and 0 where that is of nothing."""
    own, block, access = _begin(view, "so_far", origin)
    block.store(_or_zero(block, block.load(view, access), none), own.view, access)
    return _Filled(own, block.finish(None))


def factor_block(term: Term, change: Change, origin: Operation) -> _Filled:
    """A buffer with the value of a term of a change, at each of its places."""
    own, block, access = _begin(change.new, "factor", origin)
    old, new = change.numbers(block, access)
    element = view_type(change.new).element_type
    block.store(_emitted(term, block, old, new, element), own.view, access)
    return _Filled(own, block.finish(None))


@dataclass(frozen=True)
class _Filled:
    """A buffer and the block that sets it."""

    allocation: AllocOp
    block: BlockOp

    @property
    def view(self) -> SSAValue:
        """The buffer."""
        return self.allocation.view

    @property
    def operations(self) -> list[Operation]:
        """Both, in order."""
        return [self.allocation, self.block]


def rescale_block(
    source: SSAValue, target: SSAValue, factors: Sequence[Factor], origin: Operation
) -> BlockOp:
    """A block that stores the cells of a view times factors of their rows."""
    type = view_type(source)
    block = PointBlock(_ranges(type), _names(type), origin)
    access = _cell(type)
    value = block.load(source, access)
    for factor in factors:
        place = tuple(
            [block.zero if axis is None else access[axis] for axis in factor.place]
        )
        own = block.load(factor.view, place)
        value = block.apply("mul", [value, own], type.element_type)
    block.store(value, target, access)
    built = block.finish(None)
    cell = [IndexSum.of(form, built.indices) for form in access]
    built.add_where(*cell_bounds(target, cell))
    return built


def _begin(
    view: SSAValue, name: str, origin: Operation
) -> tuple[AllocOp, PointBlock, AccessMap]:
    """A private buffer like a view, and a block over its cells to be built."""
    type = view_type(view).in_space(MemorySpace.PRIVATE)
    own = located(AllocOp(type, f"{view.name_hint or 'number'}_{name}"), origin)
    return own, PointBlock(_ranges(type), _names(type), origin), _cell(type)


def _ranges(type: ViewType) -> list[int]:
    return [size for size in type.sizes if size > 1]


def _names(type: ViewType) -> list[str]:
    return [f"e{axis}" for axis in range(len(_ranges(type)))]


def _cell(type: ViewType) -> AccessMap:
    """The cell of each point: axes of one cell have no index."""
    rank, found = len(_ranges(type)), list[LinearForm]()
    index = 0
    for size in type.sizes:
        moves = size > 1
        found.append(
            LinearForm.dimension(index, rank)
            if moves
            else LinearForm.constant_of(0, rank)
        )
        index += moves
    return tuple(found)


def _or_zero(block: PointBlock, value: SSAValue, none: int | float) -> SSAValue:
    """A value, and 0 in place of what nothing aggregates to."""
    element = value.type
    is_none = block.apply("cmp_eq", [value, block.constant(none, element)], i1)
    return block.apply("cond", [is_none, block.constant(0, element), value], element)


def _emitted(
    term: Term, block: PointBlock, old: SSAValue, new: SSAValue, element: Attribute
) -> SSAValue:
    """A term as statements."""
    match term.function:
        case "old":
            return old
        case "new":
            return new
        case "number":
            return block.constant(term.number, element)
        case name:
            operands = [
                _emitted(each, block, old, new, element) for each in term.operands
            ]
            return block.apply(name, operands, element)

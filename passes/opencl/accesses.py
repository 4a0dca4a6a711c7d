"""Which cells of memory the work-items of a group use, and whether two meet on one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...affine.isl import sample
from ...affine.radix import determined_indices
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import PointerType, WorkItemQuery
from ...dialects.opencl.data_ops import PositionOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ...errors import GinghamError
from ..walking import operations
from .loops import ancestors, conditions_around, extent_of


@dataclass(frozen=True)
class MemoryAccess:
    """One load or store of a kernel, of local or global memory.

    `start` is its first element, of `count` side by side.
    """

    pointer: SSAValue
    space: MemorySpace
    start: IndexSum
    count: int
    writes: bool
    group: tuple[int, ...]
    """The work-items of a group along the three dimensions."""
    conditions: tuple[IndexSum, ...]
    """What is at least zero where it happens."""


def accesses_in(op: Operation) -> list[MemoryAccess]:
    """All accesses of an op and what is inside it, without repetitions."""
    found: dict[MemoryAccess, None] = {}
    for inner in operations(op):
        if isinstance(inner, LoadOp):
            access = _access(inner, inner.result.type)
        elif isinstance(inner, StoreOp):
            access = _access(inner, inner.value.type)
        else:
            continue
        if access.space is not MemorySpace.PRIVATE:
            found[access] = None
    return list(found)


def _access(op: LoadOp | StoreOp, value: Attribute) -> MemoryAccess:
    pointer = op.pointer.type
    if not isinstance(pointer, PointerType):
        raise ValueError(f"expected a pointer, got {pointer}")
    is_whole = value == pointer.element_type
    count = value.get_shape()[0] if isinstance(value, VectorType) else 1
    return MemoryAccess(
        op.pointer,
        pointer.space.data,
        IndexSum.of(op.form.data, op.values),
        1 if is_whole else count,
        isinstance(op, StoreOp),
        next(_group_sizes(op), (1, 1, 1)),
        conditions_around(op),
    )


def _group_sizes(op: Operation) -> Iterator[tuple[int, ...]]:
    """The size of the work-groups of the kernel around an op, if there is one."""
    return (each.group_size for each in ancestors(op) if isinstance(each, KernelOp))


def differs_between_items(value: SSAValue) -> bool:
    """Whether an index may have another value in another work-item of the group."""
    match value.owner:
        case WorkItemOp() as item:
            return item.query.data is not WorkItemQuery.GROUP_ID
        case DelinearizeOp() as apart:
            return differs_between_items(apart.index)
        case PositionOp():
            return True
        case _:
            return False


def meet(first: MemoryAccess, second: MemoryAccess, effort: int = 1) -> bool | None:
    """Whether two different work-items of a group use one cell, at some iterations.

    One does the first access, the other the second. None where that is not decided by
    what questions may spend, `effort` times as much as others.
    """
    if first.pointer is not second.pointer:
        return False
    if first.start == second.start and _tells_item(first):
        return False
    points = _Points(first.group)
    # How much further the first one begins.
    distance = points.position(first, 0) - points.position(second, 1)
    near = [distance + (first.count - 1), -distance + (second.count - 1)]
    try:
        return any(points.exist([*near, gap], effort) for gap in points.gaps())
    except GinghamError:
        return None


def _tells_item(access: MemoryAccess) -> bool:
    """Whether an element that is used tells which work-item of a group uses it.

    Its place then has the work-item's coordinates as digits.
    """
    form, values = access.start.as_form()
    extents: dict[int, int] = {}
    for number, value in enumerate(values):
        if (query := _query(value)) is not WorkItemQuery.GROUP_ID:
            extent = extent_of(value) if query is None else _item_extent(value)
            if extent is None:
                return False
            extents[number] = extent
    told = {values[n] for n in determined_indices([form], [access.count], extents)}
    dimensions = {
        item.dimension.value.data
        for value in told
        if (item := _item(value)) is not None and _tells(item.result, told)
    }
    return all(n in dimensions for n, size in enumerate(access.group) if size > 1)


def _item(value: SSAValue) -> WorkItemOp | None:
    """The query that an index is the answer to, or a part of it."""
    match value.owner:
        case WorkItemOp() as item:
            return item
        case DelinearizeOp() as apart:
            return _item(apart.index)
        case _:
            return None


def _query(value: SSAValue) -> WorkItemQuery | None:
    item = _item(value)
    return None if item is None else item.query.data


def _item_extent(value: SSAValue) -> int | None:
    match value.owner:
        case WorkItemOp() as item:
            return item.bound.value.data
        case DelinearizeOp() as apart:
            pairs = zip(apart.coordinates, apart.extents, strict=True)
            return next(extent for each, extent in pairs if each is value)
        case _:
            return None


def _tells(item: SSAValue, told: Collection[SSAValue]) -> bool:
    """Whether an index is told, or all that it is taken apart to."""
    return item in told or any(
        all(_tells(coordinate, told) for coordinate in use.operation.coordinates)
        for use in item.uses
        if isinstance(use.operation, DelinearizeOp)
    )


_Sum: TypeAlias = IndexSum[int]
"""A sum over variables, by their numbers."""


class _Points:
    """Two work-items of a group: variables for their indices, and what bounds these."""

    def __init__(self, group: tuple[int, ...]) -> None:
        self._group = group
        self._numbers: dict[object, int] = {}
        self._bounds: list[_Sum] = []

    def position(self, access: MemoryAccess, copy: int) -> _Sum:
        """The first element that one of the two uses, where it does."""
        self._bounds += [self._sum(each, copy) for each in access.conditions]
        return self._sum(access.start, copy)

    def _sum(self, sum: IndexSum, copy: int) -> _Sum:
        total = _Sum((), sum.constant)
        for value, coefficient in sum.terms:
            total += _Sum.value(self._variable(value, copy)) * coefficient
        return total

    def gaps(self) -> Iterator[_Sum]:
        """Inequalities of which one holds for work-items that are different."""
        for dimension, size in enumerate(self._group):
            if size > 1:
                one, other = (self._item(dimension, copy) for copy in (0, 1))
                further = _Sum.value(one) - _Sum.value(other)
                yield further - 1
                yield -further - 1

    def exist(self, sums: Sequence[_Sum], effort: int) -> bool:
        """Whether there are points at which these are at least zero."""
        variables = range(len(self._numbers))
        forms = [sum.form(variables) for sum in (*sums, *self._bounds)]
        return sample(len(variables), forms, effort) is not None

    def _variable(self, value: SSAValue, copy: int) -> int:
        match value.owner:
            case WorkItemOp() as item:
                return self._work_item(item, copy)
            case DelinearizeOp() as apart:
                return self._coordinate(apart, value, copy)
            case PositionOp() as position:
                return self._number((value, copy), position.bound.value.data)
            case _:
                return self._number((value, copy), extent_of(value))

    def _work_item(self, op: WorkItemOp, copy: int) -> int:
        query, dimension = op.query.data, op.dimension.value.data
        bound = op.bound.value.data
        if query is WorkItemQuery.LOCAL_ID:
            return self._item(dimension, copy)
        if query is WorkItemQuery.GROUP_ID:
            return self._number((query, dimension), bound)
        number = self._number((query, dimension, copy), bound)
        group = self._number((WorkItemQuery.GROUP_ID, dimension), None)
        first = _Sum.value(group) * self._group[dimension]
        item = _Sum.value(self._item(dimension, copy))
        self._equal(first + item - _Sum.value(number))
        return number

    def _item(self, dimension: int, copy: int) -> int:
        return self._number((_ITEM, dimension, copy), self._group[dimension])

    def _coordinate(self, op: DelinearizeOp, value: SSAValue, copy: int) -> int:
        sum = -_Sum.value(self._variable(op.index, copy))
        step = prod(op.extents)
        for coordinate, extent in zip(op.coordinates, op.extents, strict=True):
            step //= extent
            sum += _Sum.value(self._number((coordinate, copy), extent)) * step
        self._equal(sum)
        return self._number((value, copy), None)

    def _equal(self, sum: _Sum) -> None:
        self._bounds += [sum, -sum]

    def _number(self, key: object, extent: int | None) -> int:
        """The variable for a key, which is from 0 to below an extent."""
        if key not in self._numbers:
            number = self._numbers[key] = len(self._numbers)
            variable = _Sum.value(number)
            self._bounds.append(variable)
            if extent is not None:
                self._bounds.append(-variable + (extent - 1))
        return self._numbers[key]


_ITEM = "item"

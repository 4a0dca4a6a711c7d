"""Computed places: indices that a tensor holds, clamped to an axis or checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import Kind, bit_width, kind
from ...dialects.stripe.attributes import Direction, Refinement
from ...dialects.stripe.subscripts import Subscript
from ..stripe.edit.point_block import AccessMap, PointBlock, Source


@dataclass(frozen=True)
class Coordinates:
    """Where the coordinates of some axes come from, as accesses of a tensor of indices.

    `axes` maps an axis to the access of its coordinate, forms over a block's indices.
    """

    indices: Source
    axes: Mapping[int, AccessMap]


@dataclass
class Place:
    """A place in a window, which is whole along the computed axes."""

    subscripts: list[Subscript] = field(default_factory=list)
    inside: SSAValue | None = None
    """Whether the indices are in bounds; None where that is not asked, or certain."""


def computed_window(
    access: Mapping[int, LinearForm], sizes: Sequence[int], rank: int
) -> tuple[AccessMap, list[int]]:
    """The window that is one element along the axes in `access`, and else whole."""
    zero = LinearForm.constant_of(0, rank)
    starts = tuple(access.get(axis, zero) for axis in range(len(sizes)))
    return starts, [1 if axis in access else size for axis, size in enumerate(sizes)]


def place_of(
    block: PointBlock, coordinates: Coordinates, sizes: Sequence[int], *, check: bool
) -> Place:
    """The place at a point of a block, in a view of these sizes: indices are clamped.

    With `check` it also says whether that changed any. Axes without coordinates have
    subscript 0.
    """
    place = Place()
    for axis, size in enumerate(sizes):
        access = coordinates.axes.get(axis)
        if access is None:
            place.subscripts.append(0)
            continue
        index = block.read(coordinates.indices, access)
        clamped = clamp(block, index, size)
        place.subscripts.append(clamped)
        if check and clamped is not index:
            is_same = block.apply("cmp_eq", [index, clamped], i1)
            place.inside = both(block, place.inside, is_same)
    return place


def clamp(block: PointBlock, index: SSAValue, size: int) -> SSAValue:
    """The nearest coordinate of an axis of size 1 or more.

    `index` itself where its type can hold nothing else.
    """
    low, high = _limits(index.type)
    if low < 0:
        zero = block.constant(0, index.type)
        index = block.apply("max", [index, zero], index.type)
    if high >= size:
        last = block.constant(size - 1, index.type)
        index = block.apply("min", [index, last], index.type)
    return index


def both(block: PointBlock, first: SSAValue | None, second: SSAValue) -> SSAValue:
    """Whether both conditions hold; without a first one, the second."""
    if first is None:
        return second
    return block.apply("logical_and", [first, second], i1)


def read_window(
    block: PointBlock, view: SSAValue, access: AccessMap, sizes: Sequence[int]
) -> SSAValue:
    """A window to read, of these sizes."""
    return block.window(view, Refinement(Direction.IN, access), sizes)


def _limits(element: Attribute) -> tuple[int, int]:
    bits = bit_width(element)
    if kind(element) is Kind.UNSIGNED:
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

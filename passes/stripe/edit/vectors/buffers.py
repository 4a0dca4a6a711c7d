"""Private buffers of vectors: where all accesses are whole vectors of one width."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from .....affine.form import LinearForm
from .....dialects.eltwise.element_types import vector_of
from .....dialects.stripe.attributes import MemorySpace, Refinement, ViewType, view_type
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...analysis.nests import is_subscripted


def value_type(view: SSAValue) -> Attribute | None:
    """The type of what a load through a view gives."""
    return view.type.value_type if isinstance(view.type, ViewType) else None


def hold_vectors(allocations: Iterable[AllocOp]) -> None:
    """Make private buffers ones of vectors, if they are only used by whole vectors."""
    changed: dict[BlockOp, dict[int, Refinement]] = {}
    for allocation in allocations:
        width = _vector_width(allocation)
        if width is not None:
            _divide(allocation.view, width, changed)
    # Once for each block, as there may be as many windows as allocations.
    for block, windows in changed.items():
        refinements = [
            windows.get(number, refinement)
            for number, refinement in enumerate(block.refinement_list)
        ]
        block.set_refinements(refinements)


def _vector_width(allocation: AllocOp) -> int | None:
    """The lanes of the vectors that a private buffer is only used by, if it is."""
    type = allocation.view.type
    if type.space.data is not MemorySpace.PRIVATE or not type.sizes:
        return None
    if isinstance(type.element_type, VectorType):
        return None
    if is_subscripted(allocation.view):
        # A place that is chosen may be no multiple of the width.
        return None
    width = _common_width(allocation.view)
    if width is None or width == 1 or type.sizes[-1] % width:
        return None
    return width if _is_aligned(allocation.view, width) else None


def _common_width(view: SSAValue) -> int | None:
    """The number of lanes of all loads and stores through a view, if it is one."""
    widths: set[int | None] = set()
    for use in view.uses:
        operation = use.operation
        if isinstance(operation, BlockOp):
            widths.add(_common_width(operation.view(use.index)))
        elif isinstance(operation, LoadOp | StoreOp):
            value = value_type(operation.view)
            lanes = value.get_shape()[0] if isinstance(value, VectorType) else 1
            widths.add(lanes)
    return widths.pop() if len(widths) == 1 else None


def _is_aligned(view: SSAValue, width: int) -> bool:
    """Whether all windows cut from a view start and end at whole vectors."""
    for use in view.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            continue
        last = block.refinement(use.index).access[-1]
        numbers = (*last.coefficients, last.constant)
        window = block.view_type(use.index).sizes[-1]
        if any(number % width for number in (*numbers, window)):
            return False
        if not _is_aligned(block.view(use.index), width):
            return False
    return True


def _divide(
    view: SSAValue, width: int, changed: dict[BlockOp, dict[int, Refinement]]
) -> None:
    """Count vectors instead of elements along the last axis of a view.

    What blocks are to have as refinements, by number, is added to `changed`.
    """
    type = view_type(view)
    element = vector_of(type.element_type, width)
    sizes = (*type.sizes[:-1], type.sizes[-1] // width)
    new_type = ViewType.of(sizes, element, type.space.data)
    new_view = Rewriter.replace_value_with_new_type(view, new_type)
    for use in list(new_view.uses):
        block = use.operation
        if not isinstance(block, BlockOp):
            continue
        refinement = block.refinement(use.index)
        *outer, last = refinement.access
        divided = LinearForm.of(
            [c // width for c in last.coefficients], last.constant // width
        )
        windows = changed.setdefault(block, {})
        windows[use.index] = replace(refinement, access=(*outer, divided))
        _divide(block.view(use.index), width, changed)

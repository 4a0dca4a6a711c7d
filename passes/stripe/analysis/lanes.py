"""Which index of a block becomes the lanes of vectors, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IndexType, VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.element_types import Kind, bit_width, kind
from ....dialects.eltwise.ops import CastOp, ElementwiseOp, element_of
from ....dialects.operands import operands_of
from ....dialects.stripe.attributes import MemorySpace, Refinement, ViewType
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import IndexOp, LoadOp, StoreOp
from .nests import is_number, root_buffer
from .varying import may_step, places_of, varying_values

MOST_LANES = 16
"""The longest vectors that OpenCL C has, whatever their elements."""

FEWEST_LANES = 4
"""Vectors of fewer are not worth it where their parts come from several places, or code
is written for them that was not needed otherwise: what is saved is a step or two."""


@dataclass(frozen=True)
class VectorPlan:
    """How a block is computed by vectors: `width` values of `index` at once.

    With `across`, as many values of that index are computed one after the other: what
    is contiguous along it, but not along `index`, is loaded as vectors along `across`
    and transposed.
    """

    index: int
    width: int
    across: int | None = None
    folds: bool = False
    """Whether the lanes meet on one cell, so that they are aggregated before."""
    collects: bool = False
    """Whether some inputs do not lie next to each other, or are `across`."""

    @property
    def copies(self) -> int:
        """How many values of `across` one point computes."""
        return 1 if self.across is None else self.width


def plan_vectors(
    block: BlockOp, bits: int, conditions: Sequence[LinearForm] | None = None
) -> VectorPlan | None:
    """How an innermost block is computed by vectors; None if it is not.

    `conditions` stand in for the constraints of the block.
    """
    if not _shows_numbers(block):
        return None
    forms = block.conditions if conditions is None else conditions
    index = vector_index(block, forms)
    if index is not None:
        if not is_vectorizable(block, varying_values(block, index)):
            return None
        width = vector_width(block, index, bits)
        return VectorPlan(index, width) if width > 1 else None
    folding = _folding_plan(block, bits, forms)
    if folding is not None and folding.width == widest_vector(block, bits):
        return folding
    collecting = _collecting_plan(block, bits, forms)
    if folding is None or (collecting and collecting.width > folding.width):
        return collecting
    return folding


def _folding_plan(
    block: BlockOp, bits: int, forms: Sequence[LinearForm]
) -> VectorPlan | None:
    """Vectors along the longest of the indices whose values meet on one cell."""
    ranges, fitting = block.index_ranges, folding_indices(block, forms)
    index = max(fitting, key=lambda index: ranges[index], default=None)
    if index is None or not is_vectorizable(block, varying_values(block, index)):
        return None
    width = vector_width(block, index, bits)
    return VectorPlan(index, width, folds=True) if width >= FEWEST_LANES else None


def _collecting_plan(
    block: BlockOp, bits: int, forms: Sequence[LinearForm]
) -> VectorPlan | None:
    """The widest vectors of numbers that do not lie next to each other."""
    plans = [
        VectorPlan(index, width, collects=True)
        for index in collecting_indices(block, forms)
        if (width := vector_width(block, index, bits)) >= FEWEST_LANES
        and is_vectorizable(block, varying_values(block, index))
    ]
    if not plans:
        return None
    best = max(plans, key=lambda plan: plan.width)
    return replace(best, across=crossing_index(block, best, forms))


def plan_along(block: BlockOp, index: int, bits: int) -> VectorPlan | None:
    """How an innermost block is computed by vectors along an index; None if it is not.

    They have two lanes or more, whether or not that is worth it.
    """
    forms = block.conditions
    width = vector_width(block, index, bits)
    is_known = _shows_numbers(block) and is_vectorizable(
        block, varying_values(block, index)
    )
    if width < 2 or not is_known:
        return None
    if index in vector_indices(block):
        return VectorPlan(index, width)
    if index in folding_indices(block, forms):
        return VectorPlan(index, width, folds=True)
    if index not in collecting_indices(block, forms):
        return None
    plan = VectorPlan(index, width, collects=True)
    return replace(plan, across=crossing_index(block, plan, forms))


def undecided(block: BlockOp) -> list[int]:
    """The indices that vectors may run along: only the one that is bound to, if any."""
    bindings = block.index_bindings
    if Binding.VECTOR in bindings:
        return [bindings.index(Binding.VECTOR)]
    return [n for n, own in enumerate(bindings) if own is Binding.UNDECIDED]


def folding_indices(block: BlockOp, conditions: Sequence[LinearForm]) -> list[int]:
    """The indices whose values meet on the cells of all outputs.

    Along them all inputs are contiguous or stay where they are.
    """
    if block.is_serial or not all(block.index_ranges):
        return []
    rank = len(block.index_ranges)
    candidates = set(undecided(block))
    read: set[int] = set()
    for refinement in block.refinement_list:
        used = {index for form in refinement.access for index in form.support}
        if refinement.direction.writes:
            candidates -= used
            if refinement.aggregation is Aggregation.ASSIGN:
                return []
        else:
            steps = unit_steps(refinement, rank)
            candidates = {c for c in candidates if c in steps or c not in used}
            read |= steps
    for form in conditions:
        candidates -= {*form.support}
    return [c for c in sorted(candidates & read) if may_step(block, c)]


def collecting_indices(block: BlockOp, conditions: Sequence[LinearForm]) -> list[int]:
    """The indices along which outputs step one by one, but some inputs do not."""
    if block.is_serial or not all(block.index_ranges):
        return []
    rank = len(block.index_ranges)
    candidates: set[int] | None = None
    for refinement in block.refinement_list:
        if refinement.direction.writes:
            steps = unit_steps(refinement, rank)
            candidates = steps if candidates is None else candidates & steps
    for form in conditions:
        candidates = {c for c in candidates or () if not form.coefficients[c]}
    free = (candidates or set()).intersection(undecided(block))
    return [c for c in sorted(free) if _may_collect(block, c)]


def _may_collect(block: BlockOp, index: int) -> bool:
    """Whether each lane's inputs are at a place that is known or computed for it."""
    varying = varying_values(block, index)
    for operation in block.body.ops:
        if isinstance(operation, StoreOp) and not varying.isdisjoint(
            places_of(operation)
        ):
            return False
        if not isinstance(operation, LoadOp) or operation.result not in varying:
            continue
        if operation.subscripts is not None and not _has_places(
            block, operation, index, varying
        ):
            return False
    return True


def _has_places(
    block: BlockOp, load: LoadOp, index: int, varying: Set[SSAValue]
) -> bool:
    """Whether a load's subscripts choose one place for all lanes of a row.

    Or else, along each axis only the subscript differs between lanes, or the window.
    """
    if load.view not in block.views:
        return True
    refinement = block.refinement(block.views.index(load.view))
    is_row = index in unit_steps(refinement, len(block.index_ranges))
    if is_row and varying.isdisjoint(load.positions):
        return True
    return not any(
        form.coefficients[index] and isinstance(subscript, SSAValue)
        for form, subscript in zip(
            refinement.access, load.subscripts or (), strict=True
        )
    )


def crossing_index(
    block: BlockOp, plan: VectorPlan, conditions: Sequence[LinearForm]
) -> int | None:
    """An index along which all inputs that must be collected are contiguous."""
    rank = len(block.index_ranges)
    candidates = set(range(rank)) - {plan.index}
    is_needed = False
    for refinement in block.refinement_list:
        if refinement.direction.writes or not any(
            form.coefficients[plan.index] for form in refinement.access
        ):
            continue
        steps = unit_steps(refinement, rank)
        if plan.index not in steps:
            candidates &= steps
            is_needed = True
    if not is_needed:
        return None
    for form in conditions:
        candidates -= {*form.support}
    fitting = [
        index
        for index in sorted(candidates)
        if block.index_ranges[index] % plan.width == 0
        and may_step(block, index)
        and _may_copy(block, index)
    ]
    return fitting[0] if fitting else None


def _may_copy(block: BlockOp, index: int) -> bool:
    """Whether statements for several values of an index can stand beside each other.

    That takes windows without subscripts, and no cell of a private buffer, which would
    no longer be held in a register.
    """
    if any(not isinstance(use.operation, IndexOp) for use in block.indices[index].uses):
        return False
    for number, refinement in enumerate(block.refinement_list):
        if not any(form.coefficients[index] for form in refinement.access):
            continue
        if block.view_type(number).space.data is MemorySpace.PRIVATE:
            return False
        if any(
            use.operation.subscripts is not None
            for use in block.view(number).uses
            if isinstance(use.operation, LoadOp | StoreOp)
        ):
            return False
    return True


def vector_index(
    block: BlockOp, conditions: Sequence[LinearForm] | None = None
) -> int | None:
    """The widest index along which a block can be computed by vectors, if any."""
    indices = vector_indices(block, conditions)
    return max(indices, key=lambda index: block.index_ranges[index], default=None)


def vector_indices(
    block: BlockOp, conditions: Sequence[LinearForm] | None = None
) -> list[int]:
    """The indices of several values along which a block can be computed by vectors.

    Such one has coefficient 1 in the last axis of every output, occurs in no other axis
    and in no constraint, and every input has it likewise or not at all. No place or
    condition of an access depends on it. `conditions` stand in for the constraints.
    """
    if block.is_serial and not _keeps_lanes_apart(block):
        return []
    conditions = block.conditions if conditions is None else conditions
    ranges, refinements = block.index_ranges, block.refinement_list
    steps = [unit_steps(refinement, len(ranges)) for refinement in refinements]
    pairs = [*zip(refinements, steps, strict=True)]
    written = [own for refinement, own in pairs if refinement.direction.writes]
    if not written:
        return []
    candidates = {*undecided(block)}.intersection(*written)
    for refinement, own in pairs if candidates else ():
        used = {index for form in refinement.access for index in form.support}
        candidates = {c for c in candidates if c in own or c not in used}
    for form in conditions:
        candidates = {c for c in candidates if not form.coefficients[c]}
    wide = [c for c in candidates if ranges[c] > 1]
    return [c for c in wide if may_step(block, c)]


def _keeps_lanes_apart(block: BlockOp) -> bool:
    """Whether what points of a serial block hand on stays in its lane.

    It does where they only meet on cells of one place along the last axis.
    """
    rank = len(block.index_ranges)
    roots = [root_buffer(buffer) for buffer in block.buffers]
    pairs = [*zip(roots, block.refinement_list, strict=True)]
    written = {root for root, refinement in pairs if refinement.direction.writes}
    places: dict[SSAValue, tuple[SSAValue, LinearForm]] = {}
    for buffer, (root, refinement) in zip(block.buffers, pairs, strict=True):
        if root not in written:
            continue
        if not refinement.access:
            return False
        last = refinement.access[-1]
        if len([index for index in last.support if index < rank]) > 1:
            return False
        if places.setdefault(root, (buffer, last)) != (buffer, last):
            return False
    return True


def unit_steps(refinement: Refinement, rank: int) -> set[int]:
    """The indices that step one by one through the last axis, and only there."""
    if not refinement.access:
        return set()
    *outer, last = refinement.access
    elsewhere = {index for form in outer for index in form.support}
    return {
        index
        for index in last.support
        if index < rank and last.coefficients[index] == 1 and index not in elsewhere
    }


def computes_with_floats(block: BlockOp) -> bool:
    """Whether all values are floats, for which operations on garbage do no harm."""
    types = _element_types(block)
    return all(type != i1 and kind(type) is Kind.FLOAT for type in types)


def _element_types(block: BlockOp) -> set[Attribute]:
    """The element types of what a block computes with."""
    types = {
        value.type
        for statement in block.body.ops
        for value in (*statement.results, *operands_of(statement))
    }
    return {
        element_of(type) for type in types if not isinstance(type, ViewType | IndexType)
    }


def native_lanes(block: BlockOp, bits: int) -> int:
    """How many of the block's widest elements a vector has at most."""
    widest = max((bit_width(e) for e in _element_types(block) if e != i1), default=8)
    return max(min(bits // widest, MOST_LANES), 1)


def widest_vector(block: BlockOp, bits: int) -> int:
    """The number of lanes along an index with a range long enough."""
    return lanes_within(MOST_LANES, native_lanes(block, bits))


def vector_width(
    block: BlockOp, index: int, bits: int, extent: int | None = None
) -> int:
    """The number of lanes: a power of two that fits `bits` and divides the range.

    It is at most `MOST_LANES`.

    `extent` stands in for the range of the index.
    """
    divided = block.index_ranges[index] if extent is None else extent
    return lanes_within(divided, native_lanes(block, bits))


def lanes_within(extent: int, most: int) -> int:
    """The lanes of the widest vectors that divide an extent, `most` at most."""
    width = 1
    while 2 * width <= most and extent % (2 * width) == 0:
        width *= 2
    return width


def _shows_numbers(block: BlockOp) -> bool:
    """Whether every window shows one number, or all its uses choose one in it."""
    for number, view in enumerate(block.views):
        window = block.view_type(number)
        if isinstance(window.element_type, VectorType):
            return False
        if not is_number(window) and any(
            isinstance(use.operation, LoadOp | StoreOp)
            and use.operation.subscripts is None
            for use in view.uses
        ):
            return False
    return True


def is_vectorizable(block: BlockOp, varying: Set[SSAValue]) -> bool:
    """Whether all statements have a form for vectors, or stay one for all lanes."""
    return all(_has_vector_form(operation, varying) for operation in block.body.ops)


def _has_vector_form(operation: Operation, varying: Set[SSAValue]) -> bool:
    if not isinstance(operation, StoreOp) and varying.isdisjoint(operation.results):
        return isinstance(operation, LoadOp) or is_side_effect_free(operation)
    if isinstance(operation, IndexOp):
        return True
    if any(isinstance(operand.type, IndexType) for operand in operands_of(operation)):
        return False
    return isinstance(operation, ElementwiseOp | CastOp | LoadOp | StoreOp)


def index_of_vectors(block: BlockOp, bits: int = 0) -> int | None:
    """The index along which vectors would be used if no constraint depended on it.

    With `bits`, the width of the device's vectors, also one along which they would be
    collected or aggregated. It is the one that is bound to vectors, if any is.
    """
    if Binding.VECTOR in block.index_bindings:
        return block.index_bindings.index(Binding.VECTOR)
    index = vector_index(block, ())
    plan = plan_vectors(block, bits, ()) if index is None and bits else None
    return index if plan is None else plan.index

"""`stripe-vectorize`: let one point of an innermost block compute a vector.

The index that steps through the last axis of all outputs one by one becomes an index
over vectors. An input that steps along with it is loaded as a vector, one that does not
depend on it as a scalar that is broadcast. The width is the widest power of two that
divides the range, fills at most `bits` bits, and is at most 16, as OpenCL C has no
longer vectors. Private buffers that are only used by whole vectors then become buffers
of vectors, which compilers keep in registers.

Before:

```mlir
stripe.block [%k : 32, %i : 8, %j : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %acc[%i, %j] : 1x1 add {
  %x = stripe.load %a : !stripe.view<1x1xf32>
  %y = stripe.load %b : !stripe.view<1x1xf32>
  %z = eltwise.mul %x, %y : f32
  stripe.store %z, %c : !stripe.view<1x1xf32, private>
}
```

After, with `bits=512`:

```mlir
stripe.block [%k : 32, %i : 8, %j : 2]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, 16 * %j] : 1x16
    out %c = %acc[%i, %j] : 1x1 add {
  %x = stripe.load %a : !stripe.view<1x1xf32>
  %y = stripe.load %b : !stripe.view<1x16xf32>
  %v = eltwise.broadcast %x : f32 to vector<16xf32>
  %z = eltwise.mul %v, %y : vector<16xf32>
  stripe.store %z, %c : !stripe.view<1x1xvector<16xf32>, private>
}
```

An index as a number becomes a vector of numbers. Where subscripts choose the place,
they choose where a vector starts: `V[x, j]` with `x` the same in all lanes is a vector
of row `x`.

Left alone: blocks with a constraint on that index, with an input that it steps through
in another way (a transposition), with subscripts or conditions of stores that differ
between lanes (a gather), with truth values that are more than the condition of a
selection between numbers of the width that was compared, and serial blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    ModuleOp,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import (
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.eltwise.table import TypeRule
from ...dialects.form_attribute import FormAttr
from ...dialects.stripe.attributes import MemorySpace, Refinement, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp, IndexOp, LoadOp, StoreOp
from ..locations import check_positive
from .nests import all_blocks, is_leaf, is_number, is_subscripted, replace_forms
from .varying import may_step, varying_values

MOST_LANES = 16
"""The longest vectors that OpenCL C has, whatever their elements."""


@dataclass(frozen=True)
class StripeVectorizePass(ModulePass):
    """Use explicit vectors along the last axis of the outputs."""

    name = "stripe-vectorize"

    bits: int = 512
    """The width of the device's vectors in bits."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_positive(op, bits=self.bits)
        for block in all_blocks(op):
            if is_leaf(block):
                vectorize_block(block, self.bits)
        for allocation in list(op.walk()):
            if isinstance(allocation, AllocOp):
                hold_vectors(allocation)


def vector_index(block: BlockOp) -> int | None:
    """The index along which a block can be computed by vectors; None if there is none.

    It has coefficient 1 in the last axis of every output, occurs in no other axis and
    in no constraint, and every input has it likewise or not at all. No place or
    condition of an access depends on it.
    """
    if block.is_serial:
        return None
    candidates: set[int] | None = None
    for refinement in block.refinement_list:
        if refinement.direction.writes:
            steps = unit_steps(refinement, len(block.index_ranges))
            candidates = steps if candidates is None else candidates & steps
    for refinement in block.refinement_list:
        steps = unit_steps(refinement, len(block.index_ranges))
        used = {index for form in refinement.access for index in form.support}
        candidates = {c for c in candidates or () if c in steps or c not in used}
    for form in block.conditions:
        candidates = {c for c in candidates or () if not form.coefficients[c]}
    wide = [c for c in candidates or () if block.index_ranges[c] > 1]
    wide = [c for c in wide if may_step(block, c)]
    return max(wide, key=lambda index: block.index_ranges[index], default=None)


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


def vector_width(
    block: BlockOp, index: int, bits: int, extent: int | None = None
) -> int:
    """The number of lanes: a power of two that fits `bits` and divides the range.

    It is at most `MOST_LANES`.

    `extent` stands in for the range of the index.
    """
    divided = block.index_ranges[index] if extent is None else extent
    elements = {
        element_of(value.type)
        for operation in block.body.ops
        for value in (*operation.results, *operation.operands)
        if not isinstance(value.type, ViewType | IndexType)
    }
    widest = max((bit_width(e) for e in elements if e != i1), default=bits)
    width = 1
    most = min(bits // widest, MOST_LANES)
    while 2 * width <= most and divided % (2 * width) == 0:
        width *= 2
    return width


def vectorize_block(block: BlockOp, bits: int) -> None:
    """Rewrite an innermost block in place, if it can be done."""
    index = vector_index(block)
    if index is None or not _shows_numbers(block):
        return
    varying = varying_values(block, index)
    if not all(_is_vectorizable(operation, varying) for operation in block.body.ops):
        return
    width = vector_width(block, index, bits)
    if width == 1:
        return
    for operation in block.body.ops:
        if isinstance(operation, IndexOp) and operation.result in varying:
            _step_through(operation, block.indices[index], width)
    for number, refinement in enumerate(block.refinement_list):
        if any(form.coefficients[index] for form in refinement.access):
            _widen_window(block, number, width)
    refinements = [
        replace(r, access=tuple(_scaled(form, index, width) for form in r.access))
        for r in block.refinement_list
    ]
    ranges = list(block.index_ranges)
    ranges[index] //= width
    block.properties["ranges"] = DenseArrayBase.from_list(i64, ranges)
    replace_forms(
        block, refinements, block.conditions, block.form_values[len(ranges) :]
    )
    _Statements(width, varying).rewrite(block)


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


def _scaled(form: LinearForm, index: int, factor: int) -> LinearForm:
    coefficients = list(form.coefficients)
    coefficients[index] *= factor
    return LinearForm.of(coefficients, form.constant)


def _widen_window(block: BlockOp, number: int, width: int) -> None:
    window = block.view_type(number)
    # A vector that starts at the last place of the window reaches beyond it.
    sizes = (*window.sizes[:-1], window.sizes[-1] + width - 1)
    Rewriter.replace_value_with_new_type(block.view(number), window.resized(sizes))


def _step_through(operation: IndexOp, index: SSAValue, width: int) -> None:
    """Let an index as a number be one for each lane."""
    place = [*operation.values].index(index)
    form = operation.form.data
    step = form.coefficients[place].numerator
    operation.properties["form"] = FormAttr(_scaled(form, place, width))
    operation.properties["step"] = IntegerAttr(step, i64)
    type = VectorType(operation.result.type, [width])
    Rewriter.replace_value_with_new_type(operation.result, type)


def _is_vectorizable(operation: Operation, varying: set[SSAValue]) -> bool:
    """Whether a statement has a form for vectors, or can stay one for all lanes."""
    results = operation.results
    if not isinstance(operation, StoreOp) and varying.isdisjoint(results):
        return _is_same_in_all_lanes(operation, varying)
    if isinstance(operation, IndexOp):
        return True
    if any(isinstance(operand.type, IndexType) for operand in operation.operands):
        return False
    if isinstance(operation, ElementwiseOp):
        return _truth_values_stay_masks(operation)
    if isinstance(operation, LoadOp):
        return operation.result.type != i1
    if isinstance(operation, StoreOp):
        return operation.value.type != i1
    if isinstance(operation, CastOp):
        return i1 not in (operation.argument.type, operation.result.type)
    return False


def _is_same_in_all_lanes(operation: Operation, varying: set[SSAValue]) -> bool:
    """Whether a statement stays as it is: no lane needs a truth value of its own."""
    known = ElementwiseOp | CastOp | ConstantOp | IndexOp | LoadOp
    return isinstance(operation, known) and not any(
        _meets_lanes(use, varying)
        for result in operation.results
        if result.type == i1
        for use in result.uses
    )


def _meets_lanes(use: Use, varying: set[SSAValue]) -> bool:
    """Whether a truth value is stored, or used together with values of lanes.

    To select between these, it is the same for all.
    """
    user = use.operation
    if isinstance(user, StoreOp):
        return user.operands[use.index] is not user.condition
    if isinstance(user, ElementwiseOp) and use.index == 0:
        if user.function.rule is TypeRule.SELECT and user.result.type != i1:
            return False
    return any(result in varying for result in user.results)


def _truth_values_stay_masks(operation: ElementwiseOp) -> bool:
    """Whether truth values only select between numbers as wide as those compared.

    In OpenCL C a comparison of vectors gives integers of the operands' width, and a
    selection needs them in the width of its alternatives.
    """
    rule = operation.function.rule
    if operation.result.type != i1:
        is_selection = rule is TypeRule.SELECT
        return is_selection or all(a.type != i1 for a in operation.arguments)
    if rule is not TypeRule.COMPARE or operation.arguments[0].type == i1:
        return False
    width = bit_width(operation.arguments[0].type)
    return all(
        isinstance(use.operation, ElementwiseOp)
        and use.operation.function.rule is TypeRule.SELECT
        and use.index == 0
        and use.operation.result.type != i1
        and bit_width(use.operation.result.type) == width
        for use in operation.result.uses
    )


@dataclass(frozen=True)
class _Statements:
    """Rewrites scalar statements to vectors of `width` lanes.

    `varying` are the values that are not the same in all lanes.
    """

    width: int
    varying: set[SSAValue]

    def rewrite(self, block: BlockOp) -> None:
        for operation in list(block.body.ops):
            if isinstance(operation, LoadOp) and operation.result in self.varying:
                self._retype(operation)
            elif isinstance(operation, StoreOp):
                self._store(operation)
            elif isinstance(operation, ElementwiseOp | CastOp):
                self._function(operation)

    def _retype(self, operation: Operation) -> None:
        """Make the result of a scalar operation a vector."""
        (result,) = operation.results
        Rewriter.replace_value_with_new_type(
            result, VectorType(result.type, [self.width])
        )

    def _store(self, operation: StoreOp) -> None:
        operation.operands[0] = self._vector(operation.value, operation)

    def _function(self, operation: ElementwiseOp | CastOp) -> None:
        if not any(isinstance(o.type, VectorType) for o in operation.operands):
            return
        for number, operand in enumerate(operation.operands):
            operation.operands[number] = self._vector(operand, operation)
        self._retype(operation)

    def _vector(self, value: SSAValue, user: Operation) -> SSAValue:
        """The value as a vector, made just before its user."""
        if isinstance(value.type, VectorType):
            return value
        type = VectorType(value.type, [self.width])
        owner = value.owner
        if isinstance(owner, ConstantOp):
            widened = ConstantOp(owner.number, type)
        else:
            widened = BroadcastOp(value, type)
        widened.location = user.location
        widened.result.name_hint = value.name_hint
        block = user.parent
        if block is None:
            raise ValueError("the statement is not in a block")
        block.insert_op_before(widened, user)
        return widened.result


def value_type(view: SSAValue) -> Attribute | None:
    """The type of what a load through a view gives."""
    return view.type.value_type if isinstance(view.type, ViewType) else None


def hold_vectors(allocation: AllocOp) -> None:
    """Make a private buffer one of vectors, if it is only used by whole vectors."""
    type = allocation.view.type
    if type.space.data is not MemorySpace.PRIVATE or not type.sizes:
        return
    if isinstance(type.element_type, VectorType):
        return
    width = _common_width(allocation.view)
    if width is None or width == 1 or type.sizes[-1] % width:
        return
    if _is_aligned(allocation.view, width):
        _divide(allocation.view, width)


def _common_width(view: SSAValue) -> int | None:
    """The number of lanes of all loads and stores through a view, if it is one.

    Subscripts may choose a place that is no multiple of it.
    """
    if is_subscripted(view):
        return None
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


def _divide(view: SSAValue, width: int) -> None:
    """Count vectors instead of elements along the last axis of a view."""
    type = view.type
    if not isinstance(type, ViewType):
        raise ValueError(f"expected a view, got {type}")
    element = VectorType(type.element_type, [width])
    sizes = (*type.sizes[:-1], type.sizes[-1] // width)
    new_type = ViewType.of(sizes, element, type.space.data)
    new_view = Rewriter.replace_value_with_new_type(view, new_type)
    for use in list(new_view.uses):
        block = use.operation
        if not isinstance(block, BlockOp):
            continue
        refinements = list(block.refinement_list)
        *outer, last = refinements[use.index].access
        divided = LinearForm.of(
            [c // width for c in last.coefficients], last.constant // width
        )
        refinements[use.index] = replace(
            refinements[use.index], access=(*outer, divided)
        )
        replace_forms(block, refinements, block.conditions, block.captures)
        _divide(block.view(use.index), width)

"""What `tile-specialize` makes of special operations: the same ones with static types.

A number of elements that changes, an axis that is not there, indices that are no
integers, a state of another shape and an assertion that fails are errors here, in terms
of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Protocol, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation, Combination
from ...dialects.eltwise.element_types import fits, si32, ui32
from ...dialects.eltwise.ops import FUNCTION_OPS
from ...dialects.tile.contract import ContractOp, contraction_signature
from ...dialects.tile.options import Objection, WrongElement
from ...dialects.tile.special import (
    AssertOp,
    IndexOp,
    PrngOp,
    ShapeOp,
    SimpleReduceOp,
)
from ...dialects.tile.special_op import SizedOp, SpecialOp
from ...dialects.tile.special_shapes import (
    Shape,
    check_state,
    normalized_axis,
    reduced,
)
from ...errors import GinghamError
from ..locations import error_at, not_lowered
from .argument_types import format_argument_type
from .sizes import Size, explain_condition

Tensor = SSAValue[TensorType[Attribute]]
_Result = TypeVar("_Result")


class Bindings(Protocol):
    """What the walk over a function knows of the values before an operation."""

    named_sizes: dict[str, int]

    def tensor(
        self, value: SSAValue, user: Operation, element: Attribute | None = None
    ) -> Tensor:
        """The tensor that a value has become, as one of this element type."""
        ...

    def element(self, value: SSAValue) -> Attribute:
        """The element type of a value; of a weak number the one it has by itself."""
        ...

    def is_weak(self, value: SSAValue) -> bool:
        """Whether a value is a weak number."""
        ...

    def size(self, value: SSAValue) -> Size:
        """What a value of type index stands for."""
        ...

    def explain(self, size: Size) -> str:
        """A size for a message."""
        ...


@singledispatch
def specialize_operation(op: Operation, bindings: Bindings) -> Operation | None:
    """The operation with static types; None when nothing of it is left."""
    raise not_lowered(op, "{} can not be specialized", ("eltwise", "tile"))


@specialize_operation.register
def _special(op: SpecialOp, bindings: Bindings) -> Operation:
    old = op.operands
    elements = [bindings.element(operand) for operand in old]
    weak = [bindings.is_weak(operand) for operand in old]
    casts, left = _check(op, lambda: op.options.signature(elements, weak))
    operands = [bindings.tensor(v, op, c) for v, c in zip(old, casts, strict=True)]
    shapes = [operand.type.get_shape() for operand in operands]
    names = [_name(operand) for operand in old]
    shape = _check(op, lambda: left.shape(shapes, names))
    if shape is None:
        raise ValueError(f"the shape of {op.name} does not follow from its operands")
    options = _check(op, lambda: left.specialized(shapes, names))
    return type(op)(operands, options, TensorType(options.element(casts), shape))


@specialize_operation.register
def _sized(op: SizedOp, bindings: Bindings) -> Operation:
    tensor = bindings.tensor(op.tensor, op)
    shape = _result_shape(op, op.result.type, op.sizes, bindings)
    _check(op, lambda: type(op).CHECK(tensor.type.get_shape(), shape))
    return type(op)(tensor, TensorType(tensor.type.element_type, shape))


@specialize_operation.register
def _simple_reduce(op: SimpleReduceOp, bindings: Bindings) -> Operation:
    tensor = bindings.tensor(op.tensor, op)
    source = tensor.type.get_shape()
    target = _result_shape(op, op.result.type, op.sizes, bindings)
    _check(op, lambda: reduced(source, target))
    if source == target:
        return FUNCTION_OPS["ident"].build_typed([tensor], tensor.type)
    (cast,), element = contraction_signature(
        Aggregation.ADD, Combination.NONE, [tensor.type.element_type]
    )
    indices = [Polynomial.index(axis) for axis in range(len(source))]
    kept = indices[len(source) - len(target) :]
    output = [
        Polynomial.constant(0) if size == 1 else index
        for index, size in zip(kept, target, strict=True)
    ]
    return ContractOp(
        Aggregation.ADD,
        Combination.NONE,
        [bindings.tensor(op.tensor, op, cast)],
        [f"i{axis}" for axis in range(len(source))],
        output,
        [indices],
        TensorType(element, target),
    )


@specialize_operation.register
def _index(op: IndexOp, bindings: Bindings) -> Operation:
    if op.like is not None:
        shape = bindings.tensor(op.like, op).type.get_shape()
    else:
        shape = _result_shape(op, op.result.type, op.sizes, bindings)
    axis = _axis(op, op.axis.value.data, shape, _name(op.like))
    return IndexOp(axis, TensorType(si32, shape))


@specialize_operation.register
def _shape(op: ShapeOp, bindings: Bindings) -> Operation:
    tensor = bindings.tensor(op.tensor, op)
    for size in tensor.type.get_shape():
        if not fits(size, si32):
            raise error_at(op, f"'shape': the size {size} does not fit si32")
    return ShapeOp(tensor)


@specialize_operation.register
def _prng(op: PrngOp, bindings: Bindings) -> Operation:
    state = bindings.tensor(op.state, op)
    name = _name(op.state)
    if state.type.element_type != ui32:
        raise error_at(
            op,
            f"'prng': expected {name} to be a state of type ui32, got "
            f"{format_argument_type(state.type)}",
        )
    _check(op, lambda: check_state(state.type.get_shape()))
    shape = _result_shape(op, op.result.type, op.sizes, bindings)
    return PrngOp(state, TensorType(f32, shape))


@specialize_operation.register
def _assert(op: AssertOp, bindings: Bindings) -> None:
    condition = bindings.size(op.condition)
    if condition.value == 0:
        why = explain_condition(condition, bindings.named_sizes)
        name = op.message.data
        raise error_at(op, f"assertion failure: {name}{f': {why}' if why else ''}")


def _result_shape(
    op: Operation, type: Attribute, sizes: Sequence[SSAValue], bindings: Bindings
) -> Shape:
    """The shape that the sizes of an operation give its result."""
    values = iter(sizes)
    shape: list[int] = []
    for axis, extent in enumerate(
        type.get_shape() if isinstance(type, TensorType) else ()
    ):
        if extent != DYNAMIC_INDEX:
            shape.append(extent)
            continue
        size = bindings.size(next(values))
        if size.value < 0:
            raise error_at(
                op,
                f"the size of axis {axis} of {op.results[0].name_hint or 'the result'} "
                f"is negative: {bindings.explain(size)}",
            )
        shape.append(size.value)
    return tuple(shape)


def _axis(op: Operation, axis: int, shape: Shape, name: str) -> int:
    return _check(op, lambda: normalized_axis(axis, len(shape), name))


def _check(op: Operation, rule: Callable[[], _Result]) -> _Result:
    """Run a rule on types or shapes; what it objects to is an error of the op."""
    try:
        return rule()
    except WrongElement as error:
        name = _name(op.operands[error.operand])
        raise _objection(op, f"{error} for {name}", error.hint) from None
    except Objection as error:
        raise _objection(op, str(error), error.hint) from None
    except ValueError as error:
        raise _objection(op, str(error)) from None


def _objection(op: Operation, message: str, hint: str | None = None) -> GinghamError:
    return error_at(op, f"'{op.name.removeprefix('tile.')}': {message}", hint)


def _name(value: SSAValue | None) -> str:
    """What the user calls a value."""
    hint = None if value is None else value.name_hint
    return hint or "the tensor"

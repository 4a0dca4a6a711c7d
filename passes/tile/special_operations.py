"""What `tile-specialize` makes of special operations: the same ones with static types.

A number of elements that changes, an axis that is not there, indices that are no
integers, a state of another shape and an assertion that fails are errors here, in terms
of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from math import prod
from typing import Protocol, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation, Combination
from ...dialects.eltwise.element_types import si32, ui32
from ...dialects.eltwise.ops import FUNCTION_OPS
from ...dialects.tile.contract import ContractOp, contraction_signature
from ...dialects.tile.gather import (
    MOST_CELLS,
    GatherOp,
    Interpolation,
    gather_signature,
)
from ...dialects.tile.indexing import OutOfBounds
from ...dialects.tile.scatter import ScatterOp, scatter_signature
from ...dialects.tile.special import (
    ArgsortOp,
    AssertOp,
    IndexOp,
    PrngOp,
    ReshapeOp,
    ShapeOp,
    SimpleReduceOp,
)
from ...dialects.tile.special_shapes import (
    GatherMode,
    ScatterMode,
    Shape,
    check_state,
    gathered,
    normalized_axis,
    reduced,
    reshaped,
    scattered,
)
from ...errors import GinghamError
from ..locations import error_at, not_lowered
from .argument_types import format_argument_type
from .sizes import Size, explain_condition
from .weak_numbers import fits

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
def _reshape(op: ReshapeOp, bindings: Bindings) -> Operation:
    tensor = bindings.tensor(op.tensor, op)
    shape = _result_shape(op, op.result.type, op.sizes, bindings)
    _check(op, lambda: reshaped(tensor.type.get_shape(), shape))
    return ReshapeOp(tensor, TensorType(tensor.type.element_type, shape))


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
def _argsort(op: ArgsortOp, bindings: Bindings) -> Operation:
    tensor = bindings.tensor(op.tensor, op)
    shape = tensor.type.get_shape()
    axis = _axis(op, op.axis.value.data, shape, _name(op.tensor))
    return ArgsortOp(tensor, axis, op.is_descending)


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


@specialize_operation.register
def _gather(op: GatherOp, bindings: Bindings) -> Operation:
    mode = op.mode.data
    element, interpolation = _check_indices(
        op,
        op.indices,
        lambda: gather_signature(
            bindings.element(op.values),
            bindings.element(op.indices),
            op.interpolation.data,
        ),
    )
    values = bindings.tensor(op.values, op, element)
    indices = bindings.tensor(op.indices, op)
    shape, index_shape = values.type.get_shape(), indices.type.get_shape()
    axis, batch_dims = op.axis.value.data, op.batch_dims.value.data
    result = _check(op, lambda: gathered(shape, index_shape, mode, axis, batch_dims))
    if mode is GatherMode.NORMAL:
        axis %= len(shape)
        chosen = shape[axis : axis + 1]
    else:
        chosen = shape[batch_dims : batch_dims + index_shape[-1]]
        _check_neighbours(op, interpolation, len(chosen))
    _check_cells(op, op.out_of_bounds.data, chosen, result, _name(op.values))
    return GatherOp(
        values,
        indices,
        TensorType(element, result),
        axis=axis,
        batch_dims=batch_dims,
        mode=mode,
        interpolation=interpolation,
        nearest_mode=op.nearest_mode.data,
        cube_coefficient=op.cube_coefficient.value.data,
        out_of_bounds=op.out_of_bounds.data,
    )


def _check_neighbours(op: GatherOp, interpolation: Interpolation, depth: int) -> None:
    cells = interpolation.cells**depth
    if cells > MOST_CELLS:
        raise error_at(
            op,
            f"'gather': {interpolation.value} interpolation along {depth} axes is "
            f"between {cells} cells, and at most {MOST_CELLS} are possible",
            "gather along some of the axes first",
        )


@specialize_operation.register
def _scatter(op: ScatterOp, bindings: Bindings) -> Operation:
    mode = op.mode.data
    operands = (op.updates, op.indices, op.base)
    elements = [bindings.element(operand) for operand in operands]
    weak = [bindings.is_weak(op.updates), bindings.is_weak(op.base)]
    casts = _check_indices(
        op,
        op.indices,
        lambda: scatter_signature(elements[0], elements[1], elements[2], mode, weak),
    )
    updates = bindings.tensor(op.updates, op, casts[0])
    indices = bindings.tensor(op.indices, op)
    base = bindings.tensor(op.base, op, casts[1])
    shapes = [operand.type.get_shape() for operand in (updates, indices, base)]
    axis = op.axis.value.data
    result = _check(op, lambda: scattered(shapes[0], shapes[1], shapes[2], mode, axis))
    if mode is ScatterMode.UPDATE_ND:
        chosen = result[: shapes[1][-1]]
    else:
        axis %= len(result)
        chosen = result[axis : axis + 1]
    _check_cells(op, op.out_of_bounds.data, chosen, shapes[0], _name(op.base))
    return ScatterOp(
        updates,
        indices,
        base,
        TensorType(casts[0], result),
        axis=axis,
        mode=mode,
        out_of_bounds=op.out_of_bounds.data,
    )


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


def _check_cells(
    op: Operation, bounds: OutOfBounds, chosen: Shape, moved: Shape, name: str
) -> None:
    """An index can not be clamped to an axis without cells."""
    if bounds is OutOfBounds.CLAMP and 0 in chosen and prod(moved):
        raise _objection(
            op,
            f"the indices choose from an axis of {name} that has no cells",
            "out_of_bounds=zero gives zeros for such indices",
        )


def _check_indices(
    op: Operation, indices: SSAValue, rule: Callable[[], _Result]
) -> _Result:
    try:
        return rule()
    except TypeError as error:
        hint = "convert them with as_int(X, 32)"
        if isinstance(op, GatherOp) and op.mode.data is GatherMode.NORMAL:
            hint += ", or say how to interpolate: interpolation=linear"
        raise _objection(op, f"{error} for {_name(indices)}", hint) from None


def _check(op: Operation, rule: Callable[[], _Result]) -> _Result:
    """Run a rule on shapes; what it objects to is an error of the operation."""
    try:
        return rule()
    except ValueError as error:
        raise _objection(op, str(error)) from None


def _objection(op: Operation, message: str, hint: str | None = None) -> GinghamError:
    return error_at(op, f"'{op.name.removeprefix('tile.')}': {message}", hint)


def _name(value: SSAValue | None) -> str:
    """What the user calls a value."""
    hint = None if value is None else value.name_hint
    return hint or "the tensor"

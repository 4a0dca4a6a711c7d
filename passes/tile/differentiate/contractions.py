"""The derivative of a contraction: a contraction over the same points.

`d` is the derivative of the loss by the contraction's result `R[o]`, which a point p
adds to: `R[o(p)] = AGG over p of COMB(A[a(p)], B[b(p)], ...)`.

Sums and assignments are linear. The tensors change places, the points stay:

    A + B           dA[a] = +(d[o])                 dB[b] = +(d[o])
    A * B           dA[a] = +(d[o] * B[b])          dB[b] = +(A[a] * d[o])
    A == B ? C      dC[c] = +(A[a] == B[b] ? d[o])

A maximum or minimum of one tensor goes to the points that reach it, in equal parts:

    n[o] = +(A[a] == R[o] ? 1)                      dA[a] = +(A[a] == R[o] ? (d / n)[o])

Products are in `products`. The maximum, minimum or product of a combination is taken
apart first: the combination becomes a tensor with one cell for each point, which the
aggregation then reads alone.

The default tensor gets `d` in the cells that have no point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.ir import SSAValue

from ....dialects.aggregation import Aggregation, Combination
from ....dialects.eltwise.element_types import computation_type
from ....dialects.tile.contract import ContractOp
from .emitter import Emitter, Tensor, identity, static
from .products import differentiate_product
from .space import Place, Space, contract_over

Parts = Iterator[tuple[SSAValue, Tensor]]
"""Operands, each with a part of the derivative by it."""


def differentiate_contraction(
    op: ContractOp, d: Tensor, emitter: Emitter, active: Collection[SSAValue]
) -> Parts:
    """The derivatives by those operands that are `active`."""
    if op.default is not None and op.default in active:
        yield op.default, _by_default(op, d, emitter)
    if not any(operand in active for operand in op.inputs):
        return
    if op.aggregation.data in (Aggregation.ADD, Aggregation.ASSIGN):
        yield from _linear(op, Space.of(op), d, emitter, active)
    elif op.combination.data is Combination.NONE:
        (operand,) = op.inputs
        tensor, space = static(operand, op), Space.of(op)
        yield operand, _of_one(op, space, space.inputs[0], tensor, d, emitter)
    else:
        yield from _taken_apart(op, d, emitter, active)


def _linear(
    op: ContractOp,
    space: Space,
    d: Tensor,
    emitter: Emitter,
    active: Collection[SSAValue],
) -> Parts:
    """The derivative of a sum, or of an assignment."""
    for number, operand in enumerate(op.inputs):
        if operand not in active:
            continue
        part = _by_operand(op, space, number, d, emitter)
        if part is not None:
            yield operand, part


def _by_operand(
    op: ContractOp, space: Space, number: int, d: Tensor, emitter: Emitter
) -> Tensor | None:
    """The derivative of a sum by one operand; None when there is none."""
    combination = op.combination.data
    tensors = [static(operand, op) for operand in op.inputs]
    read = list(zip(tensors, space.inputs, strict=True))
    target = space.inputs[number]
    derivative = d, space.result
    match combination:
        case Combination.NONE:
            return contract_over(emitter, space, [derivative], target)
        case Combination.MUL:
            read[number] = derivative
            return contract_over(emitter, space, read, target, combination)
        case Combination.COND if number == 2:
            read[2] = derivative
            return contract_over(emitter, space, read, target, combination)
        case Combination.ADD:
            other = space.inputs[1 - number]
            if not other.is_integral:
                space, _ = Space.flat(op)
                target, derivative = space.inputs[number], (d, space.result)
                other = space.inputs[1 - number]
            points = space.without([other], [space.result, target])
            return contract_over(emitter, points, [derivative], target)
        case _:
            return None


def _of_one(
    op: ContractOp,
    space: Space,
    place: Place,
    tensor: Tensor,
    d: Tensor,
    emitter: Emitter,
) -> Tensor:
    """The derivative of a maximum, minimum or product of one tensor's cells."""
    result = static(op.result, op)
    if op.aggregation.data is Aggregation.MUL:
        return differentiate_product(tensor, place, result, space, d, emitter)
    # Halves would run out of numbers to count with.
    element = tensor.type.element_type
    wide = computation_type(element)
    reached = [(tensor, place), (result, space.result)]
    no_place = Place((), ())
    count = contract_over(
        emitter,
        space,
        [*reached, (emitter.scalar(1.0, wide), no_place)],
        space.result,
        Combination.COND,
    )
    # A cell without a point has none to divide among, and 0 / 0 would be felt in the
    # derivative of this derivative.
    count = emitter.apply("max", count, emitter.scalar(1.0, wide))
    share = emitter.apply("div", emitter.cast(d, wide), count)
    operands = [*reached, (emitter.cast(share, element), space.result)]
    return contract_over(emitter, space, operands, place, Combination.COND)


def _taken_apart(
    op: ContractOp, d: Tensor, emitter: Emitter, active: Collection[SSAValue]
) -> Parts:
    """The derivative of a maximum, minimum or product of a combination."""
    space, ranges = Space.flat(op)
    point = Place(identity(len(ranges)), ranges)
    tensors = [static(operand, op) for operand in op.inputs]
    combined = contract_over(
        emitter,
        space,
        list(zip(tensors, space.inputs, strict=True)),
        point,
        op.combination.data,
        Aggregation.ASSIGN,
    )
    derivative = _of_one(op, space, point, combined, d, emitter)
    at_points = Space(space.indices, point, space.inputs, space.constraints)
    yield from _linear(op, at_points, derivative, emitter, active)


def _by_default(op: ContractOp, d: Tensor, emitter: Emitter) -> Tensor:
    """`d` where the contraction has no point, and 0 elsewhere."""
    space = Space.of(op)
    if not all(place.is_integral for place in space.inputs):
        space, _ = Space.flat(op)
    space = space.without(space.inputs, [space.result])
    zero = emitter.scalar(0.0, d.type.element_type)
    return contract_over(
        emitter, space, [(zero, Place((), ()))], space.result, default=d
    )

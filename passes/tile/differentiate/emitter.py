"""Builds the ops of a derivative, with their types inferred, before a given op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ....affine.polynomial import Polynomial
from ....dialects.aggregation import Aggregation, Combination
from ....dialects.eltwise.derivatives import Rule, Term
from ....dialects.eltwise.element_types import is_element_type
from ....dialects.eltwise.ops import (
    FUNCTION_OPS,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    broadcast_type,
    element_of,
    with_element,
)
from ....dialects.eltwise.table import FUNCTIONS
from ....dialects.tile.attributes import Constraint
from ....dialects.tile.contract import ContractOp, contraction_signature
from ...locations import error_at, located
from ..neutral import operand_given
from .known_operations import KnownOperations

Tensor: TypeAlias = SSAValue[TensorType[Attribute]]
"""A tensor of known shape and element type."""

AccessMap: TypeAlias = tuple[Polynomial, ...]
"""One index expression for each axis of a tensor."""


def static(value: SSAValue, user: Operation) -> Tensor:
    """The value as a tensor of known shape; GinghamError when it is none."""
    type = value.type
    if (
        isinstance(type, TensorType)
        and type.has_static_shape()
        and is_element_type(type.element_type)
    ):
        return SSAValue.get(value, type=TensorType)
    raise error_at(
        user,
        f"expected tensors of known shape and element type, got {type}",
        "run tile-specialize first",
    )


class Emitter:
    """Adds ops before `anchor`; each gets the source location of `origin`.

    `origin` is the op whose derivative is being built, so that what is made for it can
    be traced to the same line of the program.
    """

    def __init__(self, known: KnownOperations, anchor: Operation) -> None:
        self._known = known
        self._anchor = anchor
        self.origin = anchor

    def add(self, op: Operation) -> Tensor:
        """The result of an op that has one, which is inserted unless it is there."""
        added = self._known.insert(located(op, self.origin), self._anchor)
        return SSAValue.get(added.results[0], type=TensorType)

    # Element-wise

    def constant(self, number: int | float, type: TensorType[Attribute]) -> Tensor:
        """A tensor all of whose elements are this number."""
        return self.add(ConstantOp(number, type))

    def scalar(self, number: int | float, element: Attribute) -> Tensor:
        """A number as a 0-D tensor, which broadcasts to any shape."""
        return self.constant(number, TensorType(element, []))

    def apply(self, name: str, *operands: Tensor) -> Tensor:
        """A function of the table; the operands have the types that it asks for."""
        function = FUNCTIONS[name]
        elements = [operand.type.element_type for operand in operands]
        _, result = function.signature(elements)
        type = broadcast_type([operand.type for operand in operands], result)
        same = operand_given(name, operands, result)
        if same is not None and same.type == type:
            return SSAValue.get(same, type=TensorType)
        return self.add(FUNCTION_OPS[name].build_typed(operands, type))

    def cast(self, tensor: Tensor, element: Attribute) -> Tensor:
        """The tensor with elements of this type."""
        if tensor.type.element_type == element:
            return tensor
        return self.add(CastOp(tensor, with_element(tensor.type, element)))

    def derivative(self, rule: Rule, op: ElementwiseOp, d: Tensor) -> Tensor:
        """What a rule of the function of `op` makes of the derivative `d`."""
        values = [static(value, op) for value in (op.result, *op.arguments)]
        part = rule(*(TensorTerm(self, value) for value in (d, *values)))
        if not isinstance(part, TensorTerm):
            raise TypeError(f"the rule of {op.function.name} gives no tensor")
        return part.tensor

    # Contractions

    def contract(
        self,
        aggregation: Aggregation,
        combination: Combination,
        operands: Sequence[tuple[Tensor, AccessMap]],
        output: AccessMap,
        shape: Sequence[int],
        indices: Sequence[str],
        constraints: Sequence[Constraint] = (),
        default: Tensor | None = None,
    ) -> Tensor:
        """A contraction to a tensor of this shape."""
        tensors = [tensor for tensor, _ in operands]
        elements = [tensor.type.element_type for tensor in tensors]
        _, element = contraction_signature(aggregation, combination, elements)
        return self.add(
            ContractOp(
                aggregation,
                combination,
                tensors,
                indices,
                output,
                [access for _, access in operands],
                TensorType(element, shape),
                constraints=constraints,
                default=default,
            )
        )

    def sum_to(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        """The sum over the axes along which a tensor of `shape` was broadcast."""
        source = tensor.type.get_shape()
        if source == tuple(shape):
            return tensor
        access = identity(len(source))
        output = _broadcast_access(access, shape)
        names = index_names(len(source))
        return self.contract(
            Aggregation.ADD, Combination.NONE, [(tensor, access)], output, shape, names
        )

    def broadcast_to(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        """The tensor repeated by NumPy's rule to a shape."""
        source = tensor.type.get_shape()
        if source == tuple(shape):
            return tensor
        output = identity(len(shape))
        access = _broadcast_access(output, source)
        names = index_names(len(shape))
        return self.contract(
            Aggregation.ASSIGN,
            Combination.NONE,
            [(tensor, access)],
            output,
            shape,
            names,
        )


def identity(rank: int) -> AccessMap:
    """The access by one index for each axis."""
    return tuple(Polynomial.index(number) for number in range(rank))


def index_names(rank: int) -> list[str]:
    """A name for each of these indices."""
    return [f"i{number}" for number in range(rank)]


class TensorTerm(Term):
    """A tensor in a derivative rule: rules are turned into ops."""

    def __init__(self, emitter: Emitter, tensor: Tensor) -> None:
        self._emitter = emitter
        self.tensor = tensor

    def apply(self, function: str, *others: Term | float) -> Term:
        """A function of this tensor and others, as element-wise operations.

        Numbers get the type of the tensors beside them. Raises TypeError for a term of
        another kind.
        """
        terms = [self, *(other for other in others if isinstance(other, TensorTerm))]
        elements = [element_of(term.tensor.type) for term in terms]
        # A condition says nothing of the type of a number beside it.
        element = next((e for e in elements if e != i1), i1)
        operands = [self.tensor]
        for other in others:
            if isinstance(other, TensorTerm):
                operands.append(other.tensor)
            elif isinstance(other, float):
                operands.append(self._emitter.scalar(other, element))
            else:
                raise TypeError(f"a rule mixes tensors with {other}")
        return TensorTerm(self._emitter, self._emitter.apply(function, *operands))

    def literal(self, number: float) -> Term:
        """A 0-D tensor with a number, of this tensor's element type."""
        element = self.tensor.type.element_type
        return TensorTerm(self._emitter, self._emitter.scalar(number, element))


def _broadcast_access(
    indices: Sequence[Polynomial], shape: Sequence[int]
) -> tuple[Polynomial, ...]:
    """How NumPy's rule reads a tensor of `shape` where a larger one has `indices`."""
    last = indices[len(indices) - len(shape) :]
    return tuple(
        Polynomial.constant(0) if size == 1 else index
        for index, size in zip(last, shape, strict=True)
    )

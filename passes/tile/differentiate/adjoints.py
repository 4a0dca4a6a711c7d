"""Reverse-mode differentiation of a straight line of ops.

Going backwards from the loss, every op turns the derivative of the loss by its result
into parts of the derivatives by its operands; the parts of a value that is used several
times are added. Each op is visited once, so the result is linear in the program, and
only those that lie between a tensor to differentiate by and the loss are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.eltwise.derivatives import DERIVATIVES
from ....dialects.eltwise.element_types import Kind, is_element_type, kind
from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp, element_of
from ....dialects.tile.contract import ContractOp
from ....dialects.tile.gather import GatherOp
from ....dialects.tile.scatter import ScatterOp
from ....dialects.tile.special import ReshapeOp
from ...locations import error_at
from .contractions import Parts, differentiate_contraction
from .emitter import Emitter, Tensor, static
from .known_operations import KnownOperations
from .specials import (
    differentiate_gather,
    differentiate_reshape,
    differentiate_scatter,
)
from .tangents import differentiate_forward, is_smooth


class Differentiation:
    """The derivatives of one loss; ops are added before `anchor`, which it dominates.

    `wrt` are the tensors to differentiate by.
    """

    def __init__(
        self,
        known: KnownOperations,
        loss: SSAValue,
        wrt: Sequence[SSAValue],
        anchor: Operation,
    ) -> None:
        self._known = known
        self._emitter = Emitter(known, anchor)
        self._anchor = anchor
        self._loss = loss
        # In order, so that the same program always gives the same ops.
        self._wrt = dict.fromkeys(wrt)
        self._operations = known.leading_to(loss)
        self._active = self._find_active()
        self._parts: dict[SSAValue, list[Tensor]] = {}

    def run(self) -> dict[SSAValue, Tensor]:
        """The derivative of the loss by each tensor of `wrt`."""
        found: dict[SSAValue, Tensor] = {}
        if self._loss in self._active:
            found = self._forward() or self._backward()
        self._emitter.origin = self._anchor
        for value in self._wrt:
            if value not in found:
                type = static(value, self._anchor).type
                found[value] = self._emitter.constant(0.0, type)
        return found

    def _forward(self) -> dict[SSAValue, Tensor]:
        """The derivative of what gradients became, from `wrt` on, if that may be."""
        (wrt, *others) = self._wrt
        if others or not self._known.has_derivatives(self._operations):
            return {}
        if not is_smooth(self._operations, self._active, wrt):
            return {}
        derivatives = differentiate_forward(self._operations, wrt, self._emitter)
        return {wrt: derivatives[self._loss]} if self._loss in derivatives else {}

    def _backward(self) -> dict[SSAValue, Tensor]:
        """The derivatives, found from the loss back."""
        found: dict[SSAValue, Tensor] = {}
        type = static(self._loss, self._anchor).type
        self._parts[self._loss] = [self._emitter.add(ConstantOp(1.0, type))]
        for op in reversed(self._operations):
            self._emitter.origin = op
            for result in op.results:
                total = self._total(result)
                if total is None:
                    continue
                if result in self._wrt:
                    found[result] = total
                self._differentiate(op, result, total)
        self._emitter.origin = self._anchor
        for value in self._wrt:
            total = None if value in found else self._total(value)
            if total is not None:
                found[value] = total
        return found

    def _find_active(self) -> set[SSAValue]:
        """The tensors of floats that depend on a tensor of `wrt`."""
        active = set(self._wrt)
        for op in self._operations:
            if any(operand in active for operand in op.operands):
                active.update(r for r in op.results if _is_float(r))
        return active

    def _total(self, value: SSAValue) -> Tensor | None:
        """The sum of all parts of the derivative by a value."""
        parts = self._parts.pop(value, None)
        if parts is None:
            return None
        total, *rest = parts
        for part in rest:
            total = self._emitter.apply("add", total, part)
        if total.name_hint is None and value.name_hint is not None:
            total.name_hint = f"d{value.name_hint}"
        return total

    def _differentiate(self, op: Operation, result: SSAValue, d: Tensor) -> None:
        """Add to the derivatives by the operands what goes through this result."""
        if not any(operand in self._active for operand in op.operands):
            return
        for operand, part in self._through(op, result, d):
            self._parts.setdefault(operand, []).append(part)

    def _through(self, op: Operation, result: SSAValue, d: Tensor) -> Parts:
        match op:
            case ElementwiseOp():
                return self._through_function(op, d)
            case CastOp():
                return self._through_cast(op, d)
            case ContractOp():
                return differentiate_contraction(op, d, self._emitter, self._active)
            case ReshapeOp():
                return differentiate_reshape(op, d, self._emitter)
            case GatherOp():
                return differentiate_gather(op, d, self._emitter)
            case ScatterOp():
                return differentiate_scatter(op, d, self._emitter, self._active)
            case _:
                raise error_at(
                    op,
                    f"'{op.name}' has no derivative"
                    f"{f' (of {result.name_hint})' if result.name_hint else ''}",
                    "a cast to integers and back keeps a gradient from going through",
                )

    def _through_function(self, op: ElementwiseOp, d: Tensor) -> Parts:
        rules = DERIVATIVES.get(op.function.name)
        if rules is None:
            raise error_at(op, f"the function '{op.function.name}' has no derivative")
        for operand, rule in zip(op.arguments, rules, strict=True):
            if rule is None or operand not in self._active:
                continue
            part = self._emitter.derivative(rule, op, d)
            shape = static(operand, op).type.get_shape()
            yield operand, self._emitter.sum_to(part, shape)

    def _through_cast(self, op: CastOp, d: Tensor) -> Parts:
        if op.argument in self._active:
            yield op.argument, self._emitter.cast(d, element_of(op.argument.type))


def _is_float(value: SSAValue) -> bool:
    element = element_of(value.type)
    return is_element_type(element) and kind(element) is Kind.FLOAT

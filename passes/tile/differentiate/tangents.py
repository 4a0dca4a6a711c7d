"""Forward-mode differentiation, of what gradients became: forward over reverse.

Where only element-wise functions lie between two tensors of one type, the derivative
can be found in the order of the program: each op turns the derivatives of its operands
into that of its result. That takes as many ops as the other direction, but what the
derivative of a value is does not depend on what is made of it. So gradients of
gradients have nearly all in common: n of them grow with a power of n, and not
exponentially.

Functions whose derivatives choose are left to the other direction: there a branch that
is not taken contributes nothing, however infinite its derivative is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.ir import Operation, SSAValue

from ....dialects.eltwise.derivatives import DERIVATIVES, Rule, Term
from ....dialects.eltwise.ops import ConstantOp, ElementwiseOp
from .emitter import Emitter, Tensor, static


def is_smooth(
    operations: Sequence[Operation], active: set[SSAValue], wrt: SSAValue
) -> bool:
    """Whether only smooth functions of tensors of its type lead from `wrt` to a loss.

    `operations` compute the loss; `active` are the tensors that depend on `wrt`.
    """
    return all(value.type == wrt.type for value in active) and all(
        isinstance(op, ElementwiseOp) and _has_slopes(op)
        for op in operations
        if any(operand in active for operand in op.operands)
    )


def differentiate_forward(
    operations: Sequence[Operation], wrt: SSAValue, emitter: Emitter
) -> dict[SSAValue, Tensor]:
    """The derivatives by `wrt` of what these ops compute, where they are not zero."""
    one = ConstantOp(1.0, static(wrt, emitter.origin).type)
    derivatives: dict[SSAValue, Tensor] = {wrt: emitter.add(one)}
    for op in operations:
        if not isinstance(op, ElementwiseOp) or op.result in derivatives:
            continue
        emitter.origin = op
        rules = DERIVATIVES[op.function.name]
        total: Tensor | None = None
        for operand, rule in zip(op.arguments, rules, strict=True):
            if rule is None or operand not in derivatives:
                continue
            part = emitter.derivative(rule, op, derivatives[operand])
            total = part if total is None else emitter.apply("add", total, part)
        if total is not None:
            derivatives[op.result] = total
    return derivatives


def _has_slopes(op: ElementwiseOp) -> bool:
    rules = DERIVATIVES.get(op.function.name)
    return rules is not None and all(
        rule is None or not _chooses(rule, op.function.arity) for rule in rules
    )


@lru_cache(maxsize=256)
def _chooses(rule: Rule, arity: int) -> bool:
    """Whether a rule has a condition."""
    seen = _Seen()
    rule(*[seen] * (arity + 2))
    return "cond" in seen.functions


class _Seen(Term):
    """Records which functions a rule applies; stands for all of its values."""

    def __init__(self) -> None:
        self.functions: set[str] = set()

    def apply(self, function: str, *others: Term | float) -> Term:
        self.functions.add(function)
        return self

    def literal(self, number: float) -> Term:
        return self

"""What the arithmetic of statements takes, by the weights of the table of functions."""

from __future__ import annotations

from xdsl.ir import Operation

from ..dialects.eltwise.ops import ElementwiseOp


def weight_of(op: Operation) -> float:
    """Vector operations for a vector of results; 0 for what is not element-wise.

    A product that is only added to something is a part of the addition.
    """
    if not isinstance(op, ElementwiseOp):
        return 0.0
    users = [use.operation for use in op.results[0].uses]
    is_added = op.function.symbol == "*" and all(
        isinstance(user, ElementwiseOp) and user.function.symbol == "+"
        for user in users
    )
    return 0.0 if users and is_added else op.function.weight

"""Operators that make one element of many, or go along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import op
from ...edsl.functions import ident, log
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator
from .shapes import axes_of

_REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "ReduceL1": op.l1_norm,
    "ReduceL2": op.l2_norm,
    "ReduceLogSumExp": op.logsumexp,
    "ReduceMax": op.max,
    "ReduceMean": op.mean,
    "ReduceMin": op.min,
    "ReduceProd": op.prod,
    "ReduceSum": op.sum,
    "ReduceSumSquare": op.sum_of_squares,
}


@operator(*_REDUCTIONS, "ReduceLogSum", known=(1,))
def reduced(node: Node) -> Tensor:
    """A reduction over axes."""
    axes = axes_of(node)
    if not axes and node.attribute("noop_with_empty_axes", 0):
        return _of_each(node)
    if 0 in node.shape(0):
        raise Unsupported("a reduction of nothing")
    chosen = sorted({axis % node.rank(0) for axis in axes}) if axes else None
    keep = bool(node.attribute("keepdims", 1))
    if node.op_type == "ReduceLogSum":
        return log(op.sum(node[0], chosen, keep))
    return _REDUCTIONS[node.op_type](_summable(node), chosen, keep)


def _summable(node: Node) -> Tensor:
    """The input; integers whose mean, norm or logarithm is asked for as floats."""
    if node.is_float(0) or node.op_type not in ("ReduceMean", "ReduceL2"):
        return node[0]
    return cast(node[0], "float64")


def _of_each(node: Node) -> Tensor:
    """The reduction of each element alone."""
    match node.op_type:
        case "ReduceL1" | "ReduceL2":
            return abs(node[0])
        case "ReduceLogSum":
            return log(node[0])
        case "ReduceSumSquare":
            return node[0] * node[0]
        case _:
            return ident(node[0])


@operator("ArgMax", "ArgMin")
def extreme(node: Node) -> Tensor:
    """Where the largest or the least element stands."""
    function = op.argmax if node.op_type == "ArgMax" else op.argmin
    place = function(
        node[0],
        node.attribute("axis", 0),
        bool(node.attribute("keepdims", 1)),
        bool(node.attribute("select_last_index", 0)),
    )
    return cast(place, "int64")


@operator("CumSum", "CumProd", known=(1,))
def accumulated(node: Node) -> Tensor:
    """The sum or product up to each element of an axis."""
    function: Any = op.cumsum if node.op_type == "CumSum" else op.cumprod
    return function(
        node[0],
        node.integers(1)[0],
        bool(node.attribute("exclusive", 0)),
        bool(node.attribute("reverse", 0)),
    )


@operator("TopK", known=(1,))
def largest(node: Node) -> list[Tensor]:
    """The largest or least elements along an axis, and where they stand."""
    count = node.integers(1)[0] if node.has(1) else node.attribute("k")
    is_largest = bool(node.attribute("largest", 1))
    values, places = op.topk(node[0], count, node.attribute("axis", -1), is_largest)
    return [values, cast(places, "int64")]

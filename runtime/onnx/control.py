"""If, Loop and Scan: branches by known conditions, bodies once for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...frontend.onnx.node import Unsupported
from ...frontend.onnx.values import TensorValue, Value
from .graphs import Context

if TYPE_CHECKING:
    from onnx import NodeProto

    from .planner import Planner

Control: TypeAlias = Callable[
    ["Planner", Context, "NodeProto", Sequence[Value | None]],
    Sequence[Value | None],
]


def _attributes(node: NodeProto) -> dict[str, Any]:
    from onnx import helper

    return {
        each.name: helper.get_attribute_value(each) for each in node.attribute
    }


def _if(
    planner: Planner, context: Context, node: NodeProto, inputs: Sequence[Value | None]
) -> Sequence[Value | None]:
    """The outputs of the branch that the condition chooses, for which it is made."""
    (condition,) = inputs
    if not isinstance(condition, TensorValue):
        raise Unsupported("the condition is no tensor")
    holds = bool(planner.array(condition).ravel()[0])
    branch = _attributes(node)["then_branch" if holds else "else_branch"]
    return planner.walk_inner(branch, {})


def _identity(
    planner: Planner, context: Context, node: NodeProto, inputs: Sequence[Value | None]
) -> Sequence[Value | None]:
    """The input itself, whatever it is."""
    return inputs


CONTROL: Mapping[str, Control] = {
    "If": _if,
    "Identity": _identity,
}
"""The operators of ONNX that rows cannot say, by name."""

"""Operators that ONNX itself defines by others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...frontend.onnx.inference import type_of
from ...frontend.onnx.values import HostValue, Value

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto


def body_of(
    node: NodeProto, schema: Any, opset: int, inputs: Sequence[Value | None]
) -> FunctionProto | None:
    """The function that says what an operator is by others; None where there is none.

    It may depend on the types of the inputs.
    """
    from onnx import FunctionProto

    if schema.has_function:
        version = _newest(schema.function_opset_versions, opset)
        if version is None:
            return None
        return _function(schema.get_function_with_opset_version(version))
    are_tensors = not any(isinstance(value, HostValue) for value in inputs)
    # Of types that are not there ONNX's functions would be a crash.
    if schema.has_context_dependent_function and are_tensors:
        version = _newest(schema.context_dependent_function_opset_versions, opset)
        if version is None:
            return None
        types = [type_of(value).SerializeToString() for value in inputs]
        text = schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), types
        )
        return FunctionProto.FromString(text) if text else None
    return None


def has_body(schema: Any) -> bool:
    """Whether ONNX defines an operator by others, at least for some inputs."""
    return bool(schema.has_function or schema.has_context_dependent_function)


def _function(found: object) -> FunctionProto | None:
    from onnx import FunctionProto

    if isinstance(found, bytes):
        return FunctionProto.FromString(found) if found else None
    return found if isinstance(found, FunctionProto) else None


def _newest(versions: Sequence[int], opset: int) -> int | None:
    """The newest of some versions that is not newer than an opset."""
    return max((version for version in versions if version <= opset), default=None)

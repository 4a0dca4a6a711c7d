"""Types and sizes of the outputs of a node, as `onnx.shape_inference` tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import GinghamError
from .attributes import with_defaults
from .model import described
from .tensors import check_sizes, dtype_of, element_of
from .values import TensorValue, Value

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, TypeProto
    from onnx.defs import OpSchema

MOST_DATA = 1024
"""Elements of a value that inference is told: sizes and axes are never more."""


def type_of(value: Value | None) -> TypeProto:
    """The type of a value as ONNX has it; an empty one of what is no tensor."""
    from onnx import TypeProto, helper

    if not isinstance(value, TensorValue):
        return TypeProto()
    return helper.make_tensor_type_proto(element_of(value.dtype), value.shape)


def infer_outputs(
    node: NodeProto,
    schema: OpSchema,
    inputs: Sequence[Value | None],
    opsets: Mapping[str, int],
) -> dict[str, TensorValue]:
    """What is known of the outputs of a node that are tensors, by name.

    Raises GinghamError for inputs that do not fit the operator.
    """
    from onnx import NodeProto, helper, numpy_helper
    from onnx.shape_inference import infer_node_outputs

    types: dict[str, TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for name, value in zip(node.input, inputs, strict=True):
        if not name or not isinstance(value, TensorValue):
            if name:
                return {}
            continue
        types[name] = type_of(value)
        array = value.array
        if array is not None and array.size <= MOST_DATA and array.dtype != object:
            data[name] = numpy_helper.from_array(array, name)
    if node.op_type == "STFT":
        # Inference has another default of an attribute than the operator.
        attributes = [*with_defaults(node, schema).values()]
        node = NodeProto(op_type="STFT", input=node.input, output=node.output)
        node.attribute.extend(attributes)
    versions = [helper.make_opsetid(*each) for each in opsets.items()]
    try:
        found = infer_node_outputs(schema, node, types, data, opset_imports=versions)
    except Exception as error:
        # Errors of C++ reach Python as several kinds of exceptions. The types that
        # graphs in nodes say of themselves are not always so for these inputs, and
        # functions of ONNX give Range vectors of one number.
        has_graph = any(each.HasField("g") for each in node.attribute)
        if has_graph or node.op_type == "Range":
            return {}
        reason = " ".join(str(error).split())
        raise GinghamError(f"{described(node)}: {reason}") from None
    outputs: dict[str, TensorValue] = {}
    for name, type in found.items():
        value = _known(type, f"{described(node)}: output '{name}'")
        if value is not None:
            outputs[name] = value
    return outputs


def _known(type: TypeProto, what: str) -> TensorValue | None:
    """A value of a type that says element type and sizes."""
    if not type.HasField("tensor_type") or not type.tensor_type.HasField("shape"):
        return None
    dims = type.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") for dim in dims):
        return None
    dtype = dtype_of(type.tensor_type.elem_type)
    shape = tuple(dim.dim_value for dim in dims)
    check_sizes(shape, dtype.itemsize, what)
    return TensorValue(dtype, shape)

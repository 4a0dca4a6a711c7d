"""What a call gives a model, compared with what the model says of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...frontend.onnx.tensors import dtype_of, element_of

if TYPE_CHECKING:
    from onnx import ValueInfoProto

    from ...frontend.onnx.model import Model


def checked_inputs(model: Model, inputs: Sequence[Any]) -> list[Any]:
    """The inputs as arrays, and what is no tensor as it is.

    Raises GinghamError for other types and sizes than those that the model says.
    """
    declared = model.graph.input
    if len(inputs) != len(declared):
        raise GinghamError(f"the model has {len(declared)} input(s), got {len(inputs)}")
    named: dict[str, int] = {}
    return [
        _checked(each, value, named)
        for each, value in zip(declared, inputs, strict=True)
    ]


def _checked(declared: ValueInfoProto, value: Any, named: dict[str, int]) -> Any:
    array = as_value(value)
    if not declared.type.HasField("tensor_type"):
        return array
    what = f"input '{declared.name}'"
    if not hasattr(array, "shape"):
        raise GinghamError(f"{what} is a tensor, got {type(value).__name__}")
    wanted = declared.type.tensor_type
    if wanted.elem_type and element_of(array.dtype) != wanted.elem_type:
        raise GinghamError(
            f"{what} has elements of type {dtype_of(wanted.elem_type)}, got "
            f"{array.dtype}"
        )
    if wanted.HasField("shape"):
        _check_shape(what, wanted.shape.dim, array.shape, named)
    return array


def _check_shape(
    what: str, dims: Sequence[Any], shape: Sequence[int], named: dict[str, int]
) -> None:
    if len(dims) != len(shape):
        raise GinghamError(f"{what} has {len(dims)} axes, got {len(shape)}")
    for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
        wanted, name = None, ""
        if dim.HasField("dim_value"):
            wanted = dim.dim_value
        elif dim.dim_param:
            name = f" ({dim.dim_param})"
            wanted = named.setdefault(dim.dim_param, size)
        if wanted is not None and wanted != size:
            raise GinghamError(
                f"axis {axis} of {what} has size {wanted}{name}, got {size}"
            )


def as_value(value: Any) -> Any:
    """What a call gives as an array; lists and None stay what they are.

    Text is an array of objects, as in ONNX itself.
    """
    import numpy as np

    if value is None or type(value) in (list, dict):
        return value
    is_array = hasattr(value, "shape") and not isinstance(value, np.generic)
    array = value if is_array else np.asarray(value)
    return array.astype(object) if array.dtype.kind in "UST" else array

"""From a file, bytes or a `ModelProto` to a `Model`, whoever they are from.

All that a model says of sizes, files and structure is looked at before anything is
computed of it; `onnx.checker` says whether it is a model otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...limits import LARGEST_MODEL
from .external_data import is_external, read_external
from .model import Model, domain_of
from .structure import check_structure, graphs_of, tensors_of
from .tensors import array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import GraphProto, ModelProto, SparseTensorProto, TensorProto

_NO_FILE = "<model>"


def read_model(source: str | os.PathLike[str] | bytes | ModelProto) -> Model:
    """The model of a file, of the bytes of one, or of a `ModelProto`.

    Data in files beside the model are read from its folder. Raises GinghamError for
    what is no model, or one that the limits forbid.
    """
    require_onnx()
    from onnx import ModelProto

    if isinstance(source, ModelProto):
        return _model(_without_data(source), source.graph, _NO_FILE, None)
    if isinstance(source, bytes):
        proto = _parsed(source, _NO_FILE)
        return _model(proto, proto.graph, _NO_FILE, None)
    path = _path(source)
    proto = _parsed(_content(path), path)
    return _model(proto, proto.graph, path, os.path.dirname(path))


def require_onnx() -> None:
    """Raise GinghamError where there is no package `onnx`, or an old one."""
    try:
        import onnx
    except ImportError:
        raise GinghamError(
            "models of ONNX need the package onnx",
            hint="pip install 'gingham[onnx]'",
        ) from None
    parts = onnx.__version__.split(".")
    if (int(parts[0]), int(parts[1])) < (1, 21):
        raise GinghamError(
            f"models of ONNX need onnx 1.21 or newer, found {onnx.__version__}",
            hint="pip install 'gingham[onnx]'",
        )


def _path(source: object) -> str:
    if not isinstance(source, str | os.PathLike):
        raise GinghamError(
            f"expected a model, got {type(source).__name__}",
            hint="a path, the bytes of a file, or an onnx.ModelProto",
        )
    path = os.fspath(source)
    return path if isinstance(path, str) else os.fsdecode(path)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_MODEL + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise GinghamError(f"cannot read '{path}': {reason}") from error
    if len(content) > LARGEST_MODEL:
        raise GinghamError(f"'{path}' has more than {LARGEST_MODEL} bytes")
    return content


def _parsed(content: bytes, file: str) -> ModelProto:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        proto = ModelProto.FromString(content)
    except (DecodeError, ValueError) as error:
        raise GinghamError(f"'{file}' is no model of ONNX: {error}") from error
    if not proto.HasField("graph"):
        raise GinghamError(f"'{file}' is no model of ONNX: it has no graph")
    return proto


def _without_data(proto: ModelProto) -> ModelProto:
    """A copy without the initializers of its graph, which may be large."""
    from onnx import ModelProto

    copy = ModelProto(ir_version=proto.ir_version)
    copy.opset_import.extend(proto.opset_import)
    copy.functions.extend(proto.functions)
    graph, source = copy.graph, proto.graph
    graph.name = source.name
    graph.node.extend(source.node)
    graph.input.extend(source.input)
    graph.output.extend(source.output)
    graph.value_info.extend(source.value_info)
    return copy


def _model(
    proto: ModelProto, whole: GraphProto, file: str, folder: str | None
) -> Model:
    """The model of a proto that is ours to change; `whole` has the initializers."""
    check_structure(proto, file)
    constants = _constants(whole, folder)
    for graph in graphs_of(proto):
        if graph is not proto.graph:
            _bring_inside(graph.initializer, folder)
        for tensor in tensors_of(graph.node):
            _check_tensor(tensor, folder)
    for function in proto.functions:
        for tensor in tensors_of(function.node):
            _check_tensor(tensor, folder)
    del proto.graph.initializer[:]
    del proto.graph.sparse_initializer[:]
    _check(_checkable(proto, constants), file)
    _keep_given_inputs(proto.graph, constants)
    return Model(
        file,
        proto.graph,
        constants,
        {domain_of(each.domain): each.version for each in proto.opset_import},
        {(domain_of(f.domain), f.name): f for f in proto.functions},
    )


def _constants(graph: GraphProto, folder: str | None) -> dict[str, NDArray[Any]]:
    constants: dict[str, NDArray[Any]] = {}
    for tensor in graph.initializer:
        what = f"initializer '{tensor.name}'"
        if not tensor.name or tensor.name in constants:
            raise GinghamError(f"{what} is there twice, or has no name")
        constants[tensor.name] = (
            read_external(tensor, folder, what)
            if is_external(tensor)
            else array_of(tensor, what)
        )
    for sparse in graph.sparse_initializer:
        name = sparse.values.name
        if not name or name in constants:
            raise GinghamError(f"initializer '{name}' is there twice, or has no name")
        constants[name] = dense(sparse, f"initializer '{name}'")
    return constants


def dense(sparse: SparseTensorProto, what: str) -> NDArray[Any]:
    """A sparse tensor as an array. Raises GinghamError where its parts do not fit."""
    import numpy as np

    from .tensors import check_sizes

    values = array_of(sparse.values, what).ravel()
    indices = array_of(sparse.indices, f"the indices of {what}")
    sizes = tuple(sparse.dims)
    check_sizes(sizes, values.dtype.itemsize, what)
    result = np.zeros(sizes, values.dtype)
    if indices.ndim == 2 and len(indices) == len(values):
        indices = indices[:, 0] if len(sizes) == 1 else _flat(indices, sizes, what)
    if indices.shape != values.shape or np.any(
        (indices < 0) | (indices >= result.size)
    ):
        raise GinghamError(f"the indices of {what} do not fit its sizes")
    result.ravel()[indices] = values
    return result


def _flat(indices: NDArray[Any], sizes: Sequence[int], what: str) -> NDArray[Any]:
    import numpy as np

    try:
        return np.asarray(np.ravel_multi_index(tuple(indices.T), tuple(sizes)))
    except ValueError:
        raise GinghamError(f"the indices of {what} do not fit its sizes") from None


def _bring_inside(tensors: Sequence[TensorProto], folder: str | None) -> None:
    """Have tensors of a graph in a graph hold their data themselves."""
    for tensor in tensors:
        _check_tensor(tensor, folder)


def _check_tensor(tensor: TensorProto, folder: str | None) -> None:
    """Look at a tensor of a node or an inner graph; its data are brought inside."""
    from onnx import numpy_helper

    what = f"tensor '{tensor.name}'" if tensor.name else "a tensor of a node"
    if not is_external(tensor):
        array_of(tensor, what)
        return
    array = read_external(tensor, folder, what)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def _checkable(proto: ModelProto, constants: dict[str, NDArray[Any]]) -> ModelProto:
    """The model with its initializers as inputs, for what only looks at types."""
    from onnx import ModelProto, helper

    from .tensors import element_of

    copy = ModelProto()
    copy.CopyFrom(proto)
    given = {each.name for each in copy.graph.input}
    for name, array in constants.items():
        if name not in given:
            element = element_of(array.dtype)
            copy.graph.input.append(
                helper.make_tensor_value_info(name, element, array.shape)
            )
    return copy


def _check(proto: ModelProto, file: str) -> None:
    """What `onnx.checker` and the types of operators say of a model."""
    from onnx import checker, shape_inference

    # Its types name a class without its parameter.
    check_model: Callable[[ModelProto], None] = getattr(checker, "check_model")
    try:
        check_model(_with_shapes(proto))
        shape_inference.infer_shapes(proto, check_type=True)
    except Exception as error:
        # Both raise errors of C++, and of other kinds for what they did not expect.
        reason = " ".join(str(error).split())
        raise GinghamError(f"'{file}' is no valid model of ONNX: {reason}") from None


def _with_shapes(proto: ModelProto) -> ModelProto:
    """The model with a shape for each of its outputs, which the checker asks for."""
    from onnx import ModelProto

    copy = ModelProto()
    copy.CopyFrom(proto)
    for each in (*copy.graph.input, *copy.graph.output, *copy.graph.value_info):
        type = each.type.tensor_type
        if each.type.HasField("tensor_type") and not type.HasField("shape"):
            type.shape.SetInParent()
    return copy


def _keep_given_inputs(graph: GraphProto, constants: dict[str, NDArray[Any]]) -> None:
    """Initializers that are inputs, too, as all were once, are constants."""
    given = [each for each in graph.input if each.name not in constants]
    del graph.input[:]
    graph.input.extend(given)

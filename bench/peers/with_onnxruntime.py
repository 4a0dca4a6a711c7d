"""onnxruntime, on the CPU; images NCHW, weights as constants of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ..cases import Case
from .prepared import IMAGES, Array, Inputs, Prepared

_OPSET = 20


class Graph:
    """An ONNX model of f32 tensors that grows node by node."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: dict[str, Array] = {}

    def input(self, array: NDArray[Any]) -> str:
        """An argument of each call."""
        name = f"input{len(self._inputs)}"
        self._inputs[name] = np.ascontiguousarray(array)
        return name

    def constant(self, array: NDArray[Any] | Sequence[int] | float) -> str:
        """A tensor that is part of the model."""
        name = f"constant{len(self._constants)}"
        value = np.float32(array) if isinstance(array, float) else np.asarray(array)
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        name = f"value{len(self._nodes)}"
        node = helper.make_node(operation, [*inputs], [name], **attributes)
        self._nodes.append(node)
        return name

    def session(self, outputs: Mapping[str, int]) -> Callable[[], list[NDArray[Any]]]:
        """A call that computes these values, given with the types of their elements."""
        given = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
            for name, array in self._inputs.items()
        ]
        wanted = [
            helper.make_tensor_value_info(name, type, None)
            for name, type in outputs.items()
        ]
        graph = helper.make_graph(
            self._nodes, "case", given, wanted, initializer=self._constants
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=10
        )
        session = ort.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        return lambda: session.run(None, self._inputs)


Build: TypeAlias = Callable[[Graph, Case, list[Array]], Sequence[str]]


def prepare(case: Case, inputs: Inputs) -> Prepared | None:
    """The case as an ONNX graph in a session of onnxruntime.

    Images come back with channels last, as the case has them. None for a kind of case
    that has no graph.
    """
    build = BUILDERS.get(case.kind)
    if build is None:
        return None
    graph = Graph()
    outputs = build(graph, case, list(inputs.values()))
    element = TensorProto.INT64 if case.kind == "argmax" else TensorProto.FLOAT
    call = graph.session(dict.fromkeys(outputs, element))
    images = case.kind in IMAGES

    def results() -> list[NDArray[Any]]:
        return [o.transpose(0, 2, 3, 1) if images else o for o in call()]

    return Prepared(call, results)


def _image(array: Array) -> Array:
    return array.reshape(*array.shape[:3], -1).transpose(0, 3, 1, 2)


def _weights(kernel: Array) -> Array:
    if kernel.ndim == 5:
        taps, other, groups, inputs, outputs = kernel.shape
        kernel = kernel.transpose(2, 4, 3, 0, 1)
        return kernel.reshape(groups * outputs, inputs, taps, other).copy()
    return kernel.transpose(3, 2, 0, 1).copy()


def _all_inputs(operation: str, **attributes: Any) -> Build:
    """A case that is one node of all inputs."""

    def build(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
        names = [graph.input(array) for array in inputs]
        return [graph.add(operation, *names, **attributes)]

    return build


def _matmul_transposed(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    names = [graph.input(array) for array in inputs]
    return [graph.add("Gemm", *names, transB=1)]


def _convolution(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    image, kernel = inputs
    if case.kind == "depthwise":
        kernel = kernel[:, :, :, None, None]
    p = case.parameters
    x, w = graph.input(_image(image)), graph.constant(_weights(kernel))
    attributes = {
        "strides": [p["stride"]] * 2,
        "pads": [p["pad"]] * 4,
        "dilations": [p["dilation"]] * 2,
        "group": p["groups"],
    }
    return [graph.add("Conv", x, w, **attributes)]


def _transposed_convolution(
    graph: Graph, case: Case, inputs: list[Array]
) -> Sequence[str]:
    image, kernel = inputs
    p = case.parameters
    x = graph.input(_image(image))
    w = graph.constant(kernel.transpose(2, 3, 0, 1).copy())
    attributes = {"strides": [p["stride"]] * 2, "pads": [p["pad"]] * 4}
    return [graph.add("ConvTranspose", x, w, **attributes)]


def _max_pool(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    p = case.parameters
    after = max(p["taps"] - 2 - p["pad"], 0)
    attributes = {
        "kernel_shape": [p["taps"]] * 2,
        "strides": [2, 2],
        "pads": [p["pad"]] * 2 + [after] * 2,
    }
    return [graph.add("MaxPool", graph.input(_image(inputs[0])), **attributes)]


def _layer_norm(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    x, scale, bias = inputs
    weights = graph.constant(scale), graph.constant(bias)
    normal = graph.add("LayerNormalization", graph.input(x), *weights, epsilon=1e-5)
    return [normal]


def _sum(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    axis = case.parameters.get("axis")
    axes = graph.constant(np.array([0, 1] if axis is None else [axis], np.int64))
    return [graph.add("ReduceSum", graph.input(inputs[0]), axes, keepdims=0)]


def _cumulative_sum(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    axis = graph.constant(np.array(0, np.int64))
    return [graph.add("CumSum", graph.input(inputs[0]), axis)]


def _multiply_add(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    a, b, c = (graph.input(array) for array in inputs)
    return [graph.add("Add", graph.add("Mul", a, b), c)]


def _gelu(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    (x,) = _multiply_add(graph, case, inputs)
    return [graph.add("Gelu", x, approximate="tanh")]


def _attention(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    query, key, value = (graph.input(array) for array in inputs)
    turned = graph.add("Transpose", key, perm=[0, 2, 1])
    scores = graph.add("MatMul", query, turned)
    scale = graph.constant(float(inputs[0].shape[-1] ** -0.5))
    weights = graph.add("Softmax", graph.add("Mul", scores, scale), axis=-1)
    return [graph.add("MatMul", weights, value)]


def _bottleneck(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    image, k1, b1, k2, b2, k3, b3 = inputs
    x = graph.input(_image(image))

    def convolve(value: str, kernel: Array, bias: Array, pad: int) -> str:
        constants = graph.constant(_weights(kernel)), graph.constant(bias)
        return graph.add("Conv", value, *constants, pads=[pad] * 4)

    first = graph.add("Relu", convolve(x, k1[None, None], b1, 0))
    second = graph.add("Relu", convolve(first, k2, b2, 1))
    third = graph.add("Add", convolve(second, k3[None, None], b3, 0), x)
    return [graph.add("Relu", third)]


def _lstm_cell(graph: Graph, case: Case, inputs: list[Array]) -> Sequence[str]:
    x, state, cell, w, u, bias = inputs
    names = [graph.input(array) for array in (x, state, cell)]
    weights = [graph.constant(m.reshape(len(m), -1)) for m in (w, u)]
    gates = graph.add("Gemm", names[0], weights[0], graph.constant(bias.ravel()))
    gates = graph.add("Add", gates, graph.add("MatMul", names[1], weights[1]))
    hidden = state.shape[1]

    def gate(number: int, function: str) -> str:
        bounds = (graph.constant(np.array([n * hidden])) for n in (number, number + 1))
        axis = graph.constant(np.array([1]))
        return graph.add(function, graph.add("Slice", gates, *bounds, axis))

    kept = graph.add("Mul", gate(1, "Sigmoid"), names[2])
    added = graph.add("Mul", gate(0, "Sigmoid"), gate(2, "Tanh"))
    new_cell = graph.add("Add", kept, added)
    output = graph.add("Mul", gate(3, "Sigmoid"), graph.add("Tanh", new_cell))
    return [output, new_cell]


BUILDERS: dict[str, Build] = {
    "matmul": _all_inputs("MatMul"),
    "matmul_transposed": _matmul_transposed,
    "tensor_contraction": _all_inputs("Einsum", equation="aebf,dfce->abcd"),
    "convolution": _convolution,
    "depthwise": _convolution,
    "transposed_convolution": _transposed_convolution,
    "softmax": _all_inputs("Softmax", axis=-1),
    "log_softmax": _all_inputs("LogSoftmax", axis=-1),
    "layer_norm": _layer_norm,
    "sum": _sum,
    "argmax": _all_inputs("ArgMax", axis=1, keepdims=0),
    "cumulative_sum": _cumulative_sum,
    "transpose": _all_inputs("Transpose", perm=[1, 0]),
    "max_pool": _max_pool,
    "multiply_add": _multiply_add,
    "gelu": _gelu,
    "attention": _attention,
    "bottleneck": _bottleneck,
    "lstm_cell": _lstm_cell,
}

"""Batch normalisations put into the convolutions before them.

`(conv(x, w) + b - mean) / sqrt(variance + epsilon) * scale + shift` is a convolution
with other weights, which rounds differently: it is for `fast_math`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .model import Model
from .structure import graphs_in

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto

_EPSILON = 1e-5


def with_folded_norms(model: Model) -> Model:
    """The model with fewer batch normalisations, where weights are constants.

    The result of the convolution must be used by nothing else.
    """
    from onnx import GraphProto

    uses = _uses(model)
    graph = GraphProto()
    graph.CopyFrom(model.graph)
    made = {name: node for node in graph.node for name in node.output}
    constants = dict(model.constants)
    gone: list[NodeProto] = []
    for norm in graph.node:
        conv = made.get(norm.input[0]) if norm.op_type == "BatchNormalization" else None
        if conv is None or conv.op_type != "Conv" or uses[norm.input[0]] != 1:
            continue
        weights = _folded(conv, norm, constants)
        if weights is None:
            continue
        names = [f"{norm.output[0]}/weights", f"{norm.output[0]}/bias"]
        constants.update(zip(names, weights, strict=True))
        inputs = [conv.input[0], *names]
        del conv.input[:]
        conv.input.extend(inputs)
        conv.output[0] = norm.output[0]
        gone.append(norm)
    for node in gone:
        graph.node.remove(node)
    return replace(model, graph=graph, constants=constants)


def _uses(model: Model) -> Counter[str]:
    """How often each name is used, in graphs of nodes, too."""
    uses = Counter(each.name for each in model.graph.output)
    pending = [*model.graph.node]
    while pending:
        node = pending.pop()
        uses.update(node.input)
        for graph in graphs_in(node):
            pending += graph.node
            uses.update(each.name for each in graph.output)
    return uses


def _folded(
    conv: NodeProto, norm: NodeProto, constants: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Weights and bias of a convolution that does what both do; None where none can."""
    import numpy as np

    names = [*conv.input[1:], *norm.input[1:]]
    attributes = {each.name: each for each in norm.attribute}
    trains = "training_mode" in attributes and attributes["training_mode"].i
    is_whole = "spatial" not in attributes or attributes["spatial"].i
    others = [name for name in norm.output[1:] if name]
    if trains or others or not is_whole or any(n not in constants for n in names):
        return None
    weights = constants[conv.input[1]]
    epsilon = attributes["epsilon"].f if "epsilon" in attributes else _EPSILON
    scale, shift, mean, variance = (
        constants[name].astype(np.float64) for name in norm.input[1:]
    )
    has_bias = len(conv.input) > 2 and bool(conv.input[2])
    bias = constants[conv.input[2]] if has_bias else np.zeros(len(weights))
    factor = scale / np.sqrt(variance + epsilon)
    turned = factor.reshape(-1, *[1] * (weights.ndim - 1))
    return (
        (weights * turned).astype(weights.dtype),
        ((bias - mean) * factor + shift).astype(weights.dtype),
    )

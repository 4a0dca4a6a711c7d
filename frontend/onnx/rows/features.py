"""Features of samples, of the domain of classical machine learning."""

from __future__ import annotations

from math import isnan
from typing import Any

from ....errors import GinghamError
from ... import op
from ...edsl.functions import select
from ...edsl.inputs import Constant
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator
from .shapes import positions

_DOMAIN = "ai.onnx.ml"


def _numbers(node: Node, name: str) -> Tensor:
    """An attribute of numbers as a tensor; integers have the type of the input."""
    import numpy as np

    numbers = node.attribute(name)
    if numbers is None:
        raise GinghamError(f"{node} has no attribute '{name}'")
    is_whole = isinstance(numbers[0], int)
    return Constant(np.array(numbers, node.dtype(0) if is_whole else np.float32))


@operator("Binarizer", domain=_DOMAIN)
def above(node: Node) -> Tensor:
    """1 where elements are larger than a number, and 0 elsewhere."""
    return cast(node[0] > node.attribute("threshold", 0.0), node.dtype(0))


@operator("Scaler", domain=_DOMAIN)
def scaled(node: Node) -> Tensor:
    """Elements less an offset, times a scale."""
    x = node[0] if node.is_float(0) else cast(node[0], "float32")
    offset, scale = (_numbers(node, name) for name in ("offset", "scale"))
    return (x - offset) * scale


@operator("Normalizer", domain=_DOMAIN)
def normalized(node: Node) -> Tensor:
    """Each row over its norm."""
    x = node[0] if node.is_float(0) else cast(node[0], "float32")
    orders = {"MAX": float("inf"), "L1": 1, "L2": 2}
    length = op.norm(x, orders[node.attribute("norm", "MAX")], -1, keepdims=True)
    return x / op.maximum(length, 1e-30)


@operator("LinearRegressor", domain=_DOMAIN)
def regression(node: Node) -> Tensor:
    """Sums of features with weights."""
    if node.attribute("post_transform", "NONE") != "NONE":
        raise Unsupported("a function of the sums")
    targets = node.attribute("targets", 1)
    x = node[0] if node.is_float(0) else cast(node[0], "float32")
    weights = _numbers(node, "coefficients").reshape(targets, node.shape(0)[-1])
    bias = _numbers(node, "intercepts") if node.says("intercepts") else None
    return op.linear(x, weights, bias)


@operator("ArrayFeatureExtractor", domain=_DOMAIN)
def chosen_features(node: Node) -> Tensor:
    """The features at positions."""
    taken = op.take(node[0], op.flatten(positions(node, 1)), -1)
    return op.unsqueeze(taken, 0) if node.rank(0) == 1 else taken


@operator("Imputer", domain=_DOMAIN)
def completed(node: Node) -> Tensor:
    """Other numbers for those that stand for none."""
    kind = "float" if node.is_float(0) else "int64"
    missing: Any = node.attribute(f"replaced_value_{kind}", 0)
    x, values = node[0], _numbers(node, f"imputed_value_{kind}s")
    return select(x != x if isnan(missing) else x == missing, values, x)

"""Small models of ONNX for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")
helper: Any = onnx.helper

FLOAT = 1
INT64 = 7


def value(name: str, shape: Sequence[Any] | None, element: int = FLOAT) -> Any:
    """An input or output."""
    return helper.make_tensor_value_info(name, element, shape)


def node(
    op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
) -> Any:
    """A node, called as its first output."""
    name = attributes.pop("name", f"the_{outputs[0]}")
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    constants: Mapping[str, Any] | None = None,
    *,
    opset: int = 21,
    functions: Sequence[Any] = (),
    domains: Mapping[str, int] | None = None,
) -> Any:
    """A model of one graph."""
    tensors = [
        onnx.numpy_helper.from_array(np.asarray(array), name)
        for name, array in (constants or {}).items()
    ]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(*each) for each in (domains or {}).items()]
    return helper.make_model(
        graph, opset_imports=opsets, functions=functions, ir_version=10
    )


def branch(
    nodes: Sequence[Any], outputs: Sequence[Any], inputs: Sequence[Any] = ()
) -> Any:
    """A graph in a node."""
    return helper.make_graph(nodes, "branch", inputs, outputs)

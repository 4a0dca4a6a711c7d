"""`Model`: a model of ONNX that has been read and found to be one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import SourceLocation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import FunctionProto, GraphProto, NodeProto

DOMAIN = ""
"""The domain of the operators of ONNX itself, which is also called `ai.onnx`."""


def domain_of(name: str) -> str:
    """The domain that a name means."""
    return DOMAIN if name == "ai.onnx" else name


@dataclass(frozen=True)
class Model:
    """What is known of a model before it is called."""

    file: str
    """Its file, or what stands for one in messages."""
    graph: GraphProto
    """Its graph, without initializers; those of graphs in it hold their data."""
    constants: Mapping[str, NDArray[Any]]
    """The initializers of the graph, by name."""
    opsets: Mapping[str, int]
    """The version of each domain of operators."""
    functions: Mapping[tuple[str, str], FunctionProto]
    """The functions of the model, by domain and name."""

    @property
    def input_names(self) -> list[str]:
        """The inputs that a call has to give, in order."""
        return [each.name for each in self.graph.input]

    @property
    def output_names(self) -> list[str]:
        """The outputs, in order."""
        return [each.name for each in self.graph.output]


def described(node: NodeProto) -> str:
    """What a node is called in messages."""
    if node.name:
        return f"node '{node.name}' ({node.op_type})"
    outputs = ", ".join(f"'{name}'" for name in node.output if name)
    return f"the node of {outputs or 'nothing'} ({node.op_type})"


def location_of(file: str, number: int) -> SourceLocation:
    """The place of a node: its number in its graph stands for a line."""
    return SourceLocation(file, number + 1, 1)

"""What a session runs: the nodes of a graph, and what they may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...frontend.onnx.structure import graphs_in
from ...frontend.onnx.tensors import array_of
from ...frontend.onnx.values import TensorValue, Value

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, NodeProto

    from ...frontend.onnx.attributes import Attributes
    from ...frontend.onnx.model import Model


@dataclass(frozen=True)
class Context:
    """What nodes mean: the versions of operators, and functions."""

    file: str
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str], FunctionProto]
    attributes: Attributes | None = None
    """The attributes that a function was called with."""


@dataclass(frozen=True)
class GraphSource:
    """A graph to run: nodes in order, names of inputs and outputs, and constants."""

    nodes: Sequence[NodeProto]
    inputs: Sequence[str]
    outputs: Sequence[str]
    constants: Mapping[str, Value]
    context: Context


def source_of(model: Model) -> GraphSource:
    """The graph of a model."""
    constants: dict[str, Value] = {
        name: TensorValue(array.dtype, array.shape, array, name=name)
        for name, array in model.constants.items()
    }
    context = Context(model.file, model.opsets, model.functions)
    return GraphSource(
        model.graph.node, model.input_names, model.output_names, constants, context
    )


def inner_source(
    graph: GraphProto, captured: Mapping[str, Value], context: Context
) -> GraphSource:
    """A graph in a node, whose last inputs are the values from outside it."""
    constants = constants_of(graph)
    given = [each.name for each in graph.input]
    outside: list[str] = []
    for name, value in captured.items():
        if isinstance(value, TensorValue) and value.is_known:
            constants[name] = value
        else:
            outside.append(name)
    return GraphSource(
        graph.node,
        [*given, *outside],
        [each.name for each in graph.output],
        constants,
        context,
    )


def constants_of(graph: GraphProto) -> dict[str, Value]:
    """The initializers of a graph in a node."""
    from ...frontend.onnx.reading import dense

    constants: dict[str, Value] = {}
    for tensor in graph.initializer:
        array = array_of(tensor, f"initializer '{tensor.name}'")
        constants[tensor.name] = TensorValue(
            array.dtype, array.shape, array, name=tensor.name
        )
    for sparse in graph.sparse_initializer:
        array = dense(sparse, f"initializer '{sparse.values.name}'")
        constants[sparse.values.name] = TensorValue(array.dtype, array.shape, array)
    return constants


def free_names(node: NodeProto) -> list[str]:
    """The names from outside that the graphs of a node use, in order."""
    found: dict[str, None] = {}
    for graph in graphs_in(node):
        own = {each.name for each in graph.input}
        own.update(each.name for each in graph.initializer)
        own.update(each.values.name for each in graph.sparse_initializer)
        for inner in graph.node:
            for name in [*inner.input, *free_names(inner)]:
                if name and name not in own:
                    found[name] = None
            own.update(inner.output)
        for output in graph.output:
            if output.name not in own:
                found[output.name] = None
    return list(found)


@dataclass
class Frame:
    """A graph that is being walked, or the body of a function."""

    nodes: Sequence[NodeProto]
    outputs: Sequence[str]
    values: dict[str, Value]
    context: Context
    outer: Frame | None = None
    """The frame whose names it sees, of a graph in a node."""
    position: int = 0
    last_uses: dict[str, int] = field(default_factory=dict[str, int])
    """The last position where a name is used; outputs are used behind all nodes."""

    def __post_init__(self) -> None:
        for position, node in enumerate(self.nodes):
            for name in [*node.input, *free_names(node)]:
                self.last_uses[name] = position
        for name in self.outputs:
            self.last_uses[name] = len(self.nodes)

    def value(self, name: str) -> Value | None:
        """What a name stands for; None of no name, or one that nothing gave a value."""
        frame: Frame | None = self
        while frame is not None and name:
            if name in frame.values:
                return frame.values[name]
            frame = frame.outer
        return None

    @property
    def live(self) -> Iterable[Value]:
        """The values that are used from here on."""
        for name, value in self.values.items():
            if self.last_uses.get(name, -1) >= self.position:
                yield value

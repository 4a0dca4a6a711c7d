"""What the control flow of a graph asks of the walk through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ...frontend.onnx.node import Walk
from ...frontend.onnx.values import TensorValue, Value
from .graphs import Context, GraphSource
from .parts import Environment, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import GraphProto, NodeProto

    from ..function import Function
    from ..parsed import ModuleProgram


class Programs(Protocol):
    """What has to do with a graph beyond one walk through it."""

    source: GraphSource
    """The graph."""

    def function(
        self, program: ModuleProgram, captured: Sequence[NDArray[Any]]
    ) -> Function:
        """A program as a function on the device of the session."""
        ...

    def inner(self, source: GraphSource) -> Any:
        """A session for a graph in a node."""
        ...

    def results(self, part: Part, environment: Environment) -> list[Any]:
        """The outputs of the graph, behind its last part."""
        ...


class Walking(Walk, Protocol):
    """A walk through a graph."""

    def value(self, name: str) -> Value | None:
        """What a name stands for in the graph that is being walked."""
        ...

    def constant(self, array: Any) -> TensorValue:
        """An array or number of NumPy as a value."""
        ...

    def computed(self, value: TensorValue) -> TensorValue:
        """A value with a tensor that the program which is being built computes."""
        ...

    def holding(self, values: Sequence[Value]) -> AbstractContextManager[None]:
        """Keep values that no name of a graph stands for."""
        ...

    def walk_inner(
        self, graph: GraphProto, values: Mapping[str, Value]
    ) -> list[Value | None]:
        """The outputs of a graph in the node that is being visited."""
        ...

    def compiled(self, source: GraphSource) -> Callable[[Sequence[Any]], list[Any]]:
        """A graph as a function of arrays."""
        ...

    def step(
        self,
        label: str,
        reason: str,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        inputs: Sequence[Value],
    ) -> list[Value]:
        """Run something on the host; its results are values from then on."""
        ...

    def on_host(
        self,
        context: Context,
        node: NodeProto,
        inputs: Sequence[Value | None],
        reason: str,
    ) -> list[Value | None]:
        """The outputs of a node that the reference implementation computes."""
        ...

"""A graph of core ATen operators as a function of tensors."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from threading import RLock
from typing import Any

import torch
from torch._subclasses import FakeTensorMode
from torch.fx import GraphModule
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from ...errors import GinghamError
from ...frontend.torch.graphs import Refused, is_lowered, operator_of
from ...garbage import rare_collections
from ..options import CompileOptions
from .notes import note
from .plan import Plan, planned
from .segment import Segment


class CompiledGraph:
    """What a graph computes, compiled once for each combination of sizes.

    It is called with one list of all arguments, which it empties, as AOTAutograd wants.
    """

    def __init__(
        self, module: Any, options: CompileOptions, constants: Collection[int] = ()
    ) -> None:
        """`constants` are the positions of tensors that hardly ever change."""
        self._boxed_call = True
        self._module = module
        self._options = options
        self._constants = frozenset(constants)
        self._lock = RLock()
        self._known: dict[tuple[Any, ...], _Instance] = {}
        places = [n for n in module.graph.nodes if n.op == "placeholder"]
        self._is_symbolic = any(map(_is_symbolic, places))

    def __call__(self, arguments: list[Any]) -> list[Any]:
        """The results, of which some may be None, as AOTAutograd wants."""
        given = list(arguments)
        arguments.clear()
        return self.instance(given).run(given)

    def instance(self, arguments: Sequence[Any]) -> _Instance:
        """What is compiled for arguments of such sizes, compiled now if it is not."""
        key = tuple(map(_kind, arguments)) if self._is_symbolic else ()
        known = self._known.get(key)
        if known is None:
            with self._lock:
                known = self._known.get(key) or self._new(arguments)
                self._known[key] = known
        return known

    @rare_collections()
    def _new(self, arguments: Sequence[Any]) -> _Instance:
        module = self._module
        if self._is_symbolic:
            module = _with_sizes_of(arguments, module)
        return _Instance(module, self._options, self._constants)


class _Instance:
    """A graph for one combination of sizes: its stages, and what runs them."""

    def __init__(
        self, module: Any, options: CompileOptions, constants: Collection[int]
    ) -> None:
        self._module = module
        self._places = [n for n in module.graph.nodes if n.op == "placeholder"]
        kept = {self._places[position] for position in constants}
        refused: set[Any] = set()
        while True:
            self.plan = planned(module.graph, refused)
            try:
                self.segments = _segments(self.plan, options, kept)
                break
            except _Failed as failure:
                refused |= failure.nodes
                note(failure.operators, failure.reason)
        self._only = self._only_segment()
        for stage in self.plan.stages:
            if not stage.on_device:
                unknown = {operator_of(n) for n in stage.nodes if not is_lowered(n)}
                # What PyTorch wraps operators in has names without a dot.
                note({n for n in unknown if "." in n}, "it has no lowering")

    def _only_segment(self) -> tuple[Segment, Sequence[int]] | None:
        """What computes all results of arguments alone, and which it is called with."""
        stages, segment = self.plan.stages, self.segments.get(0)
        if len(stages) != 1 or segment is None:
            return None
        places = {place: position for position, place in enumerate(self._places)}
        (stage,) = stages
        if self.plan.results != stage.outputs or not places.keys() >= {*stage.inputs}:
            return None
        return segment, [places[node] for node in stage.inputs]

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The results for arguments of these sizes."""
        if self._only is not None:
            segment, positions = self._only
            return segment.run([arguments[position] for position in positions])
        values = _Values(self._module, zip(self._places, arguments, strict=True))
        for number, stage in enumerate(self.plan.stages):
            segment = self.segments.get(number)
            if segment is None:
                for node in stage.nodes:
                    values.compute(node)
                continue
            results = segment.run([values[node] for node in stage.inputs])
            values.update(zip(stage.outputs, results, strict=True))
        return [
            values[each] if isinstance(each, torch.fx.Node) else each
            for each in self.plan.results
        ]


_GETITEM = str(operator.getitem)


class _Failed(Exception):
    """Nodes that cannot run on the device, and why."""

    def __init__(self, nodes: set[Any], reason: str) -> None:
        super().__init__(reason)
        self.nodes = nodes
        self.operators = {operator_of(node) for node in nodes} - {_GETITEM}
        self.reason = reason


def _segments(
    plan: Plan, options: CompileOptions, constants: set[Any]
) -> dict[int, Segment]:
    """What runs the stages that are on the device, by their numbers."""
    segments: dict[int, Segment] = {}
    for number, stage in enumerate(plan.stages):
        if not stage.on_device or not stage.outputs:
            continue
        try:
            segments[number] = Segment(stage, options, constants)
        except Refused as refused:
            raise _Failed({refused.node}, refused.reason) from refused
        except GinghamError as mistake:
            raise _Failed(set(stage.nodes), mistake.message) from mistake
    return segments


class _Values(dict[Any, Any]):
    """The tensors of nodes; views and what PyTorch computes are made when asked for."""

    def __init__(self, module: Any, known: Any) -> None:
        super().__init__(known)
        self._module = module

    def __missing__(self, node: Any) -> Any:
        if node.op == "get_attr":
            value: Any = operator.attrgetter(node.target)(self._module)
            self[node] = value
            return value
        value = node.meta.get("val")
        if value is not None and not isinstance(value, torch.Tensor | tuple | list):
            return value
        return self.compute(node)

    def compute(self, node: Any) -> Any:
        """The value of a node by PyTorch itself."""
        arguments = torch.fx.map_arg(node.args, self.__getitem__)
        options = torch.fx.map_arg(node.kwargs, self.__getitem__)
        target = node.target
        if target is torch.ops.aten.view.default:
            # What it is a view of may be in memory in another way than in PyTorch.
            target = torch.ops.aten.reshape.default
        self[node] = value = target(*arguments, **options)
        return value


def _is_symbolic(node: Any) -> bool:
    """Whether a size of an argument is only known when it is called."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return any(isinstance(size, torch.SymInt) for size in value.shape)
    return isinstance(value, torch.SymInt | torch.SymFloat)


def _kind(argument: Any) -> Any:
    """What of an argument a graph is compiled for."""
    if isinstance(argument, torch.Tensor):
        return argument.shape, argument.stride()
    return argument


def _with_sizes_of(arguments: Sequence[Any], module: Any) -> Any:
    """The graph, which says of each node what sizes it has for these arguments."""
    graph, copied = torch.fx.Graph(), dict[Any, Any]()
    graph.output(graph.graph_copy(module.graph, copied))
    copy = GraphModule(module, graph)
    for old, new in copied.items():
        new.meta = dict(old.meta)
    _Sizes(copy, FakeTensorMode()).propagate(*arguments)
    return copy


class _Sizes(FakeTensorProp):
    """Says anew what each node is: of tensors the sizes, of sizes the numbers."""

    def run_node(self, n: Any) -> Any:
        """The value of a node, which is also written down."""
        value = super().run_node(n)
        if isinstance(value, bool | int | float):
            n.meta["val"] = value
        return value

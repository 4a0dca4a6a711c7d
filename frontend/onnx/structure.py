"""Whether a model is one that can be walked: how much there is of it, how deep.

A file of a kilobyte can name a billion nodes by functions that call each other twice,
so that nodes are counted as they would be with all functions in the place of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...errors import GinghamError, SourceLocation
from ...limits import MOST_ARGUMENTS, MOST_GRAPHS, MOST_NODES
from ...suggestions import did_you_mean
from .model import described, domain_of, location_of

if TYPE_CHECKING:
    from onnx import (
        AttributeProto,
        FunctionProto,
        GraphProto,
        ModelProto,
        NodeProto,
        TensorProto,
    )


def graphs_of(proto: ModelProto) -> Iterator[GraphProto]:
    """The graph of a model, and all graphs in its nodes and functions."""
    yield proto.graph
    yield from _inner_graphs(proto.graph.node)
    for function in proto.functions:
        yield from _inner_graphs(function.node)


def graphs_in(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs that a node has as attributes."""
    for attribute in node.attribute:
        yield from _graphs(attribute)


def _inner_graphs(nodes: Iterable[NodeProto]) -> Iterator[GraphProto]:
    pending = [*nodes]
    while pending:
        for attribute in pending.pop().attribute:
            for graph in _graphs(attribute):
                yield graph
                pending += graph.node


def _graphs(attribute: AttributeProto) -> Iterable[GraphProto]:
    return (
        [attribute.g, *attribute.graphs]
        if attribute.HasField("g")
        else [*attribute.graphs]
    )


def tensors_of(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    """The tensors in the attributes of nodes, not those of graphs in them."""
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            sparse = (
                [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
            )
            for each in [*sparse, *attribute.sparse_tensors]:
                yield each.values
                yield each.indices


def check_structure(proto: ModelProto, file: str) -> None:
    """Raise GinghamError for a model that is too large, too deep, or calls in circles.

    So it is for operators that nobody knows, with their nodes.
    """
    _check_opsets(proto, file)
    named = [*proto.graph.input, *proto.graph.output, *proto.functions]
    for name in [each.name for each in named]:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise GinghamError(f"'{file}' has a name that is not UTF-8: {name!a}")
    if len(proto.graph.input) > MOST_ARGUMENTS or len(proto.graph.output) > (
        MOST_ARGUMENTS
    ):
        raise GinghamError(f"'{file}' has more than {MOST_ARGUMENTS} inputs or outputs")
    _check_depth(proto, file)
    known = {(domain_of(f.domain), f.name): f for f in proto.functions}
    _check_operators(proto, known, file)
    _check_calls(proto, known, file)


def _check_opsets(proto: ModelProto, file: str) -> None:
    from onnx import defs, helper

    if not proto.opset_import:
        raise GinghamError(f"'{file}' does not say which version its operators have")
    newest = defs.onnx_opset_version()
    for each in proto.opset_import:
        is_own = domain_of(each.domain) == ""
        if each.version < 1 or (is_own and each.version > newest):
            raise GinghamError(
                f"'{file}' has operators of version {each.version} of the domain "
                f"'{each.domain or 'ai.onnx'}'",
                hint=f"onnx here knows 1 to {newest}; a newer one may know more",
            )
    if proto.ir_version > helper.VERSION_TABLE[-1][1]:
        raise GinghamError(
            f"'{file}' has version {proto.ir_version} of the format, onnx here knows "
            f"up to {helper.VERSION_TABLE[-1][1]}"
        )


def _check_depth(proto: ModelProto, file: str) -> None:
    """Count nodes and the graphs inside each other."""
    pending = [(proto.graph.node, 1)]
    pending += [(function.node, 1) for function in proto.functions]
    count = 0
    while pending:
        nodes, depth = pending.pop()
        count += len(nodes)
        if count > MOST_NODES:
            raise GinghamError(f"'{file}' has more than {MOST_NODES} nodes")
        for number, node in enumerate(nodes):
            _check_texts(node, location_of(file, number))
            for attribute in node.attribute:
                for graph in _graphs(attribute):
                    if depth >= MOST_GRAPHS:
                        raise GinghamError(
                            f"{described(node)}: more than {MOST_GRAPHS} graphs are "
                            "inside each other",
                            location_of(file, number),
                        )
                    pending.append((graph.node, depth + 1))


def _check_texts(node: NodeProto, location: SourceLocation) -> None:
    """Raise GinghamError for names that are no text: protobuf has them as bytes."""
    names = [node.op_type, node.domain, node.name, *node.input, *node.output]
    names += [each.name for each in node.attribute]
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise GinghamError(
                f"a node has a name that is not UTF-8: {name!a}", location
            )


def _check_operators(
    proto: ModelProto, known: dict[tuple[str, str], FunctionProto], file: str
) -> None:
    """Raise GinghamError for a node of an operator that is none."""
    opsets = {domain_of(each.domain): each.version for each in proto.opset_import}
    for graph in graphs_of(proto):
        _check_nodes(graph.node, opsets, known, file)
    for function in proto.functions:
        own = {domain_of(each.domain): each.version for each in function.opset_import}
        _check_nodes(function.node, opsets | own, known, file)


def _check_nodes(
    nodes: Iterable[NodeProto],
    opsets: dict[str, int],
    known: dict[tuple[str, str], FunctionProto],
    file: str,
) -> None:
    from onnx import defs

    for number, node in enumerate(nodes):
        domain = domain_of(node.domain)
        if (domain, node.op_type) in known:
            continue
        if domain not in opsets:
            raise GinghamError(
                f"{described(node)} is of the domain '{node.domain}', whose version "
                "the model does not say",
                location_of(file, number),
            )
        if not defs.has(node.op_type, opsets[domain], domain):
            names = [s.name for s in defs.get_all_schemas() if s.domain == domain]
            where = f"of the domain '{domain}'" if domain else "of ONNX"
            raise GinghamError(
                f"{described(node)}: there is no operator '{node.op_type}' {where} in "
                f"version {opsets[domain]}",
                location_of(file, number),
                did_you_mean(node.op_type, names)
                or "operators of other domains are functions of the model, or unknown",
            )


def _check_calls(
    proto: ModelProto, known: dict[tuple[str, str], FunctionProto], file: str
) -> None:
    """Count nodes with functions in the place of calls, which must not be circles."""
    calls = _Calls(known, file)
    for key, function in known.items():
        calls.enter(key, f"function '{function.name}'")
    calls.count(proto.graph.node)


class _Calls:
    """How many nodes functions are, and how deep they call each other."""

    def __init__(self, known: dict[tuple[str, str], FunctionProto], file: str) -> None:
        self._known = known
        self._file = file
        self._measured: dict[tuple[str, str], tuple[int, int]] = {}
        self._running: list[tuple[str, str]] = []

    def count(self, nodes: Iterable[NodeProto]) -> tuple[int, int]:
        """The nodes with those of functions that they call, and the depth of calls."""
        count, depth = 0, 0
        for node in [*nodes, *(n for g in _inner_graphs(nodes) for n in g.node)]:
            key = (domain_of(node.domain), node.op_type)
            count += 1
            if key in self._known:
                inner, inner_depth = self.enter(key, described(node))
                count, depth = count + inner, max(depth, inner_depth)
            if count > MOST_NODES:
                raise GinghamError(
                    f"'{self._file}' has more than {MOST_NODES} nodes with functions "
                    f"in the place of their calls, such as {described(node)}"
                )
        return count, depth

    def enter(self, key: tuple[str, str], caller: str) -> tuple[int, int]:
        """As `count`, for a function that is called."""
        if key in self._running:
            raise GinghamError(f"{caller}: the function '{key[1]}' calls itself")
        known = self._measured.get(key)
        depth = len(self._running) + (1 if known is None else known[1])
        if depth > MOST_GRAPHS:
            raise GinghamError(
                f"{caller}: more than {MOST_GRAPHS} functions call each other"
            )
        if known is None:
            self._running.append(key)
            count, inner = self.count(self._known[key].node)
            self._running.pop()
            self._measured[key] = known = count, inner + 1
        return known

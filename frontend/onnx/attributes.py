"""The attributes of nodes, with those that functions pass on and the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from .model import described

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto
    from onnx.defs import OpSchema

Attributes = Mapping[str, "AttributeProto"]
"""Attributes by name, as a function has them for its nodes."""


def bound(node: NodeProto, given: Attributes | None) -> NodeProto:
    """The node with the attributes of its function in the place of references.

    `given` are those that the function was called with; None outside of functions.
    Graphs in the node are bound, too.
    """
    if given is None or not _has_references(node):
        return node
    from onnx import NodeProto

    copy = NodeProto()
    copy.CopyFrom(node)
    _bind(copy, given)
    return copy


def _has_references(node: NodeProto) -> bool:
    return any(
        attribute.ref_attr_name
        or any(
            _has_references(inner)
            for graph in (attribute.g, *attribute.graphs)
            for inner in graph.node
        )
        for attribute in node.attribute
    )


def _bind(node: NodeProto, given: Attributes) -> None:
    kept: list[AttributeProto] = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            source = given.get(attribute.ref_attr_name)
            if source is None:
                continue
            name = attribute.name
            attribute.CopyFrom(source)
            attribute.name = name
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                _bind(inner, given)
        kept.append(attribute)
    copies = [type(each).FromString(each.SerializeToString()) for each in kept]
    del node.attribute[:]
    node.attribute.extend(copies)


def with_defaults(node: NodeProto, schema: OpSchema) -> dict[str, AttributeProto]:
    """The attributes of a node, and those that its operator has by default."""
    found = {
        name: attribute.default_value
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }
    found.update({each.name: each for each in node.attribute})
    return found


def value_of(attribute: AttributeProto, node: NodeProto) -> Any:
    """What an attribute says: a number, text, a tensor, a graph, or a list of these."""
    from onnx import helper

    try:
        value = helper.get_attribute_value(attribute)
    except ValueError as error:
        raise GinghamError(f"{described(node)}: {error}") from None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if attribute.type == attribute.STRINGS:
        return [text.decode("utf-8", "replace") for text in value]
    return (
        list(value) if attribute.type in (attribute.INTS, attribute.FLOATS) else value
    )

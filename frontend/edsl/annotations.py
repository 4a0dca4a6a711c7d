"""Notes on the ops of a program that do not change what it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

from ...dialects.eltwise.table import FUNCTIONS
from .graph import Apply, LayerScope, current_layer, current_layer_scope
from .locations import assigned_name, error, here
from .operands import flattened, tensor_node
from .tensors import Tensor

_Result = TypeVar("_Result")


def pragma(
    x: Any, name: str, attributes: Mapping[str, bool | int | float | str] | None = None
) -> Tensor:
    """The same tensor, as an op with the attribute `tile.<name>`.

    The attribute says that it is there, or holds what `attributes` say.
    """
    if not name.isidentifier():
        raise error(f"expected an identifier as name of a pragma, got {name!r}")
    values = {key: _attribute(key, value) for key, value in (attributes or {}).items()}
    return _noted(x, name, DictionaryAttr(values) if values else UnitAttr())


def trace(x: Any, message: str) -> Tensor:
    """The same tensor, as an op that carries a message: `{tile.trace = "message"}`."""
    return _noted(x, "trace", StringAttr(message))


def _noted(x: Any, name: str, attribute: Attribute) -> Tensor:
    node = Apply(FUNCTIONS["ident"], [tensor_node(x)], assigned_name())
    node.attributes[f"tile.{name}"] = attribute
    return Tensor.of(node)


def _attribute(key: str, value: object) -> Attribute:
    match value:
        case bool():
            return IntegerAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, 64)
        case str():
            return StringAttr(value)
        case _:
            raise error(
                f"expected '{key}' to be a number, a truth value or text, got "
                f"{type(value).__name__}"
            )


def layer(
    name: str,
    operands: Sequence[Any],
    attributes: Mapping[str, bool | int | float | str] | None,
    function: Callable[..., _Result],
) -> _Result:
    """The function of the operands, its ops noted to belong to a layer of this name.

    The function uses no tensors but the operands, constants and what it makes. The ops
    get the attribute `tile.layer`, in a layer of a layer with both names,
    `"block/norm"`, and `tile.layer.<key>` for each of `attributes`.
    """
    outer = current_layer.get()
    enclosing = outer.get("tile.layer")
    if isinstance(enclosing, StringAttr):
        name = f"{enclosing.data}/{name}"
    notes = {**outer, "tile.layer": StringAttr(name)}
    for key, value in (attributes or {}).items():
        notes[f"tile.layer.{key}"] = _attribute(key, value)
    nodes = [each.node for each in flattened(operands) if isinstance(each, Tensor)]
    enclosing_scope = current_layer_scope.get()
    if enclosing_scope is not None:
        for node in nodes:
            enclosing_scope.check(node, here())
    token = current_layer.set(notes)
    scope_token = current_layer_scope.set(LayerScope(name, nodes))
    try:
        return function(*operands)
    finally:
        current_layer.reset(token)
        current_layer_scope.reset(scope_token)

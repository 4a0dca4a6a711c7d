"""The types of tensors that belong to no call of a traced function.

Such a type is that of a program of the tensor alone. Typing a program is what passes
do, so the layer above lends the function that does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from .emission import placeholders
from .graph import Input, Node
from .locations import error

Types: TypeAlias = Mapping[Node, TensorType[Attribute]]
"""The types of tensors that have been found out."""

TypeFinder: TypeAlias = Callable[
    [Sequence[Node], Sequence[TensorType[Attribute]], Node, Types],
    TensorType[Attribute],
]
"""The type of a tensor for inputs of these types, and for those of further tensors."""

_lent: list[TypeFinder] = []

_found: WeakKeyDictionary[Node, TensorType[Attribute]] = WeakKeyDictionary()
"""The types that were asked for. With them, that of a tensor which is computed of such
is a matter of the few operations between, and not of the whole program."""


def lend_type_finder(finder: TypeFinder) -> None:
    """Say how the type of a tensor is found."""
    _lent[:] = [finder]


def element_of(node: Node) -> Attribute:
    """The element type. Raises GinghamError where it is not known."""
    if node.known_element is not None and not node.is_weak:
        return node.known_element
    if node.trace is not None:
        return node.trace.element_of(node)
    return type_of(node).element_type


def sizes_of(node: Node) -> tuple[int | None, ...]:
    """The sizes, None for those that are not known while the program is made."""
    if node.trace is not None:
        node.trace.looked_at_sizes = True
        return node.trace.sizes_of(node)
    known = node.known_sizes
    if known is not None and None not in known:
        return known
    if not any(_type_of_input(each) is None for each in placeholders_of(node)):
        return type_of(node).get_shape()
    if known is None:
        raise error(f"the number of axes of {node.describe()} is not known here")
    return known


def type_of(node: Node) -> TensorType[Attribute]:
    """Element type and sizes of a tensor that belongs to no call.

    Raises GinghamError where a placeholder that it needs does not say its own.
    """
    if node in _found:
        return _found[node]
    inputs = placeholders([node], _found)
    types = [_type_of_input(each) for each in inputs]
    known = [type for type in types if type is not None]
    if len(known) < len(inputs) or not _lent:
        unknown = ", ".join(
            each.describe()
            for each, type in zip(inputs, types, strict=True)
            if type is None
        )
        raise error(
            f"the element type of {node.describe()} is not known here",
            f"it depends on {unknown}, of which not all is said; in a function of "
            "gingham.jit all element types are known",
        )
    type = _lent[0](inputs, known, node, _found)
    _found[node] = type
    return type


def note_type(node: Node, type: TensorType[Attribute]) -> None:
    """Say the type of a tensor, where whoever made it knows it."""
    _found[node] = type


def placeholders_of(node: Node) -> list[Node]:
    """The inputs that it needs."""
    return placeholders([node])


def _type_of_input(node: Node) -> TensorType[Attribute] | None:
    """The type of an input, if it says all of it."""
    if not isinstance(node, Input) or node.element is None or node.shape is None:
        return None
    sizes = [size for size in node.shape if size is not None]
    return TensorType(node.element, sizes) if len(sizes) == len(node.shape) else None

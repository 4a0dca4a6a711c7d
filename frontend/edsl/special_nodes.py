"""The nodes of special functions: a row of the table, applied to nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from ...dialects.tile.options import (
    Option,
    OptionValue,
    SpecialOptions,
    WrongElement,
    WrongOption,
)
from ...dialects.tile.special_shapes import Shape
from ...errors import GinghamError, SourceLocation
from ...suggestions import did_you_mean
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..special_table import SPECIAL_FUNCTIONS, Arguments, SpecialFunction
from .graph import Call, Node, Result
from .locations import assigned_name, error
from .operands import size_nodes, tensor_node


def special_call(function: str, operands: Sequence[Any], **options: Any) -> Node:
    """A special function of what can be used like tensors and sizes.

    Behind the tensors stand sizes, or options that Python may say without their names.
    Raises GinghamError for what the function does not take.
    """
    row = SPECIAL_FUNCTIONS[function]
    behind = list(operands[row.tensors :])
    given: dict[str, Any] = {}
    if row.sizes == 0:
        places = [o.name for o in row.options.options().values() if o.is_positional]
        given = dict(zip(places, behind, strict=False))
        behind = behind[len(given) :]
    _check_count(function, row, len(operands), len(behind))
    for name in given.keys() & options.keys():
        raise error(f"'{function}' has the {name} twice", "leave one of them out")
    tensors = [tensor_node(operand) for operand in operands[: row.tensors]]
    sizes = [] if row.sizes == 0 else size_nodes(behind)
    return special_node(function, tensors, sizes, given | options)


def special_node(
    function: str,
    tensors: Sequence[Node],
    sizes: Sequence[Node],
    options: Mapping[str, Any],
) -> Node:
    """A special function of these nodes. Raises GinghamError for what does not fit."""
    row = SPECIAL_FUNCTIONS[function]
    chosen = _chosen(function, row.options, options)

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        count = len(tensors)
        known = [value for value in values[count:] if isinstance(value, Size)]
        return row.build(Arguments(builder, values[:count], known, chosen, at))

    shapes = [None if n.known_sizes is None else _shape(n.known_sizes) for n in tensors]
    target = _shape([size.known_number for size in sizes])
    try:
        shape = row.shape(shapes, target, chosen)
    except ValueError as reason:
        raise error(f"'{function}': {reason}") from None
    return Call(
        build,
        [*tensors, *sizes],
        None if shape is None else len(shape),
        assigned_name(),
        sizes=None if shape is None else _known(shape),
        element=_element(row, tensors, chosen),
    )


def _element(
    row: SpecialFunction, tensors: Sequence[Node], chosen: SpecialOptions
) -> Attribute | None:
    """The element type of the result, where those of the tensors are known."""
    known = [node.known_element for node in tensors if not node.is_weak]
    elements = [element for element in known if element is not None]
    if row.element is None or len(elements) < len(tensors):
        return None
    try:
        return row.element(elements, chosen)
    except WrongElement:
        return None  # said at the place of the op, where it is specialized


def option_value(option: Option, given: object, what: str) -> OptionValue:
    """What a value means as an option; the error for what it can not be says `what`."""
    try:
        return option.value(given)
    except WrongOption as wrong:
        got = repr(given) if wrong.words else type(given).__name__
        raise error(f"expected {what} to be {wrong.expected}, got {got}") from None


def _chosen(
    function: str, kind: type[SpecialOptions], given: Mapping[str, Any]
) -> SpecialOptions:
    known = kind.options()
    for name in given:
        if name not in known:
            raise _no_option(function, name, list(known))
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        what = "the axis" if name == "axis" else name
        chosen[name] = option_value(known[name], value, what)
    return kind(**chosen)


def _no_option(function: str, name: str, known: Sequence[str]) -> GinghamError:
    if not known:
        return error(f"'{function}' has no options")
    return error(
        f"'{function}' has no option '{name}'",
        did_you_mean(name, known) or f"the options are {', '.join(known)}",
    )


def _check_count(function: str, row: SpecialFunction, count: int, behind: int) -> None:
    sizes = behind if row.sizes is None else row.sizes
    if count >= row.tensors and behind == sizes and behind >= row.least_sizes:
        return
    wanted = row.tensors + (row.least_sizes if row.sizes is None else row.sizes)
    raise error(f"'{function}' takes {wanted} operands, got {count}", row.use)


def _known(shape: Shape) -> list[int | None]:
    return [None if size == DYNAMIC_INDEX else size for size in shape]


def _shape(sizes: Sequence[int | None]) -> Shape:
    return tuple(DYNAMIC_INDEX if size is None else size for size in sizes)

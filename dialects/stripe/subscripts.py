"""Subscripts: the place that a load or a store chooses in a view, known or computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..eltwise.element_types import is_integer_type
from ..syntax import integer_array, integers, parse_defined_value
from .attributes import ViewType

Subscript: TypeAlias = SSAValue | int
"""A position along one axis: an integer value of the block, or a literal."""


def split_subscripts(
    subscripts: Sequence[Subscript] | None,
) -> tuple[list[SSAValue], DenseArrayBase | None]:
    """The values, and the literals with a mark where a value stands between them."""
    if not subscripts:
        return [], None
    values = [s for s in subscripts if isinstance(s, SSAValue)]
    literals = [s if isinstance(s, int) else DYNAMIC_INDEX for s in subscripts]
    return values, integer_array(literals)


def join_subscripts(
    values: Sequence[SSAValue], literals: DenseArrayBase
) -> tuple[Subscript, ...]:
    """What `split_subscripts` took apart."""
    remaining = iter(values)
    return tuple(
        next(remaining) if literal == DYNAMIC_INDEX else literal
        for literal in integers(literals)
    )


def access_type(view: Attribute, subscripts: Sequence[Subscript] | None) -> Attribute:
    """The type of what is loaded or stored when none is written.

    Raises VerifyException for a view of which that is not known.
    """
    if not isinstance(view, ViewType):
        raise VerifyException(f"expected a view, got {view}")
    if subscripts:
        return view.element_type
    value = view.value_type
    if value is None:
        raise VerifyException(
            f"expected a view of one element or one vector, got {view}"
        )
    return value


def parse_subscripts(parser: Parser) -> list[Subscript] | None:
    """Parse `[%i, 0]`, or nothing where there is no bracket."""

    def subscript() -> Subscript:
        literal = parser.parse_optional_integer(allow_boolean=False)
        return parse_defined_value(parser) if literal is None else literal

    return parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, subscript
    )


def print_subscripts(printer: Printer, subscripts: Sequence[Subscript] | None) -> None:
    """Print `[%i, 0]`, or nothing."""
    if subscripts is None:
        return

    def subscript(value: Subscript) -> None:
        if isinstance(value, int):
            printer.print_string(str(value))
        else:
            printer.print_ssa_value(value)

    with printer.in_square_brackets():
        printer.print_list(subscripts, subscript)


def verify_subscripts(
    view: Attribute, subscripts: Sequence[Subscript], value: Attribute, what: str
) -> None:
    """Check subscripts and the type of the value at their place."""
    if not isinstance(view, ViewType):
        raise VerifyException(f"expected a view, got {view}")
    if len(subscripts) != view.rank:
        raise VerifyException(
            f"expected {view.rank} subscript(s) for {view}, got {len(subscripts)}"
        )
    lanes = 1 if value == view.element_type else _lanes_of(value, view.element_type)
    if lanes is None:
        raise VerifyException(
            f"expected {what} of type {view.element_type}, or a vector of them, got "
            f"{value}"
        )
    if lanes > view.sizes[-1]:
        raise VerifyException(
            f"expected a vector of at most {view.sizes[-1]} lanes, got {lanes}"
        )
    places = [*view.sizes[:-1], view.sizes[-1] - lanes + 1]
    for axis, (subscript, count) in enumerate(zip(subscripts, places, strict=True)):
        _verify_subscript(axis, subscript, count)


def _lanes_of(value: Attribute, element: Attribute) -> int | None:
    """The length of a vector of elements; None for any other type."""
    if not isinstance(value, VectorType) or value.element_type != element:
        return None
    shape = value.get_shape()
    return shape[0] if len(shape) == 1 and shape[0] > 1 else None


def _verify_subscript(axis: int, subscript: Subscript, count: int) -> None:
    if isinstance(subscript, int):
        if not 0 <= subscript < count:
            raise VerifyException(
                f"expected subscript {axis} from 0 to below {count}, got {subscript}"
            )
    elif not is_integer_type(subscript.type):
        raise VerifyException(
            f"expected subscript {axis} to be an integer such as si32, got "
            f"{subscript.type}"
        )

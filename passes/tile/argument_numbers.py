"""The numbers of arguments that a program uses as sizes: `si32=3` in `arguments`."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

from ...dialects.eltwise.element_types import Kind, integer_limits, kind, name_of
from ..locations import error_at
from .argument_types import format_argument_type


def checked_number(
    op: Operation, name: str, type: TensorType[Attribute], number: int | None
) -> int:
    """The number of the argument `name`, whose type is bound to `type`.

    Raises GinghamError, at `op`, where there is none or it is none of that type.
    """
    element = type.element_type
    is_integer = kind(element) in (Kind.SIGNED, Kind.UNSIGNED)
    if type.get_num_dims() != 0 or not is_integer:
        raise error_at(
            op,
            f"{name} is used as a size, and has to be an integer, got "
            f"{format_argument_type(type)}",
            f"bind {name} to a number",
        )
    if number is None:
        raise error_at(
            op,
            f"{name} is used as a size, and has no value",
            f"bind {name} to a number, as in {name_of(element)}=3",
        )
    low, high = integer_limits(element)
    if not low <= number <= high:
        raise error_at(
            op, f"{number} does not fit the type {name_of(element)} of {name}"
        )
    return number

"""Types of arguments as text: `4x5xf32` is a matrix, `f32` a 0-D tensor."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import ELEMENT_TYPES, name_of
from ...errors import GinghamError


def parse_argument_type(text: str) -> TensorType[Attribute]:
    """The tensor type that `4x5xf32` describes: sizes of 0 or more, then the element.

    Raises GinghamError for a text of another form.
    """
    *sizes, element = text.strip().split("x")
    if element not in ELEMENT_TYPES or not all(
        size.isascii() and size.isdigit() for size in sizes
    ):
        raise GinghamError(
            f"expected a type such as 4x5xf32, got '{text}'",
            hint=f"element types are {', '.join(ELEMENT_TYPES)}",
        )
    return TensorType(ELEMENT_TYPES[element], [int(size) for size in sizes])


def format_shape(shape: tuple[int, ...]) -> str:
    """A shape as in a type, `4x5`; that of a 0-D tensor is `0-D`."""
    return "x".join(map(str, shape)) or "0-D"


def format_argument_type(type: TensorType[Attribute]) -> str:
    """A tensor type as `parse_argument_type` reads it."""
    return "x".join([*map(str, type.get_shape()), name_of(type.element_type)])

"""What `tile.gather` and `tile.scatter` share: indices, their bounds and axes."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..eltwise.element_types import Kind, kind
from ..eltwise.ops import ANY_ELEMENT
from .options import ExcludedOption, Objection
from .special_shapes import Shape


class OutOfBounds(StrEnum):
    """What an index beyond an axis means: the cell at the border, or none."""

    CLAMP = "clamp"
    ZERO = "zero"

    # What PlaidML calls them.
    GATHER_EDGE_PADDED_INPUT = "clamp"
    RETURN_ZERO = "zero"


@irdl_attr_definition
class OutOfBoundsAttr(EnumAttribute[OutOfBounds], SpacedOpaqueSyntaxAttribute):
    """`#tile<out_of_bounds zero>`."""

    name = "tile.out_of_bounds"


def verify_indices(element: Attribute, floats: bool = False) -> None:
    """Raise VerifyException for elements that are no indices.

    Floats are indices only of a gather that interpolates.
    """
    if element == ANY_ELEMENT:
        return
    if element == i1:
        raise VerifyException("expected integers as indices, got i1")
    if kind(element) is Kind.FLOAT and not floats:
        raise VerifyException(f"expected integers as indices, got {element}")


def check_axis_of_mode(axis: int, mode: StrEnum, without: StrEnum) -> None:
    """Raise ExcludedOption for an axis in the mode whose indices are coordinates."""
    if mode is without and axis:
        raise ExcludedOption(
            "axis",
            mode,
            "the last axis of the indices holds coordinates of the first axes",
        )


def check_cells(bounds: OutOfBounds, chosen: Shape, moved: Shape, name: str) -> None:
    """Raise Objection for an axis without cells, to which no index can be clamped.

    Takes the sizes that are chosen from, and those of what is moved.
    """
    if bounds is OutOfBounds.CLAMP and 0 in chosen and prod(moved):
        raise Objection(
            f"the indices choose from an axis of {name} that has no cells",
            "out_of_bounds=zero gives zeros for such indices",
        )

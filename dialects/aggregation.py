"""Aggregations: how values that meet on one cell become one value."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from .eltwise.element_types import Kind, bit_width, kind


class Aggregation(StrEnum):
    """The five aggregations; all but `assign` are associative and commutative."""

    ADD = "add"
    MUL = "mul"
    MAX = "max"
    MIN = "min"
    ASSIGN = "assign"

    @property
    def function(self) -> str | None:
        """The element-wise function that combines two values; None for `assign`."""
        return None if self is Aggregation.ASSIGN else self.value

    def identity(self, element: Attribute) -> int | float:
        """The value that changes nothing when aggregated; 0 for `assign`.

        `max` over floats has -inf, over integers the smallest value of the type.
        """
        if self in (Aggregation.ADD, Aggregation.ASSIGN):
            return 0
        if self is Aggregation.MUL:
            return 1
        return _extreme(element, lowest=self is Aggregation.MAX)


def _extreme(element: Attribute, lowest: bool) -> int | float:
    match kind(element):
        case Kind.FLOAT:
            return float("-inf") if lowest else float("inf")
        case Kind.BOOLEAN:
            return 0 if lowest else 1
        case Kind.UNSIGNED:
            return 0 if lowest else 2 ** bit_width(element) - 1
        case Kind.SIGNED:
            half = 2 ** (bit_width(element) - 1)
            return -half if lowest else half - 1


@irdl_attr_definition
class AggregationAttr(EnumAttribute[Aggregation], SpacedOpaqueSyntaxAttribute):
    """An aggregation as an attribute: `#tile<aggregation add>`."""

    name = "tile.aggregation"


class Combination(StrEnum):
    """How the operands of a contraction are combined at one point of index space."""

    NONE = "none"
    ADD = "add"
    MUL = "mul"
    EQ = "eq"
    COND = "cond"

    @property
    def function(self) -> str | None:
        """The element-wise function it applies; `cond` compares, then selects."""
        return {"add": "add", "mul": "mul", "eq": "cmp_eq"}.get(self.value)

    @property
    def arity(self) -> int:
        """The number of operands."""
        return {"none": 1, "cond": 3}.get(self.value, 2)


@irdl_attr_definition
class CombinationAttr(EnumAttribute[Combination], SpacedOpaqueSyntaxAttribute):
    """A combination as an attribute: `#tile<combination mul>`."""

    name = "tile.combination"

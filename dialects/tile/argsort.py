"""`tile.argsort`: where the elements stand that sorting puts in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..building import operation_definition
from ..eltwise.element_types import si32
from ..eltwise.ops import with_element
from .options import SpecialOptions
from .special_op import SpecialOp, verify_shape, verify_tensor
from .special_shapes import Shape, normalized_axis


class SortDirection(StrEnum):
    """The order in which `argsort` puts elements."""

    ASC = "ascending"
    DESC = "descending"


@dataclass(frozen=True)
class ArgsortOptions(SpecialOptions):
    """What a sort can be told. In IR the axis always stands, the order is a flag."""

    axis: int = -1
    order: SortDirection = SortDirection.ASC

    @classmethod
    def definitions(cls) -> dict[str, object]:
        """The axis, and a flag for descending order."""
        return {"axis": prop_def(IntegerAttr), "descending": opt_prop_def(UnitAttr)}

    def properties(self) -> dict[str, Attribute | None]:
        """The axis, and the flag where the order is descending."""
        is_descending = self.order is SortDirection.DESC
        return {
            "axis": IntegerAttr(self.axis, i64),
            "descending": UnitAttr() if is_descending else None,
        }

    @classmethod
    def of(cls, properties: Mapping[str, Attribute]) -> Self:
        """The options that `properties` gave."""
        order = SortDirection.DESC if "descending" in properties else SortDirection.ASC
        return cls(int(cls.options()["axis"].held(properties["axis"])), order)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%X axis 1 ascending : <type>`; the order has no default."""
        """Parse `axis 1 ascending`; nothing of it may be left out."""
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        words = [direction.value for direction in SortDirection]
        order = parser.parse_optional_keyword_in(words)
        if order is None:
            parser.raise_error("expected 'ascending' or 'descending'")
        return cls(axis, SortDirection(order))

    def print(self, printer: Printer) -> None:
        """Print tensor, axis and order; the type of the result follows from them."""
        """Print `axis 1 ascending`."""
        printer.print_string(f" axis {self.axis} {self.order.value}")

    def element(self, elements: Sequence[Attribute]) -> Attribute:
        """si32, for coordinates."""
        return si32

    def shape(self, shapes: Sequence[Shape], names: Sequence[str]) -> Shape | None:
        """That of the operand, which has to have the axis."""
        normalized_axis(self.axis, len(shapes[0]), names[0])
        return shapes[0]

    def specialized(self, shapes: Sequence[Shape], names: Sequence[str]) -> Self:
        """The same with the axis counted from 0."""
        return replace(self, axis=self.axis % len(shapes[0]))


@operation_definition
class ArgsortOp(SpecialOp):
    """Where the elements that sorting puts in order along an axis stand.

    ```mlir
    %P = tile.argsort %X axis 1 ascending : tensor<4x5xf32>
    ```

    The result has the operand's shape and elements of type si32: the coordinate along
    the axis of the least element (`descending`: the greatest), of the next, and so on.
    Equal elements keep their order (-0.0 equals 0.0) in both directions, and NaNs come
    last in both, in their order. A negative axis counts from the last and is 0 or more
    after specialization.
    """

    name = "tile.argsort"
    OPTIONS: ClassVar = ArgsortOptions
    tensor = operand_def()

    @property
    def options(self) -> ArgsortOptions:
        """Axis and order."""
        return ArgsortOptions.of(self.properties)

    @property
    def is_descending(self) -> bool:
        """Whether the greatest element comes first."""
        return self.options.order is SortDirection.DESC

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%X axis 1 ascending : <type>`; the order has no default."""
        tensor = parser.parse_unresolved_operand()
        options = ArgsortOptions.parse(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        operand = parser.resolve_operand(tensor, type)
        op = cls([operand], options, with_element(type, si32))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print tensor, axis and order; the type of the result follows from them."""
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor)
        self.options.print(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)

    def verify_(self) -> None:
        """Raise VerifyException unless the result is of si32 and the axis exists."""
        type = self.tensor.type
        verify_tensor("the operand", type)
        expected = with_element(type, si32)
        if self.result.type != expected:
            raise VerifyException(
                f"expected a result of type {expected}, got {self.result.type}"
            )
        verify_shape(lambda: self.options.result_type([type]))

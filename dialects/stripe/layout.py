"""The attribute of a buffer that says which order its axes are to have."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

_BECAUSE = "because"


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """The order of axes in memory: `#stripe.layout<[0, 2, 3, 1] because "...">`.

    The axis that is to be axis `n` comes at place `n`. `stripe-assign-layouts` decides,
    `stripe-permute-axes` applies it to all who use the buffer.
    """

    name = "stripe.layout"
    axes: ArrayAttr[IntAttr]
    because: StringAttr

    @staticmethod
    def of(order: Sequence[int], reason: str = "") -> LayoutAttr:
        """For the numbers of all axes, each once."""
        return LayoutAttr(ArrayAttr(map(IntAttr, order)), StringAttr(reason))

    @property
    def order(self) -> tuple[int, ...]:
        """The numbers of the axes."""
        return tuple(axis.data for axis in self.axes)

    @property
    def reason(self) -> str:
        """Why, for people; or nothing."""
        return self.because.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<[0, 2, 1] because "...">`; the reason may be left out."""
        with parser.in_angle_brackets():
            order = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
            is_explained = parser.parse_optional_keyword(_BECAUSE) is not None
            reason = parser.parse_str_literal() if is_explained else ""
        return ArrayAttr(map(IntAttr, order)), StringAttr(reason)

    def print_parameters(self, printer: Printer) -> None:
        """Print what `parse_parameters` reads."""
        with printer.in_angle_brackets():
            printer.print_string(f"[{', '.join(map(str, self.order))}]")
            if self.reason:
                printer.print_string(f" {_BECAUSE} ")
                printer.print_string_literal(self.reason)

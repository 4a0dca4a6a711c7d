"""Linear forms as attributes, shared by the `stripe` and `opencl` dialects."""

from __future__ import annotations

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..affine.form import LinearForm
from ..affine.polynomial import Polynomial
from .syntax import parse_polynomial


def parse_numbered_form(parser: AttrParser, rank: int) -> LinearForm:
    """Parse a form over `d0 ... d<rank-1>`."""

    def variable() -> Polynomial | None:
        name = parser.parse_optional_identifier()
        if name is None:
            return None
        if name[0] != "d" or not name[1:].isdigit() or int(name[1:]) >= rank:
            parser.raise_error(f"expected one of d0 ... d{rank - 1}, got {name}")
        return Polynomial.index(int(name[1:]))

    return parse_polynomial(parser, variable).form(rank)


def format_numbered_form(form: LinearForm) -> str:
    """The form as text over `d0 ... d<rank-1>`."""
    return form.format([f"d{number}" for number in range(form.rank)])


@irdl_attr_definition
class FormAttr(Data[LinearForm]):
    """A linear form over values numbered from 0: `#stripe.form<2 : d0 - 2 * d1 + 3>`.

    The number before the colon is the rank: how many values there are.
    """

    name = "stripe.form"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LinearForm:
        """Read `<2 : d0 - 2 * d1 + 3>`."""
        with parser.in_angle_brackets():
            rank = parser.parse_integer(allow_negative=False)
            parser.parse_punctuation(":")
            return parse_numbered_form(parser, rank)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<2 : d0 - 2 * d1 + 3>`, with the number of dimensions in front."""
        with printer.in_angle_brackets():
            printer.print_string(
                f"{self.data.rank} : {format_numbered_form(self.data)}"
            )

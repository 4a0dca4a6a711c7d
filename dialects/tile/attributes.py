"""Attributes of the `tile` dialect: index expressions and constraints."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ...affine.polynomial import Polynomial
from ..syntax import parse_polynomial


def _parse_numbered(parser: AttrParser) -> Polynomial:
    """Parse an expression over `d<i>` and `s<j>`."""

    def variable() -> Polynomial | None:
        name = parser.parse_optional_identifier()
        if name is None:
            return None
        if name[0] not in "ds" or not name[1:].isdigit():
            parser.raise_error(f"expected d<number> or s<number>, got {name}")
        number = int(name[1:])
        return Polynomial.index(number) if name[0] == "d" else Polynomial.symbol(number)

    return parse_polynomial(parser, variable)


def _format_numbered(polynomial: Polynomial) -> str:
    return polynomial.format(lambda i: f"d{i}", lambda s: f"s{s}")


@irdl_attr_definition
class PolynomialAttr(Data[Polynomial]):
    """An index expression over indices `d<i>` and symbols `s<j>`.

    Generic form: `#tile.polynomial<2 * d0 + d1 / s0 - 3>`. In the pretty form of
    `tile.contract` indices have their own names and symbols are SSA values.
    """

    name = "tile.polynomial"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Polynomial:
        """Read `<2 * d0 + d1 / s0 - 3>`."""
        with parser.in_angle_brackets():
            return _parse_numbered(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print indices as `d<i>` and symbols as `s<j>`."""
        with printer.in_angle_brackets():
            printer.print_string(_format_numbered(self.data))


@dataclass(frozen=True)
class Constraint:
    """The condition `0 <= expression`, and `expression < bound` when there is a bound.

    The bound has no index.
    """

    expression: Polynomial
    bound: Polynomial | None = None


@irdl_attr_definition
class ConstraintAttr(Data[Constraint]):
    """A constraint: `#tile.constraint<d0 - d1 < s0>`, or without a bound."""

    name = "tile.constraint"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Constraint:
        """Read `<d0 - d1 < s0>`, or an expression alone."""
        with parser.in_angle_brackets():
            expression = _parse_numbered(parser)
            if parser.parse_optional_punctuation("<") is None:
                return Constraint(expression)
            return Constraint(expression, _parse_numbered(parser))

    def print_parameter(self, printer: Printer) -> None:
        """Print the expression, and its bound if there is one."""
        with printer.in_angle_brackets():
            printer.print_string(_format_numbered(self.data.expression))
            if self.data.bound is not None:
                printer.print_string(f" < {_format_numbered(self.data.bound)}")

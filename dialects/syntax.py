"""Pieces of syntax that several dialects share: index expressions over SSA values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..affine.form import LinearForm
from ..affine.polynomial import NonLinearError, Polynomial

_MARK = "\0"


def mark(number: int) -> str:
    """A placeholder for the name of value `number`, for `print_with_values`."""
    return f"{_MARK}{number}{_MARK}"


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    """Arguments of a block with their types, `(%a: f32, %b: f32 loc(...))`.

    They are printed by `Printer.print_block_argument`.
    """

    def argument() -> Parser.Argument:
        parsed = parser.parse_argument()
        parsed.location = parser.parse_optional_location()
        return parsed

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)


def print_with_values(printer: Printer, text: str, values: Sequence[SSAValue]) -> None:
    """Print `text` with every `mark(n)` replaced by the SSA name of `values[n]`."""
    for position, part in enumerate(text.split(_MARK)):
        if position % 2:
            printer.print_ssa_value(values[int(part)])
        else:
            printer.print_string(part)


def print_form(printer: Printer, form: LinearForm, values: Sequence[SSAValue]) -> None:
    """Print a linear form over index values: `2 * %i - %k + 3`."""
    names = [mark(number) for number in range(form.rank)]
    print_with_values(printer, form.format(names), values)


def compact(
    forms: Sequence[LinearForm], values: Sequence[SSAValue], fixed: int = 0
) -> tuple[list[LinearForm], list[SSAValue]]:
    """The same forms over the values that occur, each once, in order of occurrence.

    The first `fixed` values stay where they are, whether they occur or not. Ops keep
    their forms compact, so that what is printed parses back to the same op.
    """
    first: dict[SSAValue, int] = {}
    for number, value in enumerate(values):
        first.setdefault(value, number)
    # Terms of one value are added before it is asked which values occur.
    merged = list(forms)
    if len(first) < len(values):
        places = {number: first[value] for number, value in enumerate(values)}
        merged = [form.remap(places, len(values)) for form in forms]
    kept = list(values[:fixed])
    positions = {number: number for number in range(fixed)}
    for form in merged:
        for number in form.support:
            if number not in positions:
                positions[number] = len(kept)
                kept.append(values[number])
    if kept == list(values) and all(form.rank == len(kept) for form in merged):
        return merged, kept
    return [form.remap(positions, len(kept)) for form in merged], kept


def integers(array: Attribute) -> tuple[int, ...]:
    """The numbers of an `array<i64: ...>` attribute."""
    if not isinstance(array, DenseArrayBase):
        raise VerifyException(f"expected an array of integers, got {array}")
    if not isinstance(array.elt_type, IntegerType):
        raise VerifyException(f"expected an array of integers, got {array}")
    return _unpacked(array.data.data, array.elt_type.width.data)


def integer_array(numbers: Iterable[int], bits: int = 64) -> DenseArrayBase:
    """The attribute `array<i64: ...>` of some numbers."""
    return _packed(tuple(numbers), bits)


@lru_cache(maxsize=4096)
def _packed(numbers: tuple[int, ...], bits: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(IntegerType(bits), numbers)


@lru_cache(maxsize=4096)
def _unpacked(data: bytes, bits: int) -> tuple[int, ...]:
    # Bytes remember their hash, attributes do not.
    return IntegerType(bits).unpack(data, 8 * len(data) // bits)


EnumType = TypeVar("EnumType", bound=StrEnum)


def parse_optional_enum(parser: AttrParser, enum: type[EnumType]) -> EnumType | None:
    """Parse one of the enum's values, or nothing where another word stands."""
    keyword = parser.parse_optional_keyword_in([member.value for member in enum])
    return None if keyword is None else enum(keyword)


def parse_defined_value(parser: Parser) -> SSAValue:
    """Parse a value whose type is not written: it must have been defined above."""
    operand = parser.parse_unresolved_operand()
    return defined_value(parser, operand)


def defined_value(parser: Parser, operand: UnresolvedOperand) -> SSAValue:
    """The value that a name stands for; an error where it was not defined above."""
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error(
            f"%{operand.operand_name} is not defined before its use", operand.span
        )
    return values[operand.index]


def parse_polynomial(
    parser: AttrParser, parse_variable: Callable[[], Polynomial | None]
) -> Polynomial:
    """Parse `2 * i + 1 / 2 * k - %P + 3`; `parse_variable` reads an index or symbol."""
    result = _parse_product(parser, parse_variable)
    while True:
        if parser.parse_optional_punctuation("+") is not None:
            result = result + _parse_product(parser, parse_variable)
        elif parser.parse_optional_punctuation("-") is not None:
            result = result - _parse_product(parser, parse_variable)
        else:
            return result


def _parse_product(
    parser: AttrParser, parse_variable: Callable[[], Polynomial | None]
) -> Polynomial:
    start = parser.pos
    result = _parse_primary(parser, parse_variable)
    while True:
        try:
            if parser.parse_optional_punctuation("*") is not None:
                result = result * _parse_primary(parser, parse_variable)
            elif parser.parse_optional_punctuation("/") is not None:
                result = result / _parse_primary(parser, parse_variable)
            else:
                return result
        except (NonLinearError, ZeroDivisionError) as error:
            parser.raise_error(str(error), start, parser.pos)


def _parse_primary(
    parser: AttrParser, parse_variable: Callable[[], Polynomial | None]
) -> Polynomial:
    if parser.parse_optional_punctuation("(") is not None:
        inner = parse_polynomial(parser, parse_variable)
        parser.parse_punctuation(")")
        return inner
    if parser.parse_optional_punctuation("-") is not None:
        return -_parse_primary(parser, parse_variable)
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if number is not None:
        return Polynomial.constant(number)
    variable = parse_variable()
    if variable is None:
        parser.raise_error("expected an index, a size, an integer or '('")
    return variable


class ValueForms:
    """Parses linear forms over SSA index values, and collects the values.

    `form(count)` widens a parsed form to all values seen; each value has the number of
    its first occurrence unless it was `declare`d before.
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._numbers: dict[tuple[str, int], int] = {}
        self.operands: list[UnresolvedOperand] = []

    def declare(self, operand: UnresolvedOperand) -> int:
        """The number of a value, given at its first occurrence."""
        key = (operand.operand_name, operand.index)
        if key not in self._numbers:
            self._numbers[key] = len(self.operands)
            self.operands.append(operand)
        return self._numbers[key]

    def parse(self) -> Polynomial:
        """Parse one expression; values are indices `d<number>`."""
        return parse_polynomial(self._parser, self._variable)

    def parse_list(self) -> list[Polynomial]:
        """Parse `[expression, ...]`."""
        return self._parser.parse_comma_separated_list(
            self._parser.Delimiter.SQUARE, self.parse
        )

    def resolve(self, first: int = 0) -> list[SSAValue]:
        """The values from number `first` on, of type index."""
        return [
            self._parser.resolve_operand(operand, IndexType())
            for operand in self.operands[first:]
        ]

    def forms(self, polynomials: Sequence[Polynomial]) -> list[LinearForm]:
        """The expressions as forms over all values seen so far."""
        return [polynomial.form(len(self.operands)) for polynomial in polynomials]

    def _variable(self) -> Polynomial | None:
        operand = self._parser.parse_optional_unresolved_operand()
        return None if operand is None else Polynomial.index(self.declare(operand))

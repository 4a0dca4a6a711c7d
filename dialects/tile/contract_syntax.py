"""The pretty form of `tile.contract`.

```
contract   = aggregation "over" "[" indices "]" operands "->" "[" results "]"
             ["where" conditions] ["default" value] ["no_defract"] attr-dict
             ":" function-type
indices    = name [":" range] {("," | "|") name [":" range]}
operands   = access [("+" | "*" | "==") access ["?" access]]
results    = expression ":" (integer | value) {"," ...}
condition  = "0" "<=" expression ["<" expression]
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ...affine.polynomial import Polynomial
from ..aggregation import Aggregation, Combination
from ..syntax import mark, parse_polynomial, print_with_values
from .attributes import Constraint

_SEPARATORS = {"+": Combination.ADD, "*": Combination.MUL, "==": Combination.EQ}


class ContractArguments(TypedDict):
    """What is read and printed of a contraction: the arguments that build it."""

    aggregation: Aggregation
    combination: Combination
    inputs: Sequence[SSAValue]
    indices: Sequence[str]
    output_access: Sequence[Polynomial]
    input_accesses: Sequence[Sequence[Polynomial]]
    result_type: TensorType
    sizes: Sequence[SSAValue]
    symbols: Sequence[SSAValue]
    constraints: Sequence[Constraint]
    default: SSAValue | None
    ranges: Sequence[int] | None
    output_rank: int | None
    no_defract: bool


class _Expressions:
    """Parses expressions over named indices and SSA sizes, and numbers the sizes."""

    def __init__(self, parser: Parser, indices: Sequence[str]) -> None:
        self.parser = parser
        self.indices = indices
        self.symbols: dict[tuple[str, int], int] = {}
        self.operands: list[UnresolvedOperand] = []

    def parse(self) -> Polynomial:
        return parse_polynomial(self.parser, self._variable)

    def parse_access(self) -> list[Polynomial]:
        return self.parser.parse_comma_separated_list(
            self.parser.Delimiter.SQUARE, self.parse
        )

    def _variable(self) -> Polynomial | None:
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is not None:
            key = (operand.operand_name, operand.index)
            if key not in self.symbols:
                self.symbols[key] = len(self.operands)
                self.operands.append(operand)
            return Polynomial.symbol(self.symbols[key])
        start = self.parser.pos
        name = self.parser.parse_optional_identifier()
        if name is None:
            return None
        if name not in self.indices:
            self.parser.raise_error(
                f"index '{name}' is not listed after 'over'", start, self.parser.pos
            )
        return Polynomial.index(self.indices.index(name))


def parse_contract(
    parser: Parser,
) -> tuple[ContractArguments, dict[str, Attribute]]:
    """Parse what follows `tile.contract`; with it the further attributes."""
    aggregation = parser.parse_str_enum(Aggregation)
    parser.parse_keyword("over")
    names, ranges, output_rank = _parse_indices(parser)
    expressions = _Expressions(parser, names)
    combination, operands, accesses = _parse_operands(parser, expressions)
    parser.parse_punctuation("->")
    output_access, sizes = _parse_results(parser, expressions)
    conditions = _parse_conditions(parser, expressions)
    default = None
    if parser.parse_optional_keyword("default") is not None:
        default = parser.parse_unresolved_operand()
    no_defract = parser.parse_optional_keyword("no_defract") is not None
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    function_type = parser.parse_function_type()
    values = [*operands, *([] if default is None else [default])]
    resolved = parser.resolve_operands(values, function_type.inputs.data, start)
    (result_type,) = function_type.outputs.data or (None,)
    if not isinstance(result_type, TensorType):
        parser.raise_error("expected one tensor as result type", start, parser.pos)
    arguments = ContractArguments(
        aggregation=aggregation,
        combination=combination,
        inputs=resolved[: len(operands)],
        indices=names,
        output_access=output_access,
        input_accesses=accesses,
        result_type=result_type,
        sizes=[parser.resolve_operand(size, IndexType()) for size in sizes],
        symbols=[parser.resolve_operand(s, IndexType()) for s in expressions.operands],
        constraints=conditions,
        default=None if default is None else resolved[-1],
        ranges=ranges,
        output_rank=output_rank,
        no_defract=no_defract,
    )
    return arguments, attributes


def _parse_indices(parser: Parser) -> tuple[list[str], list[int] | None, int]:
    names: list[str] = []
    ranges: list[int] = []
    output_rank: int | None = None
    parser.parse_punctuation("[")
    while parser.parse_optional_punctuation("]") is None:
        if parser.parse_optional_punctuation("|") is not None:
            output_rank = len(names)
            continue
        if names and output_rank != len(names):
            parser.parse_punctuation(",")
        names.append(parser.parse_identifier())
        if parser.parse_optional_punctuation(":") is not None:
            ranges.append(parser.parse_integer(allow_negative=False))
    is_flat = output_rank is not None or bool(ranges)
    if is_flat and len(ranges) != len(names):
        parser.raise_error("expected a range for every index or for none")
    return (
        names,
        ranges if is_flat else None,
        len(names) if output_rank is None else output_rank,
    )


def _parse_operands(
    parser: Parser, expressions: _Expressions
) -> tuple[Combination, list[UnresolvedOperand], list[list[Polynomial]]]:
    operands = [parser.parse_unresolved_operand()]
    accesses = [expressions.parse_access()]
    combination = Combination.NONE
    for separator, candidate in _SEPARATORS.items():
        if _parse_optional_separator(parser, separator):
            combination = candidate
            operands.append(parser.parse_unresolved_operand())
            accesses.append(expressions.parse_access())
            break
    if combination is Combination.EQ and parser.parse_optional_punctuation("?"):
        combination = Combination.COND
        operands.append(parser.parse_unresolved_operand())
        accesses.append(expressions.parse_access())
    return combination, operands, accesses


def _parse_optional_separator(parser: Parser, separator: str) -> bool:
    if separator == "==":
        if parser.parse_optional_punctuation("=") is None:
            return False
        parser.parse_punctuation("=")
        return True
    if separator == "+":
        return parser.parse_optional_punctuation("+") is not None
    return parser.parse_optional_punctuation("*") is not None


def _parse_results(
    parser: Parser, expressions: _Expressions
) -> tuple[list[Polynomial], list[UnresolvedOperand]]:
    sizes: list[UnresolvedOperand] = []

    def result() -> Polynomial:
        expression = expressions.parse()
        parser.parse_punctuation(":")
        if parser.parse_optional_integer(allow_negative=False) is None:
            sizes.append(parser.parse_unresolved_operand())
        return expression

    access = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, result)
    return access, sizes


def _parse_conditions(parser: Parser, expressions: _Expressions) -> list[Constraint]:
    def condition() -> Constraint:
        zero = parser.parse_integer(allow_negative=False)
        if zero != 0:
            parser.raise_error("expected '0 <= ...'")
        parser.parse_punctuation("<")
        parser.parse_punctuation("=")
        expression = expressions.parse()
        if parser.parse_optional_punctuation("<") is None:
            return Constraint(expression)
        return Constraint(expression, expressions.parse())

    if parser.parse_optional_keyword("where") is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, condition)


def print_contract(
    contract: ContractArguments, attributes: dict[str, Attribute], printer: Printer
) -> None:
    """Print what follows `tile.contract`."""
    names, symbols = contract["indices"], contract["symbols"]

    def print_expression(polynomial: Polynomial) -> None:
        text = polynomial.format(lambda index: names[index], mark)
        print_with_values(printer, text, symbols)

    def print_access(operand: SSAValue, access: Sequence[Polynomial]) -> None:
        printer.print_ssa_value(operand)
        with printer.in_square_brackets():
            printer.print_list(access, print_expression)

    aggregation = contract["aggregation"].value
    printer.print_string(f" {aggregation} over {_indices_text(contract)} ")
    for separator, operand, access in zip(
        ["", *_separators(contract["combination"])],
        contract["inputs"],
        contract["input_accesses"],
        strict=False,
    ):
        printer.print_string(separator)
        print_access(operand, access)
    printer.print_string(" -> ")
    sizes = iter(contract["sizes"])
    with printer.in_square_brackets():
        for number, size in enumerate(contract["result_type"].get_shape()):
            printer.print_string(", " if number else "")
            print_expression(contract["output_access"][number])
            printer.print_string(" : ")
            if size == DYNAMIC_INDEX:
                printer.print_ssa_value(next(sizes))
            else:
                printer.print_string(str(size))
    for number, condition in enumerate(contract["constraints"]):
        printer.print_string(", 0 <= " if number else " where 0 <= ")
        print_expression(condition.expression)
        if condition.bound is not None:
            printer.print_string(" < ")
            print_expression(condition.bound)
    _print_tail(contract, attributes, printer)


def _print_tail(
    contract: ContractArguments, attributes: dict[str, Attribute], printer: Printer
) -> None:
    values, default = list(contract["inputs"]), contract["default"]
    if default is not None:
        printer.print_string(" default ")
        printer.print_ssa_value(default)
        values.append(default)
    if contract["no_defract"]:
        printer.print_string(" no_defract")
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
    types = [value.type for value in values]
    printer.print_function_type(types, [contract["result_type"]])


def _separators(combination: Combination) -> list[str]:
    """What stands between the operands."""
    if combination is Combination.COND:
        return [" == ", " ? "]
    return [f" {text} " for text, each in _SEPARATORS.items() if each is combination]


def _indices_text(contract: ContractArguments) -> str:
    names, ranges = contract["indices"], contract["ranges"]
    if ranges is None:
        return f"[{', '.join(names)}]"
    ranged = [f"{name} : {n}" for name, n in zip(names, ranges, strict=True)]
    rank = contract["output_rank"]
    if rank == len(names):
        return f"[{', '.join(ranged)}]" if names else "[|]"
    before = ", ".join(ranged[:rank])
    return f"[{before}{' ' if before else ''}| {', '.join(ranged[rank:])}]"

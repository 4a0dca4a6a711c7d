"""The syntax tree of a Tile program, each node with its place in the source.

The parser (`parser.py`) builds it, `tile_text.py` turns it into `tile` IR. It is what
the text says and no more: names are not resolved, indices not known to be linear. A
name is stored without the `#` or `$` that lets it begin with the other case of letter.

Trees may be deep (`A + A + ...` leans left once for each operator), so code that walks
them must not recurse.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the source.

    `line` and `column` of its first character count from 1, `start` and `end`
    (exclusive) are offsets into the text and count from 0.
    """

    line: int
    column: int
    start: int
    end: int

    def to(self, last: Span) -> Span:
        """The stretch from the beginning of this one to the end of `last`."""
        return Span(self.line, self.column, self.start, last.end)


@dataclass(frozen=True, slots=True)
class Name:
    """A name where it is written: of a tensor, dimension, function or attribute."""

    text: str
    span: Span


# Expressions: element-wise ones, and the integer-valued ones of sizes and bounds. An
# index polynomial is an expression of integers, references, indices, `-`, `+ - * /`.


@dataclass(frozen=True, slots=True)
class IntegerLiteral:
    """`42`."""

    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class FloatLiteral:
    """`1.5` or `1e-3`."""

    value: float
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """A capitalised name used as a value: a tensor or a dimension."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """An index variable; occurs in index polynomials only."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`-operand` or `~operand`."""

    operator: str
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`; `operator_span` is where the operator stands.

    `2i` in an index polynomial is the product of `2` and `i`.
    """

    operator: str
    left: Expression
    right: Expression
    span: Span
    operator_span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Option:
    """`name=value` in a call; a word is a string. `value_span` is where that stands."""

    name: Name
    value: int | float | str
    value_span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments, options)`."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span
    options: tuple[Option, ...] = ()


Expression: TypeAlias = (
    IntegerLiteral
    | FloatLiteral
    | Reference
    | Index
    | Unary
    | Binary
    | Conditional
    | Call
)


# Contractions


class Aggregation(Enum):
    """How the values of one output cell become one, by its sign in the text."""

    SUM = "+"
    PRODUCT = "*"
    MAX = ">"
    MIN = "<"
    ASSIGN = "="


class Combination(Enum):
    """How the operands at one point become one value.

    `CONDITION` takes three operands: the third where the first two are equal, else 0.
    """

    NONE = ""
    ADD = "+"
    MULTIPLY = "*"
    EQUAL = "=="
    CONDITION = "?"


@dataclass(frozen=True, slots=True)
class TensorAccess:
    """`tensor[indices]`."""

    tensor: Name
    indices: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Constraint:
    """`polynomial < bound`, which also says `0 <= polynomial`."""

    polynomial: Expression
    bound: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Attribute:
    """`[[name(parameters)]]` before a statement."""

    name: Name
    parameters: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Contraction:
    """`output[.. : sizes] = aggregation(operands), constraints default D no_defract`.

    `sizes` is None when the text has no `:`. `combination` says how many operands there
    are: one, two, or three for `CONDITION`.
    """

    output: TensorAccess
    sizes: tuple[Expression, ...] | None
    aggregation: Aggregation
    combination: Combination
    operands: tuple[TensorAccess, ...]
    constraints: tuple[Constraint, ...]
    defaults: tuple[Name, ...]
    no_defract: bool
    span: Span
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target = value`, element-wise."""

    target: Name
    value: Expression
    span: Span
    attributes: tuple[Attribute, ...] = ()


Statement: TypeAlias = Contraction | Assignment


# Programs


@dataclass(frozen=True, slots=True)
class Input:
    """A parameter: `A` (any rank: `sizes` is None), `A[]` or `A[M, N]`."""

    name: Name
    sizes: tuple[Name, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Function:
    """`function (inputs) -> (outputs) { statements }`."""

    inputs: tuple[Input, ...]
    outputs: tuple[Name, ...]
    statements: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Fragment:
    """A form that stands alone: `polynomial P;`, `expression E;`, `contraction C;`.

    `keyword` says which; no module can be made of it.
    """

    keyword: str
    content: Expression | Contraction
    span: Span


SyntaxTree: TypeAlias = Function | Fragment


def children(expression: Expression) -> tuple[Expression, ...]:
    """The operands of an expression, from left to right."""
    match expression:
        case Unary():
            return (expression.operand,)
        case Binary():
            return (expression.left, expression.right)
        case Conditional():
            return (expression.condition, expression.then, expression.otherwise)
        case Call():
            return expression.arguments
        case _:
            return ()


def post_order(expression: Expression) -> list[Expression]:
    """All parts of an expression, operands before what they belong to, left first."""
    order: list[Expression] = []
    pending = [expression]
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(children(node))
    order.reverse()
    return order

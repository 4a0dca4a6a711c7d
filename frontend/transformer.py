"""From what lark parsed to the syntax tree: one method for each rule of `tile.lark`.

lark calls the methods while it parses, children first, so that no depth of nesting
needs a deep stack. Imports lark: only `parser.py` imports this module, when it first
parses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

import lark
from lark import Token, Transformer

from .syntax import (
    Aggregation,
    Assignment,
    Attribute,
    Binary,
    Call,
    Combination,
    Conditional,
    Constraint,
    Contraction,
    Expression,
    FloatLiteral,
    Fragment,
    Function,
    Index,
    Input,
    IntegerLiteral,
    Name,
    Option,
    Reference,
    Span,
    Statement,
    SyntaxTree,
    TensorAccess,
    Unary,
)

_Output: TypeAlias = tuple[TensorAccess, tuple[Expression, ...] | None]
_Operands: TypeAlias = tuple[Combination, tuple[TensorAccess, ...]]
_Arguments: TypeAlias = tuple[tuple[Expression, ...], tuple[Option, ...]]
_Suffixes: TypeAlias = tuple[Token | Name, ...]
_Class = TypeVar("_Class")


def _inline(builder: type[_Class]) -> type[_Class]:
    """Methods take symbols as arguments; lark's annotation would lose the class."""
    return cast(Any, lark).v_args(inline=True)(builder)


def span_of(token: Token) -> Span:
    """Where a token stands."""
    start, line, column = token.start_pos, token.line, token.column
    if start is None or line is None or column is None:
        raise ValueError(f"the token {token!r} has no position")
    return Span(line, column, start, start + len(token))


def _name(token: Token) -> Name:
    return Name(token.lstrip("#$"), span_of(token))


@_inline
class SyntaxBuilder(Transformer[Token, SyntaxTree]):
    """Builds the syntax tree; parameters are the kept symbols of the rule, in order."""

    # Programs

    def start(self, function: Function) -> Function:
        """A whole program is one function."""
        return function

    def fragment(self, keyword: Token, content: Expression | Contraction) -> Fragment:
        """A single expression or contraction, behind the word that asks for it."""
        return Fragment(str(keyword), content, span_of(keyword).to(content.span))

    def function(
        self,
        keyword: Token,
        inputs: tuple[Input, ...],
        arrow: Token,
        outputs: tuple[Name, ...],
        statements: tuple[Statement, ...],
        close: Token,
    ) -> Function:
        """`function (<inputs>) -> (<outputs>) { <statements> }`."""
        span = span_of(keyword).to(span_of(close))
        return Function(inputs, outputs, statements, span)

    def inputs(self, *inputs: Input) -> tuple[Input, ...]:
        """The inputs, separated by commas."""
        return inputs

    def input_of_any_rank(self, name: Token) -> Input:
        """`A`."""
        return Input(_name(name), None, span_of(name))

    def input_with_sizes(self, name: Token, *rest: Token) -> Input:
        """`A[N, M]`, or `A[]` of rank 0."""
        *sizes, close = rest
        span = span_of(name).to(span_of(close))
        return Input(_name(name), tuple(_name(size) for size in sizes), span)

    def outputs(self, *names: Token) -> tuple[Name, ...]:
        """The names of the outputs, separated by commas."""
        return tuple(_name(name) for name in names)

    # Statements

    def statements(self, *statements: Statement) -> tuple[Statement, ...]:
        """The statements of a function, each with its semicolon."""
        return statements

    def statement(
        self, attributes: tuple[Attribute, ...], statement: Statement
    ) -> Statement:
        """A statement behind its attributes, of which there may be none."""
        return replace(statement, attributes=attributes)

    def attributes(self, *attributes: Attribute) -> tuple[Attribute, ...]:
        """What stands in front of a statement."""
        return attributes

    def attribute(self, open: Token, name: Token, *rest: Token) -> Attribute:
        """`[[name(parameter, ...)]]`."""
        *parameters, close = rest
        span = span_of(open).to(span_of(close))
        return Attribute(_name(name), tuple(_name(p) for p in parameters), span)

    def assignment(self, target: Token, equals: Token, value: Expression) -> Assignment:
        """`B = <expression>;`."""
        return Assignment(_name(target), value, span_of(target).to(value.span))

    # Contractions

    def contraction(
        self,
        output: _Output,
        equals: Token,
        aggregation: Aggregation,
        operands: _Operands,
        close: Token,
        constraints: tuple[Constraint, ...],
        suffixes: _Suffixes,
    ) -> Contraction:
        """`C[i, j : M, N] = +(A[i, k] * B[k, j]), <constraints> <suffixes>;`.

        It ends with its last constraint or suffix, if there is one.
        """
        access, sizes = output
        combination, accesses = operands
        end = span_of(close)
        if constraints:
            end = constraints[-1].span
        if suffixes:
            last = suffixes[-1]
            end = last.span if isinstance(last, Name) else span_of(last)
        return Contraction(
            access,
            sizes,
            aggregation,
            combination,
            accesses,
            constraints,
            tuple(suffix for suffix in suffixes if isinstance(suffix, Name)),
            any(isinstance(suffix, Token) for suffix in suffixes),
            access.span.to(end),
        )

    def output(
        self,
        tensor: Token,
        indices: tuple[Expression, ...],
        sizes: tuple[Expression, ...],
        close: Token,
    ) -> _Output:
        """`C[i, j : M, N]`."""
        return self.access(tensor, indices, close), sizes

    def output_of_rank_zero(self, tensor: Token, close: Token) -> _Output:
        """`C[]`."""
        return self.access(tensor, (), close), ()

    def output_without_sizes(
        self, tensor: Token, indices: tuple[Expression, ...], close: Token
    ) -> _Output:
        """`C[i, j]`, whose sizes are those of a default tensor."""
        return self.access(tensor, indices, close), None

    def polynomials(self, *polynomials: Expression) -> tuple[Expression, ...]:
        """Index expressions, separated by commas."""
        return polynomials

    def no_polynomials(self) -> tuple[Expression, ...]:
        """Nothing where index expressions may stand."""
        return ()

    def aggregation(self, sign: Token) -> Aggregation:
        """One of `+`, `*`, `>`, `<` and `=`."""
        return Aggregation(str(sign))

    def combination(self, sign: Token) -> Combination:
        """One of `+`, `*` and `==`."""
        return Combination(str(sign))

    def operands(
        self,
        first: TensorAccess,
        combination: Combination = Combination.NONE,
        second: TensorAccess | None = None,
        question: Token | None = None,
        third: TensorAccess | None = None,
    ) -> _Operands:
        """One, two or three accesses, and what combines them."""
        accesses = tuple(a for a in (first, second, third) if a is not None)
        # As in PlaidML, three operands are a condition whatever joins the first two.
        return Combination.CONDITION if third else combination, accesses

    def access(
        self, tensor: Token, indices: tuple[Expression, ...], close: Token
    ) -> TensorAccess:
        """`A[i, k + 1]`."""
        return TensorAccess(_name(tensor), indices, span_of(tensor).to(span_of(close)))

    def constraints(self, *constraints: Constraint) -> tuple[Constraint, ...]:
        """The constraints, separated by commas."""
        return constraints

    def constraint(
        self, polynomial: Expression, less: Token, bound: Expression
    ) -> Constraint:
        """`i - k < N`."""
        return Constraint(polynomial, bound, polynomial.span.to(bound.span))

    def suffixes(self, *suffixes: Token | Name) -> _Suffixes:
        """What stands behind the constraints."""
        return suffixes

    def suffix(self, keyword: Token, tensor: Token | None = None) -> Token | Name:
        """`no_defract`, or `default D`, of which the tensor is kept."""
        return keyword if tensor is None else _name(tensor)

    # Expressions

    def integer(self, digits: Token) -> IntegerLiteral:
        """Decimal digits."""
        # Leading zeros count against the length of number that Python converts.
        return IntegerLiteral(int(digits.lstrip("0") or "0"), span_of(digits))

    def decimal(self, digits: Token) -> FloatLiteral:
        """A number with a point or an exponent."""
        return FloatLiteral(float(digits), span_of(digits))

    def reference(self, name: Token) -> Reference:
        """A name in an expression."""
        return Reference(_name(name).text, span_of(name))

    def index(self, name: Token) -> Index:
        """A name in an index expression."""
        return Index(_name(name).text, span_of(name))

    def juxtaposition(self, factor: Token, index: Token) -> Binary:
        """`2i`, the product of a number and an index."""
        left, right = self.integer(factor), self.index(index)
        return Binary("*", left, right, left.span.to(right.span), right.span)

    def unary(self, operator: Token, operand: Expression) -> Unary:
        """`-x` or `~x`."""
        span = span_of(operator).to(operand.span)
        return Unary(str(operator), operand, span)

    def binary(self, left: Expression, operator: Token, right: Expression) -> Binary:
        """`x + y`, and all others with an operator between operands."""
        span = left.span.to(right.span)
        return Binary(str(operator), left, right, span, span_of(operator))

    def conditional(
        self, condition: Expression, then: Expression, otherwise: Expression
    ) -> Conditional:
        """`c ? x : y`."""
        span = condition.span.to(otherwise.span)
        return Conditional(condition, then, otherwise, span)

    def expressions(self, *expressions: Expression) -> tuple[Expression, ...]:
        """Expressions, separated by commas."""
        return expressions

    def arguments(self, *arguments: Expression | Option) -> _Arguments:
        """Arguments of a call, and apart from them its options."""
        options = tuple(a for a in arguments if isinstance(a, Option))
        return tuple(a for a in arguments if not isinstance(a, Option)), options

    def call(self, function: Token, arguments: _Arguments, close: Token) -> Call:
        """`f(x, y, option=1)`."""
        positional, options = arguments
        span = span_of(function).to(span_of(close))
        return Call(_name(function), positional, span, options)

    def option(
        self, name: Token, equals: Token, value: tuple[int | float | str, Span]
    ) -> Option:
        """`option=1`."""
        return Option(_name(name), *value)

    def option_number(self, *tokens: Token) -> tuple[int | float, Span]:
        """A number with an optional sign, and its place."""
        *sign, digits = tokens
        integer = digits.type == "INT"
        number = (self.integer if integer else self.decimal)(digits).value
        return (-number if sign else number), span_of(tokens[0]).to(span_of(digits))

    def option_word(self, word: Token) -> tuple[str, Span]:
        """A word such as `linear`, and its place."""
        return _name(word).text, span_of(word)

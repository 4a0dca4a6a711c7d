"""Expressions of Tile text as values, sizes and index polynomials.

Three readings of the same syntax: an element-wise expression is computed, a size must
be an integer expression of dimensions, an index polynomial must be linear in the
indices. All walk the tree without recursion, so that no expression is too deep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from xdsl.ir import SSAValue

from ..affine.polynomial import NonLinearError, Polynomial
from ..dialects.eltwise.table import FUNCTIONS, OPERATORS
from ..errors import GinghamError
from .builder import ProgramBuilder
from .calls import apply_call, has_meaning_for_sizes
from .index_space import IndexSpace, Size, check_expression
from .scope import Scope
from .special_calls import SPECIAL_CALLS, TextFunction
from .syntax import (
    Binary,
    Call,
    Conditional,
    Expression,
    FloatLiteral,
    Index,
    IntegerLiteral,
    Reference,
    Unary,
    children,
    post_order,
)
from .tuples import AnyValue, Tuple

_Result = TypeVar("_Result")

_UNARY = {"-": FUNCTIONS["neg"], "~": FUNCTIONS["bit_not"]}
_CONDITIONAL = FUNCTIONS["cond"]


def _fold(
    expression: Expression,
    combine: Callable[[Expression, list[_Result]], _Result],
) -> _Result:
    """`combine` every part with the results of its operands, the whole at last."""
    results: list[_Result] = []
    for node in post_order(expression):
        start = len(results) - len(children(node))
        operands = results[start:]
        del results[start:]
        results.append(combine(node, operands))
    (result,) = results
    return result


class ExpressionBuilder:
    """Evaluates expressions in the scope of a statement."""

    def __init__(
        self,
        builder: ProgramBuilder,
        scope: Scope,
        special_calls: Mapping[str, TextFunction] = SPECIAL_CALLS,
    ) -> None:
        self.builder = builder
        self.scope = scope
        self._special_calls = special_calls

    # Element-wise expressions

    def value(self, expression: Expression) -> AnyValue:
        """The value of an element-wise expression, or a tuple."""
        return _fold(expression, self._combine_values)

    def _combine_values(
        self, node: Expression, operands: Sequence[AnyValue]
    ) -> AnyValue:
        source = self.scope.source
        match node:
            case IntegerLiteral():
                return Size(node.value)
            case FloatLiteral():
                return node.value
            case Reference():
                return self.scope.find(node.text, node.span)
            case Index():
                raise ValueError(f"the grammar allows no index at {node.span}")
            case Call():
                return apply_call(
                    self.builder, source, node, operands, self._special_calls
                )
            case Unary():
                function, span = _UNARY[node.operator], node.span
            case Binary():
                function, span = OPERATORS[node.operator], node.operator_span
            case Conditional():
                function, span = _CONDITIONAL, node.span
        values = [
            self.scope.no_tuple(operand, child.span)
            for operand, child in zip(operands, children(node), strict=True)
        ]
        return self.builder.apply(function, values, source.location(span))

    # Sizes

    def size(self, expression: Expression, what: str) -> Size:
        """The value of an integer expression of dimensions; `what` it is, in words.

        The error for anything else points at what is no size.
        """

        def combine(node: Expression, operands: list[AnyValue]) -> AnyValue:
            number = self._number(node)
            if number is not None:
                return number
            self._check_size(node, what)
            value = self._combine_values(node, operands)
            if isinstance(value, Tuple):
                return value
            size = self.builder.number(value, self.scope.source.location(node.span))
            if size is None:
                raise self._not_a_size(node, what, "this is a tensor")
            return size

        size = _fold(expression, combine)
        if isinstance(size, Size):
            return size
        why = "this is a tuple"
        if isinstance(expression, Reference):
            why = self._description(expression, size)
        raise self._not_a_size(expression, what, why)

    def _number(self, node: Expression) -> Size | None:
        """The size that an input without declared axes is here."""
        if not isinstance(node, Reference):
            return None
        value = self.scope.find(node.text, node.span)
        return self.builder.number(value, self.scope.source.location(node.span))

    def _check_size(self, node: Expression, what: str) -> None:
        match node:
            case FloatLiteral():
                raise self._not_a_size(node, what, "this is a float")
            case Reference():
                value = self.scope.find(node.text, node.span)
                if not isinstance(value, Size | Tuple):
                    raise self._not_a_size(node, what, self._description(node, value))
            case Call() if not has_meaning_for_sizes(
                node, self.scope.source, self._special_calls
            ):
                raise self._not_a_size(
                    node, what, f"'{node.function.text}' is no function of integers"
                )
            case Unary() if _UNARY[node.operator].fold is None:
                raise self._no_operator_of_sizes(node, what)
            case Binary() if OPERATORS[node.operator].fold is None:
                raise self._no_operator_of_sizes(node, what)
            case _:
                return

    def _no_operator_of_sizes(self, node: Unary | Binary, what: str) -> GinghamError:
        return self._not_a_size(node, what, f"sizes have no operator '{node.operator}'")

    def _not_a_size(self, node: Expression, what: str, why: str) -> GinghamError:
        return self.scope.source.error(
            f"expected {what} to be an integer expression of dimensions: {why}",
            node.span,
            self._dimensions_hint(),
        )

    def _dimensions_hint(self) -> str:
        names = ", ".join(self.builder.sizes)
        if not names:
            return "dimensions are named where an input is declared: A[M, N]"
        return f"the dimensions are {names}"

    @staticmethod
    def _description(node: Reference, value: AnyValue) -> str:
        if isinstance(value, Tuple):
            return f"'{node.text}' is {value.description}"
        kind = "a tensor" if isinstance(value, SSAValue) else "a float"
        return f"'{node.text}' is {kind}"

    # Index polynomials

    def polynomial(self, expression: Expression, space: IndexSpace) -> Polynomial:
        """An index expression over the indices and sizes of a contraction."""

        def combine(node: Expression, operands: list[Polynomial]) -> Polynomial:
            match node:
                case IntegerLiteral():
                    return Polynomial.constant(node.value)
                case Index():
                    location = self.scope.source.location(node.span)
                    return space.index(node.text, location)
                case Reference():
                    return self._size_in_polynomial(node, space)
                case Unary():
                    return -operands[0]
                case Binary():
                    return self._combine_polynomials(node, operands, space)
                case _:
                    raise ValueError(f"{node} does not occur in an index expression")

        return _fold(expression, combine)

    def _size_in_polynomial(self, node: Reference, space: IndexSpace) -> Polynomial:
        value = self._number(node) or self.scope.find(node.text, node.span)
        if isinstance(value, Size):
            return space.size(value)
        raise self.scope.source.error(
            f"expected indices, dimensions and integers in an index expression: "
            f"{self._description(node, value)}",
            node.span,
            self._dimensions_hint(),
        )

    def _combine_polynomials(
        self, node: Binary, operands: Sequence[Polynomial], space: IndexSpace
    ) -> Polynomial:
        left, right = operands
        source = self.scope.source
        try:
            match node.operator:
                case "+":
                    result = left + right
                case "-":
                    result = left - right
                case "*":
                    result = left * right
                case _:
                    result = left / self._divisor(right, node.right, space)
            return check_expression(result)
        except NonLinearError as error:
            raise source.error(
                f"an index expression must be linear in the indices: {error}",
                node.span,
                "multiply and divide indices by integers and dimensions only",
            ) from None
        except ZeroDivisionError:
            raise source.error("division by zero", node.span) from None
        except OverflowError as error:
            raise source.error(str(error), node.span) from None

    def _divisor(
        self, divisor: Polynomial, expression: Expression, space: IndexSpace
    ) -> Polynomial:
        """A divisor such as `N + 1` as one size, which an index can be divided by."""
        if len(divisor.terms) <= 1 or divisor.indices:
            return divisor
        for node in post_order(expression):
            # In an index expression a quotient is exact, as a size it is truncated.
            if isinstance(node, Binary) and node.operator == "/":
                raise self.scope.source.error(
                    "cannot divide an index by a sum of quotients",
                    expression.span,
                    "give the divisor a name in a statement above, where integer "
                    "division truncates",
                )
        return space.size(self.size(expression, "the divisor"))

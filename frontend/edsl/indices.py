"""`TensorIndex`, index expressions, and the constraints on them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn

from ...affine.polynomial import NonLinearError, Polynomial
from ...errors import GinghamError
from ..index_space import check_expression
from .dims import Dimension, is_integer, is_size, size_node
from .graph import Apply, Literal, Node
from .locations import assigned_name, error, names_of_several

_LONGEST_SUM = 32
"""Terms of a size that is taken apart in an index expression; longer ones are kept."""

_numbers = itertools.count()


class IndexExpression:
    """A linear expression of indices, whose coefficients may contain sizes.

    `i / 2` is exact: the points at which it is no integer take no part. `i // 2` is
    the same, as programs for PlaidML have it.
    """

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class.

    def __init__(
        self, polynomial: Polynomial, atoms: Sequence[TensorIndex | Node]
    ) -> None:
        self._polynomial = polynomial
        self._atoms = tuple(dict.fromkeys(atoms))

    @property
    def polynomial(self) -> Polynomial:
        """Over indices by their `number` and sizes by the serial of their node."""
        return self._polynomial

    @property
    def atoms(self) -> tuple[TensorIndex | Node, ...]:
        """The indices and the nodes of sizes, in the order in which they occur."""
        return self._atoms

    def __add__(self, other: Any) -> IndexExpression:
        return _combine(operator.add, self, other)

    def __radd__(self, other: Any) -> IndexExpression:
        return _combine(operator.add, other, self)

    def __sub__(self, other: Any) -> IndexExpression:
        return _combine(operator.sub, self, other)

    def __rsub__(self, other: Any) -> IndexExpression:
        return _combine(operator.sub, other, self)

    def __mul__(self, other: Any) -> IndexExpression:
        return _combine(operator.mul, self, other)

    def __rmul__(self, other: Any) -> IndexExpression:
        return _combine(operator.mul, other, self)

    def __truediv__(self, other: Any) -> IndexExpression:
        return _combine(_quotient, self, _divisor(other))

    def __rtruediv__(self, other: Any) -> IndexExpression:
        return _combine(_quotient, other, self)

    # What PlaidML has for exact division: an index is never rounded.
    __floordiv__ = __truediv__
    __rfloordiv__ = __rtruediv__

    def __mod__(self, other: Any) -> NoReturn:
        raise error(
            "an index expression is linear: there is no '%' of indices",
            "write 2 * j + r for the index, with add_constraint(r < 2)",
        )

    def __neg__(self) -> IndexExpression:
        return IndexExpression(-self._polynomial, self._atoms)

    def __pos__(self) -> IndexExpression:
        return self

    def __lt__(self, other: Any) -> Constraint:
        return _constraint(self, other)

    def __le__(self, other: Any) -> Constraint:
        return _constraint(self, other + 1 if is_index(other) else other)

    def __gt__(self, other: Any) -> NoReturn:
        raise _lower_bound()

    def __ge__(self, other: Any) -> NoReturn:
        raise _lower_bound()

    def __bool__(self) -> NoReturn:
        raise error("an index has no truth value: it takes all values at once")

    def __iter__(self) -> Iterator[NoReturn]:
        raise error("an index expression cannot be iterated over")

    def __index__(self) -> NoReturn:
        raise error("an index has no number: it takes all values at once")


class TensorIndex(IndexExpression):
    """An integer that takes all values for which every access is within its tensor."""

    def __init__(self, name: str | None = None) -> None:
        self.name = assigned_name() if name is None else name
        """What the program calls it; None if it does not."""
        self.number = next(_numbers)
        """Different from that of any other index."""
        super().__init__(Polynomial.index(self.number), [self])

    @staticmethod
    def make(name: str | None) -> TensorIndex:
        """The index of this name, or of none."""
        index = TensorIndex(name or "")
        index.name = name
        return index

    def __repr__(self) -> str:
        return f"TensorIndex({self.name!r})"


def TensorIndexes(names: int | str) -> list[TensorIndex]:
    """Several indices: as many as said, or one for each name of `"i j k"`.

    Those that are counted are called as the variables that they are assigned to.
    """
    return [TensorIndex.make(name) for name in names_of_several(names)]


@dataclass(frozen=True)
class Constraint:
    """The condition `0 <= expression < bound` on the points of a contraction."""

    expression: IndexExpression
    bound: Node

    def __bool__(self) -> NoReturn:
        raise error(
            "a constraint has no truth value",
            "give it to add_constraint; 0 <= is implied, so write j < 2 and not "
            "0 <= j < 2",
        )


def is_index(value: object) -> bool:
    """Whether it can be used as an index."""
    return isinstance(value, IndexExpression) or is_size(value)


def index_expression(value: Any) -> IndexExpression:
    """An index, a size or an integer as an index expression."""
    if isinstance(value, IndexExpression):
        return value
    if isinstance(value, Dimension):
        return _of_size(value.node)
    if isinstance(value, bool) or not is_integer(value):
        raise error(
            f"expected an index, a TensorDim or an integer as index, got "
            f"{type(value).__name__}",
            _hint(value),
        )
    return _constant(operator.index(value))


def _hint(value: object) -> str | None:
    if isinstance(value, slice):
        return "an index takes all values: I[i, j] is the whole of I"
    if isinstance(value, float):
        return "divide for fractions, which are exact: i / 2"
    return None


def _constant(number: int) -> IndexExpression:
    return IndexExpression(Polynomial.constant(number), [])


def _symbol(size: Node) -> IndexExpression:
    return IndexExpression(Polynomial.symbol(size.serial), [size])


_LINEAR: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
}


def _of_size(size: Node) -> IndexExpression:
    """A size as an index expression: sums are taken apart, unless they have a name."""
    forms: dict[Node, IndexExpression] = {}
    pending = [size]
    while pending:
        node = pending[-1]
        parts = node.operands if _is_taken_apart(node) else ()
        missing = [part for part in parts if part not in forms]
        if missing:
            pending += missing
            continue
        pending.pop()
        forms[node] = _form(node, [forms[part] for part in parts])
    return forms[size]


def _is_taken_apart(node: Node) -> bool:
    return (
        isinstance(node, Apply) and node.function.name in _LINEAR and node.name is None
    )


def _form(node: Node, parts: Sequence[IndexExpression]) -> IndexExpression:
    if isinstance(node, Literal):
        return _constant(int(node.number))
    if not (parts and isinstance(node, Apply)):
        return _symbol(node)
    terms = [max(len(part.polynomial.terms), 1) for part in parts]
    if prod(terms) > _LONGEST_SUM or sum(terms) > _LONGEST_SUM:
        return _symbol(node)
    polynomial = _LINEAR[node.function.name](*(part.polynomial for part in parts))
    return IndexExpression(polynomial, [atom for part in parts for atom in part.atoms])


def _divisor(value: Any) -> Any:
    """A divisor such as `N + 1` as one size, by which an index can be divided."""
    if not isinstance(value, Dimension):
        return value
    expression = _of_size(value.node)
    if len(expression.polynomial.terms) < 2:
        return expression
    whole = _symbol(value.node)
    return IndexExpression(whole.polynomial, [*expression.atoms, *whole.atoms])


def _quotient(left: Polynomial, right: Polynomial) -> Polynomial:
    return left / right


def _combine(function: Callable[..., Any], left: Any, right: Any) -> Any:
    if not (is_index(left) and is_index(right)):
        return NotImplemented
    left, right = index_expression(left), index_expression(right)
    try:
        polynomial = check_expression(function(left.polynomial, right.polynomial))
    except NonLinearError as reason:
        raise error(
            f"an index expression must be linear in the indices: {reason}",
            "multiply and divide indices by integers and dimensions only",
        ) from None
    except ZeroDivisionError:
        raise error("division of an index by zero") from None
    except OverflowError as reason:
        raise error(str(reason)) from None
    return IndexExpression(polynomial, [*left.atoms, *right.atoms])


def _constraint(expression: IndexExpression, bound: Any) -> Constraint:
    if isinstance(bound, IndexExpression):
        raise error(
            "the bound of a constraint has no index",
            "gather the indices on the left: i - k < N says 0 <= i - k < N",
        )
    return Constraint(expression, size_node(bound, "the bound"))


def _lower_bound() -> GinghamError:
    return error(
        "a constraint has an upper bound: index expression < size",
        "0 <= is implied; for k <= i write i - k < N with an N that is never reached",
    )

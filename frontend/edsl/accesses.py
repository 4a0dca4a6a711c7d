"""`A[i, k]`: accesses, what combines them, and what aggregates the combination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from ...dialects.aggregation import Aggregation, Combination
from ...errors import GinghamError, SourceLocation
from .contraction import Subscripted
from .graph import Node
from .indices import IndexExpression
from .locations import error, here

_ONE_LEVEL = (
    "a contraction combines one, two or (with cond) three accesses; compute anything "
    "else on whole tensors, before or after it"
)


class Subscriptable(Protocol):
    """A tensor that indices can be put behind."""

    @property
    def node(self) -> Node:
        """Its node. Raises GinghamError for an output without a contraction."""
        ...

    def write(self, indices: Sequence[IndexExpression], value: Aggregated) -> None:
        """Make a contraction its value."""
        ...


class Combined:
    """What the points of a contraction contribute, before it is aggregated."""

    __array_ufunc__ = None  # NumPy's arrays leave arithmetic to this class.

    def __init__(
        self, combination: Combination, accesses: Sequence[IndexedTensor]
    ) -> None:
        self._combination = combination
        self._accesses = tuple(accesses)

    @property
    def combination(self) -> Combination:
        """How the accesses are combined."""
        return self._combination

    @property
    def accesses(self) -> tuple[IndexedTensor, ...]:
        """What is combined."""
        return self._accesses

    def __add__(self, other: Any) -> Combined:
        return combine(Combination.ADD, self, other)

    def __radd__(self, other: Any) -> Combined:
        return combine(Combination.ADD, other, self)

    def __mul__(self, other: Any) -> Combined:
        return combine(Combination.MUL, self, other)

    def __rmul__(self, other: Any) -> Combined:
        return combine(Combination.MUL, other, self)

    def __eq__(self, other: object) -> Any:
        return combine(Combination.EQ, self, other)

    __hash__ = object.__hash__

    def _refuse(self, *others: Any) -> NoReturn:
        raise error("accesses combine by '*', '+', '==' or cond(a, b, c)", _ONE_LEVEL)

    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _refuse
    __matmul__ = __rmatmul__ = __lt__ = __gt__ = __ne__ = _refuse

    def __ge__(self, other: Any) -> Written:
        raise _no_output(self)

    def __le__(self, other: Any) -> Written:
        raise _no_output(self)

    def __bool__(self) -> NoReturn:
        raise error(
            "an access has no truth value: it stands for all points of a contraction"
        )

    def __iter__(self) -> Iterator[NoReturn]:
        raise error("an access cannot be iterated over")


class IndexedTensor(Combined):
    """A tensor with an index expression for each axis: `A[i, 2 * k + 1]`."""

    def __init__(
        self, tensor: Subscriptable, indices: Sequence[IndexExpression]
    ) -> None:
        super().__init__(Combination.NONE, [self])
        self.tensor = tensor
        self.indices = tuple(indices)
        self.location: SourceLocation = here()

    def subscripted(self) -> Subscripted:
        """The access as an operand; its tensor must have a value."""
        return Subscripted(self.tensor.node, self.indices, self.location)

    # Statements that need no assignment. `+=` and `*=` end in `Tensor.__setitem__`.

    def __ge__(self, other: Any) -> Written:
        return self.max(other)

    def __le__(self, other: Any) -> Written:
        return self.min(other)

    def sum(self, other: Any) -> Written:
        """Write the sum of all points of a cell here: the same as `+=`."""
        return self._write(Aggregation.ADD, other)

    def product(self, other: Any) -> Written:
        """Write the product of all points of a cell here: the same as `*=`."""
        return self._write(Aggregation.MUL, other)

    def max(self, other: Any) -> Written:
        """Write the largest of all points of a cell here: the same as `>=`."""
        return self._write(Aggregation.MAX, other)

    def min(self, other: Any) -> Written:
        """Write the smallest of all points of a cell here: the same as `<=`."""
        return self._write(Aggregation.MIN, other)

    def assign(self, other: Any) -> Written:
        """Write the only point of a cell here: the same as `=`."""
        return self._write(Aggregation.ASSIGN, other)

    def _write(self, aggregation: Aggregation, value: Any) -> Written:
        self.tensor.write(self.indices, Aggregated(aggregation, combined(value)))
        return Written()

    def __iadd__(self, other: Any) -> Aggregated:
        return Aggregated(Aggregation.ADD, combined(other))

    def __imul__(self, other: Any) -> Aggregated:
        return Aggregated(Aggregation.MUL, combined(other))

    def _no_aggregation(self, other: Any) -> NoReturn:
        raise error(
            "there is no such aggregation",
            "the aggregations are '+=', '*=', '>=' (max), '<=' (min) and '='",
        )

    __isub__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _no_aggregation
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _no_aggregation


@dataclass(frozen=True)
class Aggregated:
    """The right side of a contraction with its aggregation: `max(I[i, j])`."""

    aggregation: Aggregation
    value: Combined


class Written:
    """What `O[i] >= I[i, j]` gives: nothing to compute with, the statement is done."""

    def __bool__(self) -> NoReturn:
        raise error(
            "'>=' and '<=' on an access write a contraction, they do not compare",
            "let the statement stand alone; compare whole tensors: A >= B",
        )


def combined(value: Any) -> Combined:
    """The right side of a contraction."""
    if isinstance(value, Combined):
        return value
    if isinstance(value, Aggregated):
        raise error("a contraction has one aggregation, and not two")
    if callable(getattr(value, "bind_dims", None)):
        raise error(
            "expected an access such as A[i, j], got a whole tensor",
            "say which element each point takes: A[()] is the only one of a 0-D tensor",
        )
    raise error(
        f"expected an access such as A[i, j], got {type(value).__name__}", _ONE_LEVEL
    )


def combine(combination: Combination, *operands: Any) -> Combined:
    """The combination of accesses."""
    accesses: list[IndexedTensor] = []
    for operand in operands:
        value = combined(operand)
        if not isinstance(value, IndexedTensor):
            raise error("too many accesses in one contraction", _ONE_LEVEL)
        accesses.append(value)
    return Combined(combination, accesses)


def _no_output(value: Combined) -> GinghamError:
    return error(
        "the left side of '>=' or '<=' is not an access of an output",
        "write O[i] >= I[i, j] with an O that TensorOutput made",
    )

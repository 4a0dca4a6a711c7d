"""The operators of tensors, those of NumPy's arrays with the meaning of Tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, NoReturn, TypeVar

from .locations import error

_Result = TypeVar("_Result")


class SizeArithmetic(Generic[_Result]):
    """The operators that sizes have, and tensors too."""

    __array_ufunc__ = None  # NumPy's arrays leave arithmetic to this class.

    def _apply(self, function: str, *operands: Any) -> _Result:
        """A function of the element-wise table."""
        raise NotImplementedError

    def __add__(self, other: Any) -> _Result:
        return self._apply("add", self, other)

    def __radd__(self, other: Any) -> _Result:
        return self._apply("add", other, self)

    def __sub__(self, other: Any) -> _Result:
        return self._apply("sub", self, other)

    def __rsub__(self, other: Any) -> _Result:
        return self._apply("sub", other, self)

    def __mul__(self, other: Any) -> _Result:
        return self._apply("mul", self, other)

    def __rmul__(self, other: Any) -> _Result:
        return self._apply("mul", other, self)

    def __truediv__(self, other: Any) -> _Result:
        return self._apply("div", self, other)

    def __rtruediv__(self, other: Any) -> _Result:
        return self._apply("div", other, self)

    def __mod__(self, other: Any) -> _Result:
        return self._apply("mod", self, other)

    def __rmod__(self, other: Any) -> _Result:
        return self._apply("mod", other, self)

    def __neg__(self) -> _Result:
        return self._apply("neg", self)

    def __abs__(self) -> _Result:
        return self._apply("abs", self)

    def __lt__(self, other: Any) -> _Result:
        return self._apply("cmp_lt", self, other)

    def __le__(self, other: Any) -> _Result:
        return self._apply("cmp_le", self, other)

    def __gt__(self, other: Any) -> _Result:
        return self._apply("cmp_gt", self, other)

    def __ge__(self, other: Any) -> _Result:
        return self._apply("cmp_ge", self, other)


class Arithmetic(SizeArithmetic[_Result]):
    """Operators on all elements, which broadcast."""

    def __pow__(self, other: Any) -> _Result:
        return self._apply("pow", self, other)

    def __rpow__(self, other: Any) -> _Result:
        return self._apply("pow", other, self)

    def __lshift__(self, other: Any) -> _Result:
        return self._apply("bit_left", self, other)

    def __rlshift__(self, other: Any) -> _Result:
        return self._apply("bit_left", other, self)

    def __rshift__(self, other: Any) -> _Result:
        return self._apply("bit_right", self, other)

    def __rrshift__(self, other: Any) -> _Result:
        return self._apply("bit_right", other, self)

    def __and__(self, other: Any) -> _Result:
        return self._apply("bit_and", self, other)

    def __rand__(self, other: Any) -> _Result:
        return self._apply("bit_and", other, self)

    def __or__(self, other: Any) -> _Result:
        return self._apply("bit_or", self, other)

    def __ror__(self, other: Any) -> _Result:
        return self._apply("bit_or", other, self)

    def __xor__(self, other: Any) -> _Result:
        return self._apply("bit_xor", self, other)

    def __rxor__(self, other: Any) -> _Result:
        return self._apply("bit_xor", other, self)

    def __pos__(self) -> _Result:
        return self._apply("ident", self)

    def __invert__(self) -> _Result:
        return self._apply("bit_not", self)

    def __round__(self) -> _Result:
        return self._apply("round", self)

    def __floor__(self) -> _Result:
        return self._apply("floor", self)

    def __ceil__(self) -> _Result:
        return self._apply("ceil", self)


class Operators(Arithmetic[_Result]):
    """Operators on all elements of tensors, sizes and numbers, which broadcast."""

    def __eq__(self, other: object) -> Any:
        return self._apply("cmp_eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self._apply("cmp_ne", self, other)

    __hash__ = object.__hash__

    # What tensors cannot do, and what to write instead.

    def __floordiv__(self, other: Any) -> NoReturn:
        raise error(
            "tensors have no operator '//'",
            "'/' of integers truncates toward zero; of floats, write floor(a / b)",
        )

    __rfloordiv__ = __floordiv__

    def __bool__(self) -> NoReturn:
        raise error(
            "a tensor has no truth value: its elements are known when the program runs",
            "for a choice of elements write select(condition, a, b), and logical_and, "
            "logical_or and logical_not for 'and', 'or' and 'not'; an argument of "
            "gingham.jit that chooses a program has to be static",
        )

    def __iter__(self) -> Iterator[NoReturn]:
        raise error(
            "a tensor cannot be iterated over",
            "a contraction over an index does something for all elements: "
            "O[i] += A[i, k]",
        )

    def __len__(self) -> NoReturn:
        raise error("a tensor has no length", "its sizes are shape, its rank is ndim")

    def __contains__(self, item: object) -> NoReturn:
        raise error("a tensor cannot be searched while the program is made")

    def __array__(self, *arguments: Any, **options: Any) -> NoReturn:
        raise error(
            "a tensor is no array: its elements are known when the program runs",
            "compute with functions of gingham.edsl, and give arrays to the program",
        )

    def _no_number(self) -> NoReturn:
        raise error(
            "a tensor is no number: its elements are known when the program runs",
            "a static argument of gingham.jit is a number while the program is made",
        )

    __int__ = __float__ = __complex__ = __index__ = _no_number

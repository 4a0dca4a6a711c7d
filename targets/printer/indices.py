"""Index arithmetic of a kernel: linear forms as C expressions of proven width.

Every index value of a kernel has bounds: work-items and loops say them. An expression
is computed in `int` where neither it nor any part of it can leave 31 bits, else in
`long`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from .types import integer_literal

INT_MAX = 2**31 - 1


@dataclass(frozen=True)
class Index:
    """An index value as printed: a name or number, and its bounds where they are known.

    `is_unrolled` says that it is a number in each copy of an unrolled loop.
    """

    text: str
    low: int | None
    high: int | None
    is_long: bool
    is_unrolled: bool = False

    @property
    def reach(self) -> int | None:
        """The largest magnitude, where it is known."""
        if self.low is None or self.high is None:
            return None
        return max(abs(self.low), abs(self.high))


class IndexPrinter:
    """Prints forms over the index values of a kernel."""

    def __init__(self, index_bits: int) -> None:
        self._always_long = index_bits > 32
        self._indices: dict[SSAValue, Index] = {}

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._indices

    def __getitem__(self, value: SSAValue) -> Index:
        return self._indices[value]

    def type_for(self, low: int | None, high: int | None) -> str:
        """The C type of an index with these bounds."""
        return "long" if self._needs_long(low, high) else "int"

    def declare(
        self,
        value: SSAValue,
        text: str,
        low: int | None = None,
        high: int | None = None,
        is_unrolled: bool = False,
    ) -> None:
        """Note what an index value is called and what it can be."""
        is_long = self._needs_long(low, high)
        self._indices[value] = Index(text, low, high, is_long, is_unrolled)

    def _needs_long(self, low: int | None, high: int | None) -> bool:
        if self._always_long or low is None or high is None:
            return True
        return not -INT_MAX <= low <= high <= INT_MAX

    def type_of_form(self, form: LinearForm, values: Sequence[SSAValue]) -> str:
        """The C type that a form is computed in."""
        terms = [*self._terms(form, values)]
        return "long" if self._any_long(terms, form.constant.numerator) else "int"

    def form(self, form: LinearForm, values: Sequence[SSAValue]) -> str:
        """The value of a form: `8192 * io + k + 1024 * i`.

        Indices of unrolled loops come last: then compilers see that the copies of the
        loop's body differ by a constant, and keep it in the address. Several of them
        are put together, `k + (64 * j + 64 * i - 65)`, so that copies with the same
        constant are seen to be the same place.
        """
        terms = [*self._terms(form, values)]
        is_long = self._any_long(terms, form.constant.numerator)
        last = [_product(c, index, is_long) for c, index in terms if index.is_unrolled]
        texts = [
            _product(c, index, is_long) for c, index in terms if not index.is_unrolled
        ]
        if form.constant or not terms:
            last.append(_signed_number(form.constant.numerator))
        unrolled = sum(index.is_unrolled for _, index in terms)
        if unrolled > 1 and len(texts) > 0:
            last = [(False, f"({_sum(last)})")]
        return _sum([*texts, *last])

    def condition(self, form: LinearForm, values: Sequence[SSAValue]) -> str:
        """`form >= 0` with the negative terms on the other side: `i + k >= 3`."""
        terms = [*self._terms(form, values)]
        constant = form.constant.numerator
        is_long = self._any_long(terms, constant)
        left = [_product(c, index, is_long) for c, index in terms if c > 0]
        right = [_product(-c, index, is_long) for c, index in terms if c < 0]
        if not left:
            return f"{_joined(right) or '0'} <= {_joined([_signed_number(constant)])}"
        if constant or not right:
            right.append(_signed_number(-constant))
        return f"{_joined(left)} >= {_joined(right)}"

    def _terms(
        self, form: LinearForm, values: Sequence[SSAValue]
    ) -> Iterator[tuple[int, Index]]:
        for coefficient, value in zip(form.coefficients, values, strict=True):
            if coefficient:
                yield coefficient.numerator, self._indices[value]

    def _any_long(self, terms: Iterable[tuple[int, Index]], constant: int) -> bool:
        """Whether some part of a sum may need more than an int."""
        total = abs(constant)
        for coefficient, index in terms:
            if index.reach is None:
                return True
            total += abs(coefficient) * index.reach
        return self._needs_long(-total, total)


def _product(coefficient: int, index: Index, is_long: bool) -> tuple[bool, str]:
    """A term without its sign, and whether it is subtracted."""
    text = f"(long){index.text}" if is_long and not index.is_long else index.text
    magnitude = abs(coefficient)
    if magnitude != 1:
        text = f"{integer_literal(magnitude, is_long)} * {text}"
    return coefficient < 0, text


def _signed_number(number: int) -> tuple[bool, str]:
    return number < 0, integer_literal(abs(number))


def _sum(terms: Sequence[tuple[bool, str]]) -> str:
    """The terms with a first one that is not subtracted, if there is one."""
    first = next((n for n, (negative, _) in enumerate(terms) if not negative), 0)
    return _joined([terms[first], *terms[:first], *terms[first + 1 :]])


def _joined(terms: Sequence[tuple[bool, str]]) -> str:
    text = ""
    for is_negative, term in terms:
        if not text:
            text = f"-{term}" if is_negative else term
        else:
            text += f" - {term}" if is_negative else f" + {term}"
    return text

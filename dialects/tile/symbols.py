"""The numbers of symbols: those of their first occurrence in the printed op."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...affine.polynomial import Polynomial


def renumber_symbols(
    polynomials: Sequence[Polynomial], symbols: Sequence[SSAValue]
) -> tuple[list[Polynomial], list[SSAValue]]:
    """The same polynomials over the symbols that occur, each once, in that order.

    The polynomials are given in the order in which they are printed, so that what is
    printed parses back to the same.
    """
    first: dict[SSAValue, int] = {}
    for number, value in enumerate(symbols):
        first.setdefault(value, number)
    merged = {number: first[value] for number, value in enumerate(symbols)}
    result, values = [p.rename_symbols(merged) for p in polynomials], list(symbols)
    # Other numbers may print the terms of a polynomial in another order. Symbols of one
    # polynomial keep theirs, so that in practice the second round changes nothing.
    for _ in symbols:
        order = _occurrences(result)
        if order == list(range(len(values))):
            break
        numbers = {number: position for position, number in enumerate(order)}
        result = [p.rename_symbols(numbers) for p in result]
        values = [values[number] for number in order]
    return result, values


def _occurrences(polynomials: Sequence[Polynomial]) -> list[int]:
    """The symbols in the order in which they are printed first."""
    order: dict[int, None] = {}

    def note(symbol: int) -> str:
        order.setdefault(symbol)
        return ""

    for polynomial in polynomials:
        polynomial.format(lambda index: "", note)
    return list(order)

"""How many integer points a polygon has, in time that does not depend on its size.

A polygon is given by inequalities over two dimensions, `a*x + b*y + c >= 0`, and an
interval of x. Between the places where its lines meet, one line is its upper and one
its lower side, and the points between them are two sums of rounded fractions, each
found as fast as a greatest common divisor (D. Knuth, The Art of Computer Programming,
volume 2, 3.3.3, on Dedekind sums).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, floor
from typing import NamedTuple

from .form import LinearForm
from .inequalities import direction


class _Line(NamedTuple):
    """The values `(slope * x + start) / divisor`, the divisor greater than 0."""

    slope: int
    start: int
    divisor: int

    def at(self, x: int) -> Fraction:
        return Fraction(self.slope * x + self.start, self.divisor)


def count_in_polygon(forms: Sequence[LinearForm], width: int, height: int) -> int:
    """How many points of `0 <= x < width`, `0 <= y < height` have all `forms >= 0`.

    The forms have integer coefficients over x and y.
    """
    columns = _columns(forms, width)
    upper, lower = [_Line(0, height - 1, 1)], [_Line(0, 0, 1)]
    for form in forms:
        (a, b), c = direction(form), form.constant.numerator
        if b > 0:
            lower.append(_Line(-a, -c, b))
        elif b < 0:
            upper.append(_Line(a, c, -b))
    total = 0
    for start, stop in pairwise(_turns([*upper, *lower], columns)):
        # A line that is the least at both ends is the least all the way.
        top = min(upper, key=lambda line: (line.at(start), line.at(stop - 1)))
        bottom = max(lower, key=lambda line: (line.at(start), line.at(stop - 1)))
        if top.at(start) < bottom.at(start) or top.at(stop - 1) < bottom.at(stop - 1):
            continue
        below = _Line(-bottom.slope, -bottom.start, bottom.divisor)
        total += _sum_of_floors(top, start, stop) + _sum_of_floors(below, start, stop)
        total += stop - start
    return total


def _columns(forms: Sequence[LinearForm], width: int) -> range:
    """Every x that the forms without y leave."""
    first, last = 0, width - 1
    for form in forms:
        (a, b), c = direction(form), form.constant.numerator
        if b:
            continue
        if a > 0:
            first = max(first, ceil(Fraction(-c, a)))
        elif a < 0:
            last = min(last, floor(Fraction(c, -a)))
        elif c < 0:
            return range(0)
    return range(first, last + 1)


def _turns(lines: Sequence[_Line], columns: range) -> list[int]:
    """Where columns begin and end between which no two lines change places, ascending.

    The last number is one beyond the last column.
    """
    if not columns:
        return []
    turns = {columns.start, columns.stop}
    for one, other in combinations(lines, 2):
        slope = one.slope * other.divisor - other.slope * one.divisor
        if slope:
            start = other.start * one.divisor - one.start * other.divisor
            meeting = floor(Fraction(start, slope))
            turns |= {x for x in (meeting, meeting + 1) if x in columns}
    return sorted(turns)


def _sum_of_floors(line: _Line, start: int, stop: int) -> int:
    """The sum of the values of a line at the integers of a range, rounded down."""
    count, divisor = stop - start, line.divisor
    slope, rest = line.slope, line.slope * start + line.start
    total = 0
    # What is left of the sum is that of the points below a line, which are counted in
    # columns and in rows by turns.
    while count > 0:
        total += (slope // divisor) * (count * (count - 1) // 2)
        total += (rest // divisor) * count
        slope, rest = slope % divisor, rest % divisor
        reach = slope * count + rest
        if reach < divisor:
            break
        count, rest = reach // divisor, reach % divisor
        slope, divisor = divisor, slope
    return total

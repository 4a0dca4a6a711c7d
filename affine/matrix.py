"""Integer matrices: the column Hermite normal form and what follows from it.

A matrix is a tuple of rows, a vector a tuple of entries, all exact Python integers. A
matrix without rows does not know its number of columns, so functions that need it take
`columns`.

    matrix @ U = H      U unimodular: an integer matrix with an integer inverse

Seen from a linear map `x -> matrix @ x` on integer points, `x = U @ y` is a change of
variables that loses no integer point, and `H` is the map in the new variables: the
first variables, as many as the rank, decide the image, and the others do not touch it.

Source: H. Cohen, A Course in Computational Algebraic Number Theory, section 2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TypeAlias

Vector: TypeAlias = tuple[int, ...]
Matrix: TypeAlias = tuple[Vector, ...]


def dot(left: Sequence[int], right: Sequence[int]) -> int:
    """The inner product of two vectors of one length."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def identity(size: int) -> Matrix:
    """The identity matrix with `size` rows."""
    return tuple(tuple(int(r == c) for c in range(size)) for r in range(size))


def transpose(matrix: Sequence[Sequence[int]]) -> Matrix:
    """Rows as columns. A matrix without rows stays without rows."""
    return tuple(zip(*matrix, strict=True))


def multiply(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product `left @ right`."""
    columns = transpose(right)
    return tuple(tuple(dot(row, column) for column in columns) for row in left)


class EchelonBasis:
    """A unimodular matrix, grown row by row, that brings those rows to echelon form.

    `columns` holds the columns of `U`. The first `rank` of them are settled: one for
    each row that was independent of those before. The others span the kernel of all
    rows added so far.

    A pivot is the smallest entry of its row, the leftmost of several, and moves to its
    place without disturbing the order of the rest. So a row with an entry of 1 or -1
    costs one operation for each other entry, and rows that are unit vectors give a
    permutation.
    """

    def __init__(self, size: int) -> None:
        self.columns: list[Vector] = list(identity(size))
        self.rank = 0

    def copy(self) -> EchelonBasis:
        """The same basis, to be extended on its own."""
        other = EchelonBasis(0)
        other.columns, other.rank = [*self.columns], self.rank
        return other

    @property
    def matrix(self) -> Matrix:
        """`U` as rows."""
        return transpose(self.columns)

    def free_divisor(self, row: Sequence[int]) -> int:
        """The pivot that `row` would get: 0 when it depends on the rows before.

        With a pivot of 1 the variable of the new column equals the value of `row`.
        """
        return gcd(*(dot(row, column) for column in self.columns[self.rank :]))

    def add(self, row: Sequence[int]) -> bool:
        """Extend the echelon form by `row`; False when it depends on those before."""
        values = [dot(row, column) for column in self.columns]
        pivot = self._clear(values)
        if pivot is None:
            return False
        value, column = values.pop(pivot), self.columns.pop(pivot)
        if value < 0:
            value, column = -value, tuple(-entry for entry in column)
        for left in range(self.rank):
            self._subtract(left, column, values[left] // value)
        self.columns.insert(self.rank, column)
        self.rank += 1
        return True

    def _clear(self, values: list[int]) -> int | None:
        """Euclid on the free columns until one value of the row is left: its place."""
        free = range(self.rank, len(values))
        while live := [c for c in free if values[c]]:
            pivot = min(live, key=lambda c: abs(values[c]))
            if len(live) == 1:
                return pivot
            for other in live:
                if other != pivot:
                    factor = values[other] // values[pivot]
                    self._subtract(other, self.columns[pivot], factor)
                    values[other] -= factor * values[pivot]
        return None

    def _subtract(self, target: int, column: Vector, factor: int) -> None:
        if factor:
            pairs = zip(self.columns[target], column, strict=True)
            self.columns[target] = tuple(a - factor * b for a, b in pairs)


def _width(matrix: Sequence[Sequence[int]], columns: int | None) -> int:
    if matrix:
        return len(matrix[0])
    if columns is None:
        raise ValueError("a matrix without rows needs its number of columns")
    return columns


def column_hermite_normal_form(
    matrix: Sequence[Sequence[int]], columns: int | None = None
) -> tuple[Matrix, Matrix]:
    """`(H, U)` with `matrix @ U = H`, U unimodular, H in column echelon form.

    The first non-zero entry of a column is its pivot: positive, further down than the
    pivot of the column before; entries left of it in its row satisfy `0 <= e < pivot`.
    Columns of zeros come last, as many as `matrix` has columns beyond its rank: there
    the columns of U are a basis of the kernel. H is unique; of the matrices U that
    give it, this one comes from the fewest operations (see `EchelonBasis`).
    """
    basis = EchelonBasis(_width(matrix, columns))
    for row in matrix:
        basis.add(row)
    result = tuple(tuple(dot(row, c) for c in basis.columns) for row in matrix)
    return result, basis.matrix


def pivots(echelon: Sequence[Sequence[int]]) -> list[int]:
    """The pivot row of every column of a column echelon form that is not zero."""
    firsts = (
        next((r for r, entry in enumerate(column) if entry), None)
        for column in transpose(echelon)
    )
    return [row for row in firsts if row is not None]


def solve_integer(
    matrix: Sequence[Sequence[int]], right: Sequence[int], columns: int | None = None
) -> tuple[Vector, tuple[Vector, ...]] | None:
    """All integer solutions of `matrix @ x = right`, or None when there are none.

    `(particular, kernel)`: the solutions are `particular` plus every integer
    combination of the vectors of `kernel`, and each arises once.
    """
    width = _width(matrix, columns)
    echelon, change = column_hermite_normal_form(matrix, width)
    pivot_rows = pivots(echelon)
    coordinates: list[int] = []
    for column, row in enumerate(pivot_rows):
        rest = right[row] - dot(echelon[row][:column], coordinates)
        if rest % echelon[row][column]:
            return None
        coordinates.append(rest // echelon[row][column])
    rank = len(pivot_rows)
    if any(
        dot(row[:rank], coordinates) != value
        for row, value in zip(echelon, right, strict=True)
    ):
        return None
    particular = tuple(dot(row[:rank], coordinates) for row in change)
    return particular, transpose(change)[rank:]

"""Tests of the column Hermite normal form and of integer equations."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gingham.affine.matrix import (
    EchelonBasis,
    Matrix,
    column_hermite_normal_form,
    dot,
    identity,
    multiply,
    pivots,
    solve_integer,
    transpose,
)


def determinant(matrix: Matrix) -> Fraction:
    """By elimination over the rationals."""
    rows = [[Fraction(entry) for entry in row] for row in matrix]
    result = Fraction(1)
    for step in range(len(rows)):
        pivot = next((r for r in range(step, len(rows)) if rows[r][step]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != step:
            rows[step], rows[pivot] = rows[pivot], rows[step]
            result = -result
        result *= rows[step][step]
        for lower in range(step + 1, len(rows)):
            factor = rows[lower][step] / rows[step][step]
            pairs = zip(rows[lower], rows[step], strict=True)
            rows[lower] = [a - factor * b for a, b in pairs]
    return result


def minors(matrix: Matrix, size: int) -> list[int]:
    """All determinants of `size` rows and columns."""
    return [
        determinant(tuple(tuple(row[c] for c in columns) for row in rows)).numerator
        for rows in combinations(matrix, size)
        for columns in combinations(range(len(matrix[0])), size)
    ]


def rank(matrix: Matrix) -> int:
    sizes = range(min(len(matrix), len(matrix[0])), 0, -1)
    return next((size for size in sizes if any(minors(matrix, size))), 0)


@st.composite
def matrices(draw: st.DrawFn, height: int = 4, width: int = 4) -> Matrix:
    rows, columns = draw(st.integers(1, height)), draw(st.integers(1, width))
    entries = st.integers(-6, 6) | st.sampled_from([-1, 0, 0, 1])
    row = st.tuples(*[entries] * columns)
    return tuple(draw(st.lists(row, min_size=rows, max_size=rows)))


@given(matrices())
@settings(deadline=None, max_examples=200)
def test_hermite_normal_form_is_what_it_says(matrix: Matrix) -> None:
    form, change = column_hermite_normal_form(matrix)

    assert multiply(matrix, change) == form
    assert abs(determinant(change)) == 1
    pivot_rows = pivots(form)
    assert len(pivot_rows) == rank(matrix)
    assert pivot_rows == sorted(set(pivot_rows))
    for column, row in enumerate(pivot_rows):
        assert not any(form[above][column] for above in range(row))
        assert form[row][column] > 0
        assert all(0 <= entry < form[row][column] for entry in form[row][:column])
    assert not any(entry for row in form for entry in row[len(pivot_rows) :])


@given(matrices(), st.data())
@settings(deadline=None, max_examples=100)
def test_hermite_normal_form_depends_on_the_lattice_only(
    matrix: Matrix, data: st.DataObject
) -> None:
    """A unimodular change of columns before does not change the form."""
    size = len(matrix[0])
    changed = [list(row) for row in matrix]
    places = st.integers(0, size - 1)
    for _ in range(data.draw(st.integers(1, 4))):
        source, target = data.draw(places), data.draw(places)
        factor = data.draw(st.integers(-2, 2))
        for row in changed:
            row[target] = row[target] + factor * row[source] * (source != target)

    form, _ = column_hermite_normal_form(matrix)
    assert column_hermite_normal_form(changed)[0] == form


def test_unit_rows_give_a_permutation() -> None:
    # O[n, x, co] with the indices in the order co, ci, x, n.
    rows = ((0, 0, 0, 1), (0, 0, 1, 0), (1, 0, 0, 0))
    form, change = column_hermite_normal_form(rows)
    assert form == ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))
    # The indices that the rows do not use follow in the order that they had.
    assert transpose(change) == (*rows, (0, 1, 0, 0))


def test_sum_of_two_keeps_the_second() -> None:
    # O[i + j]: the new variables are (i + j, j).
    form, change = column_hermite_normal_form(((1, 1),))
    assert form == ((1, 0),)
    _, inverse = column_hermite_normal_form(change)
    assert inverse == ((1, 1), (0, 1))


def test_matrices_of_no_row_and_no_column() -> None:
    assert column_hermite_normal_form((), 2) == ((), identity(2))
    assert column_hermite_normal_form(((), ())) == (((), ()), ())
    with pytest.raises(ValueError, match="number of columns"):
        column_hermite_normal_form(())


def test_large_entries_stay_exact() -> None:
    big = 10**40
    form, change = column_hermite_normal_form(((big + 1, big),))
    assert form == ((1, 0),)
    assert multiply(((big + 1, big),), change) == form


def test_basis_tells_the_pivot_of_a_row() -> None:
    basis = EchelonBasis(2)
    assert basis.free_divisor((2, 4)) == 2
    assert basis.add((1, 1))
    assert not basis.add((3, 3))
    assert basis.free_divisor((0, 3)) == 3
    assert basis.free_divisor((2, 2)) == 0
    assert basis.rank == 1


@given(matrices())
@settings(deadline=None, max_examples=100)
def test_changes_of_basis_are_unimodular(matrix: Matrix) -> None:
    _, change = column_hermite_normal_form(matrix)
    # The only unimodular matrix in Hermite normal form is the identity.
    form, inverse = column_hermite_normal_form(change)
    assert form == identity(len(change))
    assert multiply(change, inverse) == form


@given(matrices(width=3), st.data())
@settings(deadline=None, max_examples=200)
def test_solutions_of_integer_equations(matrix: Matrix, data: st.DataObject) -> None:
    width = len(matrix[0])
    if data.draw(st.booleans(), label="solvable"):
        solution = data.draw(st.tuples(*[st.integers(-4, 4)] * width))
        right = tuple(dot(row, solution) for row in matrix)
    else:
        right = data.draw(st.tuples(*[st.integers(-4, 4)] * len(matrix)))
    box = product(range(-4, 5), repeat=width)
    expected = [x for x in box if tuple(dot(row, x) for row in matrix) == right]

    result = solve_integer(matrix, right)
    if result is None:
        assert not expected
        return
    particular, kernel = result
    assert tuple(dot(row, particular) for row in matrix) == right
    assert not any(dot(row, vector) for vector in kernel for row in matrix)
    # As many vectors as the kernel has dimensions, with maximal minors of greatest
    # common divisor 1, reach every integer vector of the kernel exactly once.
    assert len(kernel) == width - rank(matrix)
    assert not kernel or gcd(*minors(kernel, len(kernel))) == 1


def test_equations_without_integer_solution() -> None:
    assert solve_integer(((2, 4),), (1,)) is None  # parity
    assert solve_integer(((1, 0), (1, 0)), (1, 2)) is None  # contradiction
    assert solve_integer((), (), 2) == ((0, 0), ((1, 0), (0, 1)))

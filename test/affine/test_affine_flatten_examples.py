"""Tests of flattening on contractions that programs use, and on the odd ones.

The golden tables are those of PlaidML's compiler (`lang_test.cc`, and a trace of its
algorithm): ranges, strides and offset of each tensor in row-major order, and
constraints. Ours are the same but for the order of the indices (those that decide the
output cell first, in the order of its axes, high digits before low ones; then those of
the reduction in the order of the inputs) and for their direction (a new index of the
reduction runs forward in the first tensor that it moves in).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import pytest

from gingham.affine.flatten import FlatContraction, UnboundedIndex, flatten_contraction
from gingham.affine.form import LinearForm, Rational

HALF = Fraction(1, 2)


def indices(rank: int) -> list[LinearForm]:
    return [LinearForm.dimension(i, rank) for i in range(rank)]


def text(forms: Sequence[LinearForm]) -> list[str]:
    names = "abcdefgh"
    return [form.format(names[: form.rank]) for form in forms]


def address(
    cell: Sequence[LinearForm], shape: Sequence[int], point: tuple[int, ...]
) -> Rational:
    result = LinearForm.constant_of(0, len(point)).evaluate(point)
    for form, extent in zip(cell, shape, strict=True):
        result = result * extent + form.evaluate(point)
    return result


def addresses(
    flat: FlatContraction, shapes: Sequence[Sequence[int]]
) -> Counter[object]:
    """How often each combination of addresses of all tensors occurs."""
    return Counter(
        tuple(
            address(access, shape, point)
            for access, shape in zip(flat.accesses, shapes, strict=True)
        )
        for point in product(*map(range, flat.ranges))
        if all(form.evaluate(point) >= 0 for form in flat.constraints)
    )


@dataclass(frozen=True)
class Golden:
    """A flattening as PlaidML gives it: `strides . x + offset`, `lhs . x <= rhs`."""

    ranges: tuple[int, ...]
    tensors: tuple[tuple[tuple[int, ...], int], ...]
    constraints: tuple[tuple[tuple[int, ...], int], ...] = ()

    def variants(self) -> Iterator[Golden]:
        """The same with other orders of the indices, and with indices that run down."""
        places = range(len(self.ranges))
        for order in permutations(places):
            for falling in product((False, True), repeat=len(order)):
                yield self._rearranged(order, falling)

    def _rearranged(self, order: tuple[int, ...], falling: tuple[bool, ...]) -> Golden:
        def value(terms: tuple[int, ...], constant: int) -> tuple[tuple[int, ...], int]:
            for j, is_falling in zip(order, falling, strict=True):
                if is_falling:
                    constant += terms[j] * (self.ranges[j] - 1)
            signs = (-1 if is_falling else 1 for is_falling in falling)
            turned = tuple(s * terms[j] for s, j in zip(signs, order, strict=True))
            return turned, constant

        limits = ((lhs, -rhs) for lhs, rhs in self.constraints)
        turned = (value(lhs, negative) for lhs, negative in limits)
        return Golden(
            tuple(self.ranges[j] for j in order),
            tuple(value(strides, offset) for strides, offset in self.tensors),
            tuple(sorted((lhs, -negative) for lhs, negative in turned)),
        )

    def addresses(self) -> Counter[object]:
        """How often each combination of addresses of all tensors occurs."""

        def value(terms: tuple[int, ...], point: tuple[int, ...]) -> int:
            return sum(a * b for a, b in zip(terms, point, strict=True))

        return Counter(
            tuple(value(strides, point) + offset for strides, offset in self.tensors)
            for point in product(*map(range, self.ranges))
            if all(value(lhs, point) <= rhs for lhs, rhs in self.constraints)
        )

    @staticmethod
    def of(flat: FlatContraction, shapes: Sequence[Sequence[int]]) -> Golden:
        """A flat contraction by memory addresses, tensors in row-major order."""

        def linear(form: LinearForm) -> tuple[tuple[int, ...], int]:
            return tuple(map(int, form.coefficients)), int(form.constant)

        tensors: list[tuple[tuple[int, ...], int]] = []
        for access, shape in zip(flat.accesses, shapes, strict=True):
            place = LinearForm.constant_of(0, len(flat.ranges))
            for form, extent in zip(access, shape, strict=True):
                place = place * extent + form
            tensors.append(linear(place))
        limits = [linear(-form) for form in flat.constraints]
        constraints = sorted((lhs, -constant) for lhs, constant in limits)
        return Golden(flat.ranges, tuple(tensors), tuple(constraints))


def check(
    rank: int,
    accesses: Sequence[Sequence[LinearForm]],
    shapes: Sequence[Sequence[int]],
    golden: Golden,
    constraints: Sequence[tuple[LinearForm, int]] = (),
) -> FlatContraction:
    """The flat form, which must be the golden one up to the order of indices."""
    output, *inputs = accesses
    flat = flatten_contraction(rank, output, inputs, shapes, constraints)
    assert Golden.of(flat, shapes) in golden.variants()
    return flat


def test_matrix_product() -> None:
    i, j, k = indices(3)
    shapes = [(4, 5), (4, 3), (3, 5)]
    flat = flatten_contraction(3, [i, j], [[i, k], [k, j]], shapes)
    assert flat == FlatContraction(
        substitution=(i, j, k),
        ranges=(4, 5, 3),
        accesses=((i, j), (i, k), (k, j)),
        constraints=(),
        output_rank=2,
        names_of=(0, 1, 2),
    )
    golden = Golden((4, 5, 3), (((5, 1, 0), 0), ((3, 0, 1), 0), ((0, 1, 5), 0)))
    assert Golden.of(flat, shapes) == golden


def test_reduction_indices_follow_the_output() -> None:
    # B[j, i] = +(A[k, j, i]) with k as the first index.
    k, i, j = indices(3)
    flat = flatten_contraction(3, [j, i], [[k, j, i]], [(4, 3), (7, 4, 3)])
    assert flat.ranges == (4, 3, 7)
    assert flat.names_of == (2, 1, 0)
    assert flat.output_rank == 2


def test_convolution_in_two_dimensions() -> None:
    n, x, y, co, ci, k, m = indices(7)
    flat = flatten_contraction(
        7,
        [n, x, y, co],
        [[n, x + k - 1, y + m - 1, ci], [k, m, ci, co]],
        [(8, 56, 56, 64), (8, 56, 56, 32), (3, 3, 32, 64)],
    )
    # The indices are the old ones, those of the reduction as the accesses name them.
    assert flat.names_of == (0, 1, 2, 3, 5, 6, 4)
    assert flat.ranges == (8, 56, 56, 64, 3, 3, 32)
    assert flat.output_rank == 4
    assert text(flat.accesses[1]) == ["a", "b + e - 1", "c + f - 1", "g"]
    assert text(flat.constraints) == [
        "b + e - 1",
        "-b - e + 56",
        "c + f - 1",
        "-c - f + 56",
    ]


def test_convolution_without_padding_has_no_constraint() -> None:
    x, k = indices(2)
    flat = flatten_contraction(2, [x], [[x * 2 + k], [k]], [(10,), (21,), (3,)])
    assert (flat.ranges, flat.constraints) == ((10, 3), ())
    assert flat.names_of == (0, 1)


def test_convolution_in_one_dimension() -> None:
    x, co, k, ci = indices(4)
    shapes = [(6, 2), (6, 3), (3, 3, 2)]
    golden = Golden(
        (3, 2, 3, 6),
        (((0, 1, 0, 2), 0), ((1, 0, 3, 3), -3), ((2, 1, 6, 0), 0)),
        (((0, 0, -1, -1), -1), ((0, 0, 1, 1), 6)),
    )
    accesses = [[x, co], [x + k - 1, ci], [k, ci, co]]
    flat = check(4, accesses, shapes, golden)
    assert (flat.ranges, flat.names_of) == ((6, 2, 3, 3), (0, 1, 2, 3))


def test_unpool_with_overlap() -> None:
    # O[2x + i : 100] = +(I[x]), i < 4
    x, i = indices(2)
    shapes = [(100,), (50,)]
    golden = Golden((2, 50, 2), (((1, 2, 0), 0), ((0, 1, -1), 0)), (((0, -1, 1), 0),))
    flat = check(2, [[x * 2 + i], [x]], shapes, golden, [(i, 4)])
    assert (flat.ranges, flat.output_rank) == ((50, 2, 2), 2)
    assert text(flat.substitution) == ["a + c - 1", "b - 2 * c + 2"]
    assert text(flat.constraints) == ["a + c - 1"]


def test_unpool_without_overlap() -> None:
    x, i = indices(2)
    shapes = [(100,), (50,)]
    golden = Golden((2, 50), (((1, 2), 0), ((0, 1), 0)))
    flat = check(2, [[x * 2 + i], [x]], shapes, golden, [(i, 2)])
    assert (flat.ranges, flat.names_of) == ((50, 2), (0, 1))


def test_unpool_of_odd_size() -> None:
    # O[2x + i : 101] = +(I[x : 50]), i < 3: cell 101 is in the box, and is not there.
    x, i = indices(2)
    flat = flatten_contraction(2, [x * 2 + i], [[x]], [(101,), (50,)], [(i, 3)])
    assert (flat.ranges, flat.output_rank) == ((51, 2, 2), 2)
    assert text(flat.accesses[0]) == ["2 * a + b"]
    assert len(flat.constraints) == 3


@pytest.mark.parametrize("offset", [-1, 0, 1, 2])
def test_digits_start_where_the_window_fits(offset: int) -> None:
    # O[3x + i + offset] = +(I[x]), i < 3: one x for each cell, wherever windows start.
    x, i = indices(2)
    form = x * 3 + i + offset
    flat = flatten_contraction(2, [form], [[x]], [(150,), (50,)], [(i, 3)])
    assert sorted(flat.ranges) == [3, 50]
    assert flat.output_rank == 2


def test_derivative_of_a_strided_convolution() -> None:
    # DA[n, i + x, j + 2y, ci] = +(DC[n, x, y, co] * B[i, j, ci, co])
    n, x, y, ci, co, i, j = indices(7)
    accesses = [[n, i + x, j + y * 2, ci], [n, x, y, co], [i, j, ci, co]]
    shapes = [(1, 3, 6, 1), (1, 2, 3, 1), (2, 2, 1, 1)]
    golden = Golden(
        (3, 2, 3, 2),
        (((6, 1, 2, 0), 0), ((0, 0, 1, 3), 0), ((2, 1, 0, -2), 0)),
        (((-1, 0, 0, 1), 0), ((1, 0, 0, -1), 1)),
    )
    # PlaidML reduces over x; i has as many values, and of equals we take the later.
    flat = flatten_contraction(7, accesses[0], accesses[1:], shapes)
    assert sorted(flat.ranges) == sorted(golden.ranges)
    assert len(flat.constraints) == len(golden.constraints)
    assert addresses(flat, shapes) == golden.addresses()


def test_digits_of_a_number() -> None:
    # X[24a + 8b + 4c + d : 168] = +(I[a, b, c, d])
    a, b, c, d = indices(4)
    golden = Golden((7, 3, 2, 4), (((24, 8, 4, 1), 0), ((24, 8, 4, 1), 0)))
    form = a * 24 + b * 8 + c * 4 + d
    flat = check(4, [[form], [a, b, c, d]], [(168,), (7, 3, 2, 4)], golden)
    assert flat.names_of == (0, 1, 2, 3)


def test_constraints_over_several_indices() -> None:
    # O[i, j] = +(A[i + 2, k] * B[k, j]), k < 50, i + j < 75; here rows have no padding.
    i, j, k = indices(3)
    golden = Golden(
        (75, 75, 50),
        (((100, 1, 0), 0), ((100, 0, 1), 200), ((0, 1, 100), 0)),
        (((1, 1, 0), 74),),
    )
    accesses = [[i, j], [i + 2, k], [k, j]]
    check(3, accesses, [(100, 100)] * 3, golden, [(k, 50), (i + j, 75)])


def test_product_of_all_elements() -> None:
    x, y = indices(2)
    golden = Golden((100, 100), (((0, 0), 0), ((100, 1), 0)))
    check(2, [[], [x, y]], [(), (100, 100)], golden)


def test_short_fractional_access() -> None:
    # O[i : 6] = +(I[(i - 1) / 2])
    (i,) = indices(1)
    shapes = [(6,), (3,)]
    golden = Golden((3,), (((2,), 1), ((1,), 0)))
    flat = check(1, [[i], [(i - 1) * HALF]], shapes, golden)
    assert text(flat.substitution) == ["2 * a + 1"]


def test_cumulative_sum() -> None:
    i, k = indices(2)
    shapes = [(10,), (10,)]
    # O[i] = +(I[k]), i - k < 10: the index of the reduction is the place in I.
    flat = flatten_contraction(2, [i], [[k]], shapes, [(i - k, 10)])
    assert (flat.ranges, flat.names_of) == ((10, 10), (0, 1))
    assert text(flat.accesses[1]) == ["b"]
    assert text(flat.constraints) == ["a - b"]
    # O[i] = +(I[i - k]), k < 10: the same, and from the end, k - 9 <= 0.
    for place, count in ((i - k, k), (i + k - 9, -k + 9)):
        other = flatten_contraction(2, [i], [[place]], shapes, [(count, 10)])
        assert other.accesses == flat.accesses
        assert other.constraints == flat.constraints


def test_fractional_convolution() -> None:
    # O[i : 8] = +(I[i/2 + k/2] * K[k])
    i, k = indices(2)
    shapes = [(8,), (4,), (3,)]
    golden = Golden(
        (2, 4, 2),
        (((1, 2, 0), 0), ((1, 1, 1), 0), ((1, 0, 2), 0)),
        (((1, 0, 2), 2), ((1, 1, 1), 3)),
    )
    check(2, [[i], [i * HALF + k * HALF], [k]], shapes, golden)


@pytest.mark.parametrize(("size", "taps"), [(35, 5), (64, 5), (99, 3), (100, 4)])
def test_subdivision(size: int, taps: int) -> None:
    i, k = indices(2)
    inputs = [[i * HALF + k * HALF], [k]]
    flat = flatten_contraction(2, [i], inputs, [(2 * size,), (size,), (taps,)])
    assert sorted(flat.ranges) == sorted((2, size, (taps + 1) // 2))


def test_transposed_convolution() -> None:
    # D[n, 2x + k - 1, 2y + m - 1, ci] = +(Y[n, x, y, co] * K[k, m, ci, co])
    n, x, y, ci, co, k, m = indices(7)
    accesses = [[n, x * 2 + k - 1, y * 2 + m - 1, ci], [n, x, y, co], [k, m, ci, co]]
    shapes = [(8, 56, 56, 64), (8, 28, 28, 32), (4, 4, 64, 32)]
    flat = flatten_contraction(7, accesses[0], accesses[1:], shapes)
    assert flat.ranges == (8, 28, 2, 28, 2, 64, 2, 2, 32)
    assert flat.output_rank == 6
    # 0 <= x < 28 and 0 <= y < 28: all taps of both parities are in the box.
    assert len(flat.constraints) == 4


def test_sum_of_indices_as_output() -> None:
    # O[i + j] = +(A[i] * B[j]): of equals the later index stays, else the shorter.
    i, j = indices(2)
    flat = flatten_contraction(2, [i + j], [[i], [j]], [(19,), (10,), (10,)])
    assert (flat.ranges, flat.names_of) == ((19, 10), (None, 1))
    flat = flatten_contraction(2, [i + j], [[i], [j]], [(12,), (3,), (10,)])
    assert (flat.ranges, flat.names_of) == ((12, 3), (None, 0))


def test_narrow_window_becomes_an_index() -> None:
    # O[i] = >(I[j]), 2i - j < 2 and at least 0: two values for each i, not all j.
    i, j = indices(2)
    flat = flatten_contraction(2, [i], [[j]], [(10,), (20,)], [(i * 2 - j, 2)])
    assert (flat.ranges, flat.output_rank, flat.names_of) == ((10, 2), 1, (0, None))
    # And it runs forward in the memory of I.
    assert text(flat.accesses[1]) == ["2 * a + b - 1"]


def test_diagonals_have_one_index() -> None:
    i, j = indices(2)
    shapes = [(10,), (10, 10)]
    taken = flatten_contraction(2, [i], [[i, j]], shapes, [(i - j, 1)])
    assert (taken.ranges, taken.output_rank) == ((10,), 1)
    assert text(taken.accesses[1]) == ["a", "a"]
    placed = flatten_contraction(2, [i, j], [[i]], shapes[::-1], [(i - j, 1)])
    assert (placed.ranges, placed.output_rank) == ((10,), 1)
    assert text(placed.accesses[0]) == ["a", "a"]
    # 0 <= 2i - 2j < 2 says i = j, as do 0 <= i - j and 0 <= j - i.
    for constraints in ([((i - j) * 2, 2)], [(i - j, 9), (j - i, 9)]):
        implied = flatten_contraction(2, [i, j], [[i]], shapes[::-1], constraints)
        assert implied == placed


def test_reversal() -> None:
    (i,) = indices(1)
    flat = flatten_contraction(1, [i], [[-i + 9]], [(10,), (10,)])
    assert (flat.ranges, flat.names_of) == ((10,), (0,))
    assert text(flat.accesses[1]) == ["-a + 9"]


def test_index_of_constraints_only_counts_points() -> None:
    i, k = indices(2)
    flat = flatten_contraction(2, [i], [[i]], [(4,), (4,)], [(k, 3)])
    assert (flat.ranges, flat.output_rank) == ((4, 3), 1)
    assert addresses(flat, [(4,), (4,)]) == {(c, c): 3 for c in range(4)}


def test_offsets_start_at_zero() -> None:
    # Only 2 <= i < 7 is valid; the index keeps its name all the same.
    (i,) = indices(1)
    flat = flatten_contraction(1, [i], [[i - 2]], [(9,), (5,)])
    assert (flat.ranges, flat.names_of) == ((5,), (0,))
    assert text(flat.substitution) == ["a + 2"]
    assert text(flat.accesses[0]) == ["a + 2"]


def test_no_index_at_all() -> None:
    zero = LinearForm((), 0)
    flat = flatten_contraction(0, [zero], [[zero + 2]], [(1,), (3,)])
    assert (flat.ranges, flat.substitution, flat.is_empty) == ((), (), False)
    assert flat.accesses == ((zero,), (zero + 2,))
    assert flatten_contraction(0, [zero], [[zero + 3]], [(1,), (3,)]).is_empty


@pytest.mark.parametrize(
    ("constraint", "bound", "extent"),
    [
        ([1, -1, 20], 5, 10),  # constraints that no index satisfies
        ([2, 4, 1], 1, 10),  # an equation without integer solution
        ([HALF, 0, Fraction(1, 4)], 9, 10),  # never an integer
        ([1, 0, 0], 10, 0),  # a tensor without elements
        ([1, 0, 0], 0, 10),  # a bound of zero
    ],
)
def test_no_point_is_not_an_error(
    constraint: list[Fraction | int], bound: int, extent: int
) -> None:
    i, k = indices(2)
    form = LinearForm.of(constraint[:-1], constraint[-1])
    flat = flatten_contraction(2, [i], [[k]], [(10,), (extent,)], [(form, bound)])
    assert flat.is_empty
    assert 0 in flat.ranges
    assert [len(access) for access in flat.accesses] == [1, 1]
    assert len(flat.substitution) == 2


def test_unbounded_index_is_named() -> None:
    i, j, k = indices(3)
    with pytest.raises(UnboundedIndex, match=r"index 1 .*unbounded") as caught:
        flatten_contraction(3, [i], [[i, j - k]], [(4,), (4, 4)])
    assert caught.value.indices == (1, 2)


def test_sizes_beyond_64_bits() -> None:
    i, k = indices(2)
    big = 2**70
    flat = flatten_contraction(2, [i], [[i + k]], [(big,), (big + 4,)], [(k, 5)])
    assert (flat.ranges, flat.constraints) == ((big, 5), ())


def test_accesses_must_fit_their_shapes() -> None:
    (i,) = indices(1)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        flatten_contraction(1, [i], [[i, i]], [(4,), (4,)])

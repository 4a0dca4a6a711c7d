"""Flattening of programs that are meant to be hard ends: in a form, or in an error."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from math import prod
from random import Random
from time import process_time

import pytest

from gingham.affine import isl
from gingham.affine.flatten import FlatContraction, UnboundedIndex, flatten_contraction
from gingham.affine.form import LinearForm
from gingham.affine.lattice import identity_forms
from gingham.errors import GinghamError

PRIMES = (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093)


def indices(rank: int) -> list[LinearForm]:
    return [LinearForm.dimension(i, rank) for i in range(rank)]


def total(x: list[LinearForm], weights: list[int | Fraction]) -> LinearForm:
    result = LinearForm.constant_of(0, len(x))
    for index, weight in zip(x, weights, strict=True):
        result = result + index * weight
    return result


def test_coprime_strides_in_an_input() -> None:
    x = indices(10)
    form = total(x, [*PRIMES])
    flat = flatten_contraction(10, [x[0]], [[form], x], [(100,), (10**9,), (100,) * 10])
    assert flat.ranges == (100,) * 10
    assert flat.constraints == ()


def test_coprime_strides_in_the_output() -> None:
    x = indices(10)
    form = total(x, [*PRIMES])
    flat = flatten_contraction(10, [form], [x], [(10**9,), (100,) * 10])
    assert flat.output_rank == 1
    assert flat.ranges[0] == 99 * sum(PRIMES) + 1


def test_products_of_coprime_strides() -> None:
    # A number in mixed radix, of 28 decimal digits: every cell has one point.
    digits = PRIMES[:7]
    x = indices(7)
    strides = [prod(digits[:position]) for position in range(7)]
    shapes = [(prod(digits),), digits]
    flat = flatten_contraction(7, [total(x, [*strides])], [x], shapes)
    assert flat.output_rank == len(flat.ranges) == 7
    assert sorted(flat.ranges) == sorted(digits)
    assert flat.constraints == ()


def test_fractions_with_large_denominators() -> None:
    x = indices(10)
    form = total(x, [Fraction(1, p) for p in PRIMES])
    shapes = [(100,), (10**6,), (10**6,) * 10]
    flat = flatten_contraction(10, [x[0]], [[form], x], shapes)
    # The first index has only the value 0, the others are multiples of their prime.
    assert flat.ranges == (100,) * 9
    assert flat.output_rank == 0


def test_large_ranges() -> None:
    x = indices(10)
    shapes = [(10**9,) * 5, (10**9,) * 10]
    flat = flatten_contraction(10, x[:5], [x], shapes)
    assert flat.ranges == (10**9,) * 10


def test_large_strides() -> None:
    a, b = indices(2)
    form = a * 10**9 + b
    flat = flatten_contraction(2, [form], [[a]], [(10**18,), (10**9,)], [(b, 10**10)])
    assert flat.ranges == (10**9, 10**9, 10)
    assert flat.output_rank == 2


def test_unbounded_among_many() -> None:
    x = indices(10)
    with pytest.raises(UnboundedIndex) as caught:
        flatten_contraction(10, x[:4], [[total(x, [*PRIMES])]], [(9,) * 4, (10**9,)])
    assert caught.value.indices == (4, 5, 6, 7, 8, 9)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("rank", "largest"), [(6, 3), (10, 2), (8, 10**6)])
def test_dense_random_forms(
    rank: int, largest: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The real limit takes several times as long to reach.
    monkeypatch.setattr(isl, "OPERATION_LIMIT", 10_000)
    random = Random(seed)
    x = indices(rank)

    def form() -> LinearForm:
        weights = [random.randint(-largest, largest) for _ in x]
        denominator = random.choice([1, 2, 3, 4])
        return total(x, [Fraction(weight, denominator) for weight in weights])

    forms = [form() for _ in range(rank + 2)]
    shapes = [(50,) * 2, (50,) * rank]
    flat: FlatContraction | None = None
    message = "the index set is too hard"
    try:
        flat = flatten_contraction(rank, forms[:2], [forms[2:]], shapes)
    except GinghamError as error:
        message = error.message
    assert message.startswith("the index set is too hard")
    if flat is not None:
        assert all(form.is_integral for form in flat.substitution)


@pytest.mark.parametrize(("rank", "count"), [(8, 60), (40, 10), (5, 200), (20, 40)])
def test_questions_of_any_size_end(rank: int, count: int) -> None:
    choose = Random(rank)
    sides = [*identity_forms(rank)]
    sides += [
        LinearForm(tuple(choose.randint(1, 99) for _ in range(rank))) for _ in range(9)
    ]
    sides += [
        LinearForm(tuple(-choose.randint(1, 99) for _ in range(rank)), 1000 + number)
        for number in range(count)
    ]
    start = process_time()
    for question in (isl.extremes, isl.sample, isl.is_empty):
        with suppress(GinghamError):
            question(rank, sides)
    assert process_time() - start < 10

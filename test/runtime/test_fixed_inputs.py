"""Inputs that are the same arrays in many calls: what is known of them is kept."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.edsl import Tensor
from gingham.targets.backend import FixedInputs

Array = NDArray[Any]

# What is summed up of K runs once; B is read in place by each call.
PROGRAM = """function (I[M, N], K[N, L], B[N]) -> (O) {
  S[n : N] = +(K[n, l]);
  O = I * S + B;
}"""


def integers(*shape: int, seed: int = 0) -> Array:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


def expected(i: Array, k: Array, b: Array) -> Array:
    return i * k.sum(axis=1) + b


@pytest.fixture
def program() -> gingham.Function:
    return gingham.compile(PROGRAM, constants=["K", "B"])


def test_positions_are_those_of_fixed_inputs_or_of_others() -> None:
    fixed = FixedInputs.of([2, 0], 4)
    assert fixed.positions == {0, 2}
    assert fixed.others == (1, 3)
    assert fixed != FixedInputs.of([0, 2], 4)


def test_other_inputs_change_from_call_to_call(program: gingham.Function) -> None:
    k, b = integers(5, 7), integers(5)
    fixed = program.fixed([1, 2])
    for seed in range(3):
        i = integers(3, 5, seed=seed)
        (result,) = program.run_fixed([i, k, b], fixed)
        np.testing.assert_array_equal(result, expected(i, k, b))


def test_other_inputs_may_have_another_shape(program: gingham.Function) -> None:
    k, b = integers(5, 7), integers(5)
    fixed = program.fixed([1, 2])
    for count in (3, 4, 3):
        i = integers(count, 5)
        (result,) = program.run_fixed([i, k, b], fixed)
        np.testing.assert_array_equal(result, expected(i, k, b))


def test_calls_with_other_arrays_may_come_in_between(
    program: gingham.Function,
) -> None:
    i = integers(3, 5)
    first = integers(5, 7, seed=1), integers(5, seed=1)
    second = integers(5, 7, seed=2), integers(5, seed=2)
    fixed = [program.fixed([1, 2]) for _ in range(2)]
    for _ in range(2):
        for arrays, known in zip((first, second), fixed, strict=True):
            (result,) = program.run_fixed([i, *arrays], known)
            np.testing.assert_array_equal(result, expected(i, *arrays))
        np.testing.assert_array_equal(program(i, *first), expected(i, *first))
        on_device = map(gingham.asarray, (i, *second))
        np.testing.assert_array_equal(program(*on_device), expected(i, *second))


def test_a_part_of_the_constants_may_be_fixed(program: gingham.Function) -> None:
    i, b = integers(3, 5), integers(5)
    fixed = program.fixed([2])
    for seed in range(2):
        k = integers(5, 7, seed=seed)
        (result,) = program.run_fixed([i, k, b], fixed)
        np.testing.assert_array_equal(result, expected(i, k, b))


def test_a_changed_array_is_seen_after_refresh(program: gingham.Function) -> None:
    i, k, b = integers(3, 5), integers(5, 7), integers(5)
    fixed = program.fixed([1, 2])
    program.run_fixed([i, k, b], fixed)
    k += 1
    b += 1
    program.refresh()
    (result,) = program.run_fixed([i, k, b], fixed)
    np.testing.assert_array_equal(result, expected(i, k, b))


def test_arrays_go_with_what_stands_for_them(program: gingham.Function) -> None:
    i = integers(3, 5)
    k, b = integers(5, 7), integers(5)
    fixed = program.fixed([1, 2])
    program.run_fixed([i, k, b], fixed)
    gone = [weakref.ref(array) for array in (k, b)]
    del k, b, fixed
    gc.collect()
    assert [array() for array in gone] == [None, None]


def test_memory_is_given_up_and_had_again(program: gingham.Function) -> None:
    i, k, b = integers(3, 5), integers(5, 7), integers(5)
    fixed = program.fixed([1, 2])
    for what in ("scratch", "constants"):
        program.run_fixed([i, k, b], fixed)
        calls = program._calls  # pyright: ignore[reportPrivateUsage]
        runner = calls.of_fixed([i, k, b], fixed).runner
        runner.give_up(what)
        (result,) = program.run_fixed([i, k, b], fixed)
        np.testing.assert_array_equal(result, expected(i, k, b))


def test_captured_arrays_are_fixed() -> None:
    weights = integers(4, 5, seed=7)

    @gingham.jit
    def scaled(x: Tensor) -> Any:
        return x * weights.sum(axis=0)

    for seed in range(3):
        x = integers(3, 5, seed=seed)
        np.testing.assert_array_equal(scaled(x), x * weights.sum(axis=0))

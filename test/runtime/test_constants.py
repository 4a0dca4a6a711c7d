"""Constant inputs: what depends on them only runs once for an array."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.edsl import Tensor, TensorIndexes, TensorOutput
from gingham.errors import GinghamError

Array = NDArray[Any]

# The sums of K are a contraction of their own, so that they have launches.
PROGRAM = """function (I[M, N], K[N, L]) -> (O) {
  S[n : N] = +(K[n, l]);
  O = I * S;
}"""


def integers(*shape: int, seed: int = 0) -> Array:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


@pytest.fixture
def program() -> gingham.Function:
    if gingham.default_device().is_reference:
        pytest.skip("the interpreter computes everything in every call")
    return gingham.compile(PROGRAM, constants=["K"])


def expected(i: Array, k: Array) -> Array:
    return i * k.sum(axis=1)


def test_the_ir_shows_what_runs_once(program: gingham.Function) -> None:
    i, k = integers(3, 5), integers(5, 7)
    text = program.ir(i, k, stage="opencl")
    assert "{tile.constant}" in text
    assert "opencl.launch once" in text
    assert "opencl.launch @" in text
    assert "{tile.constant}" in program.ir(i, k, stage="tile")
    assert program.memory(i, k).kept == 4 * 5
    assert "once" not in gingham.compile(PROGRAM).ir(i, k, stage="opencl")


def test_a_changed_array_is_seen_after_refresh(program: gingham.Function) -> None:
    i, k = integers(3, 5), integers(5, 7)
    before = expected(i, k)
    np.testing.assert_array_equal(program(i, k), before)
    k += 1
    np.testing.assert_array_equal(program(i, k), before)
    program.refresh()
    np.testing.assert_array_equal(program(i, k), expected(i, k))


def test_several_arrays_take_turns(program: gingham.Function) -> None:
    i = integers(3, 5)
    weights = [integers(5, 7, seed=seed) for seed in range(4)]
    sums = [expected(i, k) for k in weights]
    for _ in range(2):
        for k, result in zip(weights, sums, strict=True):
            np.testing.assert_array_equal(program(i, k), result)
    # None of them was computed again.
    for k in weights:
        k[:] = 0
    for k, result in zip(weights, sums, strict=True):
        np.testing.assert_array_equal(program(i, k), result)


def test_views_are_known_by_their_memory(program: gingham.Function) -> None:
    i, whole = integers(3, 5), integers(2, 5, 7)
    first, second = expected(i, whole[0]), expected(i, whole[1])
    reverse = expected(i, whole[0][::-1])
    for _ in range(2):
        np.testing.assert_array_equal(program(i, whole[0]), first)
        np.testing.assert_array_equal(program(i, whole[1]), second)
        np.testing.assert_array_equal(program(i, whole[0][::-1]), reverse)
        whole[:] = 0


def test_new_arrays_in_old_memory(program: gingham.Function) -> None:
    i = integers(3, 5)
    for seed in range(20):
        # The next array mostly has the memory of the last one.
        k = integers(5, 7, seed=seed)
        np.testing.assert_array_equal(program(i, k), expected(i, k))
        del k
        gc.collect()
    lists = integers(5, 7).tolist()
    for shift in (0.0, 1.0):
        k = [[value + shift for value in row] for row in lists]
        np.testing.assert_array_equal(program(i, k), expected(i, np.array(k)))


def test_several_threads(program: gingham.Function) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        k = integers(5, 7, seed=seed)
        for call in range(30):
            i = integers(3, 5, seed=call)
            if not np.array_equal(program(i, k), expected(i, k)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_constants_of_jit() -> None:
    @gingham.jit(constants="weights")
    def layer(x: Tensor, weights: dict[str, Tensor]) -> Tensor:
        w = weights["w"]
        n, m = TensorIndexes(2)
        rows, columns = w.shape
        sums = TensorOutput(rows)
        sums[n] += w[n, m]
        del columns
        return x * sums + weights["b"]

    x, weights = integers(3, 5), {"w": integers(5, 7), "b": integers(5)}
    result = x * weights["w"].sum(axis=1) + weights["b"]
    np.testing.assert_array_equal(layer(x, weights), result)
    if not gingham.default_device().is_reference:
        assert "launch once" in layer.ir(x, weights, stage="opencl")
    weights["w"] += 1
    layer.refresh()
    result = x * weights["w"].sum(axis=1) + weights["b"]
    np.testing.assert_array_equal(layer(x, weights), result)
    with pytest.raises(GinghamError, match="no parameter 'bias'"):
        gingham.jit(constants="bias")(integers)


def test_unknown_constants() -> None:
    with pytest.raises(GinghamError, match="no input 'W' to be constant") as caught:
        gingham.compile(PROGRAM, constants=["W"])
    assert caught.value.hint == "its inputs are I, K"

"""Compiled programs in memory: kept by a budget, and compiled once for all uses."""

from __future__ import annotations

import gc
import linecache
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.once import Once
from gingham.runtime.cache.in_memory import programs
from gingham.runtime.cache.programs import forget_programs
from gingham.runtime.lowering import STAGES, Lowering, forget_lowered
from gingham.targets.opencl.compiled import CompiledCode

SUM = "function (A[M, N]) -> (S) { S[m : M] = +(A[m, n]); }"
TWO_KERNELS = """function (A[M, N]) -> (S) {
  T[m : M] = +(A[m, n]);
  S[n : N] = +(T[m] * A[m, n]);
}"""
PRODUCTS = """function (A[M, N]) -> (C) {
  S[i, j : N, N] = +(A[m, i] * A[m, j]);
  C[m, j : M, N] = +(A[m, i] * S[i, j]);
}"""
SMALL = 1000
"""What a program is said to take in these tests, in bytes."""


def integers(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(shape).integers(-4, 5, shape).astype(np.float32)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if gingham.default_device().is_reference:
        pytest.skip("nothing is compiled for the interpreter")
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    monkeypatch.setattr(CompiledCode, "size_in_bytes", SMALL)
    forget_programs()
    forget_lowered()
    yield
    forget_programs()


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a program was taken to each stage."""
    seen: Counter[str] = Counter()
    run = Lowering.run_stages

    def count(self: Lowering, begin: Any, stages: Any, expect: Any) -> Any:
        seen.update(stages)
        return run(self, begin, stages, expect)

    monkeypatch.setattr(Lowering, "run_stages", count)
    return seen


def test_the_least_recently_used_go_first(
    monkeypatch: pytest.MonkeyPatch, lowered: Counter[str]
) -> None:
    monkeypatch.setenv("GINGHAM_PROGRAM_MEMORY", str(4 * SMALL))
    f, g = gingham.compile(SUM), gingham.compile(SUM.replace("+", ">"))
    arrays = [integers(3, n) for n in range(2, 6)]
    for array in arrays:
        f(array)
    assert lowered["opencl"] == len(programs) == 4
    f(arrays[0])
    g(arrays[0])
    # A quarter is made free at once: what was used longest ago.
    assert len(programs) == 3
    f(arrays[0])
    f(arrays[3])
    assert lowered["opencl"] == 5
    forget_lowered()
    np.testing.assert_array_equal(f(arrays[1]), arrays[1].sum(axis=1))
    assert lowered["opencl"] == 6


def test_many_shapes_keep_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_PROGRAM_MEMORY", str(5 * SMALL))
    f = gingham.compile(SUM)
    runners: list[weakref.ref[object]] = []
    for n in range(1, 20):
        array = integers(2, n)
        given = gingham.asarray(array) if n % 2 else array
        np.testing.assert_array_equal(np.asarray(f(given)), array.sum(axis=1))
        runners.append(weakref.ref(programs.runners[-1]))
    given = None
    gc.collect()
    assert not any("pyopencl" in name for name in linecache.cache if name[0] == "<")
    assert sum(runner() is not None for runner in runners) <= 5


def test_a_program_larger_than_the_budget_stays_while_it_is_the_newest(
    monkeypatch: pytest.MonkeyPatch, lowered: Counter[str]
) -> None:
    monkeypatch.setenv("GINGHAM_PROGRAM_MEMORY", str(SMALL // 2))
    f, array = gingham.compile(SUM), integers(3, 4)
    for _ in range(3):
        np.testing.assert_array_equal(f(array), array.sum(axis=1))
    assert lowered["opencl"] == 1


def test_functions_of_equal_text_share_what_is_kept(lowered: Counter[str]) -> None:
    array = integers(3, 4)
    for _ in range(3):
        gingham.compile(SUM)(array)
    assert lowered["opencl"] == len(programs) == 1


def test_idle_scratch_memory_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompiledCode, "size_in_bytes", 1)
    monkeypatch.setenv("GINGHAM_PROGRAM_MEMORY", "80 KiB")
    f = gingham.compile(PRODUCTS)
    arrays = [integers(n, 200) for n in (40, 41, 42, 43)]
    for array in arrays:
        f(array)
    held = [runner.idle_bytes for runner in programs.runners]
    assert [size > 0 for size in held] == [False, True, True, True]
    for array in arrays:
        np.testing.assert_array_equal(f(array), array @ (array.T @ array))


def test_threads_call_while_programs_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_PROGRAM_MEMORY", str(3 * SMALL))
    functions = [gingham.compile(SUM), gingham.compile(TWO_KERNELS)]
    arrays = [integers(3, n) for n in range(2, 7)]
    expected = [[a.sum(axis=1) for a in arrays], [a.sum(axis=1) @ a for a in arrays]]

    def work(seed: int) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(25):
            which, n = int(chance.integers(2)), int(chance.integers(len(arrays)))
            given: Any = arrays[n]
            if chance.integers(2):
                given = gingham.asarray(given)
            result = np.asarray(functions[which](given))
            np.testing.assert_array_equal(result, expected[which][n])

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, seed) for seed in range(4)]:
            done.result(300)
    assert len(programs) <= 3


def test_looking_and_calling_compile_once(lowered: Counter[str]) -> None:
    array = integers(3, 4)
    f = gingham.compile(TWO_KERNELS)
    source, report = f.source(array), f.memory(array)
    ir = f.ir(array, stage="opencl")
    np.testing.assert_array_equal(f(array), array.sum(axis=1) @ array)
    assert (f.source(array), str(f.memory(array))) == (source, str(report))
    assert f.ir(array, stage="opencl") == ir
    assert lowered == dict.fromkeys(STAGES[1:], 1)


def test_each_stage_goes_on_from_the_one_before(lowered: Counter[str]) -> None:
    array = integers(5, 4)
    f = gingham.compile(TWO_KERNELS)
    step_by_step = [f.ir(array, stage=stage) for stage in STAGES[1:]]
    source = f.source(array)
    assert lowered == dict.fromkeys(STAGES[1:], 1)
    at_once = gingham.compile(TWO_KERNELS)
    assert at_once.source(array) == source
    assert [at_once.ir(array, stage=s) for s in STAGES[1:]] == step_by_step
    np.testing.assert_array_equal(f(array), array.sum(axis=1) @ array)


def test_other_shapes_are_compiled_side_by_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each compilation waits until all have begun."""
    together = threading.Barrier(3)
    run = Lowering.run_stages

    def wait(self: Lowering, begin: Any, stages: Any, expect: Any) -> Any:
        together.wait(60)
        return run(self, begin, stages, expect)

    monkeypatch.setattr(Lowering, "run_stages", wait)
    f = gingham.compile(SUM)
    arrays = [integers(n, 3) for n in (2, 3, 4)]
    with ThreadPoolExecutor(3) as pool:
        for array, result in zip(arrays, pool.map(f, arrays), strict=True):
            np.testing.assert_array_equal(result, array.sum(axis=1))


def test_one_thread_compiles_what_several_call(lowered: Counter[str]) -> None:
    f, array = gingham.compile(SUM), integers(4, 4)
    with ThreadPoolExecutor(6) as pool:
        for result in pool.map(f, [array] * 12):
            np.testing.assert_array_equal(result, array.sum(axis=1))
    assert lowered["opencl"] == 1


def test_a_failure_is_raised_in_each_thread() -> None:
    f = gingham.compile("function (A[N], B[N]) -> (C) { C = A + B; }")
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(f, integers(3), integers(4)) for _ in range(6)]
        for call in calls:
            with pytest.raises(gingham.GinghamError):
                call.result(60)
    assert len(programs) == 0


def test_a_key_is_made_by_one_thread_at_a_time() -> None:
    once, made = Once[int](), Counter[int]()

    def make(key: int) -> None:
        with once.making(key):
            made[key] += 1
            assert made[key] == 1
            made[key] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, [n % 3 for n in range(300)]))
    assert len(once) == 0

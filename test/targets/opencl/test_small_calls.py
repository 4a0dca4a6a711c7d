"""Calls with small arrays of NumPy on a device with memory of its own."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from memory_pools import like, own, used

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl import small_calls
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate

TWO = """function (A[M, N], B[N], S[]) -> (C, D) {
  C = A * S;
  D[m : M] = +(A[m, n] * B[n]);
}"""


@pytest.fixture
def apart(opencl_device: OpenCLDevice) -> OpenCLDevice:
    device = own(opencl_device)
    device.trust()
    if not device.queue.is_bare:
        pytest.skip("OpenCL's C interface is not found here")
    return device


def compiled(text: str, device: OpenCLDevice, **options: Any) -> gingham.Function:
    hardware = "cpu-avx2" if device.kind == "cpu" else None
    return gingham.compile(text, device=device, hardware=hardware, **options)


def inputs(rows: int, columns: int, seed: int = 0) -> list[Any]:
    generator = np.random.default_rng(seed)
    shapes = [(rows, columns), (columns,), ()]
    return [generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes]


def check(function: gingham.Function, arrays: list[Any]) -> None:
    a, b, s = arrays
    for _ in range(3):
        c, d = function(*arrays)
        np.testing.assert_array_equal(c, a * s)
        np.testing.assert_array_equal(d, a @ b)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 33), (4, 0), (150, 160)])
def test_results_of_small_calls(apart: OpenCLDevice, shape: tuple[int, int]) -> None:
    function = compiled(TWO, apart)
    first = inputs(*shape)
    check(function, first)
    results = function(*first)
    kept = [each.copy() for each in results]
    # Those of a call are no later call's, and arrays lie as they like.
    a, b, s = inputs(*shape, seed=1)
    turned = [np.asfortranarray(a), np.repeat(b, 2)[::2], s]
    check(function, turned)
    out = np.full_like(kept[0], 7), None
    filled = function(a, b, s, out=out)
    assert filled[0] is out[0]
    np.testing.assert_array_equal(out[0], a * s)
    for result, copy in zip(results, kept, strict=True):
        np.testing.assert_array_equal(result, copy)


def test_the_largest_small_call_and_the_next(
    apart: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[bool] = []
    real = small_calls.SmallCalls.write

    def write(self: Any, *arguments: Any) -> None:
        kinds.append(True)
        real(self, *arguments)

    monkeypatch.setattr(small_calls.SmallCalls, "write", write)
    add = compiled("function (A[N]) -> (B) { B = A + 1; }", apart)
    for size, expected in [(1 << 15, True), ((1 << 15) + 64, False)]:
        kinds.clear()
        a = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(add(a), a + 1)
        assert bool(kinds) is expected


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "bfloat16"])
def test_types_of_small_calls(apart: OpenCLDevice, dtype: str) -> None:
    element = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a = (np.arange(70) % 2).astype(element)
    same = compiled("function (A[N]) -> (B) { B[n : N] = =(A[N - 1 - n]); }", apart)
    result = same(a)
    assert result.dtype == element
    np.testing.assert_array_equal(result, a[::-1])


@pytest.mark.skipif(
    not hasattr(sys, "getrefcount"), reason="references are not counted"
)
def test_memory_of_larger_results_is_used_again(
    apart: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_calls, "LARGEST", 0)
    add = compiled("function (A[N]) -> (B) { B = A + 1; }", apart)
    a = np.arange(5000, dtype=np.float32)
    first = add(a)
    place = first.ctypes.data
    del first
    second = add(a)
    assert second.ctypes.data == place
    part = second[10:20]
    del second
    results = [add(a * n) for n in range(4)]
    # What somebody still has a part of is nobody else's.
    assert place not in [each.ctypes.data for each in results]
    np.testing.assert_array_equal(part, a[10:20] + 1)
    for n, each in enumerate(results):
        np.testing.assert_array_equal(each, a * n + 1)
    out = np.zeros_like(a)
    assert add(a, out=out) is out
    np.testing.assert_array_equal(out, a + 1)


def test_what_is_too_large_for_one_buffer_is_copied_by_itself(
    apart: OpenCLDevice,
) -> None:
    device = like(apart, max_allocation_bytes=300)
    device.trust()
    check(compiled(TWO, device), inputs(5, 9))


def test_constants_of_small_calls(apart: OpenCLDevice) -> None:
    function = compiled(TWO, apart, constants=["B"])
    for seed in range(3):
        check(function, inputs(5, 9, seed))


def test_threads_take_turns(apart: OpenCLDevice) -> None:
    functions = [compiled(TWO, apart) for _ in range(3)]

    def work(number: int) -> None:
        for seed in range(20):
            arrays = inputs(4 + number, 7, seed)
            check(functions[seed % 3], arrays)
            device_arrays = [gingham.asarray(x, device=apart) for x in arrays]
            c, _ = functions[number](*device_arrays)
            np.testing.assert_array_equal(c.numpy(), arrays[0] * arrays[2])

    with ThreadPoolExecutor(3) as threads:
        for each in [threads.submit(work, n) for n in range(3)]:
            each.result()


def test_memory_is_given_up_where_it_gets_scarce(
    apart: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = compiled(TWO, apart)
    arrays = inputs(64, 33)
    check(function, arrays)
    before = apart.pool.used_bytes
    assert before > 0
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(before + (1 << 16)))
    other = allocate(apart, (1 << 16,), np.uint8)
    more = allocate(apart, (before // 2,), np.uint8)
    with pytest.raises(GinghamError, match=r"no room|needs"):
        function(*arrays)
    del other, more
    check(function, arrays)
    del function
    assert used(apart) == 0

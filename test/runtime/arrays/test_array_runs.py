"""Calls with arrays: they return at once, and run in the right order."""

from __future__ import annotations

import gc
import time
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from arrays_held_up import Held
from numpy.typing import NDArray

import gingham
from gingham.edsl import Tensor
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice

ADD = "function (A[N], B[N]) -> (C) { C = A + B; }"
NEXT = "function (A[N]) -> (B) { B = A + 1; }"
TWO = "function (A[N]) -> (B, C) { B = A + A; C = A * A; }"
PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
SECONDS = 300
"""Longer than anything here takes; who waits so long waits forever."""


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


def test_results_equal_those_of_numpy_calls(device: str) -> None:
    f = gingham.compile(PRODUCT, device=device)
    a, b = numbers(5, 7), numbers(7, 3)
    x, y = gingham.asarray(a, device), gingham.asarray(b, device)
    for _ in range(3):
        for result in (f(x, y), f(A=x, B=y), f(x, B=y), f(x, b), f(a, y)):
            assert isinstance(result, gingham.Array)
            assert result.device is gingham.device(device)
            np.testing.assert_array_equal(result.numpy(), a @ b)
        assert isinstance(f(a, b), np.ndarray)


def test_a_call_does_not_wait(opencl: OpenCLDevice, held_up: Held) -> None:
    f = gingham.compile(ADD, device=opencl)
    x = gingham.asarray(numbers(9), opencl)
    f(x, x).wait()
    with held_up(opencl):
        y = f(x, x)
        z = f(y, x)
        assert not y.is_ready
        assert not z.is_ready
        assert "not ready" in repr(z)
        started = time.perf_counter()
        with pytest.raises(TimeoutError, match="not there after"):
            z.wait(0.05)
        assert time.perf_counter() - started < SECONDS
    assert z.wait(SECONDS) is z
    assert f(z, x).wait(float("inf")).is_ready
    assert z.is_ready
    np.testing.assert_array_equal(z.numpy(), 3 * numbers(9))
    assert z.wait(0) is z


def is_in_place(device: str) -> bool:
    """Whether it works on the host's memory."""
    return gingham.device(device).properties.get("host_unified_memory", True) is True


def test_out(device: str) -> None:
    f = gingham.compile(TWO, device=device)
    x = gingham.asarray(numbers(21), device)
    host = np.zeros(21, np.float32)
    target = gingham.asarray(host, device)
    b, c = f(x, out=(target, None))
    assert b is target
    np.testing.assert_array_equal(c.numpy(), numbers(21) ** 2)
    np.testing.assert_array_equal(b.numpy(), 2 * numbers(21))
    if is_in_place(device):
        np.testing.assert_array_equal(host, 2 * numbers(21))
    # Of NumPy's arrays with an `out` that is none of NumPy's.
    b, c = f(numbers(21, seed=1), out=(None, target))
    np.testing.assert_array_equal(b.numpy(), 2 * numbers(21, seed=1))
    np.testing.assert_array_equal(target.numpy(), numbers(21, seed=1) ** 2)


def test_out_is_written_after_those_who_read_it(
    opencl: OpenCLDevice, held_up: Held
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(numbers(100), opencl, copy=True)
    y = gingham.asarray(np.zeros(100, np.float32), opencl)
    with held_up(opencl):
        first = f(x)
        f(first, out=x)
        second = f(x)
        f(second, out=y)
    np.testing.assert_array_equal(first.numpy(), numbers(100) + 1)
    np.testing.assert_array_equal(x.numpy(), numbers(100) + 2)
    np.testing.assert_array_equal(y.numpy(), numbers(100) + 4)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.zeros((4, 5), np.float32), r"expected shape \(4, 6\).*got shape \(4, 5\)"),
        (np.zeros((4, 6), np.float64), "type float32, got .* float64"),
    ],
)
def test_out_that_does_not_fit(device: str, out: NDArray[Any], message: str) -> None:
    f = gingham.compile("function (A[N, M]) -> (B) { B = 2 * A; }", device=device)
    x = gingham.asarray(numbers(4, 6), device)
    wrong = gingham.asarray(out, device)
    with pytest.raises(GinghamError, match=message):
        f(x, out=wrong)
    np.testing.assert_array_equal(wrong.numpy(), np.zeros(out.shape))
    with pytest.raises(GinghamError, match=r"expected a gingham.Array, got ndarray"):
        f(x, out=np.zeros((4, 6), np.float32))
    with pytest.raises(GinghamError, match=r"1 result\(s\) \(B\), 'out' has 2"):
        f(x, out=(wrong, wrong))
    fixed = np.zeros((4, 6), np.float32)
    fixed.flags.writeable = False
    if is_in_place(device):
        with pytest.raises(GinghamError, match="read-only"):
            f(x, out=gingham.asarray(fixed, device))
    with pytest.raises(GinghamError, match="shares memory with an input"):
        f(x, out=x)
    np.testing.assert_array_equal(f(x).numpy(), 2 * numbers(4, 6))


def test_out_in_memory_that_is_used(in_place: str) -> None:
    f = gingham.compile(TWO, device=in_place)
    host = numbers(60)
    before = host.copy()
    x, over, behind, last = (
        gingham.asarray(host[n : n + 20], in_place) for n in (0, 10, 20, 35)
    )
    with pytest.raises(GinghamError, match="'B' shares memory with an input"):
        f(x, out=(over, None))
    with pytest.raises(GinghamError, match="'C' shares memory with another result"):
        f(x, out=(behind, last))
    with pytest.raises(GinghamError, match="'C' shares memory with another result"):
        f(x, out=(behind, behind))
    np.testing.assert_array_equal(host, before)
    f(x, out=(behind, None))[0].wait()
    np.testing.assert_array_equal(host[20:40], 2 * before[:20])


def test_results_that_are_inputs_or_the_same(device: str) -> None:
    f = gingham.compile(
        "function (A[N]) -> (A, B, C) { B = A + 1; C = B; }", device=device
    )
    host = numbers(9)
    x = gingham.asarray(host, device)
    results = f(x)
    for array, expected in zip(results, (host, host + 1, host + 1), strict=True):
        np.testing.assert_array_equal(array.numpy(), expected)
    parts = [x.numpy(), *(array.numpy() for array in results)]
    for number, part in enumerate(parts):
        assert not any(np.shares_memory(part, each) for each in parts[:number])
    only = gingham.compile("function (A[N]) -> (A) { Z = A; }", device=device)
    y = only(x).wait()
    x.numpy()[:] = 0
    np.testing.assert_array_equal(y.numpy(), numbers(9))


def test_inputs_that_are_sizes(device: str) -> None:
    f = gingham.compile(
        "function (X[I], N) -> (Y) { Y[i : I - N + 1] = +(X[i + k]), k < N; }",
        device=device,
    )
    x = gingham.asarray(numbers(9), device)
    for count in (1, 4, 1):
        for size in (count, gingham.asarray(count, device)):
            expected = np.convolve(numbers(9), np.ones(count), "valid")
            np.testing.assert_array_equal(f(x, size).numpy(), expected)


def test_constant_inputs(device: str) -> None:
    """What is computed once is that of the array, also where memory is used again."""
    f = gingham.compile(
        "function (I[M, N], K[N, L]) -> (O) { S[n : N] = +(K[n, l]); O = I * S; }",
        device=device,
        constants=["K"],
    )
    double = gingham.compile("function (A[N, M]) -> (B) { B = 2 * A; }", device=device)
    inputs = numbers(4, 6)
    x = gingham.asarray(inputs, device)
    for seed in range(6):
        k = numbers(6, 5, seed=seed)
        weights = double(gingham.asarray(k, device))
        expected = inputs * (2 * k).sum(1)
        for _ in range(2):
            np.testing.assert_array_equal(f(x, weights).numpy(), expected)
            np.testing.assert_array_equal(f(inputs, weights).numpy(), expected)
        np.testing.assert_array_equal(f(x, k).numpy(), inputs * k.sum(1))
    if not is_in_place(device):
        return
    fixed = gingham.asarray(numbers(6, 5), device, copy=True)
    f(x, fixed).wait()
    fixed.numpy()[:] = 1
    f.refresh()
    np.testing.assert_array_equal(f(x, fixed).numpy(), inputs * 5)


def test_constants_are_computed_once(
    opencl: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyopencl as cl

    real, count = cl.enqueue_nd_range_kernel, 0

    def counted(*arguments: Any, **named: Any) -> cl.Event:
        nonlocal count
        count += 1
        return real(*arguments, **named)

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", counted)
    f = gingham.compile(
        "function (I[M, N], K[N, L]) -> (O) { S[n : N] = +(K[n, l]); O = I * S; }",
        device=opencl,
        constants=["K"],
    )
    k = numbers(6, 5)
    x = gingham.asarray(numbers(4, 6), opencl)
    calls = 10
    for weights in (k, gingham.asarray(k, opencl)):
        y = f(x, weights).wait()
        count = 0
        for _ in range(calls):
            y = f(x, weights)
        np.testing.assert_array_equal(y.numpy(), numbers(4, 6) * k.sum(1))
        assert count == calls

    captured = numbers(3, 6)

    @gingham.jit(device=opencl)
    def g(x: Tensor) -> Any:
        return x + captured[0]

    for _ in range(2):
        np.testing.assert_array_equal(g(x).numpy(), numbers(4, 6) + captured[0])


def test_a_dropped_function_frees_its_memory(opencl: OpenCLDevice) -> None:
    f = gingham.compile(NEXT, device=opencl)
    f(gingham.asarray(numbers(10), opencl)).wait()
    gone = weakref.ref(f)
    gc.collect()
    gc.disable()
    try:
        del f
        assert gone() is None
    finally:
        gc.enable()


def test_constant_results_of_numpy_calls(device: str) -> None:
    """Memory of a result may be used again, and is then another constant."""
    f = gingham.compile(
        "function (I[M, N], K[N, L]) -> (O) { S[n : N] = +(K[n, l]); O = I * S; }",
        device=device,
        constants=["K"],
    )
    double = gingham.compile("function (A[N, M]) -> (B) { B = 2 * A; }", device=device)
    for seed in range(6):
        k = numbers(6, 5, seed=seed)
        weights = double(k)
        np.testing.assert_array_equal(
            f(np.ones((4, 6), np.float32), weights)[0], 2 * k.sum(1)
        )
        del weights


def test_jit_and_einsum_take_arrays(device: str) -> None:
    @gingham.jit(device=device)
    def both(x: Tensor, y: Tensor) -> dict[str, Any]:
        return {"sum": x + y, "difference": x - y}

    @gingham.jit(device=device)
    def one(x: Tensor, y: Tensor) -> Any:
        return x * y

    a, b = numbers(5), numbers(5, seed=1)
    x, y = gingham.asarray(a, device), gingham.asarray(b, device)
    for _ in range(2):
        results = both(x, y)
        assert isinstance(results["sum"], gingham.Array)
        np.testing.assert_array_equal(results["sum"].numpy(), a + b)
        np.testing.assert_array_equal(results["difference"].numpy(), a - b)
        np.testing.assert_array_equal(one(x, y).numpy(), a * b)
        np.testing.assert_array_equal(one(a, b), a * b)
    total = gingham.einsum("i,i->", x, y, device=device)
    assert isinstance(total, gingham.Array)
    assert float(total) == a @ b
    out = gingham.asarray(np.zeros(5, np.float32), device)
    assert gingham.einsum("i,i->i", x, y, out=out, device=device) is out
    np.testing.assert_array_equal(out.numpy(), a * b)


def test_unknown_and_missing_names(device: str) -> None:
    f = gingham.compile(ADD, device=device)
    x = gingham.asarray(numbers(4), device)
    with pytest.raises(GinghamError, match="no input 'X'"):
        f(x, X=x)
    with pytest.raises(GinghamError, match="missing input B"):
        f(x)
    with pytest.raises(GinghamError, match="2 input"):
        f(x, x, x)
    with pytest.raises(GinghamError, match="given twice"):
        f(x, x, A=x)
    with pytest.raises(GinghamError, match="N") as raised:
        f(x, gingham.asarray(numbers(5), device))
    assert "^" in str(raised.value)
    np.testing.assert_array_equal(f(x, x).numpy(), 2 * numbers(4))


# Lifetimes


def test_memory_lives_as_long_as_a_run_needs_it(
    opencl: OpenCLDevice, held_up: Held
) -> None:
    f = gingham.compile(ADD, device=opencl)
    host = numbers(1000)
    gone = weakref.ref(host)
    x = gingham.asarray(host, opencl)
    f(x, x).wait()
    with held_up(opencl):
        y = f(x, x)
        x.close()
        del x, host
        gc.collect()
        assert gone() is not None
        # What is made meanwhile must not be put in the same place.
        others = [numbers(1000, seed=n) for n in range(1, 5)]
    np.testing.assert_array_equal(y.numpy(), 2 * numbers(1000))
    assert len(others) == 4
    opencl.queue.release_ended()
    gc.collect()
    assert gone() is None


def test_runs_in_flight_do_not_fill_the_memory(opencl: OpenCLDevice) -> None:
    """Of large arrays only a few are kept for runs that nobody waits for."""
    details = replace(opencl.details, global_memory_bytes=1 << 20)
    small = OpenCLDevice("small.0", opencl.kind, details, opencl.handle)
    f = gingham.compile(
        "function (A[N, M], B[M]) -> (C) { E = exp(A * B); C[i : N] = +(E[i, j]); }",
        device=small,
    )
    b = gingham.asarray(numbers(256), small)
    f(numbers(256, 256), b).wait()
    alive: list[weakref.ref[Any]] = []
    most = 0
    for _ in range(60):
        a = np.ones((256, 256), np.float32)
        alive.append(weakref.ref(a))
        f(gingham.asarray(a, small), b)
        del a
        most = max(most, sum(each() is not None for each in alive))
    assert most <= 10


def test_a_dropped_result_is_computed_all_the_same(opencl: OpenCLDevice) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(numbers(10), opencl)
    for _ in range(2000):
        f(x)
    np.testing.assert_array_equal(f(x).numpy(), numbers(10) + 1)


def test_a_long_chain(opencl: OpenCLDevice) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(np.zeros(5, np.float32), opencl)
    kept: list[gingham.Array] = []
    for step in range(3000):
        x = f(x)
        if step % 500 == 0:
            kept.append(x)
    np.testing.assert_array_equal(x.numpy(), np.full(5, 3000))
    for number, each in enumerate(kept):
        np.testing.assert_array_equal(each.numpy(), np.full(5, 500 * number + 1))

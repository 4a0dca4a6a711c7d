"""Calls with arrays on two devices and from many threads."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from arrays_held_up import Held
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice

ADD = "function (A[N], B[N]) -> (C) { C = A + B; }"
NEXT = "function (A[N]) -> (B) { B = A + 1; }"
PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
SECONDS = 300
"""Longer than anything here takes; who waits so long waits forever."""


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


# Two devices


def test_arrays_of_another_device_are_refused(
    opencl: OpenCLDevice, other: OpenCLDevice
) -> None:
    f = gingham.compile(ADD, device=opencl)
    x, y = gingham.asarray(numbers(4), opencl), gingham.asarray(numbers(4), other)
    with pytest.raises(GinghamError, match=f"input 'B' is on {other.name}") as raised:
        f(x, y)
    assert "to(" in str(raised.value)
    with pytest.raises(GinghamError, match=f"'C' is on {other.name}"):
        f(x, x, out=y)
    np.testing.assert_array_equal(f(x, y.to(opencl)).numpy(), 2 * numbers(4))


def test_moving_shares_memory_or_copies(
    opencl: OpenCLDevice, other: OpenCLDevice
) -> None:
    x = gingham.asarray(numbers(4), opencl)
    assert x.to(opencl) is x
    assert x.to(opencl.name) is x
    y = x.to(other, copy=False)
    assert y.device is other
    assert np.shares_memory(x.numpy(), y.numpy())
    z = x.to(other, copy=True).wait()
    assert not np.shares_memory(x.numpy(), z.numpy())
    np.testing.assert_array_equal(z.numpy(), numbers(4))
    r = x.to("reference")
    np.testing.assert_array_equal(r.to(other).numpy(), numbers(4))
    same = gingham.asarray(x, other)
    assert np.shares_memory(x.numpy(), same.numpy())


def test_the_interpreter_shares_memory_in_order(
    opencl: OpenCLDevice, held_up: Held
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    g = gingham.compile(NEXT, device="reference")
    x, z = (gingham.asarray(numbers(4), opencl, copy=True) for _ in range(2))
    r = x.to("reference", copy=False)
    again = r.to(opencl, copy=False)
    assert np.shares_memory(x.numpy(), again.numpy())
    before = numbers(4)
    source = gingham.asarray(before, "reference")
    with held_up(opencl):
        f(z, out=x)
        # Whoever has the memory knows of the run.
        assert not (r.is_ready)
        assert not (again.is_ready)
    np.testing.assert_array_equal(g(r).numpy(), before + 2)
    with held_up(opencl):
        later = f(x)
        writer = threading.Thread(target=lambda: g(source, out=r))
        writer.start()
        time.sleep(0.1)
        assert writer.is_alive()
    writer.join(SECONDS)
    np.testing.assert_array_equal(later.numpy(), before + 2)
    np.testing.assert_array_equal(again.numpy(), before + 1)


def test_a_run_waits_for_another_device(
    opencl: OpenCLDevice, other: OpenCLDevice, held_up: Held
) -> None:
    f = gingham.compile(ADD, device=opencl)
    g = gingham.compile(NEXT, device=other)
    x = gingham.asarray(numbers(50), opencl)
    f(x, x).wait()
    with held_up(opencl):
        y = f(x, x)
        for copy in (None, True):
            moved = y.to(other, copy)
            z = g(moved)
            assert not z.is_ready
        with pytest.raises(TimeoutError):
            z.wait(0.02)
    np.testing.assert_array_equal(z.numpy(), 2 * numbers(50) + 1)


def test_out_waits_for_readers_on_another_device(
    opencl: OpenCLDevice, other: OpenCLDevice, held_up: Held
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    g = gingham.compile(NEXT, device=other)
    x = gingham.asarray(numbers(50), opencl, copy=True)
    zero = gingham.asarray(np.zeros(50, np.float32), opencl)
    moved = x.to(other)
    g(moved).wait()
    f(zero).wait()
    with held_up(other):
        y = g(moved)
        f(zero, out=x)
        time.sleep(0.02)
        assert not x.is_ready
    np.testing.assert_array_equal(y.numpy(), numbers(50) + 1)
    np.testing.assert_array_equal(x.numpy(), np.ones(50))
    np.testing.assert_array_equal(moved.numpy(), np.ones(50))


def test_to_and_fro(opencl: OpenCLDevice, other: OpenCLDevice) -> None:
    """A chain over two devices, of which nothing has ended when the last is begun."""
    functions = [gingham.compile(NEXT, device=device) for device in (opencl, other)]
    x = gingham.asarray(np.zeros(100, np.float32), opencl)
    for step in range(400):
        device, f = ((opencl, other)[step % 2], functions[step % 2])
        x = f(x.to(device, True if step % 7 == 0 else None))
    np.testing.assert_array_equal(x.wait(SECONDS).numpy(), np.full(100, 400))


# Threads


def test_many_threads(
    opencl: OpenCLDevice, other: OpenCLDevice, pool: ThreadPoolExecutor
) -> None:
    devices = (opencl, other)
    products = [gingham.compile(PRODUCT, device=device) for device in devices]
    nexts = [gingham.compile(NEXT, device=device) for device in devices]
    shared = [gingham.asarray(numbers(6, 6), device) for device in devices]

    def work(seed: int) -> None:
        for n in range(40):
            here = (seed + n) % 2
            there = 1 - here
            a = numbers(4 + seed % 3, 6, seed=100 * seed + n)
            x = products[here](gingham.asarray(a, devices[here]), shared[here])
            y = products[there](x.to(devices[there]), shared[there])
            b = numbers(6, seed=n)
            v = nexts[here](
                nexts[there](b + 0) if n % 3 else gingham.asarray(b, devices[here])
            )
            expected = a @ numbers(6, 6) @ numbers(6, 6)
            np.testing.assert_array_equal(y.numpy(), expected)
            np.testing.assert_array_equal(np.asarray(v), b + (2 if n % 3 else 1))
            np.testing.assert_array_equal(
                products[here](a, shared[here]).numpy(), a @ numbers(6, 6)
            )

    for done in [pool.submit(work, seed) for seed in range(8)]:
        done.result(5 * SECONDS)


def test_numpy_calls_beside_arrays(
    opencl: OpenCLDevice, held_up: Held, pool: ThreadPoolExecutor
) -> None:
    """A thread that waits for its results keeps no other from starting a run."""
    f = gingham.compile(ADD, device=opencl)
    a = numbers(64)
    x = gingham.asarray(a, opencl)
    f(x, x).wait()
    f(a, a)
    with held_up(opencl):
        waiting = pool.submit(f, a, a)
        time.sleep(0.02)
        started = pool.submit(f, x, x)
        y = started.result(SECONDS)
        assert not waiting.done()
        assert not y.is_ready
    np.testing.assert_array_equal(waiting.result(SECONDS), 2 * a)
    np.testing.assert_array_equal(y.numpy(), 2 * a)


def test_several_threads_wait_for_one_array(
    opencl: OpenCLDevice, held_up: Held
) -> None:
    f = gingham.compile(ADD, device=opencl)
    x = gingham.asarray(numbers(64), opencl)
    f(x, x).wait()
    with held_up(opencl):
        y = f(x, x)
        found: list[NDArray[Any]] = []
        threads = [
            threading.Thread(target=lambda: found.append(y.numpy())) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        assert not found
    for thread in threads:
        thread.join(SECONDS)
    assert len(found) == 4
    for each in found:
        np.testing.assert_array_equal(each, 2 * numbers(64))


EXIT = """
import sys
import numpy as np
import gingham

names = [d.name for d in gingham.devices() if not d.is_reference]
here = gingham.default_device()
there = gingham.device(names[1]) if len(names) > 1 else here.split([1])[0]
text = "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
f, g = (gingham.compile(text, device=device) for device in (here, there))
x = gingham.asarray(np.ones((300, 300), np.float32), here)
kept = []
for _ in range(30):
    x = f(x, x)
    y = x.to(there)
    y = g(y, y)
    x = y.to(here)
    kept.append(y)
print("end")
"""


def test_python_may_exit_while_runs_go_on(other: OpenCLDevice) -> None:
    result = subprocess.run(
        [sys.executable, "-c", EXIT], capture_output=True, text=True, timeout=900
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")

"""Views are locks, runs are queued: in which order things happen, and never a hang."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest
from plaidml_tensors import PRODUCT, SCALE, empty, integers, tensor

import gingham
from gingham import plaidml
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice

SECONDS = 300
"""Longer than anything here takes; who waits so long waits forever."""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


def test_a_run_waits_for_a_view_of_another_thread(
    ctx: plaidml.Context, dev: plaidml.Device, pool: ThreadPoolExecutor
) -> None:
    f = plaidml.Function(SCALE)
    x, y = tensor(ctx, dev, integers(3)), empty(ctx, dev, 3)
    other = empty(ctx, dev, 3)
    with x.mmap_current(ctx) as view:
        started = pool.submit(plaidml.run, ctx, f, {"X": x, "F": 2}, {"Y": y})
        invocation = started.result(SECONDS)
        # One that needs none of it does not wait behind it.
        free = tensor(ctx, dev, integers(3))
        plaidml.run(ctx, f, {"X": free, "F": 3}, {"Y": other}).wait()
        time.sleep(0.05)
        assert not invocation.is_done
        view[:] = 7
        view.writeback()
    np.testing.assert_array_equal(y.as_ndarray(ctx), np.full(3, 14))


def test_a_view_waits_for_runs_and_views(
    ctx: plaidml.Context, dev: plaidml.Device, pool: ThreadPoolExecutor
) -> None:
    x = tensor(ctx, dev, integers(3))
    with x.mmap_current(ctx) as view:
        waiting = pool.submit(x.as_ndarray, ctx)
        time.sleep(0.05)
        assert not waiting.done()
        view[:] = 5
        view.writeback()
    np.testing.assert_array_equal(waiting.result(SECONDS), np.full(3, 5))


def test_a_thread_never_waits_for_itself(
    ctx: plaidml.Context, dev: plaidml.Device, pool: ThreadPoolExecutor
) -> None:
    f = plaidml.Function(SCALE)
    x, y = tensor(ctx, dev, integers(3)), empty(ctx, dev, 3)
    with x.mmap_current(ctx):
        with pytest.raises(GinghamError, match="run of a function would wait forever"):
            plaidml.run(ctx, f, {"X": x, "F": 2}, {"Y": y})
        with pytest.raises(GinghamError, match="leave the 'with' statement"):
            x.as_ndarray(ctx)
        # Through a run of another thread it would be no better.
        run = pool.submit(plaidml.run, ctx, f, {"X": x, "F": 2}, {"Y": y})
        run.result(SECONDS)
        with pytest.raises(GinghamError, match="wait forever"):
            y.as_ndarray(ctx)
    np.testing.assert_array_equal(y.as_ndarray(ctx), 2 * integers(3))


def test_two_threads_never_wait_for_each_other(
    ctx: plaidml.Context, dev: plaidml.Device, pool: ThreadPoolExecutor
) -> None:
    tensors = [tensor(ctx, dev, integers(3, seed=n)) for n in range(2)]
    both = threading.Barrier(2)

    def crosswise(first: plaidml.Tensor, second: plaidml.Tensor) -> bool:
        with first.mmap_current(ctx):
            both.wait(SECONDS)
            try:
                second.as_ndarray(ctx)
            except GinghamError as error:
                return "wait forever" not in str(error)
            return True

    found = pool.map(crosswise, tensors, tensors[::-1], timeout=SECONDS)
    assert sorted(found) == [False, True]


def test_runs_that_read_see_what_was_there(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    """Each run sees the outputs of those before, also where names are reused."""
    f = plaidml.Function(SCALE)
    x, y = tensor(ctx, dev, integers(50)), empty(ctx, dev, 50)
    for step in range(20):
        source, target = (x, y) if step % 2 == 0 else (y, x)
        plaidml.run(ctx, f, {"X": source, "F": -1}, {"Y": target})
    np.testing.assert_array_equal(x.as_ndarray(ctx), integers(50))
    np.testing.assert_array_equal(y.as_ndarray(ctx), -integers(50))


def test_many_threads(
    ctx: plaidml.Context, dev: plaidml.Device, pool: ThreadPoolExecutor
) -> None:
    """Mixed programs on shared tensors and on own ones give what they give alone."""
    product, scale = plaidml.Function(PRODUCT), plaidml.Function(SCALE)
    shared = tensor(ctx, dev, integers(6, 6))
    total = tensor(ctx, dev, np.zeros(1, np.float32))
    step = plaidml.Function("function (T) -> (N) { N = T + 1; }")
    rounds = 15

    def work(seed: int) -> None:
        for n in range(rounds):
            a = integers(4 + seed % 3, 6, seed=100 * seed + n)
            mine = tensor(ctx, dev, a)
            c, d = empty(ctx, dev, len(a), 6), empty(ctx, dev, len(a), 6)
            plaidml.run(ctx, product, {"A": mine, "B": shared}, {"C": c})
            plaidml.run(ctx, scale, {"X": c, "F": seed}, {"Y": d})
            plaidml.run(ctx, step, {"T": total}, {"N": total})
            expected = seed * (a @ integers(6, 6))
            np.testing.assert_array_equal(d.as_ndarray(ctx), expected)

    for done in [pool.submit(work, seed) for seed in range(8)]:
        done.result(3 * SECONDS)
    assert total.as_ndarray(ctx) == 8 * rounds


def test_thousands_of_runs_wait_for_one_view(
    ctx: plaidml.Context, dev: plaidml.Device, pool: ThreadPoolExecutor
) -> None:
    """Each takes its place in no time, and they are started one after the other."""
    step = plaidml.Function("function (T) -> (N) { N = T + 1; }")
    x = tensor(ctx, dev, np.zeros(1, np.float32))
    y = empty(ctx, dev, 1)
    count = 2000

    def start() -> None:
        for _ in range(count):
            plaidml.run(ctx, step, {"T": x}, {"N": x})
            plaidml.run(ctx, step, {"T": x}, {"N": y})

    with x.mmap_current(ctx):
        pool.submit(start).result(2 * SECONDS)
    assert y.as_ndarray(ctx) == count + 1
    assert x.as_ndarray(ctx) == count


def test_closing_waits_for_runs(ctx: plaidml.Context) -> None:
    f = plaidml.Function(SCALE)
    with plaidml.Device(ctx) as dev:
        x, y = tensor(ctx, dev, integers(9)), empty(ctx, dev, 9)
        runs = [plaidml.run(ctx, f, {"X": x, "F": n}, {"Y": y}) for n in range(10)]
    assert all(run.is_done for run in runs)
    runs[-1].wait()


def test_closing_does_not_wait_for_views(
    ctx: plaidml.Context, pool: ThreadPoolExecutor
) -> None:
    f = plaidml.Function(SCALE)
    dev = plaidml.open_first_device(ctx)
    x, y = tensor(ctx, dev, integers(9)), empty(ctx, dev, 9)
    with x.mmap_current(ctx) as view:
        started = pool.submit(plaidml.run, ctx, f, {"X": x, "F": 2}, {"Y": y})
        invocation = started.result(SECONDS)
        pool.submit(dev.close).result(SECONDS)
        with pytest.raises(GinghamError, match="closed"):
            view[0]
    with pytest.raises(GinghamError, match="closed before the run"):
        invocation.wait()


def test_memory_is_free_when_nobody_uses_it(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    """Also that of runs whose outcome is known, and without looking for cycles."""
    f = plaidml.Function(SCALE)
    gc.collect()
    gc.disable()
    try:
        kept: list[plaidml.Invocation] = []
        buffers: list[ref[object]] = []
        for n in range(3):
            x, y = tensor(ctx, dev, integers(9)), empty(ctx, dev, 9)
            symbol = x.symbol
            kept.append(plaidml.run(ctx, f, {"X": x, "F": n}, {"Y": y}))
            y.as_ndarray(ctx)
            buffers += [ref[object](x.buffer), ref[object](y.buffer)]
            del x, y, symbol
        assert [each() for each in buffers] == [None] * len(buffers)
    finally:
        gc.enable()


def test_tensors_in_a_devices_own_memory(
    ctx: plaidml.Context, pool: ThreadPoolExecutor
) -> None:
    """Views are copies there, in one layout or another, and locks all the same."""
    found = gingham.default_device()
    if not isinstance(found, OpenCLDevice):
        pytest.skip("no OpenCL device")
    details = replace(
        found.details, host_unified_memory=False, shares_host_memory=False
    )
    card = OpenCLDevice("card.0", "gpu", details, found.handle)
    f = plaidml.Function(PRODUCT)
    with plaidml.Device(ctx, plaidml.DeviceConfig(card)) as dev:
        shape = plaidml.Shape(ctx, "float32", 4, 3, layout=(1, 0))
        x, y = plaidml.Tensor(dev, shape), tensor(ctx, dev, integers(3, 4))
        with x.mmap_discard(ctx) as view:
            view.copy_from_ndarray(integers(4, 3))
            view.writeback()
        z = empty(ctx, dev, 4, 4)
        for _ in range(3):
            plaidml.run(ctx, f, {"A": x, "B": y}, {"C": z})
        np.testing.assert_array_equal(
            z.as_ndarray(ctx), integers(4, 3) @ integers(3, 4)
        )
        with x.mmap_current(ctx) as view:
            started = pool.submit(
                plaidml.run, ctx, f, {"A": x, "B": y}, {"C": z}
            ).result(SECONDS)
            view[(0, 0)] = 7
            view.writeback()
        started.wait()
        changed = integers(4, 3)
        changed[0, 0] = 7
        np.testing.assert_array_equal(z.as_ndarray(ctx), changed @ integers(3, 4))

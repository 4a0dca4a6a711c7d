"""The pool of a device's memory among threads, and in the midst of runs."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from memory_pools import (
    CHAIN,
    CONSTANTS,
    Array,
    floats,
    like,
    used,
)

import gingham
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.handles.pool import OutOfBudget


def run_at_once(works: Sequence[Callable[[], None]]) -> None:
    with ThreadPoolExecutor(len(works)) as executor:
        for future in [executor.submit(work) for work in works]:
            future.result()


def test_memory_may_be_returned_in_the_midst_of_anything(
    opencl_device: OpenCLDevice,
) -> None:
    # As a garbage collection does that the pool itself sets off.
    pool = like(opencl_device).pool
    leases = [pool.reserve(10, "tensors") for _ in range(10)]
    with vars(pool)["_lock"]:
        leases.clear()
    assert pool.used_bytes == 0


def test_threads_count_right(device: OpenCLDevice) -> None:
    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        held: list[object] = []
        for _ in range(200):
            held.append(allocate(device, (int(generator.integers(1, 5000)),), np.uint8))
            if len(held) > 5:
                held.pop(int(generator.integers(0, 5)))

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(work, range(8)))
    assert used(device) == 0
    assert device.pool.evict() >= 0
    assert device.pool.cached_bytes == 0


def test_programs_share_too_little_memory_among_threads(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two results and one scratch buffer fit, the memory of all programs does not.
    size = 128 * 128 * 4
    is_own = not device.details.host_unified_memory
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(size * (16 if is_own else 8)))
    failures: list[object] = []

    def work(seed: int) -> None:
        function = gingham.compile(CHAIN, device=device)
        a, b = floats(128, 128, seed=seed), floats(128, 128, seed=seed + 9)
        wanted = (a @ b) @ (a @ b)
        for _ in range(30):
            try:
                result = function(a, b)
            except OutOfBudget:
                continue
            if not np.array_equal(result, wanted):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    gc.collect()
    device.pool.evict()
    assert used(device) == 0


def test_memory_is_given_up_in_the_midst_of_runs(device: OpenCLDevice) -> None:
    a, b = floats(96, 80), floats(80, 96, seed=1)
    i, k = floats(96, 80), floats(80, 64)
    product, scaled = (a @ b) @ (a @ b), i * k.sum(axis=1)
    chain = gingham.compile(CHAIN, device=device)
    constant = gingham.compile(CONSTANTS, device=device, constants=["K"])
    wrong: list[str] = []
    ended = threading.Event()

    def check(name: str, result: Array, wanted: Array) -> None:
        if not np.array_equal(result, wanted):
            wrong.append(name)

    def call() -> None:
        for _ in range(20):
            check("call", chain(a, b), product)
            check("constant", constant(i, k), scaled)

    def start() -> None:
        arrays = [gingham.asarray(each, device=device) for each in (a, b, i, k)]
        for _ in range(10):
            started = [chain(*arrays[:2]) for _ in range(4)]
            later = constant(*arrays[2:])
            for each in started:
                check("array", each.numpy(), product)
            check("constant array", later.numpy(), scaled)

    def evict() -> None:
        while not ended.is_set():
            device.pool.evict()
            ended.wait(0.05)

    evicting = threading.Thread(target=evict)
    evicting.start()
    try:
        run_at_once([call, start, call, start])
    finally:
        ended.set()
        evicting.join()
    assert wrong == []

"""The pool of a device's memory: counting, reuse, eviction, failures."""

from __future__ import annotations

import gc
import re
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from injected import OUT_OF_MEMORY, opencl_error
from memory_pools import (
    CHAIN,
    CONSTANTS,
    MIB,
    count_buffers,
    floats,
    like,
    own,
    used,
)

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.handles.pool import Idle, MemoryPool, OutOfBudget
from gingham.targets.opencl.memory.copies import upload


def test_buffers_are_counted_until_nothing_refers_to_them(device: OpenCLDevice) -> None:
    assert used(device) == 0
    first = allocate(device, (1024, 256), np.float32)
    assert device.pool.used_bytes == 1024 * 1024
    second = allocate(device, (MIB,), np.uint8, for_host=False, purpose="scratch")
    assert device.pool.used_for == {"tensors": 1024 * 1024, "scratch": MIB}
    del first
    assert device.pool.used_bytes == MIB
    del second
    assert device.pool.used_bytes == 0
    assert device.pool.peak_bytes == 1024 * 1024 + MIB


def test_memory_of_an_array_is_counted_as_long_as_the_array(
    opencl_device: OpenCLDevice,
) -> None:
    if not opencl_device.details.host_unified_memory:
        pytest.skip("the device has memory of its own")
    device = like(opencl_device)
    buffer = allocate(device, (1024,), np.float32)
    assert buffer.host is not None
    view = buffer.host[5:10]
    del buffer
    assert device.pool.used_bytes == 4096
    del view
    assert device.pool.used_bytes == 0


def test_arrays_of_the_caller_are_not_counted(opencl_device: OpenCLDevice) -> None:
    if not opencl_device.details.host_unified_memory:
        pytest.skip("the device has memory of its own")
    device = like(opencl_device)
    buffer = upload(device.queue, floats(1024))
    assert buffer.size_in_bytes == 4096
    assert device.pool.used_bytes == 0


def test_a_device_with_its_own_memory_reuses_blocks(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = own(opencl_device)
    made = count_buffers(monkeypatch)
    for _ in range(5):
        allocate(device, (MIB,), np.uint8)
    assert made == [MIB]
    assert (device.pool.used_bytes, device.pool.cached_bytes) == (0, MIB)
    # A little smaller is the same class, much smaller is not.
    similar = allocate(device, (MIB - 1000,), np.uint8)
    other = allocate(device, (MIB // 2,), np.uint8)
    assert made == [MIB, MIB // 2]
    assert device.pool.used_bytes == MIB * 3 // 2
    del similar, other
    assert device.pool.cached_bytes == MIB * 3 // 2
    assert device.pool.evict() == MIB * 3 // 2
    assert device.pool.cached_bytes == 0


def test_free_blocks_go_first_the_oldest_of_them(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", "4 MiB")
    device = own(opencl_device)
    allocate(device, (MIB,), np.uint8)
    allocate(device, (MIB // 2,), np.uint8)
    allocate(device, (MIB,), np.uint8)
    assert device.pool.cached_bytes == MIB * 3 // 2
    large = allocate(device, (3 * MIB,), np.uint8)
    assert device.pool.cached_bytes == MIB
    with pytest.raises(OutOfBudget) as caught:
        allocate(device, (2 * MIB,), np.uint8)
    assert caught.value.message == (
        "no memory for a buffer of shape 2097152 and type uint8: device "
        f"'{device.name}' has no room for 2.0 MiB: 3.0 MiB of a budget of 4.0 MiB are "
        "in use (tensors 3.0 MiB)"
    )
    assert "memory_budget" in (caught.value.hint or "")
    del large
    assert allocate(device, (4 * MIB,), np.uint8).size_in_bytes == 4 * MIB


def test_programs_that_do_not_run_give_up_their_scratch_memory(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [(floats(n, n), floats(n, n, seed=1)) for n in (300, 310, 320)]
    functions = [gingham.compile(CHAIN, device=device) for _ in inputs]
    expected = [(a @ b) @ (a @ b) for a, b in inputs]
    # Room for one program at a time.
    budget = 0
    for function, (a, b) in zip(functions, inputs, strict=True):
        function(a, b)
        device.pool.evict()
        alone = like(device)
        gingham.compile(CHAIN, device=alone)(a, b)
        budget = max(budget, alone.pool.peak_bytes + 70_000)
    assert used(device) == 0
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(budget))
    for _ in range(3):
        for function, (a, b), wanted in zip(functions, inputs, expected, strict=True):
            np.testing.assert_array_equal(function(a, b), wanted)
    assert device.pool.peak_bytes <= budget
    functions.clear()
    function = None
    device.pool.evict()
    assert used(device) == 0


def test_what_constants_gave_goes_last(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = gingham.compile(CONSTANTS, device=device, constants=["K"])
    i, k = floats(300, 200), floats(200, 100)
    wanted = i * k.sum(axis=1)
    np.testing.assert_array_equal(function(i, k), wanted)
    constants = device.pool.used_for["constants"]
    assert constants >= 800
    rest = used(device) - constants
    # Free memory is enough for this; for the next, constants have to go.
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(constants + rest + 4096))
    small = allocate(device, (4096,), np.uint8)
    assert device.pool.used_for["constants"] == constants
    del small
    large = allocate(device, (constants + rest + 4096,), np.uint8)
    assert "constants" not in device.pool.used_for
    del large
    device.pool.evict()
    monkeypatch.delenv("GINGHAM_MEMORY_BUDGET")
    for _ in range(2):
        np.testing.assert_array_equal(function(i, k), wanted)
    assert device.pool.used_for["constants"] == constants


def test_a_program_that_cannot_fit_fails_before_anything_is_allocated(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = gingham.compile(CHAIN, device=device)
    a, b = floats(512, 512), floats(512, 512, seed=1)
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", "1.5 MiB")
    made = count_buffers(monkeypatch)
    with pytest.raises(OutOfBudget) as caught:
        function(a, b)
    assert made == []
    assert used(device) == 0
    lines = caught.value.message.splitlines()
    begin = rf"the program needs \d\.\d MiB on device '{device.name}', but 0 B of a "
    assert re.fullmatch(rf"{begin}budget of 1\.5 MiB are in use", lines[0])
    assert "  T: 512x512, float32, 1.0 MiB, between kernels" in lines
    assert "  C: 512x512, float32, 1.0 MiB, a result" in lines
    is_own = not device.details.host_unified_memory
    assert ("  A: 512x512, float32, 1.0 MiB, an input" in lines) is is_own
    monkeypatch.delenv("GINGHAM_MEMORY_BUDGET")
    np.testing.assert_array_equal(function(a, b), (a @ b) @ (a @ b))


@pytest.mark.parametrize("failing", range(5))
def test_a_failing_allocation_leaves_nothing_behind(
    failing: int, device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = gingham.compile(CHAIN, device=device)
    a, b = floats(64, 48), floats(48, 64, seed=1)
    wanted = (a @ b) @ (a @ b)
    real, count = cl.Buffer, 0

    def fail(*arguments: Any, **rest: Any) -> cl.Buffer:
        nonlocal count
        count += 1
        # Twice, as a first failure makes the pool let go of what it can.
        if count in (failing + 1, failing + 2):
            raise opencl_error(OUT_OF_MEMORY)
        return real(*arguments, **rest)

    with monkeypatch.context() as patch:
        patch.setattr(cl, "Buffer", fail)
        try:
            result = function(a, b)
        except GinghamError as error:
            message = error.message
        else:
            message = "could not allocate the memory"
            np.testing.assert_array_equal(result, wanted)
            del result
    assert "could not allocate the memory" in message
    device.pool.evict()
    assert used(device) == 0
    np.testing.assert_array_equal(function(a, b), wanted)
    del function
    device.pool.evict()
    assert used(device) == 0
    assert device.pool.cached_bytes == 0


def test_a_refusing_driver_gets_back_what_is_cached(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = own(opencl_device)
    allocate(device, (MIB,), np.uint8)
    real = cl.Buffer

    def refuse(*arguments: Any, **rest: Any) -> cl.Buffer:
        if device.pool.cached_bytes:
            raise opencl_error(OUT_OF_MEMORY)
        return real(*arguments, **rest)

    monkeypatch.setattr(cl, "Buffer", refuse)
    assert allocate(device, (2 * MIB,), np.uint8).size_in_bytes == 2 * MIB


def test_holders_are_asked_in_the_order_of_their_last_use(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Holding:
        def __init__(self, pool: MemoryPool, name: str, last_used: float) -> None:
            self.name = name
            self.last_used = last_used
            self.memory: dict[str, object] = {
                "scratch": pool.reserve(100, "scratch"),
                "constants": pool.reserve(100, "constants"),
            }
            pool.add(self)

        def give_up(self, what: Idle) -> None:
            asked.append(f"{what} of {self.name}")
            self.memory.pop(what, None)

    asked: list[str] = []
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", "400")
    pool = like(opencl_device).pool
    holders = [Holding(pool, "new", 2.0), Holding(pool, "old", 1.0)]
    first = pool.reserve(100, "tensors")
    assert asked == ["scratch of old"]
    asked.clear()
    second = pool.reserve(200, "tensors")
    assert asked == ["scratch of old", "scratch of new", "constants of old"]
    asked.clear()
    with pytest.raises(OutOfBudget):
        pool.reserve(101, "tensors")
    assert first.size + second.size == pool.used_bytes == 300
    # Those that are gone are not asked.
    del holders
    gc.collect()
    asked.clear()
    pool.evict()
    assert asked == []

"""The budget of a device's memory: where it is from, and what it counts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from memory_pools import CHAIN, MIB, count_buffers, floats, like, own, used

import gingham
from gingham.errors import GinghamError
from gingham.targets import free_memory
from gingham.targets.free_memory import HostMemory, host_memory
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles import pool as memory_pool
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.handles.pool import OutOfBudget


@pytest.mark.parametrize("size", [1, 512, 513, 70_000, MIB + 1, 17 * MIB, 1000 * MIB])
def test_size_classes_waste_an_eighth_at_most(
    size: int, opencl_device: OpenCLDevice
) -> None:
    pool = own(opencl_device).pool
    rounded = pool.size_class(size)
    assert size <= rounded < max(size * 1.13, 1025)
    assert pool.size_class(rounded) == rounded


def test_results_in_the_callers_arrays_need_no_room(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not opencl_device.details.host_unified_memory:
        pytest.skip("the device has memory of its own")
    function = gingham.compile(CHAIN, device=like(opencl_device))
    a, b = floats(512, 512), floats(512, 512, seed=1)
    report = function.memory(a, b)
    budget = report.peak + report.results // 2
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(budget))
    out = np.empty((512, 512), np.float32)
    assert function(a, b, out=out) is out
    np.testing.assert_array_equal(out, (a @ b) @ (a @ b))
    with pytest.raises(OutOfBudget):
        function(a, b)


@pytest.mark.parametrize("budget", ["4", "1 KiB"])
def test_a_device_works_however_little_programs_may_use(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, budget: str
) -> None:
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", budget)
    assert device.failure() is None
    with pytest.raises(OutOfBudget, match=f"of a budget of {budget[0]}"):
        allocate(device, (1024,), np.float32)
    square = gingham.compile("function (A[N]) -> (B) { B = A * A; }", device=device)
    with pytest.raises(OutOfBudget, match="the program needs"):
        square(np.ones(1024, np.float32))


def test_what_does_not_fit_is_named_at_its_place(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", "1 MiB")
    text = (
        "function (A[N]) -> (C) {\n  B[i, j : N, N] = +(A[i] * A[j]);\n  C = B * 2;\n}"
    )
    with pytest.raises(OutOfBudget, match=r"C: 1024x1024, float32, 4.0 MiB") as caught:
        gingham.compile(text, device=device)(floats(1024))
    assert caught.value.location is not None
    assert caught.value.location.line in (2, 3)
    assert used(device) == 0


def test_addresses_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    def limited_to(size: int) -> HostMemory:
        def limits(what: int) -> tuple[int, int]:
            return size, size

        monkeypatch.setattr("resource.getrlimit", limits)
        memory = host_memory()
        assert memory is not None
        return memory

    assert limited_to(1 << 60).total < 1 << 60
    memory = limited_to(1 << 20)
    assert (memory.total, memory.available) == (1 << 20, 0)


def test_sizes_beyond_the_address_space(device: OpenCLDevice) -> None:
    a = floats(4)
    for size in (1 << 40, 1 << 59):
        text = f"function (A[N]) -> (C) {{ C[i : {size}] = +(A[i]); }}"
        message = r"C of shape \d+ and type float32 needs .* TiB, and device "
        message += re.escape(repr(device.name))
        with pytest.raises(GinghamError, match=message) as caught:
            gingham.compile(text, device=device)(a)
        assert caught.value.location is not None
        assert (caught.value.location.line, caught.value.location.column) == (1, 26)
    with pytest.raises(GinghamError, match="can not hold a buffer"):
        allocate(device, (1 << 70,), np.float64)
    assert used(device) == 0


def test_budgets(opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = like(opencl_device, host_unified_memory=True).pool
    apart = like(
        opencl_device,
        host_unified_memory=False,
        shares_host_memory=False,
        global_memory_bytes=1000,
    ).pool
    assert apart.budget_bytes == 900
    memory = HostMemory(total=10_000 * MIB, available=4000 * MIB, resident=100 * MIB)
    monkeypatch.setattr(memory_pool, "host_memory", lambda: memory)
    assert shared.budget_bytes == 4000 * MIB
    # What is not touched yet is still called available.
    lease = shared.reserve(3000 * MIB, "tensors")
    assert shared.budget_bytes == 4000 * MIB - 2900 * MIB + 3000 * MIB
    with pytest.raises(OutOfBudget):
        shared.reserve(1101 * MIB, "tensors")
    del lease
    assert shared.reserve(3900 * MIB, "tensors").size == 3900 * MIB
    gingham.configure(memory_budget="25%")
    assert (shared.budget_bytes, apart.budget_bytes) == (2500 * MIB, 250)
    gingham.configure(memory_budget=12345)
    assert (shared.budget_bytes, apart.budget_bytes) == (12345, 12345)
    gingham.configure(memory_budget=None)
    monkeypatch.setattr(memory_pool, "host_memory", lambda: None)
    total = opencl_device.details.global_memory_bytes
    assert like(opencl_device).pool.budget_bytes == int(total * 0.9)


def test_free_memory_is_within_the_limits_of_all_groups(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    meminfo = "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\n"
    monkeypatch.setattr(free_memory, "_MEMORY", write("meminfo", meminfo))
    monkeypatch.setattr(free_memory, "_OWN_PAGES", write("statm", "9 3 1 1 0 1 0\n"))
    groups = write("cgroup", "0::/a/b\n5:cpu:/x\n")
    monkeypatch.setattr(free_memory, "_GROUPS", groups)
    mount = tmp_path / "groups"
    second = replace(free_memory.SECOND_VERSION, mount=mount)
    first = replace(free_memory.FIRST_VERSION, mount=mount / "memory")
    monkeypatch.setattr(free_memory, "SECOND_VERSION", second)
    monkeypatch.setattr(free_memory, "FIRST_VERSION", first)

    def figures() -> tuple[int, int]:
        memory = free_memory.host_memory()
        assert memory is not None
        assert memory.resident % 3 == 0
        return memory.total // 1024, memory.available // 1024

    assert figures() == (1000, 600)
    write("groups/a/b/memory.max", "max\n")
    write("groups/a/b/memory.current", "0\n")
    write("groups/a/b/memory.stat", "anon 0\n")
    assert figures() == (1000, 600)
    write("groups/a/memory.max", f"{500 << 10}\n")
    write("groups/a/memory.current", f"{300 << 10}\n")
    write("groups/a/memory.stat", f"anon 5\ninactive_file {50 << 10}\n")
    assert figures() == (500, 250)
    # The first version, in a container that shows its own group only.
    write("cgroup", "7:cpu,memory:/docker/123\n0::/\n")
    write("groups/memory/memory.limit_in_bytes", f"{400 << 10}\n")
    write("groups/memory/memory.usage_in_bytes", f"{399 << 10}\n")
    write("groups/memory/memory.stat", "total_inactive_file 0\n")
    assert figures() == (400, 1)
    write("groups/memory/memory.usage_in_bytes", f"{500 << 10}\n")
    assert figures() == (400, 0)
    write("meminfo", "nothing")
    assert free_memory.host_memory() is None


def test_usage_is_shown(device: OpenCLDevice) -> None:
    buffer = allocate(device, (MIB,), np.uint8)
    usage = gingham.memory_usage(device)
    assert (usage.used, usage.peak, usage.cached) == (MIB, MIB, 0)
    assert usage.used_for == {"tensors": MIB}
    assert usage.budget == device.pool.budget_bytes or usage.budget > MIB
    assert "used       1.0 MiB\n  tensors  1.0 MiB\n" in str(usage)
    assert buffer.size_in_bytes == MIB
    with pytest.raises(GinghamError, match="memory of device 'reference' is NumPy's"):
        gingham.memory_usage("reference")
    assert gingham.memory_usage().device == gingham.default_device().name


def test_parts_of_a_device_share_its_budget(opencl_device: OpenCLDevice) -> None:
    device = like(opencl_device)
    if not device.details.host_unified_memory or device.details.compute_units < 2:
        pytest.skip("the device can not be divided")
    first, second = device.split([1, 1])
    buffers = [allocate(part, (MIB,), np.uint8) for part in (first, second, device)]
    assert device.pool.used_bytes == 3 * MIB
    assert first.pool is second.pool is device.pool
    buffers.clear()
    assert device.pool.used_bytes == 0


def test_arrays_are_refused_before_anything_is_allocated(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = like(opencl_device)
    function = gingham.compile(CHAIN, device=device)
    a, b = floats(512, 512), floats(512, 512, seed=1)
    arrays = [gingham.asarray(each, device=device) for each in (a, b)]
    before = used(device)
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(before + 3 * MIB // 2))
    made = count_buffers(monkeypatch)
    with pytest.raises(OutOfBudget) as caught:
        function(*arrays)
    assert made == []
    assert "  T: 512x512, float32, 1.0 MiB, between kernels" in caught.value.message
    assert "  C: 512x512, float32, 1.0 MiB, a result" in caught.value.message
    monkeypatch.delenv("GINGHAM_MEMORY_BUDGET")
    np.testing.assert_array_equal(function(*arrays).numpy(), (a @ b) @ (a @ b))

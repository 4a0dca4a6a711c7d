"""Copies of large arrays by way of pinned memory: every size, and what fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from memory_pools import own

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl import small_calls
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.memory import staging
from gingham.targets.opencl.memory.staging import read_staged, write_staged

PIECE = 1 << 12


@pytest.fixture
def apart(opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch) -> OpenCLDevice:
    """A device with memory of its own, for which small arrays are large."""
    monkeypatch.setattr(staging, "SMALLEST", 3 * PIECE)
    monkeypatch.setattr(small_calls, "LARGEST", 2 * PIECE)
    monkeypatch.setattr(staging, "_PIECE", PIECE)
    monkeypatch.setattr(staging, "_SMALLEST_PIECE", PIECE // 4)
    monkeypatch.setattr(staging, "_MOST_LANES", 3)
    monkeypatch.setattr(staging, "core_count", lambda: 3)
    device = own(opencl_device)
    device.trust()
    return device


@pytest.mark.parametrize(
    "size",
    [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 6 * PIECE + 5, 9 * PIECE, 50_000],
)
def test_all_bytes_arrive(apart: OpenCLDevice, size: int) -> None:
    host = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    buffer = allocate(apart, (size,), np.uint8)
    write_staged(buffer, host)
    back = np.zeros(size + 2, np.uint8)
    read_staged(buffer, back[1:-1])
    np.testing.assert_array_equal(back[1:-1], host)
    assert back[0] == back[-1] == 0


def test_large_arrays_go_that_way(
    apart: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = staging.__dict__["_Staging"].copy
    directions: list[bool] = []

    def copy(self: Any, *arguments: Any, is_write: bool) -> None:
        directions.append(is_write)
        real(self, *arguments, is_write=is_write)

    monkeypatch.setattr(staging.__dict__["_Staging"], "copy", copy)
    add = gingham.compile(
        "function (A[N]) -> (B) { B = A + 1; }", device=apart, hardware="cpu-avx2"
    )
    large = np.arange(2 * PIECE + 3, dtype=np.float32)
    small = large[:100]
    assert (add(small) == small + 1).all()
    assert (gingham.asarray(small, device=apart).numpy() == small).all()
    assert directions == []
    assert (add(large) == large + 1).all()
    assert directions == [True, False]
    array = gingham.asarray(large, device=apart)
    result = add(array)
    assert (result.numpy() == large + 1).all()
    assert directions == [True, False, True, False]
    # What is written to afterwards comes behind.
    again = array.numpy()
    add(result, out=array)
    assert (again == large).all()
    assert (array.numpy() == large + 2).all()
    with gingham.profile() as measured:
        array.numpy()
    assert [each.kind for each in measured.commands] == ["transfer"]


@pytest.mark.parametrize("is_write", [False, True])
def test_a_failing_device_is_an_error_once_all_threads_have_ended(
    apart: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, is_write: bool
) -> None:
    host = np.ones(12 * PIECE, np.uint8)
    buffer = allocate(apart, host.shape, np.uint8)
    real: Callable[..., cl.Event] = cl.enqueue_copy
    begun: list[int] = []

    def copy(*arguments: Any, **named: Any) -> cl.Event:
        begun.append(1)
        if len(begun) == 4:
            cl.Buffer(apart.context, cl.mem_flags.READ_WRITE, 0)
        return real(*arguments, **named)

    monkeypatch.setattr(cl, "enqueue_copy", copy)
    with pytest.raises(GinghamError, match=r"copying (to|from) device"):
        (write_staged if is_write else read_staged)(buffer, host)
    count = len(begun)
    (write_staged if is_write else read_staged)(buffer, host)
    assert len(begun) == count + 12

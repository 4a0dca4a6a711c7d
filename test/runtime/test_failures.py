"""What fails on a device: an error at the call that caused it, and nothing else hurt.

The failures are injected between Gingham and OpenCL: in building, allocating, launching
and running, and a device that is lost in the middle of a chain of calls.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from injected import (
    NOT_AVAILABLE,
    OUT_OF_MEMORY,
    OUT_OF_RESOURCES,
    Faults,
    opencl_error,
)
from memory_pools import floats, like, own
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl import small_calls
from gingham.targets.opencl.builds import driver
from gingham.targets.opencl.devices.device import OpenCLDevice

Array = NDArray[Any]

# Two launches, as a product is computed of a product.
CHAIN = """function (A[M, K], B[K, N]) -> (C) {
  T[i, j : M, N] = +(A[i, k] * B[k, j]);
  C[i, j : M, N] = +(T[i, k] * T[k, j]);
}
"""

SCALE = "function (A[M, N]) -> (B) { B = 2 * A; }"


@pytest.fixture(params=["shared", "own"])
def device(
    request: pytest.FixtureRequest,
    opencl_device: OpenCLDevice,
    monkeypatch: pytest.MonkeyPatch,
) -> OpenCLDevice:
    """The default device with a pool of its own, as it is and with its own memory."""
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    return (own if request.param == "own" else like)(opencl_device)


A, B = floats(48, 40), floats(40, 48, seed=1)
PRODUCT = (A @ B) @ (A @ B)


def used(device: OpenCLDevice) -> int:
    gc.collect()
    device.pool.evict()
    return device.pool.used_bytes


def test_a_failing_build_is_told_and_forgotten(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sizes of its own, as what was built before is not built again.
    a, b = floats(49, 41), floats(41, 49, seed=1)

    def refuse(*_: object) -> None:
        raise opencl_error(OUT_OF_RESOURCES, "clBuildProgram")

    scale = gingham.compile(SCALE, device=device)
    chain = gingham.compile(CHAIN, device=device)
    np.testing.assert_array_equal(scale(A), 2 * A)
    with monkeypatch.context() as patch:
        patch.setattr(driver, "_build", refuse)
        for _ in range(2):
            with pytest.raises(GinghamError) as caught:
                chain(a, b)
            assert caught.value.message.startswith(
                f"building OpenCL C for device '{device.name}'"
            )
            assert "OUT_OF_RESOURCES" in caught.value.message
        np.testing.assert_array_equal(scale(A), 2 * A)
    np.testing.assert_array_equal(chain(a, b), (a @ b) @ (a @ b))
    del scale, chain
    assert used(device) == 0


@pytest.mark.parametrize("number", [0, 1])
def test_a_refused_launch_is_told_with_its_place(
    number: int, device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    chain = gingham.compile(CHAIN, device=device)
    before = chain(A, B)
    np.testing.assert_array_equal(before, PRODUCT)
    # A program may be one launch where its operations are put together.
    if number >= faults.launches:
        pytest.skip("the program has one launch")
    faults.launches = 0
    faults.refuses = lambda launch: launch == number
    with pytest.raises(GinghamError) as caught:
        chain(A, B)
    error = caught.value
    assert error.message.startswith("launching kernel")
    assert "OUT_OF_RESOURCES" in error.message
    assert error.location is not None
    assert error.location.line in (2, 3)
    # The line of the program is shown.
    assert " = +(" in str(error)
    faults.heal()
    np.testing.assert_array_equal(before, PRODUCT)
    np.testing.assert_array_equal(chain(A, B), PRODUCT)
    # An error refers to what the calls in its traceback use.
    del before, chain, caught, error
    assert used(device) == 0


def test_a_launch_that_fails_while_it_runs(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    chain = gingham.compile(CHAIN, device=device)
    other = gingham.compile(SCALE, device=device)
    scaled = other(A)
    faults.launches = 0
    faults.breaks = lambda _: True
    for _ in range(3):
        with pytest.raises(GinghamError, match="OUT_OF_RESOURCES") as caught:
            chain(A, B)
        assert caught.value.location is not None
        # An error refers to what the calls in its traceback use.
        del caught
    faults.heal()
    np.testing.assert_array_equal(scaled, 2 * A)
    np.testing.assert_array_equal(other(A), 2 * A)
    np.testing.assert_array_equal(chain(A, B), PRODUCT)
    del scaled, other, chain
    assert used(device) == 0


def test_a_failing_launch_leaves_out_alone_or_filled(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    chain = gingham.compile(CHAIN, device=device)
    out = np.zeros((48, 48), np.float32)
    faults.refuses = lambda _: True
    with pytest.raises(GinghamError):
        chain(A, B, out=out)
    faults.heal()
    assert chain(A, B, out=out) is out
    np.testing.assert_array_equal(out, PRODUCT)


def test_a_failing_allocation_hurts_no_other_call(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = gingham.compile(CHAIN, device=device)
    scale = gingham.compile(SCALE, device=device)
    scaled = scale(A)

    def refuse(*_: object, **__: object) -> None:
        raise opencl_error(OUT_OF_MEMORY, "clCreateBuffer")

    with monkeypatch.context() as patch:
        patch.setattr(cl, "Buffer", refuse)
        with pytest.raises(GinghamError, match="could not allocate the memory"):
            chain(A, B)
    np.testing.assert_array_equal(scaled, 2 * A)
    np.testing.assert_array_equal(scale(A), 2 * A)
    np.testing.assert_array_equal(chain(A, B), PRODUCT)
    del scaled, scale, chain
    assert used(device) == 0


def test_a_device_that_is_lost_in_a_chain_of_calls(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    faults.code = NOT_AVAILABLE
    scale = gingham.compile(SCALE, device=device)
    value, results = A, [A]
    scale(A)
    faults.launches = 0
    faults.refuses = lambda launch: launch >= 5
    for step in range(8):
        if step < 5:
            value = scale(value)
            results.append(value)
            continue
        with pytest.raises(GinghamError, match="the device is not available"):
            scale(value)
    # What was computed before is still there.
    for power, result in enumerate(results):
        np.testing.assert_array_equal(result, 2**power * A)
    faults.heal()
    np.testing.assert_array_equal(scale(value), 64 * A)


@pytest.mark.parametrize("how", ["refuses", "breaks"])
def test_arrays_of_a_chain_on_a_lost_device(
    how: str, device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    faults.code = NOT_AVAILABLE
    scale = gingham.compile(SCALE, device=device)
    start = gingham.asarray(A, device=device)
    np.testing.assert_array_equal(scale(start).numpy(), 2 * A)
    faults.launches = 0
    if how == "refuses":
        faults.refuses = lambda launch: launch == 2
    else:
        faults.breaks = lambda launch: launch == 2
    arrays = [start]
    failure: GinghamError | None = None
    for _ in range(5):
        try:
            arrays.append(scale(arrays[-1]))
        except GinghamError as error:
            failure = error
            break
    if how == "refuses":
        # The call that the device refuses raises, those before it stay.
        assert failure is not None
        assert "the device is not available" in failure.message
        assert len(arrays) == 3
    good = arrays
    if how == "breaks":
        # Without events only what is known to have ended is good.
        good = arrays[: 1 if device.queue.is_bare else 3]
    for power, array in enumerate(good):
        np.testing.assert_array_equal(array.numpy(), 2**power * A)
    array = start
    for array in arrays[len(good) :]:
        with pytest.raises(GinghamError, match="the device is not available"):
            array.numpy()
    faults.heal()
    np.testing.assert_array_equal(scale(good[-1]).numpy(), 2 ** len(good) * A)
    del arrays, good, array, start
    failure = None
    del scale
    assert used(device) == 0


def call_often(function: gingham.Function) -> None:
    for _ in range(100):
        function(A, B)


def test_memory_is_returned_however_often_calls_fail(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    chain = gingham.compile(CHAIN, device=device)
    chain(A, B)
    gc.collect()
    before = device.pool.used_bytes
    for number in range(50):
        faults.refuses = lambda launch: launch % 2 == 0
        faults.breaks = lambda launch: launch % 3 == 0
        with pytest.raises(GinghamError):
            call_often(chain)
        faults.heal()
        if number % 10 == 0:
            np.testing.assert_array_equal(chain(A, B), PRODUCT)
    gc.collect()
    assert device.pool.used_bytes <= before
    del chain
    assert used(device) == 0


def test_errors_are_not_tracebacks_of_pyopencl(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise opencl_error(NOT_AVAILABLE, "clEnqueueCopyBuffer")

    chain = gingham.compile(CHAIN, device=device)
    monkeypatch.setattr(small_calls, "LARGEST", 0)
    wanted = chain(A, B)
    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_copy", fail)
        patch.setattr(cl, "enqueue_map_buffer", fail)
        if device.details.host_unified_memory:
            np.testing.assert_array_equal(chain(A, B), wanted)
        else:
            with pytest.raises(
                GinghamError, match=r"copying to device .* not available"
            ):
                chain(A, B)
    np.testing.assert_array_equal(chain(A, B), wanted)

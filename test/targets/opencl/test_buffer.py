"""Buffers: NumPy into a device and out, in place where memory is shared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gingham.errors import GinghamError
from gingham.targets.host_arrays import (
    PAGE_BYTES,
    aligned_empty,
    fit_for_kernels,
    format_bytes,
    let_pages_grow,
)
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import DeviceBuffer, allocate
from gingham.targets.opencl.kernel import Kernel
from gingham.targets.opencl.memory.copies import download, upload
from gingham.targets.opencl.program import build_program

if TYPE_CHECKING:
    from gingham.targets.opencl.command_queue import CommandQueue

COPY_BYTES = """
kernel void copy(global const uchar *input, global uchar *output) {
  const size_t i = get_global_id(0);
  output[i] = input[i];
}
"""


@pytest.fixture(
    params=[
        pytest.param((True, True), id="shared"),
        pytest.param((True, False), id="mapped"),
        pytest.param((False, False), id="copied"),
    ]
)
def device(request: pytest.FixtureRequest, opencl_device: OpenCLDevice) -> OpenCLDevice:
    """The machine's device, treated as one whose memory is less shared than it is."""
    unified, shares = request.param
    details = opencl_device.details
    if unified > details.host_unified_memory or shares > details.shares_host_memory:
        pytest.skip("this device's memory is not the host's")
    details = replace(details, host_unified_memory=unified, shares_host_memory=shares)
    handle = opencl_device.handle
    return OpenCLDevice(opencl_device.name, opencl_device.kind, details, handle)


def copy_kernel(device: OpenCLDevice) -> Kernel:
    return build_program(device, COPY_BYTES).kernel("copy")


def through(device: OpenCLDevice, array: NDArray[Any]) -> NDArray[Any]:
    """`array` uploaded, copied by a kernel to another buffer and downloaded."""
    queue = device.queue
    source = upload(queue, array)
    target = allocate(device, array.shape, source.dtype)
    size = (source.size_in_bytes,)
    queue.enqueue(copy_kernel(device), size, None, (source, target))
    return download(queue, target)


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
        "uint64", "float16", "float32", "float64", ml_dtypes.bfloat16,
    ],
)  # fmt: skip
def test_every_type_of_elements_comes_back(device: OpenCLDevice, dtype: Any) -> None:
    random = np.random.default_rng(7)
    array = random.integers(0, 2, (5, 7)) * random.integers(1, 100, (5, 7))
    array = array.astype(dtype)
    result = through(device, array)
    assert result.dtype == array.dtype
    assert result.shape == array.shape
    np.testing.assert_array_equal(result, array)


def odd_layouts() -> dict[str, NDArray[Any]]:
    base = np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8)
    storage = np.arange(base.nbytes + 1, dtype=np.int64).astype(np.uint8)
    read_only = base.copy()
    read_only.flags.writeable = False
    return {
        "transposed": base.T,
        "reversed": base[::-1, :, ::-1],
        "strided": base[:, ::2, 1:5],
        "broadcast": np.broadcast_to(base[0, 0], (3, 2, 8)),
        "fortran": np.asfortranarray(base),
        "misaligned": storage[1:].view(np.uint32),
        "read only": read_only,
        "big endian": base.astype(">f4"),
        "scalar": np.array(2.5, np.float32),
        "empty": np.empty((0, 3), np.float32),
        "empty last": np.empty((3, 0), np.float32)[::2],
    }


@pytest.mark.parametrize("layout", odd_layouts())
def test_every_layout_comes_back(device: OpenCLDevice, layout: str) -> None:
    array = odd_layouts()[layout]
    before = array.copy()
    result = through(device, array)
    assert result.shape == array.shape
    assert result.dtype.isnative
    np.testing.assert_array_equal(result, before)
    np.testing.assert_array_equal(array, before)


@given(
    shape=st.lists(st.integers(0, 5), max_size=4),
    steps=st.lists(st.sampled_from([-2, -1, 1, 2]), min_size=4, max_size=4),
    offset=st.integers(0, 9),
    alignment=st.sampled_from([1, 2, 16, 64, 4096]),
)
def test_fitting_keeps_values_and_meets_the_alignment(
    shape: list[int], steps: list[int], offset: int, alignment: int
) -> None:
    count = int(np.prod(shape, dtype=np.int64)) * 2 + 32
    storage = np.arange(count, dtype=np.uint8)[offset:]
    flat = storage[: (storage.size // 2) * 2].view(np.uint16)
    size = int(np.prod(shape, dtype=np.int64))
    slices = tuple(slice(None, None, step) for step in steps[: len(shape)])
    array = flat[:size].reshape(shape)[slices]
    fitting = fit_for_kernels(array, alignment)
    assert fitting.flags.c_contiguous
    if fitting.size > 0:
        assert fitting.ctypes.data % alignment == 0
        assert fitting.ctypes.data % fitting.itemsize == 0
    np.testing.assert_array_equal(fitting, array)


def test_shared_memory_is_not_copied(opencl_device: OpenCLDevice) -> None:
    if not opencl_device.details.host_unified_memory:
        pytest.skip("this device's memory is not the host's")
    array = aligned_empty((64, 64), np.float32)
    source = upload(opencl_device.queue, array, alignment=64)
    assert source.host is array
    # Where its kernels need more than the array's address has, it is copied.
    skewed = aligned_empty((65,), np.float32)[1:]
    assert upload(opencl_device.queue, skewed).host is skewed
    assert upload(opencl_device.queue, skewed, alignment=64).host is not skewed
    target = allocate(opencl_device, (64, 64), np.float32)
    assert download(opencl_device.queue, target) is target.host


def test_results_are_aligned_to_pages(device: OpenCLDevice) -> None:
    for shape in ((), (3,), (1000, 7)):
        result = through(device, np.ones(shape, np.int16))
        assert result.ctypes.data % 4096 == 0
        assert result.flags.c_contiguous
        assert result.flags.writeable


def test_a_read_only_array_is_used_in_place(opencl_device: OpenCLDevice) -> None:
    if not opencl_device.details.host_unified_memory:
        pytest.skip("this device's memory is not the host's")
    array = aligned_empty((16,), np.int32)
    array[:] = 3
    array.flags.writeable = False
    assert upload(opencl_device.queue, array).host is array
    np.testing.assert_array_equal(through(opencl_device, array), array)


@pytest.mark.parametrize(
    "array",
    [
        np.array(["text"]),
        np.array([None]),
        np.array([1j]),
        np.array([1.0], np.longdouble),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.zeros(2, [("a", "i4")]),
    ],
    ids=lambda array: str(array.dtype),
)
def test_other_types_are_refused(
    opencl_device: OpenCLDevice, array: NDArray[Any]
) -> None:
    with pytest.raises(GinghamError, match="can not be used on a device"):
        upload(opencl_device.queue, array)
    with pytest.raises(GinghamError, match="can not be used on a device"):
        allocate(opencl_device, (1,), array.dtype)


def test_too_large_a_buffer_is_refused_with_figures(device: OpenCLDevice) -> None:
    shape = (1 << 20, 1 << 20)
    with pytest.raises(GinghamError) as caught:
        allocate(device, shape, np.float32)
    message = caught.value.message
    assert "1048576x1048576" in message
    assert "float32" in message
    assert "needs 4.0 TiB" in message
    assert format_bytes(device.details.max_allocation_bytes) in message
    assert format_bytes(device.details.global_memory_bytes) in message


def small_device(device: OpenCLDevice) -> OpenCLDevice:
    details = replace(device.details, max_allocation_bytes=1024)
    return OpenCLDevice(device.name, device.kind, details, device.handle)


def test_too_large_an_input_is_refused(device: OpenCLDevice) -> None:
    small = small_device(device)
    assert upload(small.queue, np.zeros(256, np.float32)).size_in_bytes == 1024
    with pytest.raises(GinghamError, match=r"needs 1\.0 KiB.*at most 1\.0 KiB"):
        upload(small.queue, np.zeros(257, np.float32))


def test_what_the_driver_refuses_is_told(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    if opencl_device.details.platform == "NVIDIA CUDA":
        pytest.skip("NVIDIA's driver allocates when a buffer is first used")
    details = replace(
        opencl_device.details,
        max_allocation_bytes=1 << 62,
        host_unified_memory=False,
        shares_host_memory=False,
    )
    monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", "1000000 TiB")
    device = OpenCLDevice("big.0", "cpu", details, opencl_device.handle)
    with pytest.raises(GinghamError, match=r"device 'big\.0' can not hold a buffer"):
        allocate(device, (1 << 55,), np.uint8)


def test_memory_that_the_host_lacks_is_told() -> None:
    with pytest.raises(GinghamError, match="more than this machine can give"):
        aligned_empty((1 << 62,), np.uint8)


def test_large_arrays_in_small_pages() -> None:
    array = aligned_empty((1025, 1025), np.float32, in_small_pages=True)
    assert array.ctypes.data % PAGE_BYTES == 0
    assert array.flags.writeable
    array[...] = 3
    let_pages_grow(array)
    array[0, 0] = 4
    assert array.sum() == 3 * 1025 * 1025 + 1
    let_pages_grow(aligned_empty((3,), np.float32, in_small_pages=True))
    with pytest.raises(GinghamError, match="more than this machine can give"):
        aligned_empty((1 << 62,), np.uint8, in_small_pages=True)


def test_uploads_of_a_batch_do_not_mix(device: OpenCLDevice) -> None:
    queue: CommandQueue = device.queue
    kernel = copy_kernel(device)
    arrays = [np.full((100 + i,), i, np.uint8) for i in range(100)]
    targets: list[DeviceBuffer] = []
    for array in arrays:
        target = allocate(device, array.shape, np.uint8)
        source = upload(queue, array[::-1])
        queue.enqueue(kernel, array.shape, None, (source, target))
        targets.append(target)
    for array, target in zip(arrays, targets, strict=True):
        np.testing.assert_array_equal(download(queue, target), array)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 30, "5.0 GiB")],
)
def test_bytes_for_people(count: int, text: str) -> None:
    assert format_bytes(count) == text

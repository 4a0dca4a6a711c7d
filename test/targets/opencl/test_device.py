"""An OpenCL device: its properties, its queue and whether it works."""

from __future__ import annotations

import json
from threading import Event

import numpy as np
import pytest

from gingham.errors import GinghamError
from gingham.targets.opencl.devices import probe as probe_module
from gingham.targets.opencl.devices.device import OpenCLDevice, vendor_slug
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.memory.copies import upload
from gingham.targets.opencl.program import build_program


@pytest.mark.parametrize(
    ("platform", "slug"),
    [
        ("Intel(R) OpenCL", "intel"),
        ("Intel(R) OpenCL Graphics", "intel"),
        ("Portable Computing Language", "pocl"),
        ("NVIDIA CUDA", "nvidia"),
        ("AMD Accelerated Parallel Processing", "amd"),
        ("rusticl", "rusticl"),
        ("QUALCOMM Snapdragon(TM)", "qualcomm"),
        ("(R)", "opencl"),
        ("", "opencl"),
    ],
)
def test_vendor_slugs(platform: str, slug: str) -> None:
    assert vendor_slug(platform) == slug


def twin(device: OpenCLDevice) -> OpenCLDevice:
    """The same device before anything was asked of it."""
    return OpenCLDevice(device.name, device.kind, device.details, device.handle)


def test_properties_are_complete_and_plain(opencl_device: OpenCLDevice) -> None:
    details = opencl_device.details
    assert details.compute_units >= 1
    assert details.max_work_group_size >= 1
    assert len(details.max_work_item_sizes) == 3
    assert details.native_float_width in (1, 2, 4, 8, 16)
    assert 0 < details.max_allocation_bytes <= details.global_memory_bytes
    assert details.local_memory_bytes >= 16 * 1024
    assert details.address_bits in (32, 64)
    assert details.opencl_version[0].isdigit()
    assert details.platform in opencl_device.description
    decoded = json.loads(json.dumps(opencl_device.properties))
    assert decoded["compute_units"] == details.compute_units
    assert opencl_device.kind in ("cpu", "gpu", "accelerator", "custom")
    assert opencl_device.is_reference is False


def test_context_and_queue_are_made_once(opencl_device: OpenCLDevice) -> None:
    device = twin(opencl_device)
    assert device.context is device.context
    assert device.queue is device.queue
    assert device.profiling_queue() is not device.queue


def test_a_profiling_queue_tells_times(opencl_device: OpenCLDevice) -> None:
    source = """
kernel void spin(global float *x) {
  float y = x[0];
  for (int i = 0; i < 1000000; i++) y = y * 0.5f + 1.0f;
  x[0] = y;
}
"""
    kernel = build_program(opencl_device, source).kernel("spin")
    buffer = allocate(opencl_device, (1,), np.float32)
    queue = opencl_device.profiling_queue()
    event = queue.enqueue(kernel, (1,), (1,), (buffer,))
    event.wait()
    assert 1e-6 < event.seconds < 60


def test_times_need_a_profiling_queue(opencl_device: OpenCLDevice) -> None:
    # The common queue may still time its commands for a profile that is over.
    device = twin(opencl_device)
    kernel = build_program(device, "kernel void nothing() {}").kernel("nothing")
    event = device.queue.enqueue(kernel, (1,), None, ())
    event.wait()
    with pytest.raises(GinghamError, match="timing of kernel 'nothing' failed"):
        _ = event.seconds


def test_a_good_device_passes_its_probe(opencl_device: OpenCLDevice) -> None:
    device = twin(opencl_device)
    assert device.failure() is None
    device.require_usable()


def test_a_device_that_can_not_build_is_refused(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_module, "_SOURCE", "kernel void probe( { broken")
    device = twin(opencl_device)
    reason = device.failure()
    assert reason is not None
    assert "building OpenCL C for device" in reason
    with pytest.raises(GinghamError, match="can not be used: building OpenCL C"):
        device.require_usable()
    monkeypatch.undo()
    # The verdict stands: a device is tried once.
    assert device.failure() == reason


def test_a_device_that_computes_wrongly_is_refused(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = probe_module._SOURCE.replace(  # pyright: ignore[reportPrivateUsage]
        "* scale", "+ scale"
    )
    monkeypatch.setattr(probe_module, "_SOURCE", wrong)
    reason = twin(opencl_device).failure()
    assert reason is not None
    assert "wrong values of 1000" in reason


def test_a_device_that_hangs_is_refused(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Event()

    def hang(*_: object) -> None:
        ended.wait(60)

    monkeypatch.setattr(probe_module, "_check", hang)
    monkeypatch.setattr(probe_module, "_LIMIT_SECONDS", 0.1)
    assert twin(opencl_device).failure() == (
        "a test kernel did not end within 0.1 seconds"
    )
    ended.set()


def test_a_device_that_is_trusted_is_not_probed(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_module, "_SOURCE", "kernel void probe( { broken")
    device = twin(opencl_device)
    assert not device.is_probed
    device.trust()
    assert device.is_probed
    device.require_usable()


def test_an_upload_knows_its_device(opencl_device: OpenCLDevice) -> None:
    buffer = upload(opencl_device.queue, np.arange(6.0).reshape(2, 3))
    assert buffer.device is opencl_device
    assert buffer.shape == (2, 3)
    assert buffer.size_in_bytes == 48

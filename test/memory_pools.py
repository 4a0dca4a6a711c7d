"""Devices with pools of their own, and programs that need memory of each kind."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from gingham.targets.opencl.devices.device import OpenCLDevice

Array = NDArray[Any]

MIB = 1 << 20

# %T is between kernels, as a product is computed of it.
CHAIN = """function (A[M, K], B[K, N]) -> (C) {
  T[i, j : M, N] = +(A[i, k] * B[k, j]);
  C[i, j : M, N] = +(T[i, k] * T[k, j]);
}"""

# The sums of K are kept.
CONSTANTS = """function (I[M, N], K[N, L]) -> (O) {
  S[n : N] = +(K[n, l]);
  O = I * S;
}"""


def like(device: OpenCLDevice, **changes: Any) -> OpenCLDevice:
    """The same device with other properties and a pool of its own."""
    details = replace(device.details, **changes)
    return OpenCLDevice(device.name, device.kind, details, device.handle)


def own(opencl_device: OpenCLDevice) -> OpenCLDevice:
    return like(opencl_device, host_unified_memory=False, shares_host_memory=False)


def floats(*shape: int, seed: int = 0) -> Array:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


def used(device: OpenCLDevice) -> int:
    gc.collect()
    return device.pool.used_bytes


def count_buffers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the buffers that are made from now on."""
    made: list[int] = []
    real = cl.Buffer

    def make(context: cl.Context, flags: int, *size: Any, **rest: Any) -> cl.Buffer:
        made.extend(size[:1])
        return real(context, flags, *size, **rest)

    monkeypatch.setattr(cl, "Buffer", make)
    return made

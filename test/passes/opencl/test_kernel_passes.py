"""Passes over kernels change what is run, and no result."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import gingham
from gingham.dialects.opencl.kernel import KernelOp
from gingham.dialects.opencl.ops import ForOp, StoreOp
from gingham.passes import get_all_passes
from gingham.passes.pipelines import stage_passes
from gingham.runtime.devices import default_device
from gingham.runtime.function import make_context
from gingham.runtime.hardware import target_options
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Inputs = list[NDArray[np.float32]]


@pytest.fixture(name="device")
def opencl_device() -> OpenCLDevice:
    """The default device; the test is skipped where it is no OpenCL device."""
    found = default_device()
    if not isinstance(found, OpenCLDevice):
        pytest.skip("no OpenCL device works here")
    return found


def lowered(text: str, inputs: Inputs, device: OpenCLDevice) -> ModuleOp:
    """The kernels of a program before any pass over them."""
    options = target_options(device, None, False)
    module = gingham.compile(text).specialized(*inputs)
    stages = stage_passes(options)
    # Equal blocks are to become a kernel each.
    stripe = stages["stripe"].replace("stripe-share-kernels,", "")
    run(module, f"{stages['tile']},{stripe},lower-stripe-to-opencl")
    return module


def run(module: ModuleOp, passes: str) -> None:
    pipeline = PassPipeline.parse_spec(get_all_passes(), passes)
    pipeline.apply(make_context(), module)
    module.verify()


@pytest.mark.parametrize("size", [16, 23])
def test_merged_kernels(size: int, device: OpenCLDevice) -> None:
    text = """function (A[N, N], B[N, N]) -> (C, D, E) {
      C[i, j : N, N] = +(A[i, k] * B[k, j]);
      D[i, j : N, N] = +(B[i, k] * A[k, j]);
      E[i, j : N, N] = >(A[i, k] + B[k, j]);
    }"""
    random = np.random.default_rng()
    inputs: Inputs = [
        random.integers(-8, 8, (size, size)).astype(np.float32) for _ in "AB"
    ]
    module = lowered(text, inputs, device)
    before = interpret(module, inputs)
    kernels = sum(isinstance(op, KernelOp) for op in module.ops)
    run(module, "opencl-merge-kernels")
    assert sum(isinstance(op, KernelOp) for op in module.ops) < kernels
    a, b = inputs
    expected = [a @ b, b @ a, (a[:, :, None] + b[None]).max(1)]
    after = interpret(module, inputs)
    on_device = OpenCLExecutable(module, device)(*inputs)
    for results in (before, after, on_device):
        for result, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("size", [64, 67])
def test_limited_unrolling(size: int, device: OpenCLDevice) -> None:
    """With steps that divide the loops, and steps that leave a rest."""
    text = """function (A[N, K], B[K, M]) -> (C) {
      C[i, j : N, M] = +(A[i, k] * B[k, j]);
    }"""
    random = np.random.default_rng(size)
    inputs: Inputs = [
        random.integers(-8, 8, (size, size)).astype(np.float32) for _ in "AB"
    ]
    expected = inputs[0] @ inputs[1]
    for steps in (1, 4, 5):
        module = lowered(text, inputs, device)
        # As many registers as make any loop one that leaves some free.
        run(module, f"opencl-limit-unrolling{{registers=1000 steps={steps}}}")
        loops = [op for op in module.walk() if isinstance(op, ForOp)]
        factors = [f.value.data for op in loops if (f := op.unroll_factor) is not None]
        assert steps in factors
        after = interpret(module, inputs)
        on_device = OpenCLExecutable(module, device)(*inputs)
        for results in (after, on_device):
            np.testing.assert_array_equal(results[0], expected)


def test_stores_past_the_caches(device: OpenCLDevice) -> None:
    if device.kind != "cpu":
        pytest.skip("only processors store so")
    inputs: Inputs = [np.random.default_rng().random(1 << 23, np.float32)]
    module = lowered("function (A[N]) -> (B) { B = A * 2.0 + 1.0; }", inputs, device)
    before = OpenCLExecutable(module.clone(), device)(*inputs)
    run(module, "opencl-stream-stores")
    stores = [op for op in module.walk() if isinstance(op, StoreOp)]
    assert any("stream" in str(op) for op in stores)
    after = OpenCLExecutable(module, device)(*inputs)
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_allclose(after[0], inputs[0] * 2 + 1, rtol=1e-6)

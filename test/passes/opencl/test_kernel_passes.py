"""Passes over kernels change what is run, and no result."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import gingham
from gingham.dialects import make_context
from gingham.dialects.opencl.control_flow import ForOp
from gingham.dialects.opencl.memory import StoreOp
from gingham.dialects.opencl.prefetch import PrefetchOp
from gingham.passes import get_all_passes
from gingham.passes.pipelines import stage_passes
from gingham.runtime.hardware import target_options
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

Inputs = list[NDArray[np.float32]]


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


@pytest.mark.parametrize(
    ("size", "steps", "factor"),
    [(64, 1, 1), (64, 4, 4), (64, 5, 4), (65, 4, 1), (65, 5, 5), (67, 5, 1)],
)
def test_limited_unrolling(
    size: int, steps: int, factor: int, opencl_device: OpenCLDevice
) -> None:
    """With steps that divide the loops, and steps that would leave a rest."""
    if opencl_device.kind != "cpu":
        pytest.skip("only processors have loops over tiles in registers")
    text = """function (A[N, K], B[K, M]) -> (C) {
      C[i, j : N, M] = +(A[i, k] * B[k, j]);
    }"""
    random = np.random.default_rng(size)
    inputs: Inputs = [
        random.integers(-8, 8, (size, size)).astype(np.float32) for _ in "AB"
    ]
    expected = inputs[0] @ inputs[1]
    module = lowered(text, inputs, opencl_device)
    # As many registers as make any loop one that leaves some free.
    changes = f"parallel.vector.registers=1000,overheads.interleaved_steps={steps}"
    run(module, f'opencl-limit-unrolling{{hardware="cpu-avx512:{changes}"}}')
    loops = [op for op in module.walk() if isinstance(op, ForOp)]
    assert all(op.unroll is not None or op.unroll_factor is not None for op in loops)
    # Those over tiles: they have loops inside.
    tiles = [op for op in loops if any(isinstance(o, ForOp) for o in op.body.block.ops)]
    factors = [f.value.data for op in tiles if (f := op.unroll_factor) is not None]
    assert max(factors) == factor
    after = interpret(module, inputs)
    on_device = OpenCLExecutable(module, opencl_device)(*inputs)
    for results in (after, on_device):
        np.testing.assert_array_equal(results[0], expected)


def test_stores_past_the_caches(opencl_device: OpenCLDevice) -> None:
    if opencl_device.kind != "cpu":
        pytest.skip("only processors store so")
    inputs: Inputs = [np.random.default_rng().random(1 << 23, np.float32)]
    module = lowered(
        "function (A[N]) -> (B) { B = A * 2.0 + 1.0; }", inputs, opencl_device
    )
    before = OpenCLExecutable(module.clone(), opencl_device)(*inputs)
    run(module, "opencl-stream-stores")
    stores = [op for op in module.walk() if isinstance(op, StoreOp)]
    assert any("stream" in str(op) for op in stores)
    after = OpenCLExecutable(module, opencl_device)(*inputs)
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_allclose(after[0], inputs[0] * 2 + 1, rtol=1e-6)


FETCHING = """
opencl.kernel @add(%W : !opencl.pointer<f32, global>,
    %X : !opencl.pointer<f32, global>, %C : !opencl.pointer<f32, global>)
    group [1, 1, 1] {
  %g = opencl.work_item group_id 0 below 24
  %h, %b = opencl.delinearize %g into [8, 3]
  opencl.for %n : 32 {
    %w = opencl.load %W[512 * %h + 16 * %n]
        : !opencl.pointer<f32, global> -> vector<16xf32>
    %x = opencl.load %X[16 * %b] : !opencl.pointer<f32, global> -> vector<16xf32>
    %sum = eltwise.add %w, %x : vector<16xf32>
    opencl.store %sum, %C[1536 * %h + 512 * %b + 16 * %n]
        : vector<16xf32> -> !opencl.pointer<f32, global>
  }
}
func.func @main(%W : !opencl.buffer<8x32x16xf32>, %X : !opencl.buffer<3x16xf32>)
    -> !opencl.buffer<8x3x32x16xf32> {
  %C = opencl.allocate : !opencl.buffer<8x3x32x16xf32>
  opencl.launch @add groups [24, 1, 1] (%W, %X, %C) : !opencl.buffer<8x32x16xf32>,
    !opencl.buffer<3x16xf32>, !opencl.buffer<8x3x32x16xf32>
  func.return %C : !opencl.buffer<8x3x32x16xf32>
}
"""


def test_panels_fetched_ahead(opencl_device: OpenCLDevice) -> None:
    """What is fetched past the last panel does no harm either."""
    if opencl_device.kind != "cpu":
        pytest.skip("only processors fetch so")
    module = parse_mlir(make_context(), FETCHING, "add.mlir", Sources())
    small = "cpu-avx512:caches.0.size_bytes=1024,caches.1.size_bytes=8192"
    run(module, f'opencl-prefetch{{hardware="{small}"}}')
    (fetch,) = [op for op in module.walk() if isinstance(op, PrefetchOp)]
    weights = np.arange(8 * 32 * 16, dtype=np.float32).reshape(8, 32, 16)
    x = np.linspace(-1, 1, 48, dtype=np.float32).reshape(3, 16)
    expected = weights[:, None] + x[None, :, None]
    after = interpret(module, [weights, x])
    on_device = OpenCLExecutable(module, opencl_device)(weights, x)
    for results in (after, on_device):
        np.testing.assert_array_equal(results[0], expected)
    # All groups of a panel together fetch every line of the next one.
    factors = zip(fetch.values, fetch.form.data.coefficients, strict=True)
    h, b, n = (int(factor) for _, factor in factors)
    places = b * np.arange(3)[:, None] + n * np.arange(32)
    assert h == 512
    assert fetch.form.data.constant == 512
    assert set(range(0, 512, 16)) <= {int(p) // 16 * 16 for p in places.flat}


def test_streams_fetched_ahead(opencl_device: OpenCLDevice) -> None:
    """What is fetched past the end of a memory does no harm."""
    if opencl_device.kind != "cpu":
        pytest.skip("only processors fetch so")
    small = "cpu-avx512:caches.0.size_bytes=1024,caches.1.size_bytes=8192"
    text = "function (A[N], B[N]) -> (Y) { Y = floor(sqrt(A * A)) * B + A; }"
    a = np.arange(-2500, 2500, dtype=np.float32)
    b = np.resize(np.arange(-3, 4, dtype=np.float32), a.shape)
    module = lowered(text, [a, b], opencl_device)
    run(module, f'opencl-prefetch{{hardware="{small}"}}')
    fetched = [op for op in module.walk() if isinstance(op, PrefetchOp)]
    assert {op.pointer.name_hint for op in fetched} == {"A", "B"}
    for results in (
        interpret(module, [a, b]),
        OpenCLExecutable(module, opencl_device)(a, b),
    ):
        np.testing.assert_array_equal(results[0], abs(a) * b + a)


COMPLEMENTS = """
opencl.kernel @complement(%X : !opencl.pointer<TYPE, global>,
    %Y : !opencl.pointer<TYPE, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 8
  %x = opencl.load %X[4 * %i] : !opencl.pointer<TYPE, global> -> vector<4xTYPE>
  %most = eltwise.constant MOST : vector<4xTYPE>
  %one = eltwise.constant 1 : vector<4xTYPE>
  %n = eltwise.neg %x : vector<4xTYPE>
  %a = eltwise.bit_not %x : vector<4xTYPE>
  %b = eltwise.sub %most, %x : vector<4xTYPE>
  %c = eltwise.sub %n, %one : vector<4xTYPE>
  %d = eltwise.add %n, %most : vector<4xTYPE>
  %e = eltwise.bit_not %b : vector<4xTYPE>
  opencl.store %a, %Y[4 * %i] : vector<4xTYPE> -> !opencl.pointer<TYPE, global>
  opencl.store %b, %Y[4 * %i + 32] : vector<4xTYPE> -> !opencl.pointer<TYPE, global>
  opencl.store %c, %Y[4 * %i + 64] : vector<4xTYPE> -> !opencl.pointer<TYPE, global>
  opencl.store %d, %Y[4 * %i + 96] : vector<4xTYPE> -> !opencl.pointer<TYPE, global>
  opencl.store %e, %Y[4 * %i + 128] : vector<4xTYPE> -> !opencl.pointer<TYPE, global>
}
func.func @main(%X : !opencl.buffer<32xTYPE>) -> !opencl.buffer<5x32xTYPE> {
  %Y = opencl.allocate : !opencl.buffer<5x32xTYPE>
  opencl.launch @complement groups [8, 1, 1] (%X, %Y)
    : !opencl.buffer<32xTYPE>, !opencl.buffer<5x32xTYPE>
  func.return %Y : !opencl.buffer<5x32xTYPE>
}
"""


@pytest.mark.parametrize(
    ("type", "most"), [("si32", -1), ("ui8", 255), ("si64", -1), ("ui16", 65535)]
)
def test_hidden_complements(type: str, most: int, opencl_device: OpenCLDevice) -> None:
    dtype = np.dtype(type.replace("si", "int").replace("ui", "uint"))
    ends = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(ends.min, ends.max, 32, dtype, endpoint=True)
    x[:4] = ends.min, ends.max, 0, 1
    text = COMPLEMENTS.replace("TYPE", type).replace("MOST", str(most))
    module = parse_mlir(make_context(), text, "complement.mlir", Sources())
    run(module, "opencl-hide-complements")
    assert "eltwise.bit_not" not in str(module)
    expected = np.stack([~x, ~x, ~x, ~x, x])
    for results in (interpret(module, [x]), OpenCLExecutable(module, opencl_device)(x)):
        np.testing.assert_array_equal(results[0], expected)


CONDITIONS = """
opencl.kernel @skip(%X : !opencl.pointer<f32, global>,
    %Y : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 6
  %zero = eltwise.constant 0.0 : f32
  opencl.for %k : 128 unroll 1 {
    %x = opencl.load %X[128 * %i + %k] : !opencl.pointer<f32, global> -> f32
    opencl.store %zero, %Y[128 * %i + %k] : f32 -> !opencl.pointer<f32, global>
    opencl.if 3 * %k - 100 >= 0, %i - 1 >= 0 {
      opencl.store %x, %Y[128 * %i + %k] : f32 -> !opencl.pointer<f32, global>
    }
    opencl.if %i - %k + 2 >= 0 {
      %n = eltwise.neg %x : f32
      opencl.store %n, %Y[128 * %i + %k] : f32 -> !opencl.pointer<f32, global>
    }
  }
}
func.func @main(%X : !opencl.buffer<6x128xf32>) -> !opencl.buffer<6x128xf32> {
  %Z = opencl.allocate : !opencl.buffer<6x128xf32>
  opencl.launch @skip groups [6, 1, 1] (%X, %Z)
    : !opencl.buffer<6x128xf32>, !opencl.buffer<6x128xf32>
  func.return %Z : !opencl.buffer<6x128xf32>
}
"""


def test_hidden_conditions(opencl_device: OpenCLDevice) -> None:
    module = parse_mlir(make_context(), CONDITIONS, "skip.mlir", Sources())
    run(module, "opencl-hide-conditions")
    assert "global_offset" in str(module)
    x = np.random.default_rng(0).integers(1, 100, (6, 128)).astype(np.float32)
    i, k = np.indices(x.shape)
    expected = np.where((3 * k >= 100) & (i >= 1), x, 0)
    expected = np.where(k <= i + 2, -x, expected)
    for results in (interpret(module, [x]), OpenCLExecutable(module, opencl_device)(x)):
        np.testing.assert_array_equal(results[0], expected)

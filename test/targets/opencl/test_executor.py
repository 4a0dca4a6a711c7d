"""Running modules at the opencl level: inputs, outputs, memory, threads, errors."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable

Parse = Callable[[str], ModuleOp]

POINTER = "!opencl.pointer<f32, global>"
BUFFER = "!opencl.buffer<64xf32>"

DOUBLE_TWICE = f"""
opencl.kernel @double(%A : {POINTER}, %B : {POINTER}) group [4, 1, 1] {{
  %i = opencl.work_item global_id 0 below 64
  %x = opencl.load %A[%i] : {POINTER} -> f32
  %y = eltwise.add %x, %x : f32
  opencl.store %y, %B[%i] : f32 -> {POINTER}
}}
func.func @main(%A : {BUFFER}) -> {BUFFER} {{
  %T = opencl.allocate : {BUFFER}
  opencl.launch @double groups [16, 1, 1] (%A, %T) : {BUFFER}, {BUFFER}
  %B = opencl.allocate : {BUFFER}
  opencl.launch @double groups [16, 1, 1] (%T, %B) : {BUFFER}, {BUFFER}
  func.return %B : {BUFFER}
}}
"""


@pytest.fixture
def quadruple(parse_module: Parse, opencl_device: OpenCLDevice) -> OpenCLExecutable:
    return OpenCLExecutable(parse_module(DOUBLE_TWICE), opencl_device)


def test_launches_run_in_order(quadruple: OpenCLExecutable) -> None:
    values = np.arange(64, dtype=np.float32)
    for factor in (1, 3):
        (result,) = quadruple(factor * values)
        np.testing.assert_array_equal(result, 4 * factor * values)
    assert "void double_(" in quadruple.source
    assert quadruple.input_types == [((64,), np.dtype(np.float32))]
    assert quadruple.output_types == [((64,), np.dtype(np.float32))]


def test_three_lanes_past_the_caches(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    """Compilers write four, the last of which is somebody else's."""
    vector, buffer = "vector<3xf32>", "!opencl.buffer<4xf32>"
    module = parse_module(f"""
opencl.kernel @k(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %i = opencl.work_item group_id 0 below 1
  %x = opencl.load %A[%i] : {POINTER} -> {vector}
  %last = opencl.load %A[%i + 3] : {POINTER} -> f32
  opencl.store %last, %B[%i + 3] : f32 -> {POINTER}
  opencl.store stream %x, %B[%i] : {vector} -> {POINTER}
}}
func.func @main(%A : {buffer}) -> {buffer} {{
  %B = opencl.allocate : {buffer}
  opencl.launch @k groups [1, 1, 1] (%A, %B) : {buffer}, {buffer}
  func.return %B : {buffer}
}}""")
    values = np.arange(1, 5, dtype=np.float32)
    (result,) = OpenCLExecutable(module, opencl_device)(values)
    np.testing.assert_array_equal(result, values)


def test_inputs_of_any_memory_layout(quadruple: OpenCLExecutable) -> None:
    values = np.arange(64, dtype=np.float32)
    reverse = values[::-1]
    unaligned = np.empty(64 * 4 + 1, np.uint8)[1:].view(np.float32)
    unaligned[:] = values
    read_only = values.copy()
    read_only.flags.writeable = False
    swapped = values.astype(values.dtype.newbyteorder())
    for array in (reverse, unaligned, read_only, swapped):
        before = array.copy()
        (result,) = quadruple(array)
        np.testing.assert_array_equal(result, 4 * before)
        np.testing.assert_array_equal(array, before)


def test_results_belong_to_the_caller(quadruple: OpenCLExecutable) -> None:
    values = np.arange(64, dtype=np.float32)
    kept = [quadruple(factor * values)[0] for factor in range(6)]
    part = quadruple(7 * values)[0][5:9]
    for factor in range(6):
        quadruple(-values)
        np.testing.assert_array_equal(kept[factor], 4 * factor * values)
        assert kept[factor].flags.writeable
    np.testing.assert_array_equal(part, 28 * values[5:9])
    exported = np.frombuffer(quadruple(9 * values)[0].data, np.float32)
    quadruple(values)
    np.testing.assert_array_equal(exported, 36 * values)


def test_memory_of_dropped_results_is_used_again(
    quadruple: OpenCLExecutable,
) -> None:
    if not quadruple.device.details.host_unified_memory:
        pytest.skip("results are copied from this device")
    values = np.ones(64, np.float32)
    addresses = {quadruple(values)[0].ctypes.data for _ in range(20)}
    assert len(addresses) <= 2
    held = quadruple(values)[0]
    gone = weakref.ref(held)
    assert quadruple(values)[0].ctypes.data != held.ctypes.data
    del held
    gc.collect()
    assert gone() is None


def test_calls_from_many_threads(quadruple: OpenCLExecutable) -> None:
    values = np.arange(64, dtype=np.float32)

    def call(factor: int) -> bool:
        (result,) = quadruple(factor * values)
        return bool((result == 4 * factor * values).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(200)))


def test_profiles_name_kernels_and_times(quadruple: OpenCLExecutable) -> None:
    outputs, timings = quadruple.profile(np.ones(64, np.float32))
    np.testing.assert_array_equal(outputs[0], np.full(64, 4, np.float32))
    assert [timing.kernel for timing in timings] == ["double_", "double_"]
    assert [timing.global_size for timing in timings] == [(64, 1, 1)] * 2
    assert all(0 <= timing.seconds < 60 for timing in timings)


def test_inputs_and_one_buffer_twice_as_results(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    module = parse_module(
        DOUBLE_TWICE.replace(
            f"-> {BUFFER} {{", f"-> ({BUFFER}, {BUFFER}, {BUFFER}) {{"
        ).replace(
            f"func.return %B : {BUFFER}",
            f"func.return %A, %B, %B : {BUFFER}, {BUFFER}, {BUFFER}",
        )
    )
    values = np.arange(64, dtype=np.float32)
    a, b, c = OpenCLExecutable(module, opencl_device)(values)
    for array in (a, b, c):
        array += 1
    np.testing.assert_array_equal(values, np.arange(64))
    np.testing.assert_array_equal(a, values + 1)
    np.testing.assert_array_equal(b, 4 * values + 1)
    np.testing.assert_array_equal(c, 4 * values + 1)


def test_empty_and_single_element_buffers(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    scalar, empty = "!opencl.buffer<f32>", "!opencl.buffer<0x3xf32>"
    module = parse_module(f"""
opencl.kernel @copy(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %x = opencl.load %A[0] : {POINTER} -> f32
  opencl.store %x, %B[0] : f32 -> {POINTER}
}}
func.func @main(%A : {scalar}, %E : {empty}) -> ({scalar}, {empty}) {{
  %B = opencl.allocate : {scalar}
  %F = opencl.allocate : {empty}
  opencl.launch @copy groups [1, 1, 1] (%A, %B) : {scalar}, {scalar}
  opencl.launch @copy groups [0, 1, 1] (%E, %F) : {empty}, {empty}
  func.return %B, %F : {scalar}, {empty}
}}
""")
    executable = OpenCLExecutable(module, opencl_device)
    b, f = executable(np.array(3, np.float32), np.empty((0, 3), np.float32))
    assert b.shape == ()
    assert b == 3
    assert f.shape == (0, 3)


def test_a_program_without_kernels(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    text = f"func.func @main(%A : {BUFFER}) -> {BUFFER} {{\n"
    text += f"func.return %A : {BUFFER}\n}}"
    values = np.arange(64, dtype=np.float32)
    (result,) = OpenCLExecutable(parse_module(text), opencl_device)(values)
    np.testing.assert_array_equal(result, values)
    assert not np.shares_memory(result, values)


def test_inputs_that_do_not_fit(quadruple: OpenCLExecutable) -> None:
    with pytest.raises(GinghamError, match=r"expected 1 input\(s\), got 0"):
        quadruple()
    with pytest.raises(GinghamError, match=r"input 'A'.*float32, got .*float64"):
        quadruple(np.zeros(64))
    with pytest.raises(GinghamError, match=r"shape \(64,\).*got shape \(65,\)"):
        quadruple(np.zeros(65, np.float32))
    with pytest.raises(GinghamError, match=r"expected a NumPy array .*, got list"):
        quadruple([0.0] * 64)  # pyright: ignore[reportArgumentType]
    # The executable can still be used.
    quadruple(np.zeros(64, np.float32))


def test_modules_of_other_levels(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    text = "func.func @main(%A : tensor<4xf32>) -> tensor<4xf32> {\n"
    text += "func.return %A : tensor<4xf32>\n}"
    with pytest.raises(GinghamError, match="expected the host program to use buffers"):
        OpenCLExecutable(parse_module(text), opencl_device)
    with pytest.raises(GinghamError, match="no function @main"):
        OpenCLExecutable(ModuleOp([]), opencl_device)


def test_too_much_local_memory_is_an_error(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    # Some drivers have four times as much as they tell.
    length = 4 * opencl_device.details.local_memory_bytes
    step = length // 64
    array = "!opencl.pointer<f32, local>"
    module = parse_module(f"""
opencl.kernel @large(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %t = opencl.array {length} : {array}
  opencl.for %i : 64 {{
    %x = opencl.load %A[%i] : {POINTER} -> f32
    opencl.store %x, %t[{step} * %i] : f32 -> {array}
  }}
  opencl.for %i : 64 {{
    %x = opencl.load %t[{step} * %i] : {array} -> f32
    opencl.store %x, %B[%i] : f32 -> {POINTER}
  }}
}}
func.func @main(%A : {BUFFER}) -> {BUFFER} {{
  %B = opencl.allocate : {BUFFER}
  opencl.launch @large groups [1, 1, 1] (%A, %B) : {BUFFER}, {BUFFER}
  func.return %B : {BUFFER}
}}
""")
    with pytest.raises(GinghamError, match=r"large|local"):
        OpenCLExecutable(module, opencl_device)(np.zeros(64, np.float32))


def test_a_kernel_that_does_not_build_is_shown(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    array = "!opencl.pointer<f32, private>"
    module = parse_module(f"""
opencl.kernel @huge(%A : {POINTER}) group [1, 1, 1] {{
  %t = opencl.array {2**63 - 1} : {array}
  %i = opencl.work_item global_id 0 below 64
  %x = opencl.load %t[%i] : {array} -> f32
  opencl.store %x, %A[%i] : f32 -> {POINTER}
}}
func.func @main() -> {BUFFER} {{
  %A = opencl.allocate : {BUFFER}
  opencl.launch @huge groups [64, 1, 1] (%A) : {BUFFER}
  func.return %A : {BUFFER}
}}
""")
    with pytest.raises(GinghamError) as caught:
        OpenCLExecutable(module, opencl_device)
    message = caught.value.message
    assert f"building OpenCL C for device {opencl_device.name!r}" in message
    assert "too large" in message
    assert "void huge(__global float *restrict A) {" in message
    assert f"float t[{2**63 - 1}];" in message.split("source:")[1]

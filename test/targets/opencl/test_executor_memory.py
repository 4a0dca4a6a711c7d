"""Calls on devices of all kinds of memory: in place, shared but hidden, and apart."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gingham.errors import GinghamError
from gingham.targets.opencl.compiled import compile_module, from_bytes, to_bytes
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable

Parse = Callable[[str], ModuleOp]

POINTER = "!opencl.pointer<f32, global>"
BUFFER = "!opencl.buffer<64xf32>"

# %T and %U share memory; %P is kept; @double of %I and of %K do not depend.
PROGRAM = f"""
opencl.kernel @double(%A : {POINTER}, %B : {POINTER}) group [4, 1, 1] {{
  %i = opencl.work_item global_id 0 below 64
  %x = opencl.load %A[%i] : {POINTER} -> f32
  %y = eltwise.add %x, %x : f32
  opencl.store %y, %B[%i] : f32 -> {POINTER}
}}
opencl.kernel @sum(%A : {POINTER}, %B : {POINTER}, %C : {POINTER}) group [4, 1, 1] {{
  %i = opencl.work_item global_id 0 below 64
  %x = opencl.load %A[%i] : {POINTER} -> f32
  %y = opencl.load %B[%i] : {POINTER} -> f32
  %z = eltwise.add %x, %y : f32
  opencl.store %z, %C[%i] : f32 -> {POINTER}
}}
func.func @main(%I : {BUFFER}, %J : {BUFFER}, %K : {BUFFER} {{tile.constant}})
    -> ({BUFFER}, {BUFFER}) {{
  %P = opencl.allocate : {BUFFER}
  opencl.launch once @double groups [16, 1, 1] (%K, %P) : {BUFFER}, {BUFFER}
  %T = opencl.allocate at 0 : {BUFFER}
  opencl.launch @double groups [16, 1, 1] (%I, %T) : {BUFFER}, {BUFFER}
  %V = opencl.allocate at 512 : {BUFFER}
  opencl.launch @double groups [16, 1, 1] (%J, %V) : {BUFFER}, {BUFFER}
  %B = opencl.allocate : {BUFFER}
  opencl.launch @sum groups [16, 1, 1] (%T, %V, %B) : {BUFFER}, {BUFFER}, {BUFFER}
  %U = opencl.allocate at 0 : {BUFFER}
  opencl.launch @double groups [16, 1, 1] (%V, %U) : {BUFFER}, {BUFFER}
  %C = opencl.allocate : {BUFFER}
  opencl.launch @sum groups [16, 1, 1] (%U, %P, %C) : {BUFFER}, {BUFFER}, {BUFFER}
  func.return %B, %C : {BUFFER}, {BUFFER}
}}
"""


@pytest.fixture(params=["as it is", "hidden", "apart", "small"])
def device(request: pytest.FixtureRequest, opencl_device: OpenCLDevice) -> OpenCLDevice:
    """The device, also as if it had other memory: all devices can copy."""
    changes: dict[str, dict[str, bool | int]] = {
        "as it is": {},
        "hidden": {"shares_host_memory": False},
        "apart": {"shares_host_memory": False, "host_unified_memory": False},
        # No buffer can be as large as all that have places.
        "small": {"max_allocation_bytes": 300},
    }
    details = opencl_device.details
    for name, value in changes[request.param].items():
        details = replace(details, **{name: value})
    # The host sees at once what a CPU writes, and not what the others do.
    kind = opencl_device.kind if details.shares_host_memory else "gpu"
    return OpenCLDevice(opencl_device.name, kind, details, opencl_device.handle)


def arrays(seed: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-9, 9, 64).astype(np.float32) for _ in range(3)]


@pytest.mark.parametrize("is_stored", [False, True])
def test_calls(device: OpenCLDevice, parse_module: Parse, is_stored: bool) -> None:
    code = compile_module(parse_module(PROGRAM), device)
    if is_stored:
        code = from_bytes(to_bytes(code), device)
    executable = OpenCLExecutable(code, device)
    k = arrays(99)[2]
    for seed in range(6):
        i, j, _ = arrays(seed)
        expected = 2 * i + 2 * j, 4 * j + 2 * k
        for result, wanted in zip(executable(i, j, k), expected, strict=True):
            np.testing.assert_array_equal(result, wanted)
        out = np.empty(64, np.float32), None
        results = executable.run([i[::-1], j, k], out)
        assert results[0] is out[0]
        np.testing.assert_array_equal(results[0], 2 * i[::-1] + 2 * j)
        np.testing.assert_array_equal(results[1], expected[1])
        profiled, timings = executable.profile(i, j, k)
        np.testing.assert_array_equal(profiled[1], expected[1])
        assert len(timings) == 5
    i, j, _ = arrays(7)
    before = k.copy()
    executable(i, j, k)
    k += 1
    np.testing.assert_array_equal(executable(i, j, k)[1], 4 * j + 2 * before)
    executable.refresh()
    np.testing.assert_array_equal(executable(i, j, k)[1], 4 * j + 2 * k)


def test_constants_do_not_keep_arrays_alive(
    device: OpenCLDevice, parse_module: Parse
) -> None:
    import weakref

    executable = OpenCLExecutable(parse_module(PROGRAM), device)
    i, j, k = arrays(0)
    executable(i, j, k)
    gone = weakref.ref(k)
    del k
    assert gone() is None


def test_bytes_of_a_program_that_are_damaged(
    opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    whole = to_bytes(compile_module(parse_module(PROGRAM), opencl_device))
    header, _, rest = whole.partition(b"\n")
    damaged = [b"", header, whole[:-1], whole + b"x", b"{}\n" + rest, b"[]\n"]
    damaged.append(header.replace(b'"slots"', b'"slits"') + b"\n" + rest)
    damaged.append(header.replace(b"float32", b"float33") + b"\n" + rest)
    for data in damaged:
        with pytest.raises(GinghamError, match="a stored program is damaged"):
            from_bytes(data, opencl_device)
    source = from_bytes(whole, opencl_device).source
    end = len(header) + 1 + len(source.encode())
    with pytest.raises(GinghamError, match="loading a binary failed"):
        from_bytes(whole[:end] + bytes(len(whole) - end), opencl_device)


def test_threads_share_a_device(
    opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    """Several programs, each called from several threads at once."""
    programs = [
        OpenCLExecutable(parse_module(PROGRAM), opencl_device) for _ in range(3)
    ]
    k = arrays(99)[2]

    def call(number: int) -> bool:
        i, j, _ = arrays(number)
        first, second = programs[number % 3](i, j, k)
        return bool((first == 2 * i + 2 * j).all() and (second == 4 * j + 2 * k).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(600)))

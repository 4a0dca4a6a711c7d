"""Kernels in C: as text, of every form, and what is refused."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from kernel_targets import run_c
from xdsl.dialects.builtin import ModuleOp

from gingham.errors import GinghamError
from gingham.targets.c.code import build_code, from_bytes, print_module, to_bytes
from gingham.targets.c.device import DEVICE
from gingham.targets.c.executable import CExecutable
from gingham.targets.c.language import GnuC
from gingham.targets.printer import print_kernels
from gingham.targets.reference import interpret

Parse = Callable[[str], ModuleOp]

POINTER = "!opencl.pointer<f32, global>"
SCALE = f"""
opencl.kernel @scale(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %i = opencl.work_item group_id 0 below 64
  %x = opencl.load %A[16 * %i] : {POINTER} -> vector<16xf32>
  %y = eltwise.exp %x : vector<16xf32>
  opencl.store %y, %B[16 * %i] : vector<16xf32> -> {POINTER}
}}
func.func @main(%A : !opencl.buffer<1024xf32>) -> !opencl.buffer<1024xf32> {{
  %B = opencl.allocate : !opencl.buffer<1024xf32>
  opencl.launch @scale groups [64, 1, 1] (%A, %B)
    : !opencl.buffer<1024xf32>, !opencl.buffer<1024xf32>
  func.return %B : !opencl.buffer<1024xf32>
}}
"""


def test_a_kernel_as_text(parse_module: Parse) -> None:
    text = print_kernels(parse_module(SCALE), GnuC())
    _, _, own = text.partition("as_splat")[0].partition("static inline float16 vload")
    assert own == (
        """_float16(const float *p) {
  float16 x;
  __builtin_memcpy(&x, p, 16 * sizeof(float));
  return x;
}
static inline float16 lanes_exp_f32x16(float16 as) {
  float16 result;
  for (int n = 0; n < 16; ++n) {
    const float a = as[n];
    result[n] = exp(a);
  }
  return result;
}
static inline void vstore_float16(float16 x, float *p) {
  __builtin_memcpy(p, &x, 16 * sizeof(float));
}

static inline void scale(
    const float *restrict A,
    float *restrict B,
    const long *work_group_id,
    const long *work_group_item) {
  const int i = work_group_id[0];
  const float16 x = vload_float16(A + (16 * i));
  vstore_float16(lanes_exp_f32x16(x), B + (16 * i));
}

void enqueue_scale(
    void *const *work_group_buffers,
    const long *work_group_counts,
    long work_group_first,
    long work_group_end) {
  const long work_group_row = work_group_counts[0];
  const long work_group_plane = work_group_row * work_group_counts[1];
  for (long work_group_n = work_group_first; work_group_n < work_group_end;
       ++work_group_n) {
    const long work_group_id[3] = {
        work_group_n % work_group_row,
        work_group_n % work_group_plane / work_group_row,
        work_group_n / work_group_plane};
    for (long work_group_m = 0; work_group_m < 1; ++work_group_m) {
      const long work_group_item[3] = {
          work_group_m % 1,
          work_group_m % 1 / 1,
          work_group_m / 1};
      scale(
          work_group_buffers[0],
          work_group_buffers[1],
          work_group_id,
          work_group_item);
    }
  }
}
"""
    )


def test_work_items_in_three_dimensions(parse_module: Parse) -> None:
    queries = {
        "g": "group_id {d} below 4",
        "l": "local_id {d} below 4",
        "a": "global_id {d} below 16",
    }
    lines = [
        f"%{name}{d} = opencl.work_item {query.format(d=d)}"
        for d in range(3)
        for name, query in queries.items()
    ]
    module = parse_module(f"""
opencl.kernel @k(%A : {POINTER}, %B : {POINTER}) group [2, 3, 4] {{
  {chr(10).join(lines)}
  %o = opencl.work_item global_offset 0 below 1
  %x = opencl.load %A[96 * %g2 + 24 * %l2 + 12 * %g1 + 4 * %l1 + 2 * %g0 + %l0 + %o]
    : {POINTER} -> f32
  opencl.store %x, %B[24 * %a2 + 4 * %a1 + %a0] : f32 -> {POINTER}
}}
func.func @main(%A : !opencl.buffer<192xf32>) -> !opencl.buffer<192xf32> {{
  %B = opencl.allocate : !opencl.buffer<192xf32>
  opencl.launch @k groups [2, 2, 2] (%A, %B)
    : !opencl.buffer<192xf32>, !opencl.buffer<192xf32>
  func.return %B : !opencl.buffer<192xf32>
}}""")
    numbers = np.random.default_rng(0).permutation(192).astype(np.float32)
    (got,), (want,) = run_c(module, numbers), interpret(module, [numbers])
    np.testing.assert_array_equal(got, want)


def test_work_items_that_wait_for_each_other_are_refused(parse_module: Parse) -> None:
    module = parse_module(f"""
opencl.kernel @turn(%A : {POINTER}) group [4, 1, 1] {{
  %t = opencl.array 4 : !opencl.pointer<f32, local>
  opencl.barrier local
}}
func.func @main(%A : !opencl.buffer<4xf32>) -> !opencl.buffer<4xf32> {{
  func.return %A : !opencl.buffer<4xf32>
}}""")
    with pytest.raises(GinghamError, match="kernel 'turn' wait for each other"):
        print_module(module)


def test_names_that_mean_something_in_c(parse_module: Parse) -> None:
    # Names of buffers, of the kernel, of loops and of values.
    names = (
        "float as_float exp lanes_exp_f32x16 vload work_group_id n enqueue_k".split()
    )
    for name in names:
        text = SCALE.replace("%A", f"%{name}").replace("@scale", f"@{name}")
        numbers = np.linspace(-1, 1, 1024, dtype=np.float32)
        (got,) = run_c(parse_module(text.replace("%x", "%sin")), numbers)
        np.testing.assert_allclose(got, np.exp(numbers), rtol=1e-6)


def test_code_is_stored_and_read_again(parse_module: Parse) -> None:
    numbers = np.linspace(-1, 1, 1024, dtype=np.float32)
    data = to_bytes(build_code(print_module(parse_module(SCALE))))
    (got,) = CExecutable(from_bytes(data), DEVICE)(numbers)
    np.testing.assert_allclose(got, np.exp(numbers), rtol=1e-6)
    for damaged in (data[:-1], data[1:], b"", data.replace(b"slots", b"stols")):
        with pytest.raises(GinghamError, match="a stored program is damaged"):
            from_bytes(damaged)


def test_what_the_compiler_refuses_is_an_error(parse_module: Parse) -> None:
    printed = print_module(parse_module(SCALE))
    with pytest.raises(GinghamError, match="refuses the kernels"):
        build_code(printed, ["-such-an-option-does-not-exist"])


def test_results_that_are_inputs_or_the_same(parse_module: Parse) -> None:
    text = SCALE.replace(
        "return %B : !opencl.buffer<1024xf32>",
        "return %A, %B, %B : " + ", ".join(["!opencl.buffer<1024xf32>"] * 3),
    ).replace(
        "-> !opencl.buffer<1024xf32> {",
        "-> (" + ", ".join(["!opencl.buffer<1024xf32>"] * 3) + ") {",
    )
    numbers = np.linspace(-1, 1, 1024, dtype=np.float32)
    executable = CExecutable(build_code(print_module(parse_module(text))), DEVICE)
    same, one, two = executable(numbers)
    assert not any(
        np.may_share_memory(a, b) for a, b in [(same, numbers), (one, two), (same, one)]
    )
    np.testing.assert_array_equal(same, numbers)
    np.testing.assert_array_equal(one, two)
    out = np.zeros(1024, np.float32)
    results = executable.run([numbers], [None, None, out])
    assert results[2] is out
    np.testing.assert_array_equal(out, one)
    with pytest.raises(GinghamError, match="input 'A': expected an array of"):
        executable(numbers[:5])


def test_an_array_that_lies_apart_or_unaligned_is_read(parse_module: Parse) -> None:
    executable = CExecutable(build_code(print_module(parse_module(SCALE))), DEVICE)
    numbers = np.linspace(-1, 1, 2048, dtype=np.float32)
    shifted = np.frombuffer(b"\0" + numbers[::2].tobytes(), np.uint8)[1:].view("f4")
    want = executable(np.ascontiguousarray(numbers[::2]))[0]
    for given in (numbers[::2], shifted):
        np.testing.assert_array_equal(executable(given)[0], want)


def test_work_groups_are_shared_among_the_cores() -> None:
    seen: list[tuple[int, int]] = []
    DEVICE.on_cores(lambda first, end: seen.append((first, end)), 1001)
    seen.sort()
    assert [first for first, _ in seen] == [0, *(end for _, end in seen[:-1])]
    assert seen[-1][1] == 1001


def test_an_error_in_one_part_is_raised() -> None:
    def fail(first: int, end: int) -> None:
        raise ctypes.ArgumentError(f"{first} {end}")

    with pytest.raises(ctypes.ArgumentError):
        DEVICE.on_cores(fail, 100)

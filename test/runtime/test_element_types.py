"""Element types and bound numbers of called programs, on the device and without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice


@pytest.fixture
def narrow_device(opencl_device: OpenCLDevice) -> OpenCLDevice:
    """The default device, but without f64."""
    details = replace(opencl_device.details, supports_fp64=False)
    kind, handle = opencl_device.kind, opencl_device.handle
    return OpenCLDevice("narrow.0", kind, details, handle)


def test_a_tensor_of_a_type_that_the_device_lacks(narrow_device: OpenCLDevice) -> None:
    text = (
        "function (A[N]) -> (C) {\n  B = as_float(A, 64);\n  C = as_int(B / 3, 8);\n}"
    )
    a = np.array([1, 2, 3], np.float32)
    for array, place, name in ((a, "2:7", "B"), (a.astype(np.float64), "1:11", "A")):
        with pytest.raises(GinghamError) as caught:
            gingham.compile(text, device=narrow_device)(array)
        message = f"device 'narrow.0' does not compute with f64, the type of {name}"
        assert caught.value.message == message
        assert f"<string>:{place}: error" in str(caught.value)


def test_other_types_run_without_f64(narrow_device: OpenCLDevice) -> None:
    text = "function (A[N], B[N]) -> (C) { C = A * 0.1 + sqrt(as_float(B, 32)); }"
    f = gingham.compile(text, device=narrow_device)
    for dtype in (np.int64, np.uint64, np.float16, ml_dtypes.bfloat16):
        a = np.array([1, 2, 3], dtype)
        assert "double" not in f.source(a, a)
        wanted = gingham.compile(text, device="reference")(a, a)
        np.testing.assert_allclose(f(a, a), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_rounding_after_each_function(device: str, dtype: Any) -> None:
    f = gingham.compile("function (A, B) -> (C) { C = A * A - B; }", device=device)
    numbers = np.random.default_rng(0).normal(size=1000)
    a = numbers.astype(dtype)
    b = (a.astype(np.float32) * a.astype(np.float32)).astype(dtype)
    # The square is rounded before B, which is just that, is taken away.
    np.testing.assert_array_equal(f(a, b).astype(np.float32), np.zeros(1000))


def test_conversion_to_brain_floats(device: str) -> None:
    f = gingham.compile("function (A) -> (B) { B = as_bfloat(A, 16); }", device=device)
    a = np.random.default_rng(0).normal(size=100).astype(np.float32)
    result = f(a)
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result, a.astype(ml_dtypes.bfloat16))
    with pytest.raises(GinghamError, match="expected 'as_bfloat' to have 16 bits"):
        gingham.compile("function (A) -> (B) { B = as_bfloat(A, 32); }")


def test_sums_are_rounded_once(device: str) -> None:
    f = gingham.compile("function (A[N]) -> (S) { S[] = +(A[i]); }", device=device)
    for dtype, one in ((np.float16, 2048), (ml_dtypes.bfloat16, 256)):
        a = np.array([one, *[1] * 40], dtype)
        assert float(f(a)) == one + 40


WINDOW = "function (I[N], K) -> (O) { O[i : N - K + 1] = +(I[i + j]), j < K; }"


def test_an_input_is_a_size(device: str) -> None:
    f = gingham.compile(WINDOW, device=device)
    a = np.arange(7, dtype=np.float32)
    for k in (1, 2, np.int64(3), np.array(4, np.uint8), 2):
        wanted = [a[i : i + int(k)].sum() for i in range(7 - int(k) + 1)]
        np.testing.assert_array_equal(f(a, k), wanted)


def test_an_input_is_a_number_and_a_size(device: str) -> None:
    text = "function (I[N], K) -> (O) { P[i : K * N] = +(I[i / K]); O = P * K; }"
    f = gingham.compile(text, device=device)
    np.testing.assert_array_equal(f(np.ones(3), 2), [2, 0, 2, 0, 2, 0])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2.0, "K is used as a size, and has to be an integer, got f32"),
        ([1, 2], "K is used as a size, and has to be an integer, got 2xsi64"),
        (9, r"the size of axis 0 of O is negative: N - K \+ 1 = -3 \(N = 5, K = 9\)"),
    ],
)
def test_what_is_no_size(value: Any, message: str) -> None:
    with pytest.raises(GinghamError, match=message):
        gingham.compile(WINDOW, device="reference")(np.ones(5), value)


def test_a_default_broadcasts(device: str) -> None:
    text = "function (A[N], D) -> (O) { O[i + 1, i : M, 4] = =(A[i]) default D; }"
    f = gingham.compile(text.replace("M", "N + 2"), device=device)
    a = np.array([5, 6, 7], np.float32)
    for shape in ((), (1,), (4,), (5, 1), (1, 4), (5, 4)):
        default = np.random.default_rng(1).integers(-9, 0, shape).astype(np.int8)
        wanted = np.broadcast_to(default, (5, 4)).astype(np.float32)
        for i, value in enumerate(a):
            wanted[i + 1, i] = value
        np.testing.assert_array_equal(f(a, default), wanted)
    for shape in ((5,), (2, 4), (1, 5, 4)):
        with pytest.raises(GinghamError, match="the shape 5x4 of O, or one that broad"):
            f(a, np.zeros(shape))


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)])
@pytest.mark.parametrize("columns", [1, 16])
def test_narrow_contractions_accumulate_in_f32(
    device: str, dtype: np.dtype[Any], columns: int
) -> None:
    text = (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
    )
    a, b = np.ones((3, 5000), dtype), np.ones((5000, columns), dtype)
    c = gingham.compile(text, device=device)(a, b)
    # Sums in these types would stay at 2048 and at 256.
    expected = np.full((3, columns), 5000, np.float32).astype(dtype)
    np.testing.assert_array_equal(c, expected)

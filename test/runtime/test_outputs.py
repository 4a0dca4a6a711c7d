"""`out=`: results in arrays of the caller, and what wrong ones get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.edsl import Tensor
from gingham.errors import GinghamError

Array = NDArray[Any]

SCALE = "function (A[N, M]) -> (B) { B = 2 * A; }"
TWO = "function (A[N]) -> (B, C) { B = A + A; C = A * A; }"


def integers(*shape: int, seed: int = 0) -> Array:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(3, 5), (64, 33), (0, 4), (1, 1)])
def test_the_result_is_written_to_out_and_returned(
    device: str, shape: tuple[int, ...]
) -> None:
    f = gingham.compile(SCALE, device=device)
    out = np.full(shape, 99, np.float32)
    for seed in range(3):
        a = integers(*shape, seed=seed)
        assert f(a, out=out) is out
        np.testing.assert_array_equal(out, 2 * a)
        assert f(A=a, out=(out,)) is out
        # A new result in between does not touch it.
        np.testing.assert_array_equal(f(-a), -2 * a)
        np.testing.assert_array_equal(out, 2 * a)


def test_some_of_several_results(device: str) -> None:
    f = gingham.compile(TWO, device=device)
    a = integers(21)
    for b, c in [(None, integers(21)), (integers(21), None), (integers(21),) * 2][:2]:
        results = f(a, out=(b, c))
        for result, given, expected in zip(
            results, (b, c), (a + a, a * a), strict=True
        ):
            np.testing.assert_array_equal(result, expected)
            assert given is None or result is given


def test_an_input_that_is_a_result(device: str) -> None:
    f = gingham.compile("function (A[N]) -> (A, B) { B = A + 1; }", device=device)
    a = integers(9)
    first, second = np.empty_like(a), np.empty_like(a)
    for out in [(first, second), (first, None), (None, second)]:
        x, y = f(a, out=out)
        np.testing.assert_array_equal(x, a)
        np.testing.assert_array_equal(y, a + 1)
        assert not np.shares_memory(x, a)


def read_only(shape: tuple[int, ...]) -> Array:
    array = np.empty(shape, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((4, 5), np.float32), r"expected shape \(4, 6\).*got shape \(4, 5\)"),
        (np.empty((4, 6), np.float64), "type float32, got .* float64"),
        (np.empty((4, 6), ">f4"), "expected"),
        (np.empty((6, 4), np.float32).T, "not contiguous"),
        (np.empty((8, 6), np.float32)[::2], "not contiguous"),
        (read_only((4, 6)), "read-only"),
        (np.empty(97, np.uint8)[1:].view(np.float32).reshape(4, 6), "not aligned"),
        ([1.0, 2.0], r"1 result\(s\) \(B\), 'out' has 2"),
        ("text", "expected a NumPy array, got str"),
    ],
)
def test_arrays_that_do_not_fit(device: str, out: Any, message: str) -> None:
    f = gingham.compile(SCALE, device=device)
    a = integers(4, 6)
    for _ in range(2):
        with pytest.raises(GinghamError, match=message):
            f(a, out=out)
    np.testing.assert_array_equal(f(a), 2 * a)


def test_memory_that_is_used_already(device: str) -> None:
    f = gingham.compile(TWO, device=device)
    memory = integers(40)
    a, before = memory[:20], memory.copy()
    with pytest.raises(GinghamError, match="'B' shares memory with an input"):
        f(a, out=(memory[10:30], None))
    with pytest.raises(GinghamError, match="'C' shares memory with another result"):
        f(a, out=(memory[20:], memory[20:]))
    np.testing.assert_array_equal(memory, before)
    # Beside each other is well.
    b, c = f(a, out=(memory[20:], None))
    np.testing.assert_array_equal(b, memory[20:])
    np.testing.assert_array_equal(c, before[:20] ** 2)


def test_memory_is_written_in_place() -> None:
    device = gingham.default_device()
    if not device.properties.get("host_unified_memory"):
        pytest.skip("results are copied from this device")
    f = gingham.compile(SCALE)
    a, out = integers(64, 64), np.empty((64, 64), np.float32)
    f(a, out=out)
    address = out.ctypes.data
    assert f(a, out=out).ctypes.data == address


def test_an_input_that_is_called_out(device: str) -> None:
    f = gingham.compile(
        "function (A[N], #out[N]) -> (B) { B = A - #out; }", device=device
    )
    a, b = integers(7), integers(7, seed=1)
    np.testing.assert_array_equal(f(a, out=b), a - b)
    np.testing.assert_array_equal(f(a, b), a - b)


def test_jit_takes_out_in_the_structure_of_its_results(device: str) -> None:
    @gingham.jit(device=device)
    def both(x: Tensor, y: Tensor) -> dict[str, Any]:
        return {"sum": x + y, "parts": (x - y, None)}

    x, y = integers(5), integers(5, seed=1)
    total, difference = np.empty_like(x), np.empty_like(x)
    for _ in range(2):
        out = {"sum": total, "parts": (difference, None)}
        results = both(x, y, out=out)
        assert results["sum"] is total
        assert results["parts"][0] is difference
        np.testing.assert_array_equal(total, x + y)
        np.testing.assert_array_equal(difference, x - y)
        np.testing.assert_array_equal(
            both(x, y, out={"sum": None, "parts": None})["sum"], x + y
        )
    with pytest.raises(GinghamError, match="structure of the results"):
        both(x, y, out=(total, difference))

    @gingham.jit(device=device)
    def minus(x: Tensor, out: Tensor) -> Tensor:
        return x - out

    np.testing.assert_array_equal(minus(x, out=y), x - y)
    np.testing.assert_array_equal(minus(x, y), x - y)
    np.testing.assert_array_equal(minus(x, out=y), x - y)


def test_einsum_takes_out(device: str) -> None:
    a, b = integers(4, 6), integers(6, 5, seed=1)
    out = np.empty((4, 5), np.float32)
    for equation in (("ij,jk->ik", a, b), (a, [0, 1], b, [1, 2], [0, 2])):
        assert gingham.einsum(*equation, out=out, device=device) is out
        np.testing.assert_array_equal(out, a @ b)
        out[:] = 0
    with pytest.raises(GinghamError, match="expected shape"):
        gingham.einsum("ij,jk->ik", a, b, out=out.T.copy(), device=device)

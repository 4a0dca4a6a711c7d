"""`gingham.compile`: how programs are called, and what wrong calls get."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError

PRODUCT = """function (A[M, K], B[K, N]) -> (C) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
}"""


def compiled(program: str, device: str) -> gingham.Function:
    return gingham.compile(program, device=device)


def integers(*shape: int, dtype: str = "float32", seed: int = 0) -> NDArray[Any]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(dtype)


def test_positional_and_named_inputs(device: str) -> None:
    f = gingham.compile(PRODUCT, device=device)
    a, b = integers(5, 7), integers(7, 3)
    for result in (f(a, b), f(A=a, B=b), f(a, B=b), f(B=b, A=a)):
        np.testing.assert_array_equal(result, a @ b)


def test_several_outputs_are_a_tuple(device: str) -> None:
    f = gingham.compile(
        "function (A[N]) -> (B, C) { B = A + A; C = A * A; }", device=device
    )
    a = integers(19)
    b, c = f(a)
    np.testing.assert_array_equal(b, a + a)
    np.testing.assert_array_equal(c, a * a)


def test_one_function_takes_many_shapes(device: str) -> None:
    f = gingham.compile(PRODUCT, device=device)
    for m, k, n in [(1, 1, 1), (3, 5, 2), (17, 1, 33), (8, 16, 32), (3, 5, 2)]:
        a, b = integers(m, k), integers(k, n)
        np.testing.assert_array_equal(f(a, b), a @ b)


@pytest.mark.parametrize("width", [19, 64])  # not, and more than, whole vectors
@pytest.mark.parametrize(
    "dtype",
    [
        *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
        *("float16", "float32", "float64"),
    ],
)
def test_element_types(device: str, dtype: str, width: int) -> None:
    f = gingham.compile(PRODUCT, device=device)
    a, b = np.abs(integers(4, 6)).astype(dtype), np.abs(integers(6, width))
    result = f(a, b.astype(dtype))
    assert result.dtype == dtype
    expected = (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype)
    np.testing.assert_array_equal(result, expected)


def test_mixed_types_are_promoted(device: str) -> None:
    f = gingham.compile(
        "function (A[N], B[N]) -> (C) { C = A * B + 1; }", device=device
    )
    a, b = integers(20, dtype="int32"), integers(20, dtype="float64")
    result = f(a, b)
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, a * b + 1)


def test_comparisons_give_truth_values(device: str) -> None:
    f = compiled("function (A[N], B[N]) -> (C) { C = A < B; }", device)
    a, b = integers(33), integers(33, seed=1)
    result = f(a, b)
    assert result.dtype == np.bool_
    np.testing.assert_array_equal(result, a < b)


def test_scalars_and_numbers(device: str) -> None:
    f = compiled("function (A[N], S[]) -> (C) { C = A * S; }", device)
    a = integers(10)
    np.testing.assert_array_equal(f(a, 3.0), a * 3)
    np.testing.assert_array_equal(f(a, np.float32(2)), a * 2)


def test_inputs_of_any_layout(device: str) -> None:
    f = gingham.compile(PRODUCT, device=device)
    a, b = integers(12, 10), integers(20, 6)
    views = a[::2].T, b[::-1][:6, ::3]
    np.testing.assert_array_equal(f(*views), views[0] @ views[1])
    a.flags.writeable = False
    np.testing.assert_array_equal(f(a[:, :10], b[:10]), a @ b[:10])
    big_endian = b[:10].astype(">f4")
    np.testing.assert_array_equal(f(a, big_endian), a @ b[:10])


def test_inputs_are_not_changed_and_outputs_are_new(device: str) -> None:
    f = compiled("function (A[N]) -> (A, B) { B = A + 1; }", device)
    a = integers(9)
    before = a.copy()
    same, _ = f(a)
    np.testing.assert_array_equal(same, before)
    same[:] = 77
    np.testing.assert_array_equal(a, before)


def test_results_of_two_calls_are_independent(device: str) -> None:
    f = compiled("function (A[N]) -> (B) { B = A + 1; }", device)
    first = f(integers(9))
    kept = first.copy()
    f(integers(9, seed=5))
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_tensors(device: str, shape: tuple[int, int]) -> None:
    f = gingham.compile(PRODUCT, device=device)
    m, k = shape
    result = f(np.zeros((m, k), np.float32), np.zeros((k, 3), np.float32))
    np.testing.assert_array_equal(result, np.zeros((m, 3), np.float32))
    chain = gingham.compile(
        "function (A[M, K]) -> (B) { B = exp(A) + 1; }", device=device
    )
    assert chain(np.zeros(shape, np.float32)).shape == shape


def test_calls_from_several_threads(device: str) -> None:
    f = gingham.compile(PRODUCT, device=device)
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for size in (3, 8, 17):
                a, b = integers(size, 9, seed=seed), integers(9, size, seed=seed + 1)
                np.testing.assert_array_equal(f(a, b), a @ b)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_source_and_ir(device: str) -> None:
    f = gingham.compile(PRODUCT, device=device)
    a, b = integers(64, 32), integers(32, 64)
    assert "__kernel" in f.source(a, b)
    assert "tile.sizes" in f.ir(stage="parsed")
    assert "tile.contract add over [i : 64, j : 64 | k : 32]" in f.ir(a, b)
    assert "stripe.block" in f.ir(a, b, stage="stripe")
    assert "opencl.launch" in f.ir(a, b, stage="opencl")
    with pytest.raises(GinghamError, match="there is no stage 'llvm'"):
        f.ir(a, b, stage="llvm")


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "missing input A, B"),
        ((integers(2, 3),), {}, "missing input B"),
        ((integers(2, 3),) * 3, {}, r"has 2 input\(s\) \(A, B\), got 3"),
        ((integers(2, 3),), {"A": integers(2, 3)}, "input 'A' is given twice"),
        ((integers(2, 3),), {"X": 1}, "no input 'X'"),
        ((integers(2, 3), integers(4, 5)), {}, "size K is 3 in A but 4 in B"),
        ((integers(2), integers(2, 3)), {}, "A"),
        ((integers(2, 3), integers(3, 2, 1)), {}, "B"),
        ((np.zeros((2, 3), complex), integers(3, 2)), {}, "input 'A' has elements"),
        ((integers(2, 3), [["x", "y"]] * 3), {}, "input 'B' has elements"),
        ((integers(2, 3), [[1, 2], [3]]), {}, "input 'B' is not an array"),
        ((integers(2, 3), 2**40), {}, "input 'B'.*needs a NumPy type"),
    ],
)
def test_wrong_calls(
    device: str, arguments: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    f = gingham.compile(PRODUCT, device=device)
    with pytest.raises(GinghamError, match=message):
        f(*arguments, **named)


def test_unknown_device() -> None:
    with pytest.raises(GinghamError, match="there is no device 'toaster'"):
        gingham.compile(PRODUCT, device="toaster")


def test_mistake_in_the_program() -> None:
    with pytest.raises(GinghamError, match=r"<string>:2:\d+: error: .*'X'"):
        gingham.compile(PRODUCT.replace("* B[", "* X["))


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GinghamError, match="cannot read"):
        gingham.compile_file(tmp_path / "none.tile")

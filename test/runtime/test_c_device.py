"""Programs on the device `c`, against NumPy and the reference interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.runtime.backends import backend_of
from gingham.targets.c.device import DEVICE

Array = NDArray[Any]

pytestmark = pytest.mark.skipif(DEVICE.failure() is not None, reason="no C compiler")

PRODUCT = """function (A[M, K], B[K, N]) -> (C) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
}"""
SOFTMAX = """function (X[M, N]) -> (Y) {
  L[i, 0 : M, 1] = >(X[i, j]);
  E = exp(X - L);
  S[i, 0 : M, 1] = +(E[i, j]);
  Y = E / S;
}"""
CONVOLUTION = """function (I[N, H, W, C], K[KH, KW, C, F]) -> (O) {
  O[n, x, y, f : N, H, W, F] = +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c, f]);
}"""


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def on_c(text: str, *inputs: Array, **options: Any) -> Any:
    return gingham.compile(text, device="c", **options)(*inputs)


@pytest.mark.parametrize(
    ("m", "k", "n"), [(512, 512, 512), (1, 300, 1), (129, 77, 1003)]
)
def test_products(m: int, k: int, n: int) -> None:
    a, b = floats(1, m, k), floats(2, k, n)
    np.testing.assert_allclose(on_c(PRODUCT, a, b), a @ b, rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize("name", ["float64", "float16", "int8", "uint16", "int64"])
def test_products_of_other_types(name: str) -> None:
    a, b = (np.round(floats(seed, 60, 70) * 3).astype(name) for seed in (1, 2))
    got = on_c(PRODUCT, a, b.T.copy())
    wide = a.astype(np.int64) @ b.T.astype(np.int64)
    np.testing.assert_array_equal(got, wide.astype(name))
    assert got.dtype == name


def test_fused_rows() -> None:
    x = floats(3, 700, 1001) * 8
    e = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))
    np.testing.assert_allclose(
        on_c(SOFTMAX, x), e / e.sum(1, keepdims=True), rtol=2e-5, atol=1e-9
    )


def test_a_convolution() -> None:
    image, kernel = floats(4, 2, 28, 30, 16), floats(5, 3, 3, 16, 24)
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    wanted = sum(
        np.einsum("nxyc,cf->nxyf", padded[:, i : i + 28, j : j + 30], kernel[i, j])
        for i in range(3)
        for j in range(3)
    )
    np.testing.assert_allclose(on_c(CONVOLUTION, image, kernel), wanted, atol=1e-4)


def test_gradients() -> None:
    text = """function (A[M, K], B[K, N]) -> (GA, GB) {
      C[i, j : M, N] = +(A[i, k] * B[k, j]);
      T = tanh(C);
      L[] = +(T[i, j]);
      GA = gradient(L, A);
      GB = gradient(L, B);
    }"""
    a, b = floats(6, 65, 40) / 4, floats(7, 40, 90) / 4
    outer = 1 - np.tanh(a @ b) ** 2
    got_a, got_b = on_c(text, a, b)
    np.testing.assert_allclose(got_a, outer @ b.T, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(got_b, a.T @ outer, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "function (X[N, M]) -> (Y) { Y = argsort(X, 1); }",
        "function (X[N, M]) -> (Y) { Y = gather(X, as_int(X * X, 32)); }",
        "function (X[N, M]) -> (Y) { Y[i, j : N, M] = +(X[i, k]), j - k < M; }",
        "function (X[N, M]) -> (Y) { Y = reshape(X, M, N); }",
        "function (X[N, M]) -> (Y) { Y = X > 0.0 ? pow(X, 2.5) : erf(X) + sin(X); }",
        "function (X[N, M]) -> (Y) { Y[i : N] = >(X[i, j]); }",
    ],
)
def test_the_interpreter_gives_the_same(text: str) -> None:
    x = floats(8, 33, 53)
    wanted = gingham.compile(text, device="reference")(x)
    np.testing.assert_allclose(on_c(text, x), wanted, rtol=2e-5, atol=1e-5)


def test_random_numbers_are_those_of_every_device() -> None:
    text = """function (X[M, N], S[W, L]) -> (R, T) {
      P = prng_step(S, M, N); R = prng_value(P) + X; T = prng_state(P);
    }"""
    state = np.random.default_rng(9).integers(0, 2**32, (3, 2048), dtype=np.uint32)
    zeros = np.zeros((50, 60), np.float32)
    wanted = gingham.compile(text, device="reference")(zeros, state)
    for got, want in zip(on_c(text, zeros, state), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_what_depends_on_constants_is_kept() -> None:
    text = """function (A[M, K], B[K, N]) -> (C) {
      P[k, l : K, K] = +(B[k, j] * B[l, j]);
      C[i, l : M, K] = +(A[i, k] * P[k, l]);
    }"""
    function = gingham.compile(text, device="c", constants=["B"])
    a, b = floats(10, 40, 50), floats(11, 50, 300)

    def check(constant: Array) -> None:
        wanted = a @ (constant @ constant.T)
        np.testing.assert_allclose(function(a, constant), wanted, rtol=1e-3, atol=0.1)

    check(b)
    check(b)
    kept = function(a, b)
    b[:] = 1
    np.testing.assert_array_equal(function(a, b), kept)
    function.refresh()
    check(b)
    check(floats(12, 50, 300))


def test_arrays_of_the_device_and_outputs_that_are_given() -> None:
    a, b = floats(13, 30, 40), floats(14, 40, 50)
    function = gingham.compile(PRODUCT, device="c")
    out = np.empty((30, 50), np.float32)
    assert function(a, b, out=out) is out
    result = function(gingham.asarray(a, device="c"), b)
    assert result.device is DEVICE
    np.testing.assert_array_equal(result.numpy(), out)


def test_programs_are_kept_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import numpy, gingham\n"
        "f = gingham.compile('function (A[N]) -> (B) { B = A * 3.0; }', device='c')\n"
        "print(f(numpy.ones(100, numpy.float32)).sum())\n"
    )

    def run() -> str:
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=100
        )
        return result.stdout or result.stderr

    monkeypatch.setenv("GINGHAM_CACHE", str(tmp_path))
    assert run() == "300.0\n"
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "can not be used" in run()
    monkeypatch.delenv("CC")
    stored = sum(path.is_file() for path in tmp_path.rglob("*"))
    assert run() == "300.0\n"
    assert stored
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == stored


def test_launches_are_seen_by_profiles() -> None:
    function = gingham.compile(SOFTMAX, device="c", profile=True)
    function(floats(15, 300, 400))
    commands = function.profile.commands
    assert {each.device for each in commands} == {"c"}
    assert all(each.kind == "kernel" and each.seconds > 0 for each in commands)
    assert sum(each.bytes_read for each in commands) >= 4 * 300 * 400


def test_what_it_tells() -> None:
    function = gingham.compile(PRODUCT, device="c")
    a, b = floats(18, 64, 64), floats(19, 64, 64)
    assert "void enqueue_" in function.source(a, b)
    assert backend_of(DEVICE).hardware().has_vectors
    with pytest.raises(GinghamError, match="NumPy's and not counted"):
        gingham.memory_usage("c")
    with pytest.raises(GinghamError, match="can not be divided"):
        gingham.device("c/0:1")
    assert not any(each.name == "c" for each in gingham.devices()[:1])


def test_tile_run(tmp_path: Path) -> None:
    path = tmp_path / "product.tile"
    path.write_text(PRODUCT)
    command = Path(sys.executable).with_name("tile-run")
    result = subprocess.run(
        [command, path, "--shape", "A=64x32", "B=32x48", "--device", "c", "--check"],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert "device: c, " in result.stdout

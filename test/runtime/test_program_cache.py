"""Compiled programs on disk: found by all that matters, right, and optional."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.runtime import program_cache
from gingham.runtime.function import Function
from gingham.runtime.store import Store
from gingham.targets.opencl import program as opencl_program

PRODUCT = """function (A[M, K], B[K, N]) -> (C, S) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
  S[k : K] = +(B[k, j]);
}"""


def integers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> NDArray[Any]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(dtype)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if gingham.default_device().is_reference:
        pytest.skip("nothing is compiled for the interpreter")
    path = tmp_path / "programs"
    monkeypatch.setenv("GINGHAM_CACHE", str(path))
    # Somebody may be editing the code while it is tested.
    monkeypatch.setattr(program_cache, "code_is_unchanged", lambda: True)
    forget = opencl_program.built_program.cache_clear
    forget()
    yield path
    forget()


def stored(path: Path) -> int:
    return len(Store(path, 1 << 30).files())


def forbid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise AssertionError("the program is compiled again")

    monkeypatch.setattr(Function, "_module_at", fail)
    monkeypatch.setattr(opencl_program, "built_program", fail)


def test_a_program_is_compiled_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = integers(5, 7), integers(7, 9)
    first = gingham.compile(PRODUCT)(a, b)
    assert stored(folder) == 1
    with monkeypatch.context() as patch:
        forbid_compiling(patch)
        function = gingham.compile(PRODUCT)
        for _ in range(2):
            for result, expected in zip(function(a, b), first, strict=True):
                np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(first[0], a @ b)
    np.testing.assert_array_equal(first[1], b.sum(axis=1))


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "bfloat16", "float16"])
def test_element_types(
    folder: Path, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    element = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a = integers(6, 5).astype(element)
    program = "function (A[N, M]) -> (B) { B[m, n : M, N] = =(A[n, m]); }"
    expected = gingham.compile(program)(a)
    np.testing.assert_array_equal(expected, a.T)
    forbid_compiling(monkeypatch)
    result = gingham.compile(program)(a)
    assert result.dtype == element
    np.testing.assert_array_equal(result, a.T)


def test_constants_and_memory_between_launches(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """function (I[N, N], K[N, N]) -> (O) {
      S[n : N] = +(K[n, l]);
      T[i, j : N, N] = +(I[i, k] * K[k, j]);
      R[j : N] = +(T[i, j]);
      O = R * S;
    }"""
    i, k = integers(8, 8), integers(8, 8, seed=1)
    expected = (i @ k).sum(axis=0) * k.sum(axis=1)
    np.testing.assert_array_equal(
        gingham.compile(program, constants="K")(i, k), expected
    )
    forbid_compiling(monkeypatch)
    function = gingham.compile(program, constants="K")
    np.testing.assert_array_equal(function(i, k), expected)
    np.testing.assert_array_equal(function(-i, k), -expected)


def test_what_tells_programs_apart(folder: Path) -> None:
    a, b = integers(5, 7), integers(7, 9)
    gingham.compile(PRODUCT)(a, b)
    gingham.compile(PRODUCT)(a[:3], b)
    assert stored(folder) == 2
    gingham.compile(PRODUCT)(a.astype(np.float64), b)
    assert stored(folder) == 3
    gingham.compile(PRODUCT.replace("A[i, k] *", "A[i, k] +"))(a, b)
    assert stored(folder) == 4
    gingham.compile(PRODUCT, constants=["B"])(a, b)
    assert stored(folder) == 5
    gingham.compile(PRODUCT, hardware="cpu-avx2")(a, b)
    assert stored(folder) == 6
    gingham.compile(PRODUCT, fast_math=True)(a, b)
    assert stored(folder) == 7


def test_a_file_that_is_damaged_is_replaced(folder: Path) -> None:
    a, b = integers(5, 7), integers(7, 9)
    gingham.compile(PRODUCT)(a, b)
    (path,) = folder.glob("*.program")
    path.write_bytes(b"nonsense")
    np.testing.assert_array_equal(gingham.compile(PRODUCT)(a, b)[0], a @ b)
    assert path.read_bytes() != b"nonsense"


@pytest.mark.parametrize("value", [b"", b"{}\n", b"[1]\n", b'{"slots": 3}\n', b"\xff"])
def test_bytes_that_are_no_program_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: bytes
) -> None:
    def get(store: Store, key: str) -> bytes:
        del store, key
        return value

    monkeypatch.setattr(Store, "get", get)
    a, b = integers(5, 7), integers(7, 9)
    np.testing.assert_array_equal(gingham.compile(PRODUCT)(a, b)[0], a @ b)


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    assert program_cache.program_store() is None
    monkeypatch.delenv("GINGHAM_CACHE")
    assert program_cache.program_store() is None
    monkeypatch.setenv("GINGHAM_CACHE", "on")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program_cache.store_at.cache_clear()
    store = program_cache.program_store()
    assert store is not None
    assert store.folder == tmp_path / "gingham" / "programs"
    assert store.limit_bytes == 1024 << 20
    monkeypatch.setenv("GINGHAM_CACHE_LIMIT", "3")
    store = program_cache.program_store()
    assert store is not None
    assert store.limit_bytes == 3 << 20
    monkeypatch.setenv("GINGHAM_CACHE_LIMIT", "much")
    with pytest.raises(GinghamError, match="to be a number of MiB, got 'much'"):
        program_cache.program_store()
    program_cache.store_at.cache_clear()


def test_code_that_changed_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("GINGHAM_CACHE", str(folder))
    started = program_cache.process_start()
    assert started is not None
    program_cache.code_is_unchanged.cache_clear()
    monkeypatch.setattr(program_cache, "package_code", lambda: ("", started + 1))
    gingham.compile(PRODUCT)(integers(5, 7), integers(7, 9))
    assert not folder.exists()
    program_cache.code_is_unchanged.cache_clear()

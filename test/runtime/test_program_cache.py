"""Compiled programs on disk: found by all that matters, right, and optional."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cache_folders import cache_folder, forget, stored
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.runtime import lowering
from gingham.runtime.cache import code_state, probes
from gingham.runtime.cache import programs as program_cache
from gingham.runtime.cache.store import PROGRAM, CacheWarning, Store
from gingham.runtime.lowering import Lowering
from gingham.runtime.parsed import TextProgram, text_program
from gingham.targets.opencl import backend
from gingham.targets.opencl import program as opencl_program
from gingham.targets.opencl.devices.device import OpenCLDevice

PRODUCT = """function (A[M, K], B[K, N]) -> (C, S) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
  S[k : K] = +(B[k, j]);
}"""


def integers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> NDArray[Any]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(dtype)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with cache_folder(tmp_path, monkeypatch) as path:
        yield path


def forbid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise AssertionError("the program is compiled again")

    forget()
    monkeypatch.setattr(Lowering, "printed", fail)
    monkeypatch.setattr(opencl_program, "built_program", fail)
    monkeypatch.setattr(TextProgram, "module", property(fail))


def forbid_building(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise AssertionError("the program is compiled again")

    monkeypatch.setattr(Lowering, "printed", fail)


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


def other_records(*arguments: object) -> str:
    return "another"


def test_what_tells_programs_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setattr(backend, "driver_state", lambda: ["another"])
    gingham.compile(PRODUCT)(a, b)
    assert stored(folder) == 8
    monkeypatch.setattr(program_cache, "versions", lambda: ["another"])
    gingham.compile(PRODUCT)(a, b)
    assert stored(folder) == 9
    monkeypatch.setattr(lowering, "recall_state", other_records)
    gingham.compile(PRODUCT)(a, b)
    assert stored(folder) == 10
    gingham.compile(PRODUCT, tuned=False)(a, b)
    assert stored(folder) == 10


def test_a_file_that_is_damaged_is_replaced(folder: Path) -> None:
    a, b = integers(5, 7), integers(7, 9)
    gingham.compile(PRODUCT)(a, b)
    (path,) = folder.glob("*.program")
    path.write_bytes(b"nonsense")
    forget()
    np.testing.assert_array_equal(gingham.compile(PRODUCT)(a, b)[0], a @ b)
    assert path.read_bytes() != b"nonsense"


@pytest.mark.parametrize("value", [b"", b"{}\n", b"[1]\n", b'{"slots": 3}\n', b"\xff"])
def test_bytes_that_are_no_program_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: bytes
) -> None:
    def get(store: Store, key: str, kind: str = PROGRAM) -> bytes | None:
        del store, key
        return value if kind == PROGRAM else None

    monkeypatch.setattr(Store, "get", get)
    a, b = integers(5, 7), integers(7, 9)
    np.testing.assert_array_equal(gingham.compile(PRODUCT)(a, b)[0], a @ b)


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    assert program_cache.program_store() is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program_cache.store_at.cache_clear()
    monkeypatch.setenv("GINGHAM_CACHE", "on")
    store = program_cache.program_store()
    assert store is not None
    assert store.folder == tmp_path / "gingham" / "programs"
    monkeypatch.delenv("GINGHAM_CACHE")
    assert program_cache.program_store() is store
    assert store.limit_bytes == 1024 << 20
    monkeypatch.setenv("GINGHAM_CACHE_SIZE", "3 MiB")
    store = program_cache.program_store()
    assert store is not None
    assert store.limit_bytes == 3 << 20
    monkeypatch.setenv("GINGHAM_CACHE_SIZE", "much")
    with pytest.raises(
        GinghamError, match=r"expected a number of bytes .*, got 'much'"
    ):
        program_cache.program_store()
    program_cache.store_at.cache_clear()


def test_code_that_changed_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("GINGHAM_CACHE", str(folder))
    started = code_state.process_start()
    assert started is not None
    code_state.code_is_as_started.cache_clear()
    monkeypatch.setattr(code_state, "package_code", lambda: ("", started + 1))
    gingham.compile(PRODUCT)(integers(5, 7), integers(7, 9))
    assert not folder.exists()
    code_state.code_is_as_started.cache_clear()


def test_code_that_changes_while_it_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        program_cache, "code_is_unchanged", code_state.code_is_unchanged
    )
    monkeypatch.setattr(code_state, "code_is_as_started", lambda: True)
    monkeypatch.setattr(code_state, "package_code", lambda: ("before", 0.0))
    gingham.compile(PRODUCT)(integers(5, 7), integers(7, 9))
    assert stored(folder) == 0


def test_the_state_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_state, "_ROOT", tmp_path)
    monkeypatch.setattr(code_state, "_FOLDERS", ("passes",))
    (tmp_path / "passes" / "tile").mkdir(parents=True)
    file = tmp_path / "passes" / "tile" / "fold.py"
    file.write_text("1")
    code_state.package_code.cache_clear()
    first = code_state.package_code()
    monkeypatch.setattr(code_state, "code_is_as_started", lambda: True)
    assert code_state.code_is_unchanged()
    (tmp_path / "passes" / "notes.txt").write_text("no code")
    # An editor's note of who has the file open.
    (tmp_path / "passes" / "tile" / ".#fold.py").symlink_to("user@machine.1")
    assert code_state.code_is_unchanged()
    file.write_text("22")
    assert not code_state.code_is_unchanged()
    code_state.package_code.cache_clear()
    assert code_state.package_code() != first
    file.rename(file.with_name("folded.py"))
    assert not code_state.code_is_unchanged()
    code_state.package_code.cache_clear()


def test_programs_are_shared_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    if gingham.default_device().is_reference:
        pytest.skip("nothing is compiled for the interpreter")
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    forget()
    a, b = integers(5, 7), integers(7, 9)
    first = gingham.compile(PRODUCT)
    np.testing.assert_array_equal(first(a, b)[0], a @ b)
    with monkeypatch.context() as patch:
        forbid_building(patch)
        second = gingham.compile(PRODUCT)
        for function in (second, first, second):
            np.testing.assert_array_equal(function(-a, b)[0], -a @ b)
        other = gingham.compile(PRODUCT, fast_math=True)
        with pytest.raises(AssertionError, match="compiled again"):
            other(a, b)
    forget()


@pytest.mark.parametrize(
    "value",
    [b"", b"null", b"[]", b"[1, 2, 3]", b'[["A"], ["B"], ["x"]]', b'[[1], ["B"], []]'],
)
def test_an_outline_that_is_damaged(folder: Path, value: bytes) -> None:
    a, b = integers(5, 7), integers(7, 9)
    gingham.compile(PRODUCT)(a, b)
    assert stored(folder, "outline") == 1
    key = program_cache.key_of(text_program(PRODUCT).identity)
    store = Store(folder, 1 << 30)
    store.put(key, value, "outline")
    forget()
    function = gingham.compile(PRODUCT)
    assert function.input_names == ["A", "B"]
    assert function.output_names == ["C", "S"]
    np.testing.assert_array_equal(function(a, b)[0], a @ b)
    assert store.get(key, "outline") != value


def test_a_text_with_a_mistake_is_one_each_time(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(GinghamError, match="expected"):
            gingham.compile("function (A[N]) -> (B) { B = A }")
    assert stored(folder, "outline") == 0


def test_numbers_that_are_sizes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "function (A[N], M) -> (B) { B[i : M] = =(A[i]); }"
    a = integers(6)
    np.testing.assert_array_equal(gingham.compile(program)(a, 3), a[:3])
    np.testing.assert_array_equal(gingham.compile(program)(a, 4), a[:4])
    assert stored(folder) == 2
    forbid_compiling(monkeypatch)
    function = gingham.compile(program)
    for count in (3, 4, 3):
        np.testing.assert_array_equal(function(a, count), a[:count])


def test_more_than_results_of_a_stored_program(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = integers(5, 7), integers(7, 9)
    expected = gingham.compile(PRODUCT)
    expected(a, b)
    forget()
    function = gingham.compile(PRODUCT)
    with monkeypatch.context() as patch:
        patch.setattr(TextProgram, "module", None)
        function(a, b)
    assert function.ir(stage="parsed") == expected.ir(stage="parsed")
    assert function.source(a, b) == expected.source(a, b)
    assert str(function.explain(a, b)) == str(expected.explain(a, b))


def test_the_place_of_a_program_counts(folder: Path, tmp_path: Path) -> None:
    """Errors and kernels show it."""
    a, b = integers(5, 7), integers(7, 9)
    for name in ("one.tile", "two.tile"):
        path = tmp_path / name
        path.write_text(PRODUCT)
        gingham.compile_file(path)(a, b)
    assert stored(folder) == 2
    files = Store(folder, 1 << 30).files()
    programs = [file for file in files if file.kind == PROGRAM]
    device = gingham.default_device().name
    assert sorted(Store(folder, 1 << 30).titles(programs)) == [
        f"{name} (A 5x7 float32, B 7x9 float32) -> (C, S) on {device}"
        for name in ("one.tile", "two.tile")
    ]


def test_a_program_too_large_for_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_CACHE_SIZE", "1000")
    a, b = integers(5, 7), integers(7, 9)
    np.testing.assert_array_equal(gingham.compile(PRODUCT)(a, b)[0], a @ b)
    assert stored(folder) == 0


def test_a_folder_that_others_may_use(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    program_cache.store_at.cache_clear()
    a, b = integers(5, 7), integers(7, 9)
    with pytest.warns(CacheWarning, match="others may use"):
        results = gingham.compile(PRODUCT)(a, b)
    np.testing.assert_array_equal(results[0], a @ b)
    gingham.compile(PRODUCT)(a[:2], b)
    assert list(folder.iterdir()) == []


def test_a_probe_that_has_passed_is_remembered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = gingham.default_device()
    assert isinstance(device, OpenCLDevice)

    def twin() -> OpenCLDevice:
        return OpenCLDevice(device.name, device.kind, device.details, device.handle)

    def fail(*_: object) -> str:
        return "it is broken"

    with monkeypatch.context() as patch:
        patch.setattr("gingham.targets.opencl.devices.device.probe", fail)
        for _ in range(2):
            assert probes.failure_of(twin()) == "it is broken"
            with pytest.raises(GinghamError, match="it is broken"):
                probes.require_usable(twin())
        assert stored(folder, "probe") == 0
    assert probes.failure_of(twin()) is None
    assert stored(folder, "probe") == 1
    with monkeypatch.context() as patch:
        patch.setattr("gingham.targets.opencl.devices.device.probe", fail)
        assert probes.failure_of(twin()) is None
        probes.require_usable(twin())
        # Another runtime, or a new one in its place, is probed.
        patch.setattr(backend, "driver_state", lambda: ["another"])
        assert probes.failure_of(twin()) == "it is broken"
        patch.setenv("GINGHAM_CACHE", "off")
        assert probes.failure_of(twin()) == "it is broken"

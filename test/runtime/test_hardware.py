"""Which hardware description programs are compiled by, and how to say it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gingham
from gingham.errors import GinghamError
from gingham.passes.pipelines import TargetOptions
from gingham.runtime.devices import default_device, device
from gingham.runtime.hardware import (
    chosen_hardware,
    hardware_of,
    target_options,
)
from gingham.targets.hardware import (
    CacheSize,
    hardware_text,
    host,
    host_caches,
    load_hardware,
)
from gingham.targets.opencl.devices.device import OpenCLDevice

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)


@pytest.fixture(autouse=True)
def _no_choice(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.delenv("GINGHAM_HARDWARE", raising=False)


def test_interpreter_is_described_as_avx512() -> None:
    assert hardware_of(device("reference")) == load_hardware("cpu-avx512")


def test_device_tells_its_own_figures(opencl_device: OpenCLDevice) -> None:
    hardware, details = hardware_of(opencl_device), opencl_device.details
    assert hardware.local_memory_bytes == details.local_memory_bytes
    assert hardware.work_group_limit == details.max_work_group_size
    if hardware.has_vectors:
        assert hardware.cores == details.compute_units
        assert hardware.vector_bits == 32 * max(details.native_float_width, 1)


def test_choice_comes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_HARDWARE", "cpu-neon:cores=7")
    neon, avx2 = load_hardware("cpu-neon:cores=7"), load_hardware("cpu-avx2")
    assert hardware_of(device("reference")) == neon
    assert hardware_of(device("reference"), avx2) == avx2
    assert chosen_hardware(None) is None
    assert chosen_hardware("cpu-avx2") == avx2
    assert chosen_hardware(neon) is neon


def test_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_HARDWARE", "cpu-z80")
    with pytest.raises(GinghamError, match="from the environment variable GINGHAM_"):
        hardware_of(default_device())


def test_options_of_a_gpu_have_scalars() -> None:
    options = target_options(device("reference"), load_hardware("nvidia-h200"))
    assert (options.vector_bits, options.hardware.vector_bits) == (32, 1024)
    assert options.hardware.vector_registers == 255
    assert options.with_vectors(64, 128).hardware.innermost.registers == 128
    assert options.with_vectors(64).vector_bits == 64
    assert hardware_text(options.hardware) == "nvidia-h200"


def test_options_follow_the_hardware() -> None:
    avx2 = load_hardware("cpu-avx2")
    options = TargetOptions(hardware=avx2)
    assert (options.vector_bits, options.hardware.vector_registers) == (256, 16)
    assert options.hardware == avx2
    other = TargetOptions(load_hardware("cpu-neon"))
    assert (other.vector_bits, other.hardware.vector_registers) == (128, 32)


def test_hardware_follows_the_options() -> None:
    options = TargetOptions().with_vectors(256, 16)
    assert options.hardware.vector_bits == 256
    text = hardware_text(options.hardware)
    assert text == "cpu-avx512:parallel.vector.count=8,parallel.vector.registers=16"
    assert TargetOptions() == TargetOptions().with_vectors(512, 32)


def test_compiled_for_the_hardware_that_is_asked_for(tmp_path: Path) -> None:
    arrays = [np.ones((33, 40), np.float32), np.ones((40, 70), np.float32)]
    path = tmp_path / "mine.toml"
    path.write_text('base = "cpu-neon"\n')
    for hardware, vector in (
        ("cpu-avx2", "float8"),
        (load_hardware("cpu-avx512"), "float16"),
        (str(path), "float4"),
    ):
        function = gingham.compile(PRODUCT, hardware=hardware)
        assert vector in function.source(*arrays)
        np.testing.assert_array_equal(function(*arrays), np.full((33, 70), 40))


def test_unknown_hardware_is_an_error_at_once() -> None:
    with pytest.raises(GinghamError, match="unknown hardware description 'cpu'"):
        gingham.compile(PRODUCT, hardware="cpu")


def test_caches_as_linux_tells_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def level(number: int, **values: str) -> None:
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, value in values.items():
            (folder / name).write_text(value + "\n")

    def told() -> tuple[CacheSize, ...]:
        host_caches.cache_clear()
        return host_caches()

    monkeypatch.setattr(host, "_LINUX_CACHES", tmp_path)
    assert told() == ()
    common = {"ways_of_associativity": "8"}
    threads, cluster, chip = "0,4", "0-1,4-5", "0-7"
    level(0, level="1", type="Data", size="32K", shared_cpu_list=threads, **common)
    level(1, level="1", type="Instruction", size="64K", shared_cpu_list="0", **common)
    level(2, level="2", type="Unified", size="1M", shared_cpu_list=cluster, **common)
    level(3, level="3", type="Unified", size="32768K", shared_cpu_list=chip, **common)
    assert told() == (
        CacheSize(32 << 10, 8, False),
        CacheSize(512 << 10, 8, False),
        CacheSize(32 << 20, 8, True),
    )
    (tmp_path / "index3" / "shared_cpu_list").write_text(threads)
    assert told()[2] == CacheSize(32 << 20, 8, False)
    level(4, level="4", type="Unified", size="many", shared_cpu_list="0", **common)
    assert told() == ()
    host_caches.cache_clear()

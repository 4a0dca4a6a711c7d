"""Hardware descriptions on command lines."""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path

import pytest

from gingham.runtime import load
from gingham.runtime.devices import default_device
from gingham.runtime.devices import devices as all_devices
from gingham.runtime.hardware import hardware_of
from gingham.targets.hardware import load_hardware
from gingham.targets.opencl.devices import calibration
from gingham.tools import devices, run
from gingham.tools.optimizer.driver import run as tile_opt

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("product.tile").write_text(PRODUCT)
    return "product.tile"


def test_run_compiles_by_a_file(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.toml").write_text('base = "cpu-neon"\n')
    for hardware, vector in (("mine.toml", "float4"), ("cpu-avx2", "float8")):
        shapes = ["--shape", "A=40x40", "B=40x40"]
        options = [f"--hardware={hardware}", "--emit=source"]
        assert run.main([program, *shapes, *options]) == 0
        assert f"{vector} " in capsys.readouterr().out


def test_run_shows_what_is_wrong_in_a_file(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.toml").write_text('base = "cpu-neon"\npage_bytes = 0.5\n')
    assert run.main([program, "--hardware=mine.toml", "--emit=tile"]) == 1
    assert capsys.readouterr().err == (
        "mine.toml:2:1: error: page_bytes: expected a whole number, got 0.5\n"
        "page_bytes = 0.5\n^~~~~~~~~~\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--print-pipeline=opencl-cpu-avx512{hardware=cpu-neon}"],
        ["--print-pipeline=opencl-cpu-avx512", "--hardware=cpu-neon"],
        ['--print-pipeline=opencl-cpu-avx512{hardware="cpu-neon:cores=4"}'],
        # What stands at the pipeline is nearer.
        [
            "--print-pipeline=opencl-cpu-avx512{hardware=cpu-neon}",
            "--hardware=cpu-avx2",
        ],
    ],
)
def test_named_pipeline_for_other_hardware(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert tile_opt(arguments) == 0
    text = capfd.readouterr().out
    assert "stripe-vectorize{bits=128}" in text


def test_numbers_stay_options_of_pipelines(capfd: pytest.CaptureFixture[str]) -> None:
    options = "{hardware=cpu-neon vector-bits=256}"
    assert tile_opt([f"--print-pipeline=opencl-cpu-avx2{options}"]) == 0
    assert "stripe-vectorize{bits=256}" in capfd.readouterr().out


def test_named_pipeline_runs_for_other_hardware(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "empty.mlir"
    file.write_text("builtin.module {}")
    arguments = [str(file), "--pipeline=opencl-cpu-avx2", "--hardware=cpu-neon"]
    assert tile_opt([*arguments, "--dump-pass-pipeline"]) == 0
    assert "stripe-vectorize{bits=128}" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("{hardware=cpu-z80}", "unknown hardware description 'cpu-z80'"),
        ("{hardwares=cpu-neon}", "pipelines have no option 'hardwares'"),
        ("{vector-bits=100}", "vector_bits: expected a power of two from 32 on"),
        ("{vector-bits=many}", "the option 'vector_bits' expects a number, got 'many'"),
    ],
)
def test_wrong_option_of_a_pipeline(
    option: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tile_opt([f"--print-pipeline=opencl-cpu-avx2{option}"]) == 1
    assert message in capfd.readouterr().err


def test_devices_show_their_descriptions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert devices.main([]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    shown = [row[1] for row in rows if row[:1] == ["hardware"]]
    assert shown == [hardware_of(each).name for each in all_devices()]
    (reference,) = [row for row in rows if row[:1] == ["instructions"]][-1:]
    assert reference == ["instructions", "fma_f32x16,", "dot_f32x4"]
    assert devices.main(["--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for entry in document["devices"]:
        assert entry["hardware"]["parallel"][0]["count"] > 0
        assert entry["hardware"]["caches"][0]["size_bytes"] > 0


def test_devices_write_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    for arguments, device in (
        ([], default_device()),
        (["reference"], all_devices()[-1]),
    ):
        assert devices.main(["--hardware", *arguments]) == 0
        path.write_text(capsys.readouterr().out)
        assert load_hardware(str(path)) == hardware_of(device)


def test_devices_measure_themselves(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if default_device().is_reference:
        pytest.skip("no OpenCL device")
    monkeypatch.setattr(calibration, "_SECONDS", 0.01)
    monkeypatch.setattr(calibration, "_MOST_BYTES", 1 << 23)
    path = tmp_path / "measured.toml"
    with warnings.catch_warnings():
        # The machine of the tests may be busy.
        warnings.filterwarnings("ignore", ".* measured while other programs took")
        assert devices.main(["--measure"]) == 0
    path.write_text(capsys.readouterr().out)
    measured, described = load_hardware(str(path)), hardware_of(default_device())
    assert re.search(
        r'"multiply_add"\nper_cycle = .*\nlatency_cycles = \S+ +# measured\n',
        path.read_text(),
    )
    assert measured.vector_bits == described.vector_bits
    # Far from both a clock that stands still and one that no device has.
    assert 0.05 < measured.clock_gigahertz < 20
    assert 0.01 < measured.launch_microseconds < 1e5
    assert 0.1 < measured.memory_gigabytes_per_second < 1e5
    for level in measured.caches:
        assert 0.01 < level.bytes_per_cycle < 1e4


@pytest.mark.parametrize(("ticks", "expected"), [(0, ""), (10**6, "took 100% of the")])
def test_busy_machine_is_told(
    ticks: int,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What the system counts for the cores, this process left out, is others'."""
    if default_device().is_reference or not hasattr(os, "sched_getaffinity"):
        pytest.skip("no OpenCL device, or no counts")
    described = hardware_of(default_device())
    counts = tmp_path / "stat"

    def count(busy: int) -> None:
        lines = (f"cpu{n} {busy} 0 0 0\n" for n in os.sched_getaffinity(0))
        counts.write_text("".join(lines))

    def calibrate(*_: object) -> calibration.Calibration:
        count(1000 + ticks)
        return calibration.Calibration(described, {})

    count(1000)
    monkeypatch.setattr(load, "_STATISTICS", counts)
    monkeypatch.setattr(calibration, "calibrate", calibrate)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert devices.main(["--measure"]) == 0
    capsys.readouterr()
    messages = [str(warning.message) for warning in told]
    assert len(messages) == bool(expected)
    assert all(expected in message for message in messages)


def test_interpreter_is_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert devices.main(["--measure=reference"]) == 1
    assert "device 'reference' cannot be measured" in capsys.readouterr().err

"""`tile-run`: what it prints and writes, and how it ends on bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from gingham.tools.command import run_command
from gingham.tools.run import main

EXAMPLES = Path(__file__).parents[2] / "examples"
PRODUCT = str(EXAMPLES / "matrix_product.tile")
SHAPES = ["--shape", "A=6x5", "B=5x7"]
REFERENCE = ["--device", "reference"]


def test_runs_checks_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PRODUCT, *SHAPES, "--check", "--time"]) == 0
    lines = capsys.readouterr().out.splitlines()
    starts = ["device: ", "input A: 6x5, float32", "input B: 5x7, float32"]
    starts += ["output C: 6x7, float32", "time: ", "check C: ok"]
    assert len(lines) == len(starts)
    assert all(line.startswith(s) for line, s in zip(lines, starts, strict=True))


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("tile", "tile.contract add over [i : 6, j : 7 | k : 5]"),
        ("stripe", "stripe.block"),
        ("opencl", "opencl.kernel"),
        ("source", "__kernel"),
    ],
)
def test_emits_every_level(
    stage: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([PRODUCT, *SHAPES, f"--emit={stage}"]) == 0
    captured = capsys.readouterr()
    assert text in captured.out
    assert "device:" not in captured.out


def test_files_in_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = np.arange(12, dtype=np.float64).reshape(3, 4)
    b = np.arange(8, dtype=np.float64).reshape(4, 2)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    output = tmp_path / "c.npy"
    inputs = ["--input", f"A={tmp_path / 'a.npy'}", f"B={tmp_path / 'b.npy'}"]
    assert main([PRODUCT, *inputs, "--output", f"C={output}"]) == 0
    np.testing.assert_array_equal(np.load(output), a @ b)
    assert f"wrote {output}" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.npy",
        "b.npy",
        "c.npy",
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    pipe, link, output = (tmp_path / name for name in ("pipe", "link", "c.npy"))
    os.mkfifo(pipe)
    link.symlink_to(output)
    command = [PRODUCT, *SHAPES, *REFERENCE, "--output"]
    with ThreadPoolExecutor(1) as executor:
        contents = executor.submit(pipe.read_bytes)
        assert main([*command, f"C={pipe}"]) == 0
        read = contents.result(300)
    assert main([*command, f"C={link}"]) == 0
    assert link.is_symlink()
    assert pipe.is_fifo()
    assert output.read_bytes() == read


def test_same_seed_same_inputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results: list[object] = []
    for number, seed in enumerate(["3", "3", "4"]):
        path = tmp_path / f"{number}.npy"
        command = [PRODUCT, *SHAPES, *REFERENCE, "--seed", seed]
        assert main([*command, "--output", f"C={path}"]) == 0
        results.append(np.load(path).tolist())
    capsys.readouterr()
    assert results[0] == results[1] != results[2]


def test_element_types_and_single_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "scale.tile"
    program.write_text("function (A[N], S[]) -> (B) { B = A * S; }")
    command = [str(program), *REFERENCE, "--shape"]
    assert main([*command, "A=5xsi32", "S=si32"]) == 0
    out = capsys.readouterr().out
    assert "output B: 5, int32" in out
    assert "input S: a number, int32" in out
    assert main([*command, "A=5", "S="]) == 0
    assert "output B: 5, float32" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.tile", *SHAPES], "error: cannot read 'none.tile'"),
        ([PRODUCT], "error: missing input 'A'"),
        ([PRODUCT, "--shape", "A=6x5"], "error: missing input 'B'"),
        ([PRODUCT, *SHAPES, "--shape", "A=1x1"], "'A' is given twice"),
        ([PRODUCT, *SHAPES, "--shape", "X=1x1"], "the program has no 'X'"),
        ([PRODUCT, "--shape", "A"], "expected NAME=..., got 'A'"),
        ([PRODUCT, "--shape", "A=6y5", "B=5x7"], "A=6y5: expected sizes such as"),
        ([PRODUCT, "--shape", "A=6x-5", "B=5x7"], "A=6x-5: expected sizes such as"),
        ([PRODUCT, "--shape", "A=6x", "B=5x7"], "A=6x: expected sizes such as 64x128"),
        ([PRODUCT, "--shape", "A=6x5xf31", "B=5x7"], "f31: there is no element type"),
        ([PRODUCT, "--shape", "A=9999999x9999999", "B=5x7"], "too many"),
        ([PRODUCT, "--shape", f"A={'1x' * 64}1", "B=5x7"], "65 axes: more than 64"),
        ([PRODUCT, "--shape", "A=6x5", "B=4x7"], "size K is 5 in A but 4 in B"),
        ([PRODUCT, "--shape", "A=6", "B=5x7"], "A"),
        ([PRODUCT, *SHAPES, "--device", "toaster"], "there is no device 'toaster'"),
        ([PRODUCT, *SHAPES, "--emit=llvm"], "invalid choice: 'llvm'"),
        ([PRODUCT, *SHAPES, "--frobnicate"], "unrecognized arguments"),
        ([PRODUCT, *SHAPES, "--seed", "-1"], "--seed: expected 0 or more, got -1"),
        ([PRODUCT, *SHAPES, "--seed", "x"], "--seed: invalid int value"),
        ([PRODUCT, *SHAPES, "--emit=tile", "--time"], "--time runs the program"),
        ([PRODUCT, *SHAPES, "--emit=tile", "--check"], "--check runs the program"),
        (
            [PRODUCT, *SHAPES, "--emit=tile", "--output", "C=c.npy"],
            "--output runs the program",
        ),
        ([PRODUCT, "--input", "A=none.npy"], "cannot read 'none.npy': No such file"),
        ([PRODUCT, *SHAPES, "--output", "D=d.npy"], "the program has no 'D'"),
        ([PRODUCT, *SHAPES, "--input", f"A={PRODUCT}"], "given by --shape and by"),
        ([PRODUCT, "--input", f"A={PRODUCT}"], "it is not a .npy file"),
        ([PRODUCT, "--input", "A=/dev/null"], "it is not a .npy file"),
        ([PRODUCT, *SHAPES, "--output", "C=/nowhere/at/all.npy"], "cannot write"),
        ([], "required: file"),
    ],
)
def test_bad_input_is_one_error(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("error:") == 1
    assert "Traceback" not in captured.err
    assert not list(tmp_path.iterdir())


def test_mistake_in_the_program_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "wrong.tile"
    program.write_text("function (A[N]) -> (B) {\n  B = A + C;\n}\n")
    assert main([str(program), "--shape", "A=5"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{program}:2:11: error: ")
    assert "  B = A + C;\n          ^" in error


def test_a_pickled_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "evil.npy"
    np.save(path, np.array([print], dtype=object), allow_pickle=True)
    assert main([PRODUCT, "--input", f"A={path}", "--shape", "B=5x7"]) == 1
    assert "cannot read" in capsys.readouterr().err


def test_a_file_whose_sizes_are_no_numbers_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "truth.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (True, 4)}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(16))
    assert main([PRODUCT, "--input", f"A={path}", "--shape", "B=5x7"]) == 1
    assert f"cannot read '{path}'" in capsys.readouterr().err


def test_a_file_that_promises_too_much_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**6)}
        np.lib.format.write_array_header_1_0(file, header)
    assert main([PRODUCT, "--input", f"A={path}", "--shape", "B=5x7"]) == 1
    assert f"cannot read '{path}'" in capsys.readouterr().err


def test_brain_floats_run_on_the_device(capsys: pytest.CaptureFixture[str]) -> None:
    shapes = ["--shape", "A=6x5xbf16", "B=5x7xbf16"]
    assert main([PRODUCT, *shapes]) == 0
    assert "output C: 6x7, bfloat16" in capsys.readouterr().out
    assert main([PRODUCT, *shapes, "--emit=source"]) == 0
    assert "__global const ushort *restrict A" in capsys.readouterr().out


def interrupt() -> int:
    raise KeyboardInterrupt


def test_an_interruption_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(interrupt) == 130
    assert capsys.readouterr().err == ""


def test_a_defect_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GINGHAM_DEBUG", raising=False)
    assert run_command(lambda: 1 // 0) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: internal error (ZeroDivisionError: ")
    assert "Traceback" not in error
    monkeypatch.setenv("GINGHAM_DEBUG", "1")
    assert run_command(lambda: 1 // 0) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gingham.tools.run", PRODUCT, *SHAPES, *REFERENCE],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the output: No space left on device\n"

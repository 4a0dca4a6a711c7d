"""The command `tile-tune`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gingham.passes.stripe.decide.recall.database import Database
from gingham.runtime.devices import default_device
from gingham.tools.optimizer.driver import run as tile_opt
from gingham.tools.tune import main

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
SHAPES = ["--shape", "A=64x32", "B=32x64"]
QUICK = ["--count", "2", "--seconds", "0.01"]


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the records, in a folder with the program `product.tile`."""
    monkeypatch.chdir(tmp_path)
    Path("product.tile").write_text(PRODUCT)
    path = tmp_path / "records.sqlite3"
    monkeypatch.setenv("GINGHAM_RECORDS", str(path))
    return path


def output(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a run prints that ends well."""
    status = main(arguments)
    out, err = capfd.readouterr()
    assert (status, err) == (0, "")
    return out


def error(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    status = main(arguments)
    out, err = capfd.readouterr()
    assert status == 1
    assert "Traceback" not in out + err
    return err


@pytest.fixture
def tuned(capfd: pytest.CaptureFixture[str]) -> str:
    """What tuning the program prints."""
    if default_device().is_reference:
        pytest.skip("no OpenCL device")
    return output(capfd, "run", "product.tile", *SHAPES, *QUICK)


def test_run_and_again(
    tuned: str, records: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "decisions: 2, 2 of them measured now" in tuned
    assert "<tile [" in tuned
    rows = [line.split() for line in tuned.splitlines()]
    assert rows[-1][:2] == ["product.tile", "C"]
    again = output(capfd, "run", "product.tile", *SHAPES, *QUICK)
    assert "decisions: 2, 0 of them measured now" in again
    more = output(capfd, "run", "product.tile", *SHAPES, *QUICK, "--again")
    assert "decisions: 2, 2 of them measured now" in more
    assert len(Database(records).records()) == 2


@pytest.mark.usefixtures("tuned")
def test_show(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    best = output(capfd, "show").splitlines()
    assert len(best) == 2
    assert best[0].split()[:3] == ["program", "block", "time"]
    assert len(output(capfd, "show", "--all").splitlines()) == 3
    entries = json.loads(output(capfd, "show", "--json"))
    assert len(entries) == 2
    for entry in entries:
        assert entry["status"] == "ok"
        assert entry["schedule"].startswith("<tile [")
        assert entry["speedup"] > 0
    other = str(tmp_path / "other")
    assert output(capfd, "show", "--records", other) == "nothing has been measured\n"


@pytest.mark.usefixtures("tuned")
def test_export(capfd: pytest.CaptureFixture[str]) -> None:
    lines = output(capfd, "export", "best").splitlines()
    assert len(lines) == 1
    assert len(output(capfd, "export", "all", "--all").splitlines()) == 2
    (path,) = Path("best").iterdir()
    assert lines == [f"wrote {path}"]
    assert tile_opt([str(path), "--run-reproducer", "--target=opencl"]) == 0
    assert "__kernel" in capfd.readouterr().out


@pytest.mark.usefixtures("tuned")
def test_clear(capfd: pytest.CaptureFixture[str], records: Path) -> None:
    assert output(capfd, "clear", "--failed") == "forgotten: 0\n"
    assert output(capfd, "clear") == "forgotten: 2\n"
    assert not records.exists()
    assert output(capfd, "clear") == "forgotten: 0\n"
    records.write_text("no records" * 1000)
    assert "cannot use the records" in error(capfd, "show")
    aside = records.with_name("records.sqlite3.bad1")
    assert f"it is now '{aside}'\nforgotten: 0\n" in output(capfd, "clear")
    assert not records.exists()
    assert aside.read_text() == "no records" * 1000


def test_what_is_no_file_of_ours_stays(
    capfd: pytest.CaptureFixture[str], records: Path
) -> None:
    records.mkdir()
    assert "it is not a file" in error(capfd, "clear")
    assert "it is not a file" in error(capfd, "run", "product.tile", *SHAPES, *QUICK)
    assert records.is_dir()
    records.rmdir()
    records.touch()
    assert output(capfd, "show") == "nothing has been measured\n"


def test_export_to_a_file(capfd: pytest.CaptureFixture[str]) -> None:
    message = error(capfd, "export", "product.tile")
    assert message == "error: cannot write 'product.tile': File exists\n"


def test_failures_are_shown(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if default_device().is_reference:
        pytest.skip("no OpenCL device")
    from gingham.runtime.tuning import children

    body = "print('gingham-ready', flush=True); 1 / 0"
    monkeypatch.setattr(children, "_COMMAND", (sys.executable, "-c", body))
    printed = output(capfd, "run", "product.tile", *SHAPES, *QUICK)
    assert "crash: 2, such as: ended with status 1: " in printed
    assert "ZeroDivisionError" in printed
    assert "crash" in output(capfd, "show")
    assert output(capfd, "clear", "--failed") == "forgotten: 2\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["walk"], "invalid choice: 'walk'"),
        (["run"], "the following arguments are required: file"),
        (["run", "none.tile"], "cannot read 'none.tile'"),
        (["run", "product.tile"], "missing input 'A'"),
        (["run", "product.tile", "--count", "0"], "expected 1 or more, got 0"),
        (["run", "product.tile", "--seconds=-1"], "expected a number above 0, got -1"),
        (["run", "product.tile", "--time-limit=x"], "expected a number above 0, got x"),
        (["run", "product.tile", "--hardware=x"], "unknown hardware description 'x'"),
        (
            ["run", "product.tile", *SHAPES, "--device=reference"],
            "device 'reference' cannot be tuned",
        ),
    ],
)
def test_errors(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert message in error(capfd, *arguments)


def test_records_switched_off(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_RECORDS", "off")
    assert "records are switched off" in error(capfd, "show")


def test_no_cluster(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    arguments = ["run", "product.tile", *SHAPES, "--dask=nowhere:x"]
    assert "no Dask scheduler at 'nowhere:x'" in error(capfd, *arguments)


def test_no_dask(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = error(capfd, "run", "product.tile", *SHAPES, "--dask=here")
    assert "--dask needs Dask" in message
    assert "gingham[tune]" in message


def test_help_says_what_there_is() -> None:
    command = Path(sys.executable).with_name("tile-tune")
    if not command.exists():
        pytest.skip("not installed")
    result = subprocess.run([command, "--help"], capture_output=True, text=True)
    assert result.returncode == 0
    for name in ("run", "show", "clear", "export"):
        assert f"    {name} " in result.stdout

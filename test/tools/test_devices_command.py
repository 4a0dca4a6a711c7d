"""The command `tile-devices`: text, table, JSON, probes and errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.runtime import backends
from gingham.runtime import devices as runtime_devices
from gingham.runtime.devices import default_device, devices
from gingham.targets.backend import Problem
from gingham.targets.opencl.devices.discovery import Discovery
from gingham.tools.devices import main


@pytest.fixture(autouse=True)
def _default_rule(  # pyright: ignore[reportUnusedFunction]
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GINGHAM_DEVICE", raising=False)


@pytest.fixture
def only_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """No OpenCL device, and one runtime that can not be loaded."""
    problem = Problem("/opt/[b]libgone.so", "no such file")
    nothing = Discovery((), (problem,))
    monkeypatch.setattr(backends, "discover", lambda: nothing)


def test_text_lists_all_devices_and_marks_the_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    titles = [
        line for line in printed.out.splitlines() if line and not line.startswith(" ")
    ]
    assert f"default: {default_device().name}, the first that works" in titles
    titles = [t for t in titles if not t.startswith(("not available:", "default:"))]
    for device, title in zip(devices(), titles, strict=True):
        assert title.startswith(device.name)
        assert device.description in title
        assert ("(default)" in title) == (device is default_device())
    assert "numpy version" in printed.out
    # Not asked for, so not tried.
    assert "probe" not in printed.out


def test_text_has_units(capsys: pytest.CaptureFixture[str]) -> None:
    if len(devices()) == 1:
        pytest.skip("no OpenCL device")
    main([])
    printed = capsys.readouterr().out
    assert "iB\n" in printed
    assert "compute units" in printed
    assert " x " in printed
    assert "cl_khr_" not in printed


def test_json_has_every_property(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["default"] == default_device().name
    assert document["default_reason"].startswith(f"{default_device().name}, ")
    assert isinstance(document["problems"], list)
    for entry, device in zip(document["devices"], devices(), strict=True):
        assert entry["name"] == device.name
        assert entry["kind"] == device.kind
        assert entry["description"] == device.description
        assert entry["is_reference"] == device.is_reference
        assert entry["default"] == (entry["name"] == document["default"])
        assert entry["properties"] == json.loads(json.dumps(device.properties))
        assert "probe" not in entry


def test_probe_tries_every_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--probe"]) == 0
    document = json.loads(capsys.readouterr().out)
    for entry, device in zip(document["devices"], devices(), strict=True):
        assert entry["probe"]["works"] == (device.failure() is None)
        assert entry["probe"]["failure"] == device.failure()
        assert entry["probe"]["milliseconds"] >= 0
    assert document["devices"][-1]["probe"]["works"] is True
    assert main(["--probe"]) == 0
    assert "works (" in capsys.readouterr().out


@pytest.mark.usefixtures("only_reference")
def test_without_opencl_the_list_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("c: ")
    assert "\n\nreference (default)" in printed
    assert "not available:\n  /opt/[b]libgone.so: no such file" in printed
    assert main(["--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["problems"] == [
        {"subject": "/opt/[b]libgone.so", "reason": "no such file"}
    ]


@pytest.mark.usefixtures("only_reference")
def test_a_terminal_gets_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["--probe"]) == 0
    printed = capsys.readouterr().out
    assert "reference (default): reference interpreter" in printed
    assert "│" in printed
    assert "works (" in printed
    # What drivers call themselves is no markup.
    assert "/opt/[b]libgone.so: no such file" in printed


def test_a_wrong_default_is_one_clear_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_DEVICE", "intell.0")
    assert main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: there is no device 'intell.0'")
    assert "reference" in printed.err


def test_a_device_that_fails_is_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> str:
        return "a made-up reason"

    available = devices()
    if len(available) == 1:
        pytest.skip("no OpenCL device")
    monkeypatch.setattr(type(available[0]), "failure", refuse)
    assert main(["--probe", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["default"] == "reference"
    assert document["devices"][0]["probe"]["failure"] == "a made-up reason"
    assert main(["--probe"]) == 0
    printed = capsys.readouterr().out
    assert "fails: a made-up reason" in printed
    last = "default: reference, as no OpenCL device can be used\n"
    assert f"{last}  {available[0].name}: a made-up reason" in printed


def test_the_default_and_the_hardware_say_who_chose_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    monkeypatch.setenv("GINGHAM_HARDWARE", "cpu-neon")
    assert main([]) == 0
    printed = capsys.readouterr().out
    named = "named by the environment variable GINGHAM_DEVICE"
    assert f"default: reference, {named}\n" in printed
    assert "cpu-neon (the environment variable GINGHAM_HARDWARE)\n" in printed


def test_the_installed_command_runs(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("tile-devices")
    if not command.exists():
        pytest.skip("the package's commands are not installed")
    result = subprocess.run(
        [command, "--json"],
        env={**os.environ, "OPENCL_VENDOR_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert json.loads(result.stdout)["devices"][-1]["name"] == "reference"
    wrong = subprocess.run(
        [command, "--wrong"], capture_output=True, text=True, timeout=900
    )
    assert wrong.returncode == 1
    assert "Traceback" not in wrong.stderr


def test_errors_are_gingham_errors() -> None:
    with pytest.raises(GinghamError):
        runtime_devices.device("no such device")

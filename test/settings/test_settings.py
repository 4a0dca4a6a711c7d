"""Settings: which source holds, what values they take, and errors with their places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

import gingham
from gingham.errors import GinghamError
from gingham.runtime import devices as runtime_devices
from gingham.runtime.settings import (
    SETTINGS,
    Share,
    configure,
    find,
    setting,
    settings_path,
)
from gingham.tools.settings import main

VALUES: dict[str, tuple[object, object, object]] = {
    "device": ("intel.1", "pocl.0", "reference"),
    "hardware": ("cpu-avx2", "cpu-neon", "cpu-avx512"),
    "cache": ("on", "/a/folder", "/another"),
    "cache_size": ("2 GiB", 1000, "3 MiB"),
    "records": ("off", "/a/file", "/another"),
    "memory_budget": ("80%", 4096, "1.5 GiB"),
    "program_memory": ("1 GiB", 4096, "1.5 GiB"),
    "check": ("1", False, True),
    "progress": ("off", False, True),
    "largest_program": ("1_000", 2000, 3000),
    "interpreted_points": ("1_000_000", 2000, "3_000"),
    "debug": ("1", 2, 3),
}
"""A text for the variable, a value for the file and one for `configure`."""


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """No variable, no file, and in the end nothing configured."""
    for each in SETTINGS:
        monkeypatch.delenv(each.variable, raising=False)
    yield
    configure(**{each.name: None for each in SETTINGS})


def write(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "my.toml"
) -> Path:
    """A settings file that holds from now on."""
    path = folder / name
    path.write_text(text)
    monkeypatch.setenv("GINGHAM_SETTINGS", str(path))
    return path


@pytest.mark.parametrize("name", [each.name for each in SETTINGS])
def test_each_source_gives_way_to_the_one_above(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_variable, in_file, in_python = VALUES[name]
    entry = next(each for each in SETTINGS if each.name == name)
    assert (setting(name), find(name).source) == (entry.default, "the default")
    configure(**{name: in_python})
    assert setting(name) == entry.kind.read(in_python, None)
    assert find(name).source == f"gingham.configure({name}=...)"
    path = write(tmp_path, monkeypatch, f"\n{name} = {json.dumps(in_file)}\n")
    assert setting(name) == entry.kind.read(in_file, None)
    assert find(name).source == f"the settings file {path}, line 2"
    monkeypatch.setenv(entry.variable, str(in_variable))
    assert setting(name) == entry.kind.read(in_variable, None)
    assert find(name).source == f"the environment variable {entry.variable}"
    # An empty variable sets nothing.
    monkeypatch.setenv(entry.variable, "")
    assert setting(name) == entry.kind.read(in_file, None)
    configure(**{name: None})
    monkeypatch.setenv("GINGHAM_SETTINGS", "off")
    assert setting(name) == entry.default


def test_an_argument_of_a_call_is_above_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "function (A[N]) -> (B) { B = A + 1; }"
    write(tmp_path, monkeypatch, 'device = "nothing.1"\ncache = "off"\n')
    monkeypatch.setenv("GINGHAM_DEVICE", "nothing.0")
    assert gingham.compile(text, device="reference").device.is_reference
    with pytest.raises(GinghamError, match="variable GINGHAM_DEVICE"):
        assert gingham.compile(text).device


def test_the_last_word_has_who_runs_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gingham.configure(device="reference")
    assert gingham.default_device().is_reference
    path = write(tmp_path, monkeypatch, '# mine\ndevice = "intell.0"\n')
    with pytest.raises(GinghamError) as caught:
        gingham.default_device()
    assert str(caught.value).startswith(
        f"{path}:2:1: error: there is no device 'intell.0' (from the settings file "
    )
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    assert runtime_devices.default_device().is_reference


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("\ndevcie = 'intel.0'", "2:1", "there is no setting 'devcie'\n"),
        ("[cache]\nfolder = 1", "1:2", "cache: expected 'on', 'off' or the path"),
        ("device = 3", "1:1", "device: expected the name of a device such as"),
        (
            "# x\n  debug = 9",
            "2:3",
            "debug: expected a whole number from 0 to 4, got 9",
        ),
        ("debug = true", "1:1", "debug: expected a whole number"),
        ("memory_budget = '120%'", "1:1", "memory_budget: expected a number of bytes"),
        ("memory_budget = '2 parsecs'", "1:1", "got '2 parsecs'"),
        ("cache_size = -1", "1:1", "cache_size: expected a number of bytes"),
        ("cache_size = 1.5", "1:1", "cache_size: expected a number of bytes"),
        ("device = ''", "1:1", "got ''"),
        ("device = 'a'\ndevice = 'b'", "2:13", "not TOML: cannot overwrite a value"),
        ("device", "1:7", "not TOML: expected '=' after a key"),
        ("device = 'a", "1:12", "not TOML: "),
        (f"device = {'[' * 5000}{']' * 5000}", "1:1", "nested too deeply"),
        (f"debug = 1\ncache_size = {'1' * 5000}", "2:14", "too many digits"),
        (f"# {'a' * 10**6}", "1:1", "at most 1000000 characters"),
        ('cache = "a\\u0000b"', "1:1", "got 'a\\x00b'"),
        ('hardware = "a/\\u0000b"', "1:1", "got 'a/\\x00b'"),
        ("interpreted_points = 0", "1:1", "expected a whole number above 0"),
        ("largest_program = '1e6'", "1:1", "expected a whole number above 0"),
    ],
)
def test_wrong_files_are_errors_with_their_place(
    text: str, place: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, monkeypatch, text)
    with pytest.raises(GinghamError) as caught:
        setting("device")
    rendered = caught.value.render()
    assert rendered.startswith(f"{path}:{place}: error: ")
    assert message in rendered


def test_a_misspelt_key_gets_a_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, monkeypatch, "memory_budgt = 1")
    with pytest.raises(GinghamError) as caught:
        setting("device")
    assert caught.value.hint == "did you mean 'memory_budget'?"


def test_files_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GINGHAM_SETTINGS", str(tmp_path / "gone.toml"))
    with pytest.raises(GinghamError, match=r"gone\.toml': No such file") as caught:
        setting("device")
    assert caught.value.hint == "GINGHAM_SETTINGS=off does without one"
    monkeypatch.setenv("GINGHAM_SETTINGS", str(tmp_path))
    with pytest.raises(GinghamError, match="Is a directory"):
        setting("device")
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    monkeypatch.setenv("GINGHAM_SETTINGS", str(path))
    with pytest.raises(GinghamError, match="it is not UTF-8 text"):
        setting("device")


def test_the_users_own_file_need_not_be_there(tmp_path: Path) -> None:
    code = (
        "from gingham.runtime.settings import find\n"
        "found = find('device')\n"
        "print(found.value, '|', found.source)\n"
    )
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    del environment["GINGHAM_SETTINGS"]

    def run() -> str:
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert run() == "None | the default\n"
    path = tmp_path / "gingham" / "settings.toml"
    path.parent.mkdir()
    path.write_text('device = "reference"')
    assert run() == f"reference | the settings file {path}, line 1\n"


def test_wrong_variables_say_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_DEBUG", "loud")
    with pytest.raises(GinghamError) as caught:
        setting("debug")
    assert caught.value.message == (
        "the environment variable GINGHAM_DEBUG: expected a whole number from 0 to 4, "
        "got 'loud'"
    )


def test_configure_sets_all_or_nothing() -> None:
    with pytest.raises(GinghamError, match=r"configure\(debug=...\): expected a whole"):
        configure(device="reference", debug=7)
    assert setting("device") is None
    with pytest.raises(GinghamError, match="there is no setting 'devices'") as caught:
        configure(device="reference", devices="x")
    assert caught.value.hint == "did you mean 'device'?"
    assert setting("device") is None
    configure(device="reference", debug=2)
    configure(debug=3)
    assert (setting("device"), setting("debug")) == ("reference", 3)
    with pytest.raises(GinghamError, match="there is no setting 'colour'"):
        setting("colour")


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("1", 1),
        (12, 12),
        ("64 KiB", 65536),
        ("1.5GiB", 3 << 29),
        ("2gib", 2 << 30),
        ("100%", Share(1.0)),
        ("12.5 %", Share(0.125)),
    ],
)
def test_sizes_and_shares(value: object, meaning: object) -> None:
    configure(memory_budget=value)
    assert setting("memory_budget") == meaning


@pytest.mark.parametrize("value", ["0", "-1", "0%", "101%", "GiB", "1 GB", True, 1.5])
def test_what_is_no_size_nor_share(value: object) -> None:
    with pytest.raises(GinghamError, match="expected a number of bytes such as"):
        configure(memory_budget=value)


def test_paths_in_a_file_begin_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    write(
        tmp_path,
        monkeypatch,
        'cache = "programs"\nrecords = "~/r.sqlite3"\nhardware = "mine.toml"\n',
    )
    assert setting("cache") == str(tmp_path / "programs")
    assert setting("records") == "/home/me/r.sqlite3"
    assert setting("hardware") == str(tmp_path / "mine.toml")
    # A variable's path begins where the program runs, as in every command.
    monkeypatch.setenv("GINGHAM_CACHE", "programs")
    assert setting("cache") == "programs"
    configure(cache=tmp_path)
    monkeypatch.delenv("GINGHAM_CACHE")
    monkeypatch.setenv("GINGHAM_SETTINGS", "off")
    assert setting("cache") == str(tmp_path)


def test_the_command_shows_values_and_sources(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(tmp_path, monkeypatch, "debug = 2\nmemory_budget = '80%'\n")
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    monkeypatch.setenv("GINGHAM_DEVCIE", "reference")
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert "device = 'reference', from the environment variable GINGHAM_DEV" in printed
    assert f"debug = 2, from the settings file {path}, line 1\n" in printed
    assert "hardware = not set, from the default\n" in printed
    assert f"settings file: {path}\n" in printed
    hint = "hint: did you mean 'GINGHAM_DEVICE'?\n"
    assert f"no setting has the variable GINGHAM_DEVCIE\n{hint}" in printed
    assert main(["--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == str(path)
    assert list(document["settings"]) == [each.name for each in SETTINGS]
    assert document["settings"]["memory_budget"]["value"] == "80%"
    path = write(tmp_path, monkeypatch, "debug = 5\n", "wrong.toml")
    assert main([]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:1:1: error: debug: expected ")
    assert main(["--all"]) == 1
    monkeypatch.setenv("GINGHAM_SETTINGS", "off")
    assert settings_path() is None
    assert main([]) == 0
    assert "settings file: none (switched off)" in capsys.readouterr().out


def test_a_wrong_file_hides_no_other_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gingham.tools.command import run_command

    def fail() -> int:
        raise RuntimeError("something else")

    write(tmp_path, monkeypatch, "debug = 5\n")
    assert run_command(fail) == 1
    assert "internal error (RuntimeError: something else)" in capsys.readouterr().err


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    for each in SETTINGS:
        assert f"| `{each.name}` |" in page
        assert each.documentation
    assert len({each.name for each in SETTINGS}) == len(SETTINGS)

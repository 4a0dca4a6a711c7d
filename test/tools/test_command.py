"""What all commands have."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points, version

import pytest

COMMANDS = [
    each.name
    for each in entry_points(group="console_scripts")
    if each.value.startswith("gingham.tools.")
]


@pytest.mark.parametrize("name", COMMANDS)
def test_version(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = entry_points(group="console_scripts", name=name)
    monkeypatch.setattr("sys.argv", [name, "--version"])
    main = import_module(command.module).main
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    assert status == 0
    expected = f"{name} {version('gingham')} (xDSL {version('xdsl')})\n"
    assert capsys.readouterr().out == expected


def test_there_are_commands() -> None:
    assert "tile-run" in COMMANDS

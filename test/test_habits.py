"""What is checked is listed once, in `.ci/run`; hooks and workflows use it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps() -> list[list[str]]:
    """The commands that `.ci/run` names."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("step ")]


def test_workflows_run_our_scripts_and_nothing_else() -> None:
    assert WORKFLOWS
    commands: dict[str, list[str]] = {}
    for path in WORKFLOWS:
        for job in read(path)["jobs"].values():
            runs = [step["run"] for step in job["steps"] if "run" in step]
            commands.setdefault(path.name, []).extend(runs)
    apt = "sudo apt-get "
    kept = {
        name: [run for run in runs if not run.startswith(apt)]
        for name, runs in commands.items()
    }
    assert kept == {"ci.yml": ["bash .ci/run"], "release.yml": ["sh scripts/release"]}
    for (command,) in kept.values():
        assert (ROOT / command.split()[1]).is_file()


def test_continuous_integration_has_every_python_that_is_promised() -> None:
    matrix = read(ROOT / ".github/workflows/ci.yml")["jobs"]["check"]["strategy"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    promised = [v for v in map(str, range(30)) if f":: 3.{v}" in text.replace('"', " ")]
    assert matrix["matrix"]["python"] == [f"3.{version}" for version in promised]


def test_hooks_are_steps_with_the_tools_of_the_environment() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    checks = {tuple(part for part in step if part != ".") for step in steps()}
    for hook in repository["hooks"]:
        command = shlex.split(hook["entry"])
        # Files that are named are checked also where ruff is told to leave them alone.
        command = [part for part in command if part != "--force-exclude"]
        assert hook["language"] == "system"
        assert Path(sys.executable).with_name(Path(command[0]).name).is_file()
        assert tuple(command) in checks or (*command[:2], command[-1]) in checks


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_can_be_filled_in(path: Path) -> None:
    form = read(path)
    if path.name == "config.yml":
        assert form == {"blank_issues_enabled": True}
        return
    assert form["name"]
    assert form["description"]
    asked = [field for field in form["body"] if field["type"] != "markdown"]
    names = [field["id"] for field in asked]
    assert len(set(names)) == len(names)
    assert any(field["validations"]["required"] for field in asked[:1])
    assert all(field["attributes"]["label"] for field in asked)

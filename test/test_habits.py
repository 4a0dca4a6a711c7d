"""What is checked is listed once, in `.ci/run`; hooks and workflows use it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from distributions import ROOT, declared

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
    assert kept == {
        "ci.yml": ["bash .ci/run"],
        "release.yml": ["sh scripts/release"],
        "site.yml": ["sh scripts/site"],
    }
    for (command,) in kept.values():
        assert (ROOT / command.split()[1]).is_file()


def test_continuous_integration_has_every_python_that_is_promised() -> None:
    matrix = read(ROOT / ".github/workflows/ci.yml")["jobs"]["check"]["strategy"]
    promised = [
        version
        for classifier in declared()["project"]["classifiers"]
        if (version := classifier.rpartition(" ")[2]).startswith("3.")
    ]
    assert matrix["matrix"]["python"] == promised


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
        assert tuple(command) in checks


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


def test_nothing_is_released_from_a_tree_with_changes(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "release"
    script.write_text((ROOT / "scripts" / "release").read_text())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    result = subprocess.run(["sh", script], capture_output=True, text=True)
    assert result.returncode == 1
    assert "error: the tree has changes that are not committed" in result.stderr
    assert not (tmp_path / "dist").exists()

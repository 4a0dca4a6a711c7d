"""Tests that what pyproject.toml declares is what the tree and the environment have."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from distributions import ROOT, declared
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from xdsl.universe import Universe

from gingham.dialects import get_all_dialects
from gingham.passes import get_all_passes

NOT_PACKAGED = {"bench", "build", "dist", "docs", "scripts", "test"}


def package_folders() -> dict[str, Path]:
    """Every folder that holds an `__init__.py`, by its name as a package."""
    found: dict[str, Path] = {}
    for folder, subfolders, files in os.walk(ROOT):
        subfolders[:] = [
            name
            for name in subfolders
            if not name.startswith((".", "__")) and name not in NOT_PACKAGED
        ]
        if "__init__.py" in files:
            path = Path(folder)
            found[".".join(["gingham", *path.relative_to(ROOT).parts])] = path
    return found


def test_all_packages_are_listed() -> None:
    assert set(declared()["tool"]["setuptools"]["packages"]) == set(package_folders())


def test_all_data_files_are_listed() -> None:
    """A grammar or a table beside the code would be missing from the wheel."""
    patterns = declared()["tool"]["setuptools"]["package-data"]
    unlisted = [
        str(file.relative_to(ROOT))
        for package, folder in package_folders().items()
        if package != "gingham"
        for file in folder.iterdir()
        if file.is_file() and file.suffix != ".py"
        if not any(file.match(pattern) for pattern in patterns.get(package, []))
    ]
    assert not unlisted


@pytest.mark.parametrize(
    "group", ["dependencies", "coverage", "cpu", "dev", "docs", "lit"]
)
def test_constraints_name_a_version_of_every_requirement(group: str) -> None:
    project = declared()["project"]
    if group == "dependencies":
        required = project["dependencies"]
    else:
        required = project["optional-dependencies"][group]
    versions = {
        canonicalize_name(name): version
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
        for name, version in [line.split("==")]
    }
    for requirement in map(Requirement, required):
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None, f"no version of {requirement.name}"
        assert requirement.specifier.contains(version), f"{requirement} is {version}"


def test_commands_can_be_loaded() -> None:
    for name, target in declared()["project"]["scripts"].items():
        (command,) = entry_points(group="console_scripts", name=name)
        assert command.value == target
        assert callable(command.load())


def test_stock_xdsl_knows_our_dialects_and_passes() -> None:
    everything = Universe.get_multiverse()
    assert set(get_all_dialects()) <= set(everything.all_dialects)
    assert set(get_all_passes()) <= set(everything.all_passes)


def test_registered_names_are_the_names_of_what_they_make() -> None:
    for name, make_dialect in get_all_dialects().items():
        assert make_dialect().name == name
    for name, get_pass in get_all_passes().items():
        assert get_pass().name == name

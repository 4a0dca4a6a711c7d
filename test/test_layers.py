"""Tests that the folders import each other downwards only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def imported_modules(path: Path) -> set[str]:
    """The modules that a file imports anywhere; a relative one starts with a dot."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add("." * node.level + (node.module or ""))
    return modules


def test_layers_of_the_package() -> None:
    """The contract is `tool.importlinter` of pyproject.toml."""
    command = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [command, "--no-logo"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "path", sorted((ROOT / "bench").rglob("*.py")), ids=lambda path: path.name
)
def test_benchmarks_use_the_public_interface(path: Path) -> None:
    """Anybody may run and copy a benchmark, so it may use what a user may."""
    ours = {name for name in imported_modules(path) if name.startswith("gingham")}
    assert ours <= {"gingham"}

"""Tests that folders import each other downwards only, and files in no circle."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_layers() -> None:
    """The contracts are in `tool.importlinter` of pyproject.toml."""
    command = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [command, "--no-logo"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


PAIRS = [
    ("plaidml.operations", "plaidml.values"),
]
"""Two files that are one idea each."""


def test_files_import_each_other_in_no_circle() -> None:
    """Nor in functions, nor where only types are checked."""
    graph = grimp.build_graph("gingham", exclude_type_checking_imports=False)
    # Its version is what `gingham` is asked for.
    graph.remove_import(importer="gingham.plaidml", imported="gingham")
    for pair in PAIRS:
        first, second = (f"gingham.{name}" for name in pair)
        # A pair that is none any more is to be taken out of the list.
        assert graph.direct_import_exists(importer=first, imported=second)
        assert graph.direct_import_exists(importer=second, imported=first)
        graph.remove_import(importer=second, imported=first)
    imports = {
        name: graph.find_modules_directly_imported_by(name) for name in graph.modules
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" is imported by ".join(error.args[1]))

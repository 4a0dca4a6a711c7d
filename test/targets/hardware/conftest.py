"""A hardware description to write mistakes into."""

from __future__ import annotations

from pathlib import Path

import pytest
from hardware_files import FOLDER


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A description of one's own, a copy of a given one."""
    path = tmp_path / "mine.toml"
    path.write_text((FOLDER / "cpu-avx2.toml").read_text())
    return path

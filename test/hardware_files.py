"""Files of hardware descriptions: those that are given, and changes of them."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "targets" / "hardware"


def replaced(path: Path, old: str, new: str) -> str:
    """The path of a description, whose text has been changed in one place."""
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    return str(path)

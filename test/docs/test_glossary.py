"""The glossary names what is in the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
DEFINED = [
    (path, name)
    for line in LINES
    for path, name in re.findall(r"\| `([\w/]+\.py)` `(\w+)` \|", line)
]


def ambiguous() -> list[tuple[str, str]]:
    """The files that define a word in their own way, by the last table."""
    found: list[tuple[str, str]] = []
    word = ""
    for line in LINES[LINES.index("## Words with several meanings") :]:
        row = re.match(r"\| (\w*) ?\| `([\w/]+\.py)` \|", line)
        if row is not None:
            word = row[1] or word
            found.append((row[2], word))
    return found


def is_defined(path: Path, name: str, kind: str = "") -> bool:
    """Whether a file defines a name: as any of a class, a function and a constant."""
    pattern = rf"^(class {name}\b|def {name}\b|{name}\b.* = )"
    if kind:
        pattern = rf"^{kind} {name}\b"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return re.search(pattern, text, re.MULTILINE) is not None


@pytest.mark.parametrize(("path", "name"), [*DEFINED, *ambiguous()])
def test_what_is_named_is_there(path: str, name: str) -> None:
    assert is_defined(ROOT / path, name), f"{path} does not define {name}"


def test_each_word_has_its_place() -> None:
    rows = [line for line in LINES if line.startswith("| ") and line.count("|") == 5]
    headings = 2 * sum(line.startswith("| word | meaning") for line in rows)
    assert len(DEFINED) == len(rows) - headings > 30


def test_meanings_are_all_listed() -> None:
    folders = {path.partition("/")[0] for path, _ in ambiguous()}
    sources = [p for folder in folders for p in (ROOT / folder).rglob("*.py")]
    for word in {name for _, name in ambiguous()}:
        listed = {ROOT / path for path, name in ambiguous() if name == word}
        assert {p for p in sources if is_defined(p, word, "class")} == listed

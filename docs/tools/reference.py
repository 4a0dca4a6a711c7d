"""Writes the reference pages from docstrings: `python docs/tools/reference.py`.

With `--check` nothing is written, and the exit status is 1 when a page is out of date.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

import dialect_reference
import pass_reference

DOCS = Path(__file__).resolve().parents[1]
_NOTE = "<!-- Written by docs/tools/reference.py from the docstrings in {source}/. -->\n\n"


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    texts = {
        "dialects": dialect_reference.text(),
        "passes": pass_reference.text(),
    }
    return {
        DOCS / f"{name}.md": _NOTE.format(source=name) + text
        for name, text in texts.items()
    }


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description="Write the reference pages.")
    parser.add_argument("--check", action="store_true", help="only compare")
    is_check = parser.parse_args().check
    status = 0
    for path, text in pages().items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        if not is_check:
            path.write_text(text, encoding="utf-8")
            print(f"{path} written")
            continue
        difference = difflib.unified_diff(
            old.splitlines(), text.splitlines(), str(path), "docstrings", lineterm=""
        )
        print(*difference, sep="\n", file=sys.stderr)
        print("run: python docs/tools/reference.py", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

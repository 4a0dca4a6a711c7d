"""Writes what is generated in `docs/`: `python docs/tools/generate.py`.

These are the reference pages, from docstrings, and the pictures. With `--check` nothing
is written, and the exit status is 1 when something is out of date.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

import aten_reference
import dialect_reference
import function_reference
import hardware_reference
import operation_reference
import operator_reference
import pass_reference
from pictures import pictures

DOCS = Path(__file__).resolve().parents[1]
_NOTE = "<!-- Written by docs/tools/generate.py from the docstrings in {}/. -->\n\n"


def files() -> dict[Path, str]:
    """Every generated file with its text."""
    texts = {
        DOCS / "dialects.md": _NOTE.format("dialects") + dialect_reference.text(),
        DOCS / "functions.md": _NOTE.format("dialects/eltwise")
        + function_reference.text(),
        DOCS / "hardware.md": _NOTE.format("targets/hardware")
        + hardware_reference.text(),
        DOCS / "operations.md": operation_reference.text(DOCS / "operations.md"),
        DOCS / "onnx-operators.md": _NOTE.format("frontend/onnx/rows")
        + operator_reference.text(),
        DOCS / "torch-operators.md": _NOTE.format("frontend/torch")
        + aten_reference.text(),
        DOCS / "passes.md": _NOTE.format("passes") + pass_reference.text(),
    }
    return texts | {DOCS / "images" / name: text for name, text in pictures().items()}


def main() -> int:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description="Write what is generated in docs/.")
    parser.add_argument("--check", action="store_true", help="only compare")
    is_check = parser.parse_args().check
    status = 0
    for path, text in files().items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        if not is_check:
            path.write_text(text, encoding="utf-8")
            print(f"{path} written")
            continue
        difference = difflib.unified_diff(
            old.splitlines(), text.splitlines(), str(path), "generated", lineterm=""
        )
        print(*difference, sep="\n", file=sys.stderr)
        print("run: python docs/tools/generate.py", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

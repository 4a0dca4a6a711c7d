"""Findings as files: made small where that is cheap, to be run again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

from .cases import Case, Fuzzer
from .server import Found, run_one

_CASE = "case.json"
_SECONDS = 20
"""To make a finding small."""


def write_report(
    folder: Path, fuzzer: Fuzzer, seed: int, found: Found, case: Case
) -> Path:
    """Write a finding to a folder of its own."""
    if found.kind not in ("endless", "stuck"):
        case = minimized(fuzzer, case, found.kind)
    own = folder / f"{fuzzer.name}-{seed}-{found.number}"
    own.mkdir(parents=True, exist_ok=True)
    case.write(own)
    first = f"--what {fuzzer.name} --seed {seed} --first {found.number} --cases 1"
    text = f"{found.kind}\npython -m test.fuzz {first}\n\n{found.message}\n"
    (own / "finding.txt").write_text(text, encoding="utf-8", errors="replace")
    described = {"fuzzer": fuzzer.name, "options": case.options}
    (own / _CASE).write_text(json.dumps(described))
    return own


def read_case(folder: Path) -> tuple[str, Case]:
    """The name of the fuzzer, and the case, that a folder holds."""
    described = json.loads((folder / _CASE).read_text())
    files = {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in (_CASE, "finding.txt")
    }
    return described["fuzzer"], Case(files, tuple(described["options"]))


def minimized(fuzzer: Fuzzer, case: Case, kind: str) -> Case:
    """A smaller case with a finding of the same kind."""
    end = monotonic() + _SECONDS
    size = 1 << 16
    while size and monotonic() < end:
        smaller = next(
            (
                each
                for each in _without(case, size)
                if monotonic() < end and _is_found(fuzzer, each, kind)
            ),
            None,
        )
        if smaller is None:
            size //= 4
        else:
            case = smaller
    return case


def _is_found(fuzzer: Fuzzer, case: Case, kind: str) -> bool:
    found = run_one(fuzzer, case)
    return found is not None and found.kind == kind


def _without(case: Case, size: int) -> Iterator[Case]:
    """The case without each piece of so many lines, or characters where it is small."""
    for name, content in case.files.items():
        lines = content.splitlines(keepends=True)
        count = size // 16
        pieces = [bytes([each]) for each in content] if count == 0 else lines
        step = count or max(1, size)
        for start in range(0, len(pieces), step):
            kept = pieces[:start] + pieces[start + step :]
            if kept:
                yield replace(case, files={**case.files, name: b"".join(kept)})

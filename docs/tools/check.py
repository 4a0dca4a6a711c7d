"""Checks that pages show what happens: `python docs/tools/check.py [PAGE...]`.

With `--refresh`, pages are made to show it; look at the changes before you keep them.
These fences are checked:

* `sh`: the commands are run, as from the root of the repository. The next fence, when
  only blank lines are between, shows all that they print. The exit status is 0, or 1
  behind `sh fails`. Files that they write are gone afterwards.
* `python`: all of a page are run as one program. The next fence shows what it prints.
* any language with `title="FILE"`: shows that file of the repository, the whole of it.
* `tile` without a title: a program with its results in comments, or with the next fence
  showing its error; see `programs.py`. Behind `tile reference` it is run by the
  reference interpreter, whatever `--device` says.

In an output `...` stands for what is not shown: a part of a line, or any number of
lines. `--refresh` keeps it where the lines around it are still there.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import elision
from fences import Fence, Page

ROOT = Path(__file__).resolve().parents[2]
_SOURCES = ("sh", "python", "tile")
_TIMEOUT = 900


class CheckError(Exception):
    """A fence that cannot even be compared, and why."""


class Checker:
    """Runs what is on one page, in a folder of its own."""

    def __init__(self, page: Page, folder: Path, device: str) -> None:
        self._page = page
        self._folder = folder
        self._device = device
        self._namespace: dict[str, Any] = {}

    def truth(self, fence: Fence) -> tuple[Fence, list[str]] | None:
        """The fence that shows what `fence` gives, and what it really gives.

        None when nothing shows it. Raises CheckError for what cannot be compared.
        """
        output = self._page.output_of(fence)
        if output is not None and (output.language in _SOURCES or output.title):
            output = None
        if fence.title is not None:
            return fence, self._file(fence.title)
        if fence.language == "tile":
            return self._program(fence, output)
        if fence.language not in _SOURCES:
            return None
        actual = self._run(fence)
        return None if output is None else (output, actual)

    def _file(self, name: str) -> list[str]:
        try:
            return (ROOT / name).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise CheckError(f"cannot read '{name}': {error}") from error

    def _program(self, fence: Fence, output: Fence | None) -> tuple[Fence, list[str]]:
        # Other pages need neither NumPy nor Gingham, which take time to import.
        import programs

        try:
            if output is not None:
                return output, programs.error_of(fence.lines)
            device = "reference" if fence.has("reference") else self._device
            return fence, programs.with_results(fence.lines, device)
        except programs.ProgramError as error:
            raise CheckError(str(error)) from error

    def _run(self, fence: Fence) -> list[str]:
        is_shell = fence.language == "sh"
        status, text = (self._shell if is_shell else self._python)(fence)
        expected = 1 if fence.has("fails") else 0
        if status != expected:
            raise CheckError(
                f"expected exit status {expected}, got {status}\n{text.rstrip()}"
            )
        return [line.rstrip() for line in text.rstrip().splitlines()]

    def _shell(self, fence: Fence) -> tuple[int, str]:
        tools = str(Path(sys.executable).parent)
        environment = os.environ | {
            "PATH": os.pathsep.join([tools, os.environ.get("PATH", "")]),
            "XDG_CACHE_HOME": str(ROOT / "build" / "cache"),
            "COLUMNS": "88",
            # What is known of a runtime's version depends on the machine.
            "PYTHONWARNINGS": "ignore:device:UserWarning",
        }
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", fence.text],
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=_TIMEOUT,
        )
        return result.returncode, result.stdout

    def _python(self, fence: Fence) -> tuple[int, str]:
        code = compile(fence.text, self._page.place(fence), "exec")
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.chdir(self._folder):
            try:
                exec(code, self._namespace)
            except Exception:
                return 1, text.getvalue() + traceback.format_exc(limit=-1)
        return 0, text.getvalue()


@contextlib.contextmanager
def copy_of_root() -> Generator[Path]:
    """A folder in which files are found as in the root, and new ones do not stay."""
    with tempfile.TemporaryDirectory(prefix="gingham-docs-") as name:
        for entry in ROOT.iterdir():
            if not entry.name.startswith(".") and entry.name != "build":
                (Path(name) / entry.name).symlink_to(entry)
        yield Path(name)


@dataclass
class Verdict:
    """What is wrong with a page."""

    page: Page
    corrections: dict[Fence, list[str]] = field(default_factory=dict[Fence, list[str]])
    """What fences should show, elided as they are."""
    failures: dict[Fence, str] = field(default_factory=dict[Fence, str])
    """Fences that could not be compared, and why."""

    def describe(self) -> str:
        """The failures and the differences, each with its place."""
        parts = [f"{self.page.place(f)}: {why}" for f, why in self.failures.items()]
        for fence, right in self.corrections.items():
            parts += [f"{self.page.place(fence)}: this is not what happens"]
            parts += difflib.unified_diff(
                fence.lines, right, "shown", "actual", lineterm="", n=2
            )
        return "\n".join(parts)


def judge(page: Page, device: str) -> Verdict:
    """Check all fences of a page, Tile programs on this device."""
    verdict = Verdict(page)
    with copy_of_root() as folder:
        checker = Checker(page, folder, device)
        for fence in page.fences:
            try:
                truth = checker.truth(fence)
            except CheckError as error:
                verdict.failures[fence] = str(error)
                continue
            if truth is not None and not elision.matches(truth[0].lines, truth[1]):
                shown, actual = truth
                verdict.corrections[shown] = elision.updated(shown.lines, actual)
    return verdict


def main() -> int:
    """Check or refresh pages; the exit status is 1 when one was wrong."""
    parser = argparse.ArgumentParser(description="Check that pages show what happens.")
    parser.add_argument("pages", nargs="*", type=Path, help="default: all of docs/")
    parser.add_argument("--refresh", action="store_true", help="correct the pages")
    parser.add_argument(
        "--device",
        default="reference",
        help="where the Tile programs of pages run: a name, or 'default'",
    )
    options = parser.parse_args()
    is_right = True
    for path in options.pages or sorted((ROOT / "docs").glob("*.md")):
        try:
            verdict = judge(Page.read(path), options.device)
        except (OSError, ValueError) as error:
            print(error, file=sys.stderr)
            is_right = False
            continue
        if options.refresh and verdict.corrections:
            text = verdict.page.with_lines(verdict.corrections)
            path.write_text(text, encoding="utf-8")
            print(f"{path}: {len(verdict.corrections)} fence(s) corrected")
            verdict.corrections.clear()
        if verdict.failures or verdict.corrections:
            print(verdict.describe(), file=sys.stderr)
            is_right = False
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())

"""What a release consists of: an sdist and a wheel, and what must be in them.

`python -m test.distributions versions` names what disagrees about the version of a
release; `python -m test.distributions contents FILE...` what is wrong in built files.
`scripts/release` asks both. The exit status is 1 when there is something.
"""

from __future__ import annotations

import ast
import fnmatch
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_NOT_IN_SDIST = {".gitignore"}
_NOT_INSTALLED = {"lit.cfg.py", "setup.py"}
"""What `setup.py` leaves out, though it lies in a package."""


def tracked_files(root: Path = ROOT) -> list[str]:
    """The files of the repository, new ones included, as git names them."""
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True)
    names = listed.stdout.decode().split("\0")
    return sorted(name for name in names if name and (root / name).is_file())


def declared(root: Path = ROOT) -> dict[str, Any]:
    """The whole of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def installed_files(files: Iterable[str], project: dict[str, Any]) -> set[str]:
    """What of the repository's files a wheel has, by their names in it."""
    setuptools = project["tool"]["setuptools"]
    packages: set[str] = set(setuptools["packages"])
    data: dict[str, list[str]] = setuptools["package-data"]
    found: set[str] = set()
    for file in {*files} - _NOT_INSTALLED:
        name = f"gingham/{file}"
        folder, _, last = name.rpartition("/")
        package = folder.replace("/", ".")
        patterns = ["*.py", *data.get(package, [])]
        if package in packages and any(fnmatch.fnmatch(last, p) for p in patterns):
            found.add(name)
    return found


def wheel_faults(wheel: Path, files: Iterable[str]) -> Iterator[str]:
    """What a wheel lacks, and what it has too much."""
    project = declared()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        texts = {
            name.rpartition("/")[2]: archive.read(name).decode()
            for name in names
            if name.endswith(("/METADATA", "/entry_points.txt"))
        }
    present = {name for name in names if ".dist-info/" not in name}
    yield from _differences(wheel, present, installed_files(files, project))
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        yield f"{wheel.name} lacks the licence"
    for command, target in project["project"]["scripts"].items():
        if f"{command} = {target}" not in texts.get("entry_points.txt", ""):
            yield f"{wheel.name} lacks the command {command}"
    version = project["project"]["version"]
    if f"\nVersion: {version}\n" not in texts.get("METADATA", ""):
        yield f"{wheel.name} is not of version {version}"


def sdist_faults(sdist: Path, files: Iterable[str]) -> Iterator[str]:
    """What an sdist lacks of the repository, and what it has too much."""
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive if member.isfile()]
    made = ("PKG-INFO", "setup.cfg")
    inside = {name.partition("/")[2] for name in names}
    present = {
        name
        for name in inside
        if name not in made and not name.startswith("gingham.egg-info/")
    }
    yield from _differences(sdist, present, set(files) - _NOT_IN_SDIST)


def _differences(archive: Path, present: set[str], expected: set[str]) -> Iterator[str]:
    yield from (f"{archive.name} lacks {name}" for name in sorted(expected - present))
    yield from (f"{archive.name} has {name}" for name in sorted(present - expected))


def version_faults(root: Path = ROOT) -> Iterator[str]:
    """What disagrees about the version: pyproject.toml, the package, the changelog."""
    version: str = declared(root)["project"]["version"]
    code = ast.parse((root / "__init__.py").read_text(encoding="utf-8"))
    told = [
        ast.literal_eval(line.value)
        for line in code.body
        if isinstance(line, ast.Assign)
        if any(isinstance(t, ast.Name) and t.id == "__version__" for t in line.targets)
    ]
    if told != [version]:
        yield f"pyproject.toml says {version}, __init__.py says {' and '.join(told)}"
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\](.*)$", text, re.MULTILINE)
    released = [(name, rest) for name, rest in sections if name != "Unreleased"]
    if not released or released[0][0] != version:
        newest = released[0][0] if released else "none"
        yield f"CHANGELOG.md's newest release is {newest}, not {version}"
    elif not re.fullmatch(r" - \d{4}-\d\d-\d\d", released[0][1]):
        yield f"CHANGELOG.md gives {version} no date: expected '## [{version}] - DATE'"
    unreleased = re.search(r"^## \[Unreleased\](.*?)(?=^## |\Z)", text, re.M | re.S)
    if released and unreleased and unreleased[1].strip():
        yield "CHANGELOG.md has entries that are in no release, under Unreleased"


def main() -> int:
    """The command; see the module."""
    match sys.argv[1:]:
        case ["versions"]:
            faults = list(version_faults())
        case ["contents", *archives] if archives:
            files = tracked_files()
            faults = [fault for name in archives for fault in _faults(name, files)]
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _faults(name: str, files: list[str]) -> Iterator[str]:
    check = wheel_faults if name.endswith(".whl") else sdist_faults
    return check(Path(name), files)


if __name__ == "__main__":
    sys.exit(main())

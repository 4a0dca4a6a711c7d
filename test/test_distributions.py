"""Tests of what is released: what the sdist and the wheel have, and their version."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from distributions import (
    ROOT,
    sdist_faults,
    tracked_files,
    version_faults,
    wheel_faults,
)

pytest.importorskip("build")
pytest.importorskip("setuptools", minversion="77")


@pytest.fixture(scope="module")
def files() -> list[str]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout of git's")
    return tracked_files()


@pytest.fixture(scope="module")
def built(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an sdist and a wheel of the repository's files alone."""
    source = tmp_path_factory.mktemp("source")
    for name in files:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    folder = tmp_path_factory.mktemp("dist")
    build = ["-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run([sys.executable, *build], check=True, capture_output=True)
    return folder


def test_wheel_has_the_packages_and_nothing_else(
    built: Path, files: list[str], tmp_path: Path
) -> None:
    (wheel,) = built.glob("*.whl")
    assert not list(wheel_faults(wheel, files))
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for name in ("examples/softmax.tile", "tools/lit_suite.py", "py.typed"):
        assert f"gingham/{name}" in names
    assert not [name for name in names if name.startswith("gingham/lit.cfg")]
    assert not [name for name in names if "/test/" in name or "/bench/" in name]
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w") as new:
        for name in names - {"gingham/examples/softmax.tile"}:
            new.writestr(name, old.read(name))
        new.writestr("gingham/lit.cfg.py", "")
    assert list(wheel_faults(changed, files)) == [
        f"{wheel.name} lacks gingham/examples/softmax.tile",
        f"{wheel.name} has gingham/lit.cfg.py",
    ]


def test_sdist_has_the_repository(
    built: Path, files: list[str], tmp_path: Path
) -> None:
    (sdist,) = built.glob("*.tar.gz")
    assert not list(sdist_faults(sdist, files))
    changed = tmp_path / sdist.name
    with tarfile.open(changed, "w:gz") as new:
        for name in (set(files) - {".gitignore", "scripts/test"}) | {"build/x"}:
            new.addfile(tarfile.TarInfo(f"gingham-0.0/{name}"))
    assert list(sdist_faults(changed, files)) == [
        f"{sdist.name} lacks scripts/test",
        f"{sdist.name} has build/x",
    ]


RELEASED = "## [Unreleased]\n\n## [1.2.0] - 2030-01-31\n\n### Added\n\n- all\n"


@pytest.mark.parametrize(
    ("code", "changelog", "fault"),
    [
        ("1.2.0", RELEASED, None),
        ("1.1.0", RELEASED, "__init__.py says 1.1.0"),
        ("1.2.0", "## [Unreleased]\n\n- all\n", "newest release is none"),
        ("1.2.0", RELEASED.replace("1.2.0", "1.1.0"), "newest release is 1.1.0"),
        ("1.2.0", RELEASED.replace(" - 2030-01-31", ""), "no date"),
        ("1.2.0", RELEASED.replace("]\n\n## ", "]\n\n- new\n\n## "), "Unreleased"),
    ],
)
def test_version_of_a_release(
    tmp_path: Path, code: str, changelog: str, fault: str | None
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (tmp_path / "__init__.py").write_text(f'__version__ = "{code}"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog}")
    faults = list(version_faults(tmp_path))
    assert len(faults) == (fault is not None)
    assert fault is None or fault in faults[0]


def test_package_and_pyproject_have_one_version() -> None:
    assert not [fault for fault in version_faults() if "__init__" in fault]

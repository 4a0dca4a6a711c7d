"""Which runtimes are listed for the ICD loader, and the directory that lists them."""

from __future__ import annotations

import os
import stat
from importlib import metadata
from pathlib import Path

import pytest

from gingham.targets.opencl.devices import vendor_files
from gingham.targets.opencl.devices.vendor_files import (
    RuntimeLibrary,
    find_runtimes,
    intel_runtime,
    nvidia_runtime,
    runtimes_listed_in,
    user_has_chosen,
    vendor_directory,
)


def test_vendor_files_are_read_in_order_of_name(tmp_path: Path) -> None:
    (tmp_path / "b.icd").write_text("/opt/b/libb.so\nsecond line\n")
    (tmp_path / "a.icd").write_text("  liba.so.1  ")
    (tmp_path / "notes.txt").write_text("libc.so")
    listed = runtimes_listed_in(tmp_path)
    assert [runtime.library for runtime in listed] == ["liba.so.1", "/opt/b/libb.so"]
    assert listed[0].source == str(tmp_path / "a.icd")


def test_vendor_files_that_name_nothing_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / "empty.icd").write_text("")
    (tmp_path / "blank.icd").write_text("\n/opt/b/libb.so\n")
    (tmp_path / "nul.icd").write_bytes(b"/opt/\0/libb.so")
    (tmp_path / "folder.icd").mkdir()
    (tmp_path / "dangling.icd").symlink_to(tmp_path / "nowhere")
    # Opening a pipe for reading would wait for a writer forever.
    os.mkfifo(tmp_path / "pipe.icd")
    assert runtimes_listed_in(tmp_path) == []
    assert runtimes_listed_in(tmp_path / "missing") == []


def test_a_path_of_any_bytes_survives(tmp_path: Path) -> None:
    name = b"/opt/\xff\xe9/libx.so"
    (tmp_path / "odd.icd").write_bytes(name)
    runtimes = runtimes_listed_in(tmp_path)
    with vendor_directory(runtimes) as directory:
        (written,) = directory.iterdir()
        assert written.read_bytes() == name + b"\n"


def test_the_system_directory_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "x.icd").write_text("libx.so")
    runtimes = find_runtimes({"OPENCL_VENDOR_PATH": str(tmp_path)})
    assert RuntimeLibrary("libx.so", str(tmp_path / "x.icd")) in runtimes


def test_of_two_versions_of_one_runtime_the_first_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.icd").write_text("/opt/new/libpocl.so.2.10.0")
    (tmp_path / "b.icd").write_text("libpocl.so.2.9.0")
    (tmp_path / "c.icd").write_text("libnvidia-opencl.so.1")
    runtimes = find_runtimes({"OPENCL_VENDOR_PATH": str(tmp_path)})
    libraries = [runtime.library for runtime in runtimes]
    assert "/opt/new/libpocl.so.2.10.0" in libraries
    assert "libpocl.so.2.9.0" not in libraries
    families = [runtime.family for runtime in runtimes]
    assert families.count("libnvidia-opencl") == 1


def test_intel_runtime_lies_beside_its_libraries() -> None:
    try:
        metadata.files("intel-opencl-rt")
    except metadata.PackageNotFoundError:
        pytest.skip("the Python package intel-opencl-rt is not installed")
    (runtime,) = intel_runtime()
    assert Path(runtime.library).is_absolute()
    assert Path(runtime.library).is_file()
    assert find_runtimes({})[0] == runtime


def test_no_intel_runtime_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", not_installed)
    assert intel_runtime() == []


def test_nvidia_runtime_is_found_where_drivers_are_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "libnvidia-opencl.so.1"
    directories = (tmp_path / "missing", tmp_path)
    monkeypatch.setattr(vendor_files, "NVIDIA_DIRECTORIES", directories)
    assert nvidia_runtime().library == "libnvidia-opencl.so.1"
    library.touch()
    assert nvidia_runtime().library == str(library)
    # A guess: its absence must not be reported.
    assert not nvidia_runtime().expected


def test_the_users_choice_is_seen() -> None:
    assert user_has_chosen({"OCL_ICD_VENDORS": "/opt/x.so"})
    assert not user_has_chosen({"OCL_ICD_VENDORS": ""})
    assert not user_has_chosen({"OCL_ICD_FILENAMES": "/opt/x.so"})


def test_runtimes_that_the_user_adds_come_first(tmp_path: Path) -> None:
    (tmp_path / "a.icd").write_text("libmine.so.1")
    runtimes = find_runtimes(
        {
            "OCL_ICD_FILENAMES": "/opt/libmine.so.2::libother.so",
            "OPENCL_VENDOR_PATH": str(tmp_path),
        }
    )
    libraries = [runtime.library for runtime in runtimes]
    assert libraries[:2] == ["/opt/libmine.so.2", "libother.so"]
    assert "libmine.so.1" not in libraries


def test_the_directory_is_private_and_goes_away() -> None:
    runtimes = [RuntimeLibrary("liba.so", "a"), RuntimeLibrary("/opt/libb.so", "b")]
    with vendor_directory(runtimes) as first, vendor_directory(runtimes) as second:
        assert first != second
        assert stat.S_IMODE(first.stat().st_mode) == 0o700
        assert first.stat().st_uid == os.getuid()
        contents = {file.suffix + file.read_text() for file in first.iterdir()}
        assert contents == {".icdliba.so\n", ".icd/opt/libb.so\n"}
    assert not first.exists()
    assert not second.exists()

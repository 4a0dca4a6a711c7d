"""The folder of stored programs: what it gives back, and what it refuses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gingham.runtime.store import CacheWarning, Store

LIMIT = 1 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "programs"


@pytest.fixture
def store(folder: Path) -> Store:
    return Store(folder, LIMIT)


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.program"))


def test_what_is_put_is_got(store: Store, folder: Path) -> None:
    assert store.get("a") is None
    assert not folder.exists()
    store.put("a", b"one")
    store.put("b", b"")
    store.put("a", b"two")
    assert store.get("a") == b"two"
    assert store.get("b") == b""
    assert store.get("c") is None
    # Another process has but the folder.
    assert Store(folder, LIMIT).get("a") == b"two"
    assert [file.size for file in store.files()] == [
        path.stat().st_size for path in sorted(entries(folder), key=os.path.getmtime)
    ]
    assert store.clear() == 2
    assert store.get("a") is None
    assert store.clear() == 0
    assert list(folder.iterdir()) == []


def test_only_the_user_can_use_the_files(store: Store, folder: Path) -> None:
    old = os.umask(0)
    try:
        store.put("a", b"one")
    finally:
        os.umask(old)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_every_damage_is_found_and_mended(store: Store, folder: Path) -> None:
    store.put("a", b"something longer")
    (path,) = entries(folder)
    whole = path.read_bytes()
    damaged = [whole[:length] for length in range(len(whole))]
    for place in range(len(whole)):
        damaged.append(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    damaged += [whole + b"\0", b"", b"\x80\x04."]
    for contents in damaged:
        path.write_bytes(contents)
        assert store.get("a") is None
    store.put("a", b"mended")
    assert store.get("a") == b"mended"


def test_the_file_of_another_key_or_folder(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    store.put("a", b"one")
    store.put("b", b"two")
    first, second = entries(folder)
    first.write_bytes(second.read_bytes())
    assert {store.get("a"), store.get("b")} in ({None, b"one"}, {None, b"two"})
    other = Store(tmp_path / "other", LIMIT)
    other.put("a", b"hostile")
    for path in entries(other.folder):
        (folder / path.name).write_bytes(path.read_bytes())
    assert store.get("a") is None


@pytest.mark.parametrize("secret", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_made_anew(
    store: Store, folder: Path, secret: bytes
) -> None:
    store.put("a", b"one")
    (folder / "secret").write_bytes(secret)
    assert store.get("a") is None
    store.put("a", b"two")
    assert store.get("a") == b"two"
    assert len((folder / "secret").read_bytes()) == 32


def test_links_pipes_and_folders_are_no_files(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    store.put("a", b"one")
    (path,) = entries(folder)
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    assert store.get("a") is None
    # A new file takes the place of the link, and what it led to stays.
    before = outside.read_bytes()
    store.put("a", b"two")
    assert store.get("a") == b"two"
    assert not path.is_symlink()
    assert outside.read_bytes() == before
    path.unlink()
    os.mkfifo(path, 0o600)
    assert store.get("a") is None
    path.unlink()
    path.mkdir()
    assert store.get("a") is None


def test_files_that_others_may_use_are_not_read(store: Store, folder: Path) -> None:
    store.put("a", b"one")
    (path,) = entries(folder)
    path.chmod(0o644)
    assert store.get("a") is None


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_may_use(store: Store, folder: Path, mode: int) -> None:
    store.put("a", b"one")
    folder.chmod(mode)
    with pytest.warns(CacheWarning, match="others may use the folder"):
        assert Store(folder, LIMIT).get("a") is None
    with pytest.warns(CacheWarning, match="its mode must be 0700"):
        store.put("b", b"two")
    # It is said once.
    store.put("b", b"two")
    assert store.get("a") is None


def test_a_folder_that_is_a_link_or_a_file(folder: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    folder.parent.mkdir()
    folder.symlink_to(real)
    with pytest.warns(CacheWarning):
        Store(folder, LIMIT).put("a", b"one")
    assert list(real.iterdir()) == []
    folder.unlink()
    folder.write_text("a file")
    with pytest.warns(CacheWarning):
        Store(folder, LIMIT).put("a", b"one")


def test_another_users_folder(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("a", b"one")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert store.get("a") is None


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_disk_that_takes_nothing(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    store.put("a", b"one")

    def refuse(*arguments: Any, **named: Any) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        with pytest.warns(CacheWarning, match=os.strerror(code)):
            store.put("b", b"two")
        store.put("b", b"two")
    assert [
        path.name for path in folder.iterdir() if path.name.startswith("new-")
    ] == []
    assert Store(folder, LIMIT).get("a") == b"one"


def test_what_was_used_longest_ago_goes_first(folder: Path) -> None:
    store = Store(folder, 10_000)
    for number in range(9):
        store.put(str(number), bytes(1000))
        file = store.files()[-1]
        os.utime(folder / file.name, (number, number))
    assert store.get("0") is not None
    store.put("9", bytes(1000))
    kept = [n for n in range(10) if store.get(str(n)) is not None]
    assert kept == [0, *range(3, 10)]
    assert sum(file.size for file in store.files()) <= 10_000
    store.put("large", bytes(20_000))
    assert store.get("large") is None
    assert store.get("9") is not None


def test_what_killed_processes_left_is_removed(store: Store, folder: Path) -> None:
    store.put("a", b"one")
    for name, age in (("new-old", 7200), ("new-young", 60)):
        (folder / name).write_bytes(b"half")
        then = time.time() - age
        os.utime(folder / name, (then, then))
    store.put("b", b"two")
    assert not (folder / "new-old").exists()
    assert (folder / "new-young").exists()


DIE_WHILE_WRITING = """
import os, pathlib, sys
from gingham.runtime.store import Store
os.rename = lambda *arguments, **named: os._exit(9)
Store(pathlib.Path(sys.argv[1]), 1 << 20).put("a", b"new")
"""

WORK = """
import pathlib, sys
from gingham.runtime.store import Store
store, number = Store(pathlib.Path(sys.argv[1]), 1 << 20), int(sys.argv[2])
for turn in range(200):
    key = str((number + turn) % 7)
    assert store.get(key) in (None, key.encode() * 1000)
    store.put(key, key.encode() * 1000)
"""


def run(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(words)


def _work(folder: str, number: int) -> None:
    store = Store(Path(folder), LIMIT)
    for turn in range(60):
        key = str((number + turn) % 7)
        value = store.get(key)
        assert value in (None, key.encode() * 1000)
        store.put(key, key.encode() * 1000)


def test_a_process_that_is_killed_while_it_writes(store: Store, folder: Path) -> None:
    store.put("a", b"old")
    assert run(DIE_WHILE_WRITING, folder).wait() == 9
    assert store.get("a") == b"old"


def test_several_processes_and_threads_at_once(store: Store, folder: Path) -> None:
    processes = [run(WORK, folder, number) for number in range(3)]
    threads = [
        threading.Thread(target=_work, args=(str(folder), number)) for number in (4, 5)
    ]
    for thread in threads:
        thread.start()
    for each in threads:
        each.join()
    assert [process.wait() for process in processes] == [0, 0, 0]
    for number in range(7):
        assert store.get(str(number)) == str(number).encode() * 1000
    assert [path for path in folder.iterdir() if path.name.startswith("new-")] == []

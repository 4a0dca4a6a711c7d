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

from gingham.runtime.cache.store import CacheWarning, Store

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
    assert {file.kind for file in store.files()} == {"program"}
    assert store.clear() == 2
    assert store.get("a") is None
    assert store.clear() == 0
    assert list(folder.iterdir()) == []


def test_values_of_several_kinds(store: Store) -> None:
    store.put("a", b"one")
    store.put("a", b"two", "outline")
    assert store.get("a") == b"one"
    assert store.get("a", "outline") == b"two"
    assert store.get("a", "probe") is None
    assert sorted(file.kind or "" for file in store.files()) == ["outline", "program"]
    # What is counted for people is programs.
    assert store.clear() == 1
    assert store.get("a", "outline") is None


def test_titles(store: Store, folder: Path) -> None:
    store.put("a", b"one", title="softmax (X) -> (Y)")
    assert store.titles(store.files()) == ["softmax (X) -> (Y)"]
    assert store.get("a") == b"one"
    store.put("a", b"one", title="\x1b[2J\n" + "é" * 600)
    (title,) = store.titles(store.files())
    assert title.isprintable()
    assert title.startswith("?[2J?é")
    assert store.get("a") == b"one"
    (path,) = entries(folder)
    path.write_bytes(b"nonsense")
    assert store.titles(store.files()) == [""]
    path.write_bytes(b"gingham 2\n")
    assert store.titles(store.files()) == [""]


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
    (path / "something").touch()
    assert store.get("a") is None
    # It stays, and is in nobody's way; a warning would be an error here.
    store.put("a", b"three")
    assert (path / "something").exists()
    store.put("b", b"four")
    assert (store.get("a"), store.get("b")) == (None, b"four")
    assert [each.name for each in folder.glob("new-*")] == []


@pytest.mark.parametrize("name", ["entry", "secret"])
def test_a_file_that_cannot_be_read_is_replaced(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    store.put("a", b"one")
    store.put("b", b"two")
    path = folder / "secret" if name == "secret" else entries(folder)[0]
    inode = path.stat().st_ino
    real = os.open

    def refuse(file: Any, *arguments: Any, **named: Any) -> int:
        # As with mode 0000, which stops all but the superuser.
        if file == path.name and path.stat().st_ino == inode:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(file, *arguments, **named)

    monkeypatch.setattr(os, "open", refuse)
    assert [store.get("a"), store.get("b")].count(None) == (
        2 if name == "secret" else 1
    )
    for key, value in (("a", b"one"), ("b", b"two")):
        store.put(key, value)
        assert store.get(key) == value


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["entry", "secret"])
def test_a_file_of_another_user_is_replaced(
    store: Store, folder: Path, name: str
) -> None:
    store.put("a", b"one")
    path = folder / "secret" if name == "secret" else entries(folder)[0]
    os.chown(path, 65534, 65534)
    assert store.get("a") is None
    store.put("a", b"two")
    assert store.get("a") == b"two"
    assert {each.stat().st_uid for each in folder.iterdir()} == {0}


def test_a_secret_that_is_missing_or_a_link(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    store.put("a", b"one")
    secret = folder / "secret"
    known = tmp_path / "known to others"
    known.write_bytes(b"x" * 32)
    known.chmod(0o600)
    for replace in (lambda: None, lambda: secret.symlink_to(known)):
        secret.unlink()
        replace()
        assert store.get("a") is None
        store.put("a", b"two")
        assert store.get("a") == b"two"
        assert secret.is_file()
        assert not secret.is_symlink()
        assert len(secret.read_bytes()) == 32
    assert known.read_bytes() == b"x" * 32


def test_files_that_others_may_use_are_not_read(store: Store, folder: Path) -> None:
    store.put("a", b"one")
    (path,) = entries(folder)
    path.chmod(0o644)
    assert store.get("a") is None


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o777])
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


def test_a_disk_that_is_full_takes_nothing_but_gives(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a", b"one")

    def refuse(*arguments: Any, **named: Any) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for name in ("rename", "utime", "link", "mkdir"):
        monkeypatch.setattr(os, name, refuse)
    assert store.get("a") == b"one"
    with pytest.warns(CacheWarning):
        store.put("b", b"two")
    # It is said once; a warning would be an error here.
    for key in "bcd":
        store.put(key, b"two")
        assert store.get("a") == b"one"
        assert store.get(key) is None


def test_a_home_that_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **named: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refuse)
    store = Store(tmp_path / "home" / "cache", LIMIT)
    assert store.get("a") is None
    with pytest.warns(CacheWarning, match="Permission denied"):
        store.put("a", b"one")
    store.put("b", b"two")
    assert store.get("a") is None
    assert store.files() == []


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
    assert store.titles(store.files()) == [""] * 8
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
from gingham.runtime.cache.store import Store

folder, last = pathlib.Path(sys.argv[1]), int(sys.argv[2])
steps = 0

def dying(name):
    step = getattr(os, name)
    def act(*arguments, **named):
        global steps
        steps += 1
        if steps > last:
            os._exit(9)
        if name == "fdopen":
            file = step(*arguments, **named)
            if "w" in arguments[1]:
                # Half of the contents, as when a page was written and no more.
                write = file.write
                file.write = lambda data: (write(data[: len(data) // 2]), file.flush(),
                                           act_again(), write(data[len(data) // 2 :]))
            return file
        return step(*arguments, **named)
    def act_again():
        global steps
        steps += 1
        if steps > last:
            os._exit(9)
    return act

for name in ("open", "fdopen", "rename", "link", "unlink", "utime", "scandir", "close"):
    setattr(os, name, dying(name))
Store(folder, 1 << 20).put("a", b"new" * 1000)
os._exit(0)
"""

WORK = """
import pathlib, sys
from gingham.runtime.cache.store import Store
store, number = Store(pathlib.Path(sys.argv[1]), 1 << 20), int(sys.argv[2])
for turn in range(100):
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
    """At each of its steps: there is the old value or the new one, and work goes on."""
    old, new = b"old" * 1000, b"new" * 1000
    store.put("a", old)
    found: list[bytes | None] = []
    for last in range(40):
        status = run(DIE_WHILE_WRITING, folder, last).wait()
        found.append(store.get("a"))
        if status == 0:
            break
        assert status == 9
        store.put("a", old)
        assert store.get("a") == old
    else:
        raise AssertionError("the process never came to its end")
    assert found[0] == old
    assert found[-1] == new
    assert set(found) == {old, new}
    assert found.index(new) > 5
    _make_old(folder)
    store.put("b", b"two")
    assert sorted(path.suffix for path in folder.iterdir()) == [
        "",
        ".program",
        ".program",
    ]


def test_a_process_that_is_killed_while_it_makes_the_secret(
    folder: Path, tmp_path: Path
) -> None:
    for last in range(40):
        status = run(DIE_WHILE_WRITING, folder, last).wait()
        assert Store(folder, LIMIT).get("a") in (None, b"new" * 1000)
        store = Store(folder, LIMIT)
        store.put("b", b"two")
        assert store.get("b") == b"two"
        if status == 0:
            break
        for path in folder.iterdir():
            path.unlink()
    else:
        raise AssertionError("the process never came to its end")


def _make_old(folder: Path) -> None:
    then = time.time() - 7200
    for path in folder.glob("new-*"):
        os.utime(path, (then, then))


def test_several_processes_and_threads_at_once(store: Store, folder: Path) -> None:
    processes = [run(WORK, folder, number) for number in range(8)]
    threads = [
        threading.Thread(target=_work, args=(str(folder), number)) for number in (4, 5)
    ]
    for thread in threads:
        thread.start()
    for each in threads:
        each.join()
    assert [process.wait() for process in processes] == [0] * 8
    for number in range(7):
        assert store.get(str(number)) == str(number).encode() * 1000
    assert [path for path in folder.iterdir() if path.name.startswith("new-")] == []

"""A folder of files that nobody but the user can have written: bytes by keys.

Every file is checked before it is used. It must be a plain file of the user, in a
folder of the user that others can neither read nor write, and carry an HMAC of its key
and contents under a secret of that folder. All else counts as missing. Files are
written whole and then renamed, so that several processes may use one folder; what they
used last stays when there is too much.

A file is, one behind the other: `gingham 2` and a line feed, the HMAC of what follows,
the digest of the key, the length of the title in two bytes, the title, the value.

Where the folder can not be used (a full disk, a home that is read-only, wrong owners) a
`CacheWarning` says so once. A folder that can not be written is still read.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EACCES, ELOOP, ENOENT, ENXIO, EPERM
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ...errors import warn

PROGRAM = "program"
"""The kind of what is compiled for a device."""

_MAGIC = b"gingham 2\n"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 2
_HEAD_BYTES = len(_MAGIC) + 2 * _DIGEST_BYTES + _LENGTH_BYTES
_MOST_TITLE_BYTES = 500
_SECRET = "secret"
_SECRET_BYTES = 32
_KIND = re.compile(r"[0-9a-f]{40}\.([a-z]+)")
_TEMPORARY = "new-"
_LARGEST_FILE = 1 << 28
"""Larger files are not ours: a program of that size would take a day to build."""
_ABANDONED_SECONDS = 3600.0
"""A file under construction that is older was left by a process that was killed."""

T = TypeVar("T")


class CacheWarning(UserWarning):
    """Compiled programs can not be stored, so each process compiles them anew."""


@dataclass(frozen=True)
class StoredFile:
    """A file of the store: its name, its bytes, and when it was last used."""

    name: str
    size: int
    used: float

    @property
    def kind(self) -> str | None:
        """What kind of value it holds; None for the secret and other files."""
        found = _KIND.fullmatch(self.name)
        return None if found is None else found[1]

    @property
    def is_temporary(self) -> bool:
        """Whether it is, or was, under construction."""
        return self.name.startswith(_TEMPORARY)


class Store:
    """The files of one folder; may be used from several threads and processes."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes
        self._lock = Lock()
        self._can_read = True
        self._can_write = True
        self._has_warned = False

    def get(self, key: str, kind: str = PROGRAM) -> bytes | None:
        """What was stored for a key, None where that is nothing that can be trusted."""
        digest = _key_digest(key, kind)
        name = _file_name(digest, kind)

        def read(folder: int) -> bytes | None:
            contents = _read(folder, name)
            secret = None if contents is None else _read(folder, _SECRET)
            if secret is None or contents is None:
                return None
            value = _checked(secret, digest, contents)
            if value is not None:
                # Where that is refused, the file is not one that would be removed.
                with suppress(OSError):
                    os.utime(name, dir_fd=folder, follow_symlinks=False)
            return value

        return self._attempt_read(read, None)

    def put(self, key: str, value: bytes, kind: str = PROGRAM, title: str = "") -> None:
        """Store bytes for a key; what is there already is replaced.

        `title` tells people what it is: see `titles`.
        """
        digest = _key_digest(key, kind)

        def write(folder: int) -> None:
            contents = _signed(_shared_secret(folder), digest, title, value)
            if len(contents) <= min(_LARGEST_FILE, self.limit_bytes):
                _write(folder, _file_name(digest, kind), contents)
                self._evict(folder)

        self._attempt_write(write)

    def files(self) -> list[StoredFile]:
        """What is stored, used longest ago first; not whether it can be trusted."""
        nothing: list[StoredFile] = []
        return self._attempt_read(
            lambda folder: [file for file in _files(folder) if file.kind], nothing
        )

    def titles(self, files: Sequence[StoredFile]) -> list[str]:
        """The titles of files, empty where there is none to be read."""
        nothing: list[str] = []
        return self._attempt_read(
            lambda folder: [_title(folder, file.name) for file in files], nothing
        )

    def clear(self) -> int:
        """Remove all that is stored: how many programs that were."""

        def remove(folder: int) -> int:
            files = _files(folder)
            for file in files:
                _remove(folder, file.name)
            return sum(file.kind == PROGRAM for file in files)

        return self._attempt_read(remove, 0)

    def _evict(self, folder: int) -> None:
        """Remove what was not used for longest, and what killed processes left."""
        files = _files(folder)
        now = time.time()
        for file in files:
            if file.is_temporary and now - file.used > _ABANDONED_SECONDS:
                _remove(folder, file.name)
        entries = [file for file in files if file.kind]
        total = sum(file.size for file in entries)
        if total <= self.limit_bytes:
            return
        for file in entries:
            # Down to nine tenths, so that not every new file removes one.
            if total <= self.limit_bytes * 9 // 10:
                return
            _remove(folder, file.name)
            total -= file.size

    def _attempt_read(self, action: Callable[[int], T], default: T) -> T:
        """What an action gives for a descriptor of the folder, if there is one.

        It opens all files by that descriptor: no other folder can take its place. No
        problem of the disk reaches who compiles a program.
        """
        if not self._can_read:
            return default
        try:
            return self._in_folder(action)
        except FileNotFoundError:
            return default
        except OSError as error:
            self._can_read = self._can_write = False
            self._warn(error)
            return default

    def _attempt_write(self, action: Callable[[int], None]) -> None:
        """Do it, as `_attempt_read`, in a folder that is made where there is none."""
        if not self._can_write:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._in_folder(action)
        except FileNotFoundError:
            # Somebody has just removed the folder.
            return
        except OSError as error:
            self._can_write = False
            self._warn(error)

    def _in_folder(self, action: Callable[[int], T]) -> T:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.folder, flags)
        try:
            _check_folder(os.fstat(descriptor))
            return action(descriptor)
        finally:
            os.close(descriptor)

    def _warn(self, error: OSError) -> None:
        with self._lock:
            if self._has_warned:
                return
            self._has_warned = True
        warn(
            f"compiled programs are not stored in {self.folder}: {error.strerror}",
            CacheWarning,
        )


def _check_folder(status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise PermissionError(EPERM, "the folder belongs to another user")
    if status.st_mode & 0o077:
        raise PermissionError(EPERM, "others may use the folder; its mode must be 0700")


def _key_digest(key: str, kind: str) -> bytes:
    return sha256(f"{kind}\0{key}".encode(errors="surrogatepass")).digest()


def _file_name(digest: bytes, kind: str) -> str:
    return f"{digest.hex()[:40]}.{kind}"


def _signed(secret: bytes, digest: bytes, title: str, value: bytes) -> bytes:
    shown = title.encode(errors="replace")[:_MOST_TITLE_BYTES]
    signed = digest + len(shown).to_bytes(_LENGTH_BYTES, "big") + shown + value
    return _MAGIC + _hmac(secret, signed) + signed


def _checked(secret: bytes, digest: bytes, contents: bytes) -> bytes | None:
    """The value in a file's contents, if it was signed for this key."""
    start = len(_MAGIC) + _DIGEST_BYTES
    signature, signed = contents[len(_MAGIC) : start], contents[start:]
    if len(secret) != _SECRET_BYTES or not contents.startswith(_MAGIC):
        return None
    if not hmac.compare_digest(signature, _hmac(secret, signed)):
        return None
    if not signed.startswith(digest):
        return None
    return contents[_HEAD_BYTES + _title_length(contents) :]


def _hmac(secret: bytes, signed: bytes) -> bytes:
    return hmac.digest(secret, signed, "sha256")


def _title_length(head: bytes) -> int:
    return int.from_bytes(head[_HEAD_BYTES - _LENGTH_BYTES : _HEAD_BYTES], "big")


def _title(folder: int, name: str) -> str:
    """The title of a file, without what could move a terminal's cursor."""
    head = _read(folder, name, _HEAD_BYTES + _MOST_TITLE_BYTES) or b""
    if not head.startswith(_MAGIC):
        return ""
    title = head[_HEAD_BYTES:][: _title_length(head)].decode(errors="replace")
    return "".join(each if each.isprintable() else "?" for each in title)


def _shared_secret(folder: int) -> bytes:
    """The secret of the folder, made by the first process that needs one."""
    known = _read(folder, _SECRET)
    if known is not None and len(known) == _SECRET_BYTES:
        return known
    made = secrets.token_bytes(_SECRET_BYTES)
    temporary = _write_temporary(folder, made)
    try:
        if known is None:
            # Unlike a rename this fails where another process was faster.
            os.link(temporary, _SECRET, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            os.rename(temporary, _SECRET, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        known = _read(folder, _SECRET)
        if known is None or len(known) != _SECRET_BYTES:
            os.rename(temporary, _SECRET, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            made = known
    finally:
        _remove(folder, temporary)
    return made


def _read(folder: int, name: str, most: int = -1) -> bytes | None:
    """The contents of a plain file of the user's own; None where there is none.

    With `most`, its first bytes.
    """
    # A pipe would block, a link would lead out of the folder.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        # One that cannot be read is as good as none: the next takes its place.
        if error.errno in (ENOENT, ELOOP, ENXIO, EACCES):
            return None
        raise
    try:
        status = os.fstat(descriptor)
        is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if not is_own or status.st_mode & 0o077 or status.st_size > _LARGEST_FILE:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def _write(folder: int, name: str, contents: bytes) -> None:
    """Make a file appear, whole, in place of what has its name."""
    temporary = _write_temporary(folder, contents)
    try:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except IsADirectoryError:
        # A folder has the name of this file: no reason to keep no other.
        _remove(folder, temporary)
    except OSError:
        _remove(folder, temporary)
        raise


def _write_temporary(folder: int, contents: bytes) -> str:
    name = f"{_TEMPORARY}{secrets.token_hex(12)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(contents)
    except OSError:
        _remove(folder, name)
        raise
    return name


def _files(folder: int) -> list[StoredFile]:
    """All files, used longest ago first."""
    files: list[StoredFile] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    file = StoredFile(entry.name, status.st_size, status.st_mtime)
                    files.append(file)
    return sorted(files, key=lambda file: file.used)


def _remove(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)

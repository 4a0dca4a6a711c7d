"""Writes files whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress

from ...errors import GinghamError


def write_atomically(path: str, text: str) -> None:
    """Writes a text file, so that other programs see the old or the whole new one.

    A device, a pipe or a file in a folder that takes no new files is written in place.
    Raises GinghamError when it cannot be written; the old content then stays.
    """
    try:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if os.path.isdir(target):
            raise IsADirectoryError(21, "Is a directory")
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        special = os.path.exists(target) and not os.path.isfile(target)
        if special or (os.path.exists(target) and not os.access(folder, os.W_OK)):
            with open(target, "w", encoding="utf-8") as stream:
                stream.write(text)
            return
        _replace(target, text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise GinghamError(f"cannot write '{path}': {reason}") from error


def _replace(target: str, text: str) -> None:
    """Writes beside the target, and moves the new file to its place."""
    temporary = f"{target}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise

"""`Context`: what calls are made in, and what it writes down of them."""

from __future__ import annotations

import json
import time
from typing import Any

from ..errors import GinghamError


class Context:
    """What most calls are made in: closed, it lets nothing further happen.

    May be used as a context manager, which closes it. PlaidML's had a library as
    argument, which is not needed.
    """

    def __init__(self, lib: object = None) -> None:
        self._is_closed = False
        self._event_log: str | None = None

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it: calls that are given it, and views that came from it, are errors."""
        self._is_closed = True

    shutdown = cancel = close

    def check(self) -> None:
        """Raise GinghamError when it is closed."""
        if self._is_closed:
            raise GinghamError("the context is closed")

    def set_eventlog_filename(self, filename: str) -> None:
        """Append to this file what is run from now on, each run a line of JSON.

        A line has the `time` in seconds since 1970, the `function`, the `device`, the
        shapes of the `inputs`, and the `seconds` that starting it took: with the first
        run of a shape, compiling. Raises GinghamError where the file cannot be written.
        """
        try:
            with open(filename, "a", encoding="utf-8"):
                self._event_log = filename
        except OSError as error:
            raise GinghamError(
                f"cannot write '{filename}': {error.strerror}"
            ) from error

    def log(self, **fields: Any) -> None:
        """Append a line to the event log, if there is one."""
        if self._event_log is not None:
            with open(self._event_log, "a", encoding="utf-8") as file:
                file.write(json.dumps({"time": time.time(), **fields}) + "\n")

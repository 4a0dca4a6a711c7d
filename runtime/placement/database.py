"""What was measured for placement, in a file beside the tuning records.

A folder that can not be written, a damaged file, and one that another process holds for
long, all mean the same: what is measured is known to this process only.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from ..records import records_path

FILE = "placement.sqlite3"
_SCHEMA = """
create table if not exists times(
  unit text not null, target text not null, seconds real not null,
  runs integer not null, date real not null, primary key (unit, target));
create table if not exists links(
  source text not null, target text not null, latency real not null,
  bandwidth real not null, date real not null, primary key (source, target));
"""
_PATIENCE_SECONDS = 2.0
_MOST_KEYS = 500


def database_path() -> Path | None:
    """The file, which may not be there; None where measurements are not kept."""
    records = records_path()
    return None if records is None else records.with_name(FILE)


class Database:
    """Measured times and links, of this process and of the file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = Lock()
        self._times: dict[tuple[str, str], float] = {}
        self._links: dict[tuple[str, str], tuple[float, float]] = {}

    def times(self, target: str, units: Iterable[str]) -> dict[str, float]:
        """The seconds of units or programs on a device, as far as they are known."""
        wanted = dict.fromkeys(units)
        found = {
            u: self._times[u, target] for u in wanted if (u, target) in self._times
        }
        missing = [unit for unit in wanted if unit not in found]
        with self._open(create=False) as connection:
            for start in range(0, len(missing) if connection else 0, _MOST_KEYS):
                some = missing[start : start + _MOST_KEYS]
                marks = ",".join("?" * len(some))
                rows = _rows(
                    connection,
                    "select unit, seconds from times "
                    f"where target = ? and unit in ({marks})",
                    (target, *some),
                )
                for unit, seconds in rows:
                    if _is_positive(seconds):
                        found[unit] = seconds
        with self._lock:
            self._times |= {(unit, target): found[unit] for unit in found}
        return found

    def add_times(
        self,
        target: str,
        times: Mapping[str, float],
        runs: int = 1,
        lasting: bool = True,
    ) -> None:
        """Keep what was measured; it replaces what was known.

        It is known to this process only, if not `lasting`.
        """
        with self._lock:
            self._times |= {(unit, target): times[unit] for unit in times}
        if not lasting:
            return
        now = time.time()
        rows = [(unit, target, each, runs, now) for unit, each in times.items()]
        self._write("replace into times values (?, ?, ?, ?, ?)", rows)

    def link(self, source: str, target: str) -> tuple[float, float] | None:
        """Latency in seconds and bandwidth in bytes per second, if measured."""
        known = self._links.get((source, target))
        if known is not None:
            return known
        with self._open(create=False) as connection:
            rows = _rows(
                connection,
                "select latency, bandwidth from links where source = ? and target = ?",
                (source, target),
            )
        for latency, bandwidth in rows:
            if _is_positive(latency) and _is_positive(bandwidth):
                self._links[source, target] = latency, bandwidth
        return self._links.get((source, target))

    def add_link(
        self, source: str, target: str, latency: float, bandwidth: float
    ) -> None:
        """Keep what was measured of a link."""
        self._links[source, target] = latency, bandwidth
        row = source, target, latency, bandwidth, time.time()
        self._write("replace into links values (?, ?, ?, ?, ?)", [row])

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        with self._open(create=True) as connection:
            if connection is None or not rows:
                return
            with suppress(sqlite3.Error), connection:
                connection.executemany(statement, rows)

    @contextmanager
    def _open(self, create: bool) -> Generator[sqlite3.Connection | None]:
        path = self.path
        if path is None or (not create and not path.exists()):
            yield None
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=_PATIENCE_SECONDS)
        except (OSError, sqlite3.Error):
            yield None
            return
        with closing(connection):
            if create:
                with suppress(sqlite3.Error):
                    connection.executescript(_SCHEMA)
            yield connection


def _rows(
    connection: sqlite3.Connection | None, query: str, values: tuple[str, ...]
) -> list[tuple[Any, ...]]:
    if connection is None:
        return []
    try:
        return connection.execute(query, values).fetchall()
    except sqlite3.Error:
        return []


def _is_positive(value: object) -> bool:
    """Whether a number makes sense; infinity does, as a bandwidth."""
    return isinstance(value, float) and value > 0


_lock = Lock()
_open_ones: dict[Path | None, Database] = {}


def database() -> Database:
    """The one of the file that the settings name now."""
    path = database_path()
    with _lock:
        return _open_ones.setdefault(path, Database(path))

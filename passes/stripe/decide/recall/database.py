"""Measured decisions in a file: what was tried for a block, and how long it took.

An SQLite file with a row for each measurement. A measurement belongs to the leaf of a
unit (see `unit`), and to what it was measured on: the device, its driver, the width of
the vectors, the version of the compiler. A row has all that is needed to do it again:
the IR of the unit, the schedule to give the leaf, and the passes from there on.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from .....errors import GinghamError

if TYPE_CHECKING:
    import sqlite3

SCHEMA = 2
_SECONDS_TO_WAIT = 10.0

OK = "ok"


@dataclass(frozen=True)
class Record:
    """One measurement; the first five fields tell which."""

    unit: str
    """The key of the unit."""
    leaf: int
    """The number of the leaf in the unit that was decided about."""
    target: str
    """What it ran on: the device, its driver, the width of its vectors."""
    compiler: str
    """The version of the compiler."""
    schedule: str
    """The schedule of the leaf, as `str` of a `Schedule` writes it."""
    program: str
    """Where the unit was found first, for people."""
    block: str
    """The name of the block there."""
    rank: int
    """The place of the decision in the model's list, 0 the best."""
    predicted_seconds: float
    status: str
    """`ok`, or what went wrong: `wrong`, `error`, `crash`, `timeout`."""
    seconds: float | None
    """The fastest run, where it is `ok`."""
    model_seconds: float | None
    """The same of the model's own choice, measured in turn with it."""
    message: str
    """What went wrong, in words."""
    ir: str
    """The unit before anything was decided."""
    passes: str
    """The pipeline from there on."""

    @property
    def speedup(self) -> float:
        """How many times as fast as the model's choice; 0 where it does not work."""
        if self.status != OK or self.seconds is None or self.model_seconds is None:
            return 0.0
        if self.seconds <= 0:
            return 0.0
        return self.model_seconds / self.seconds


_COLUMNS = [field.name for field in fields(Record)]
_KEY = _COLUMNS[:5]
_TYPES = {
    "leaf": "INTEGER",
    "rank": "INTEGER",
    "predicted_seconds": "REAL",
} | dict.fromkeys(("seconds", "model_seconds"), "REAL")
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "leaf": (int,),
    "rank": (int,),
    "predicted_seconds": (float,),
    "seconds": (float, NoneType),
    "model_seconds": (float, NoneType),
}
_CREATE = f"""CREATE TABLE IF NOT EXISTS records (
{", ".join(f"{name} {_TYPES.get(name, 'TEXT')}" for name in _COLUMNS)},
PRIMARY KEY ({", ".join(_KEY)})) WITHOUT ROWID"""
_INDEX = (
    "CREATE INDEX IF NOT EXISTS by_target ON records (target, compiler, unit, status)"
)
_INSERT = (
    f"INSERT OR REPLACE INTO records ({', '.join(_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(_COLUMNS))})"
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM records"


class DatabaseError(GinghamError):
    """A file of records that can not be used as one."""


class Database:
    """The records in a file, which is made when the first one is added."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def add(self, records: Iterable[Record]) -> None:
        """Keep measurements; one that is there already is replaced."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open("rwc") as connection, connection:
            connection.execute(_CREATE)
            connection.execute(_INDEX)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.executemany(_INSERT, [astuple(record) for record in records])

    def records(self, **columns: str | int) -> list[Record]:
        """The records with these values, best first; none where there is no file."""
        if not self._has_contents():
            return []
        names = [name for name in columns if name in _COLUMNS]
        where = " AND ".join(f"{name} = ?" for name in names)
        query = f"{_SELECT} WHERE {where}" if names else _SELECT
        with self._open("ro") as connection:
            rows = connection.execute(query, [columns[n] for n in names]).fetchall()
        # SQLite keeps any type in any column.
        found = [Record(*row) for row in rows if _is_record(row)]
        return sorted(found, key=lambda r: (r.unit, r.leaf, -r.speedup, r.rank))

    def units(self, target: str, compiler: str) -> set[str]:
        """The keys of the units that something was measured for."""
        if not self._has_contents():
            return set()
        query = (
            "SELECT DISTINCT unit FROM records "
            "WHERE target = ? AND compiler = ? AND status = ?"
        )
        with self._open("ro") as connection:
            rows = connection.execute(query, [target, compiler, OK]).fetchall()
        return {unit for (unit,) in rows}

    def remove_failed(self) -> int:
        """Forget what did not work; how many records that were."""
        if not self._has_contents():
            return 0
        query = "DELETE FROM records WHERE status != ?"
        with self._open("rw") as connection, connection:
            return connection.execute(query, [OK]).rowcount

    def set_aside(self) -> Path:
        """Rename a file that can not be used; where it is then.

        Raises DatabaseError for what is no file, which is not ours to rename.
        """
        if not self.path.is_file():
            raise DatabaseError(
                f"cannot use the records in '{self.path}': it is not a file",
                hint="name a file for the records, which is made when it is needed",
            )
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.bad{number}")).exists():
            number += 1
        self.path.replace(aside)
        return aside

    def _has_contents(self) -> bool:
        """Whether there is anything to read; an empty file is a database without."""
        return self.path.exists() and not (
            self.path.is_file() and self.path.stat().st_size == 0
        )

    @contextmanager
    def _open(self, mode: str) -> Generator[sqlite3.Connection]:
        """A connection; what SQLite does not like is a DatabaseError."""
        import sqlite3

        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_SECONDS_TO_WAIT)
            ) as connection:
                self._check_version(connection)
                yield connection
        except sqlite3.Error as error:
            raise DatabaseError(
                f"cannot use the records in '{self.path}': {error}",
                hint="`tile-tune clear` starts a new file",
            ) from error

    def _check_version(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, SCHEMA):
            raise DatabaseError(
                f"cannot use the records in '{self.path}': they are of version "
                f"{version}, and this is {SCHEMA}",
                hint="`tile-tune clear` starts a new file",
            )


def _is_record(row: Sequence[object]) -> bool:
    return all(
        isinstance(value, _PYTHON_TYPES.get(name, str))
        for name, value in zip(_COLUMNS, row, strict=True)
    )


def as_json(record: Record) -> dict[str, object]:
    """A record for programs."""
    values: dict[str, object] = asdict(record)
    return values | {"speedup": record.speedup}

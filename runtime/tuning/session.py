"""`tune`: from a function and its inputs to records of what is fastest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ..records import compiler_version, records_path, target_text
from ..settings import find
from .asking import Asked, outcomes_of, running
from .jobs import Outcome

if TYPE_CHECKING:
    from ...passes.stripe.decide.recall.database import Database, Record
    from ..function import Function
    from .plan import Choice, Plan, Question

_CONFIRMED = 2
"""The fastest decisions of a leaf that are measured a second time."""
_LONGER = 4
"""How many times as long as the first time: of many that are equally fast, noise makes
one look best."""


@dataclass(frozen=True)
class Progress:
    """How far a tuning is: what it has measured last."""

    done: int
    """Decisions measured, those found in the records among them."""
    total: int
    latest: Record | None = None


@dataclass(frozen=True)
class Tuning:
    """What a tuning has measured, or found in the records."""

    records: tuple[Record, ...]
    measured: int
    """How many of them were measured now."""
    notes: tuple[str, ...] = ()
    """What was not as it should be, for the user to know."""

    @property
    def best(self) -> list[Record]:
        """The fastest record of each leaf."""
        best: dict[tuple[str, int], Record] = {}
        for record in self.records:
            place = record.unit, record.leaf
            if place not in best or record.speedup > best[place].speedup:
                best[place] = record
        return [*best.values()]


@dataclass(frozen=True)
class Settings:
    """How much is measured, and for how long."""

    count: int = 10
    """Decisions for each leaf."""
    seconds: float = 0.25
    """How long each is measured, in turn with the model's own choice."""
    time_limit: float = 60.0
    """Seconds after which one is given up."""
    again: bool = False
    """Whether what is in the records is measured again."""
    spread: bool = False
    """Decisions all over the space, not the best by prediction."""


def tune(
    function: Function,
    *inputs: Any,
    executor: Executor | None = None,
    records: str | os.PathLike[str] | None = None,
    settings: Settings = Settings(),
    program: str = "",
    on_progress: Callable[[Progress], None] | None = None,
    **named: Any,
) -> Tuning:
    """Measure the model's best decisions for every block of a function.

    `inputs` give the shapes and types. Measurements run one after the other on this
    machine, or on any `executor` of `concurrent.futures`, such as that of a Dask
    cluster whose machines all have the function's device. What is in the file `records`
    is not measured again, so that a tuning that was ended goes on where it stood.
    Raises GinghamError for a function on the reference interpreter, and where there is
    no file for records.
    """
    from ..backends import backend_of
    from ..hardware import target_options
    from .plan import plan_of

    device = function.device
    if backend_of(device).kernels is None:
        raise GinghamError(
            f"device '{device.name}' cannot be tuned",
            hint="tune on a device of `tile-devices`",
        )
    options = target_options(device, function.hardware)
    module = function.specialized(*inputs, **named)
    plan = plan_of(module, options, settings.count, settings.spread)
    session = _Session(
        database_at(records),
        plan,
        settings,
        device.name,
        target_text(device, options),
        program,
        on_progress or _ignore,
    )
    session.start()
    with running(executor) as pool:
        measured = session.measure(pool, session.unknown(), settings.seconds)
        promising = session.promising(measured)
        session.measure(pool, promising, settings.seconds * _LONGER)
    return Tuning((*session.found.values(),), len(measured), tuple(session.notes))


def _ignore(progress: Progress) -> None:
    """Nobody wants to know."""


_Key = tuple[str, int, str]


@dataclass
class _Session:
    """One tuning: what is asked, and what is known by now."""

    database: Database
    plan: Plan
    settings: Settings
    device: str
    target: str
    program: str
    report: Callable[[Progress], None]
    notes: list[str] = field(default_factory=list[str])
    found: dict[_Key, Record] = field(default_factory=dict["_Key", "Record"])
    done: int = 0
    total: int = 0

    def start(self) -> None:
        """Take what the records have of the plan already."""
        from ...passes.stripe.decide.recall.database import DatabaseError

        asked = {_key(q, choice) for q in self.plan.questions for choice in q.choices}
        self.total = len(asked)
        if not self.settings.again:
            try:
                records = self.database.records(
                    target=self.target, compiler=compiler_version()
                )
            except DatabaseError as error:
                self._set_aside(error)
                records = []
            known = {(r.unit, r.leaf, r.schedule): r for r in records}
            self.found = {key: known[key] for key in known if key in asked}
        self.done = len(self.found)
        self.report(Progress(self.done, self.total))

    def unknown(self) -> list[Asked]:
        """What is still to be measured."""
        return [
            (
                question,
                [c for c in question.choices if _key(question, c) not in self.found],
            )
            for question in self.plan.questions
        ]

    def promising(self, measured: Iterable[Record]) -> list[Asked]:
        """The fastest decisions of the leaves that were measured now."""
        from ...passes.stripe.decide.recall import WORTH

        leaves = {(record.unit, record.leaf) for record in measured}
        asked: list[Asked] = []
        for question in self.plan.questions:
            if (question.unit, question.leaf) in leaves:
                speeds = {
                    choice.rank: self.found[_key(question, choice)].speedup
                    for choice in question.choices
                    if _key(question, choice) in self.found
                }
                fastest = sorted(
                    (c for c in question.choices if speeds.get(c.rank, 0.0) >= WORTH),
                    key=lambda choice: -speeds[choice.rank],
                )
                asked.append((question, fastest[:_CONFIRMED]))
        self.total += sum(len(choices) for _, choices in asked)
        return asked

    def measure(
        self, pool: Executor, asked: Sequence[Asked], seconds: float
    ) -> list[Record]:
        """Measure decisions and keep what comes of it, each at once."""
        measured: list[Record] = []
        for question, choice, outcome in outcomes_of(
            pool,
            asked,
            self.device,
            self.plan.passes,
            seconds,
            self.settings.time_limit,
        ):
            record = self._record(question, choice, outcome)
            key = _key(question, choice)
            # What was lost says nothing about the decision: it is measured next time.
            if record.status != "lost":
                self._keep(record)
                self.found[key] = record
            else:
                self.found.setdefault(key, record)
            measured.append(record)
            self.done += 1
            self.report(Progress(self.done, self.total, record))
        return measured

    def _keep(self, record: Record) -> None:
        from ...passes.stripe.decide.recall.database import DatabaseError

        try:
            self.database.add([record])
        except DatabaseError as error:
            self._set_aside(error)
            self.database.add([record])

    def _set_aside(self, error: GinghamError) -> None:
        """Begin a new file for records in place of one that can not be used."""
        aside = self.database.set_aside()
        self.notes.append(f"{error.message}; it is now '{aside}', and a new one made")

    def _record(self, question: Question, choice: Choice, outcome: Outcome) -> Record:
        from ...passes.stripe.decide.recall.database import Record

        return Record(
            unit=question.unit,
            leaf=question.leaf,
            target=self.target,
            compiler=compiler_version(),
            schedule=choice.schedule,
            program=self.program,
            block=question.block,
            rank=choice.rank,
            predicted_seconds=choice.predicted_seconds,
            status=outcome.status,
            seconds=outcome.seconds,
            model_seconds=outcome.model_seconds,
            message=outcome.message,
            ir=question.ir,
            passes=self.plan.passes,
        )


def _key(question: Question, choice: Choice) -> _Key:
    return question.unit, question.leaf, choice.schedule


def database_at(records: str | os.PathLike[str] | None) -> Database:
    """The records in a file, the one for all programs where none is named.

    Raises GinghamError where records are switched off.
    """
    from ...passes.stripe.decide.recall.database import Database

    path = Path(records) if records is not None else records_path()
    if path is None:
        raise GinghamError(
            f"records are switched off by {find('records').source}",
            hint="unset it, or name a file for the records",
        )
    return Database(path)

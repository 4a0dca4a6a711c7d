"""Asking an executor: from choices to jobs, and from jobs to outcomes as they come."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from ..records import OFF
from .children import end_all, measure
from .jobs import Job, Outcome

if TYPE_CHECKING:
    from .plan import Choice, Question

_AT_ONCE = 4
"""Decisions that one child measures: more would be lost when it is ended."""
_PASSED_ON = ("OCL_ICD_VENDORS", "POCL_CACHE_DIR")

Asked: TypeAlias = "tuple[Question, Sequence[Choice]]"
"""Some decisions about a leaf."""


def outcomes_of(
    pool: Executor,
    asked: Sequence[Asked],
    device: str,
    passes: str,
    seconds: float,
    time_limit: float,
) -> Iterator[tuple[Question, Choice, Outcome]]:
    """What measuring each decision gives, in the order in which the executor is done.

    What is not done when the caller leaves is cancelled.
    """
    jobs: dict[Future[list[str]], Asked] = {}
    for question, choices in asked:
        for start in range(0, len(choices), _AT_ONCE):
            some = choices[start : start + _AT_ONCE]
            job = Job(
                device=device,
                ir=question.ir,
                passes=passes,
                leaf=question.leaf,
                decisions=tuple(choice.schedule for choice in some),
                seconds=seconds,
                time_limit=time_limit,
                environment=_environment(),
            )
            jobs[pool.submit(measure, job.to_json())] = question, some
    try:
        for future in as_completed(jobs):
            question, choices = jobs[future]
            outcomes = _outcomes(future, len(choices))
            for choice, outcome in zip(choices, outcomes, strict=True):
                yield question, choice, outcome
    finally:
        for future in jobs:
            future.cancel()


def _outcomes(future: Future[list[str]], count: int) -> list[Outcome]:
    error = future.exception()
    if error is None:
        return [Outcome.from_json(text) for text in future.result()]
    # A process or a machine of the executor is gone.
    message = f"the executor failed: {type(error).__name__}: {error}"
    return [Outcome("lost", message=message[:500])] * count


def _environment() -> dict[str, str]:
    """What a measuring process needs of this one's environment, wherever it runs."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed_on | {"GINGHAM_RECORDS": OFF}


@contextmanager
def running(executor: Executor | None) -> Generator[Executor]:
    """The executor to use: the given one, or one of our own that ends with the block.

    One at a time: what runs beside a measurement disturbs it.
    """
    if executor is not None:
        yield executor
        return
    own = ThreadPoolExecutor(1, thread_name_prefix="gingham-tuning")
    try:
        yield own
    finally:
        own.shutdown(wait=False, cancel_futures=True)
        end_all()
        own.shutdown()

"""Batches in processes of their own, as a driver may crash and a kernel not end."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection

from .trial import Batch, Finding, try_batch

_LIMIT_SECONDS = 180.0
"""For a batch, of which the slowest take half on a busy machine."""
_ALONE_SECONDS = 60.0
"""For a single kernel."""


class Worker:
    """A process that tries batches; a new one after each that ended badly."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._connection, other = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def findings(self, batch: Batch) -> Iterator[Finding]:
        """What is wrong in a batch; one that ends badly is halved until it is small."""
        self._connection.send(batch)
        limit = _ALONE_SECONDS if batch.count == 1 else _LIMIT_SECONDS
        try:
            if self._connection.poll(limit):
                yield from self._connection.recv()
                return
            bad = Finding(batch.first, "endless", f"no result within {limit:g} s")
        except EOFError:
            self._process.join()
            bad = Finding(batch.first, "crash", _ended(self._process.exitcode))
        self.close()
        self._start()
        if batch.count == 1:
            yield bad
            return
        half = batch.count // 2
        found = [*self.findings(batch.part(0, half))]
        found += self.findings(batch.part(half, batch.count - half))
        yield from found or [Finding(batch.first, bad.verdict, "in this batch only")]

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _ended(status: int | None) -> str:
    if status is not None and status < 0:
        return f"the driver was ended by {signal.Signals(-status).name}"
    return f"the driver ended with status {status}"


def _serve(connection: Connection) -> None:
    """Try batches as they come, until nobody asks any more."""
    while True:
        try:
            batch = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        connection.send(_attempt(batch))


def _attempt(batch: Batch) -> list[Finding]:
    """The findings; what goes wrong in Gingham is one as well."""
    try:
        return try_batch(batch)
    except Exception as error:  # whatever it is, the sweep goes on
        if batch.count > 1:
            parts = (batch.part(n, 1) for n in range(batch.count))
            return [finding for part in parts for finding in _attempt(part)]
        return [Finding(batch.first, "error", f"{type(error).__name__}: {error}")]

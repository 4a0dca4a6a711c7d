"""Contenders take turns at a case, each in its own process.

The machine may be shared and its speed may drift: only ratios of one run are to be
compared. A process for each keeps the thread pools and allocators of one from the
others, and lets a peer live in another environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

import numpy as np

from .cases import Case
from .peers import PEERS

_ROOT = Path(__file__).resolve().parent.parent
_REFERENCE = "numpy"
_APART = ("gingham-old", "plaidml")
_MOST_REPEATS = 1000
_LONGEST_ANSWER_SECONDS = 30
_REST_SECONDS = 1.0
"""After a call the threads of OpenBLAS, OpenMP and others wait for the next one in a
loop, and take a core from whoever comes next.
"""


@dataclass(frozen=True)
class Result:
    """What one contender did at one case."""

    peer: str
    seconds: tuple[float, ...] = ()
    """Of one call, per round."""
    first_seconds: float = 0.0
    """Of the first call, with all that has to be compiled for it."""
    error: float | None = None
    """The largest difference to NumPy, as a part of the largest number."""
    missing: str = ""
    """Why there are no times."""

    @property
    def median(self) -> float:
        """Seconds of a call, the median over the rounds."""
        return median(self.seconds)


@dataclass(frozen=True)
class Row:
    """A case and what all contenders did at it."""

    case: Case
    results: tuple[Result, ...]

    @property
    def ours(self) -> Result:
        """The result of the contender that the others are compared with, the first."""
        return self.results[0]

    @property
    def fastest_peer(self) -> Result | None:
        """The fastest of the others, but PlaidML and versions of our own."""
        others = [r for r in self.results[1:] if r.seconds and r.peer not in _APART]
        return min(others, key=lambda result: result.median, default=None)

    def result(self, peer: str) -> Result | None:
        """What one contender did, if it did."""
        return next((r for r in self.results if r.peer == peer and r.seconds), None)

    @property
    def is_correct(self) -> bool:
        """Whether our result is within the case's tolerance of the definition's."""
        error = self.ours.error
        return error is not None and error <= self.case.tolerance


class _Contender:
    """A worker process, started anew when it has died or taken too long."""

    def __init__(self, name: str, python: str | None, device: str | None) -> None:
        self.name = name
        self.repeats = 1
        self.first = 0.0
        self.seconds: list[float] = []
        self._start = lambda: _start(name, python, device)
        self._process = self._start()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        if self._process.poll() is not None:
            self._process = self._start()
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise ValueError("expected a process with pipes")
        watch = Timer(_LONGEST_ANSWER_SECONDS, self._process.kill)
        watch.start()
        try:
            print(json.dumps(request), file=requests, flush=True)
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watch.cancel()
        if not line:
            self.stop()
            return {"missing": f"died, or took over {_LONGEST_ANSWER_SECONDS} s"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


class Contest:
    """Runs cases with some of the contenders; use it as a context manager."""

    def __init__(
        self, peers: Sequence[str], pythons: Mapping[str, str], device: str | None
    ) -> None:
        self._contenders = [
            _Contender(name, pythons.get(name), device) for name in peers
        ]

    def __enter__(self) -> Contest:
        return self

    def __exit__(self, *_: object) -> None:
        for contender in self._contenders:
            contender.stop()

    def run(self, case: Case, seconds: float, rounds: int) -> Row:
        """Measure a case for about so many seconds, without the preparations."""
        missing: dict[str, str] = {}
        with TemporaryDirectory() as folder:
            _write_inputs(case, Path(folder))
            running = self._prepared(case, folder, missing)
            errors = {c.name: _error(case, c.name, Path(folder)) for c in running}
        budget = seconds / rounds / max(len(running), 1)
        for contender in running:
            contender.seconds = []
            why = _warm_up(contender, budget)
            if why is not None:
                missing[contender.name] = why
        for number in range(rounds):
            # Each comes as often after one neighbour as after the other.
            for contender in running[:: -1 if number % 2 else 1]:
                _take_turn(contender, missing)
        for contender in running:
            if contender.name not in missing:
                contender.ask(release=True)
        return Row(
            case,
            tuple(
                Result(c.name, missing=missing[c.name])
                if c.name in missing
                else Result(c.name, tuple(c.seconds), c.first, errors[c.name])
                for c in self._contenders
            ),
        )

    def _prepared(
        self, case: Case, folder: str, missing: dict[str, str]
    ) -> list[_Contender]:
        """The contenders that can run the case; `missing` says why others cannot."""
        running: list[_Contender] = []
        for contender in self._contenders:
            answer = contender.ask(prepare=case.name, folder=folder)
            if "missing" in answer:
                missing[contender.name] = answer["missing"]
                continue
            contender.first = answer["first"]
            running.append(contender)
        return running


def _take_turn(contender: _Contender, missing: dict[str, str]) -> None:
    """Measure the calls of one round, unless the contender is missing by now."""
    if contender.name in missing:
        return
    time.sleep(_REST_SECONDS)
    answer = contender.ask(repeat=contender.repeats)
    if "missing" in answer:
        missing[contender.name] = answer["missing"]
    else:
        contender.seconds.append(answer["seconds"])


def _warm_up(contender: _Contender, budget: float) -> str | None:
    """Find how often a call fits into a round, or why the contender is missing."""
    contender.ask(repeat=1)
    answer = contender.ask(repeat=1)
    if "missing" in answer:
        return answer["missing"]
    single = max(answer["seconds"], 1e-7)
    contender.repeats = max(1, min(_MOST_REPEATS, int(budget / single)))
    return None


def _start(name: str, python: str | None, device: str | None) -> subprocess.Popen[str]:
    environment = {**os.environ, **PEERS[name].environment}
    # These make OpenBLAS pretend to an older processor; no comparison is won so.
    for handicap in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(handicap, None)
    if device is not None:
        environment["GINGHAM_DEVICE"] = device
    return subprocess.Popen(
        [python or sys.executable, "-m", "bench.worker", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env=environment,
        text=True,
    )


def _write_inputs(case: Case, folder: Path) -> None:
    """Random numbers; weights are as small as many of them are added."""
    generator = np.random.default_rng(0)
    for name, shape in case.inputs.items():
        array = generator.standard_normal(shape, dtype=np.float32)
        if case.kind in ("bottleneck", "lstm_cell") and name[0] in "KWU":
            array /= np.float32(prod(shape[:-1]) ** 0.5)
        np.save(folder / f"{name}.npy", array)


def _error(case: Case, peer: str, folder: Path) -> float | None:
    """The largest difference to NumPy's results, or None where there are none."""
    worst = 0.0
    for number in range(len(case.results)):
        paths = [folder / f"{name}.{number}.npy" for name in (peer, _REFERENCE)]
        if not all(path.exists() for path in paths):
            return None
        result, expected = (np.load(path).astype(np.float64).ravel() for path in paths)
        scale = float(np.abs(expected).max()) or 1.0
        worst = max(worst, float(np.abs(result - expected).max()) / scale)
    return worst

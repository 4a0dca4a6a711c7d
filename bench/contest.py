"""Contenders take turns at a case, each in its own process.

The machine may be shared and its speed may drift: only ratios of one run are to be
compared. A process for each keeps the thread pools and allocators of one from the
others, and lets a peer live in another environment.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gingham

from .cases import Case
from .peers import PEERS, Place

_ROOT = Path(__file__).resolve().parent.parent
_REFERENCE = "numpy"
NOT_OFFERED = "not offered"
"""Why a peer is missing in a case whose kind it does not know."""
_APART = ("gingham-old", "plaidml")
_MOST_REPEATS = 1000
_LONGEST_ANSWER_SECONDS = 30
_SHORTEST_ANSWER_SECONDS = 1
_LONGEST_START_SECONDS = 120
_REST_SECONDS: dict[Place, float] = {"host": 1.0, "device": 0.0}
"""After a call the threads of OpenBLAS, OpenMP and others wait for the next one in a
loop, and take a core from whoever comes next.
"""
_CALLS_BY_DEVICE = 20
"""Calls that the device's own clock takes the time of."""
_SMALL = 1 / 8
"""What a chain multiplies by again and again, so that nothing overflows."""


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
    on_device: float | None = None
    """Seconds of a call by the clock of the device, where one tells."""
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

    def __init__(
        self, name: str, python: str | None, device: str | None, place: Place
    ) -> None:
        self.name = name
        self.repeats = 1
        self.first = 0.0
        self.seconds: list[float] = []
        self.on_device: float | None = None
        self.deadline = math.inf
        """When the last answer for a case has to be there, by `time.monotonic`."""
        self._start = lambda: _start(name, python, device, place)
        self._process = self._start()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        self.send(request)
        left = self.deadline - time.monotonic()
        longest = min(left, _LONGEST_ANSWER_SECONDS)
        return self.answer(max(longest, _SHORTEST_ANSWER_SECONDS))

    def send(self, request: dict[str, Any]) -> None:
        """Send a request, whose answer has to be waited for before the next."""
        if self._process.poll() is not None:
            self._process = self._start()
        requests = self._process.stdin
        if requests is None:
            raise ValueError("expected a process with pipes")
        with suppress(BrokenPipeError):
            print(json.dumps(request), file=requests, flush=True)

    def answer(self, longest: float) -> dict[str, Any]:
        """Wait so many seconds at most for the answer to a request."""
        answers = self._process.stdout
        if answers is None:
            raise ValueError("expected a process with pipes")
        watch = Timer(longest, self._process.kill)
        watch.start()
        try:
            line = answers.readline()
        finally:
            watch.cancel()
        if not line:
            self.stop()
            return {"missing": f"died, or took over {longest:.0f} s"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def is_late(self) -> bool:
        """Whether its time for a case is over."""
        return time.monotonic() > self.deadline

    def take_device_time(self) -> None:
        """Ask for the time of a call by the device's clock, which may be none."""
        answer = self.ask(on_device=min(self.repeats, _CALLS_BY_DEVICE))
        self.on_device = answer.get("seconds")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def place_of(device: str | None) -> Place:
    """Whose memory arrays should lie in: a GPU's, or that of the host."""
    if device is None:
        return "host"
    return "device" if gingham.device(device).kind == "gpu" else "host"


class Contest:
    """Runs cases with some of the contenders; use it as a context manager.

    Where the arrays lie in a device's memory, NumPy tells what is right in float64.
    Else it is one of the contenders, and what it computes counts as right.
    """

    def __init__(
        self,
        peers: Sequence[str],
        pythons: Mapping[str, str],
        device: str | None,
        place: Place = "host",
    ) -> None:
        self._place: Place = place
        self._contenders = [
            _Contender(name, pythons.get(name), device, place) for name in peers
        ]
        self._reference = None
        if place == "device":
            self._reference = _Contender(_REFERENCE, None, device, "host")
        self.absent: dict[str, str] = {}
        """The peers that are not there, and why."""

    def __enter__(self) -> Contest:
        return self

    def __exit__(self, *_: object) -> None:
        for contender in self._contenders:
            contender.stop()
        if self._reference is not None:
            self._reference.stop()

    def open(self) -> None:
        """Have all contenders load what they need, side by side; see `absent`."""
        for contender in self._contenders:
            contender.send({"open": True})
        for contender in self._contenders:
            answer = contender.answer(_LONGEST_START_SECONDS)
            if "missing" in answer:
                self.absent[contender.name] = answer["missing"]

    def run(
        self, case: Case, seconds: float, rounds: int, at_most: float = math.inf
    ) -> Row:
        """Measure a case for about so many seconds, without the preparations.

        Who has no answer `at_most` seconds from now, with all of that, has none.
        """
        missing = dict(self.absent)
        deadline = time.monotonic() + at_most
        for contender in self._contenders:
            contender.deadline = deadline
        running, errors = self._checked(case, missing)
        self._measure(running, missing, seconds, rounds)
        for contender in running:
            if contender.name not in missing:
                contender.take_device_time()
                contender.ask(release=True)
        return Row(
            case,
            tuple(
                Result(c.name, missing=missing[c.name])
                if c.name in missing
                else Result(
                    c.name, tuple(c.seconds), c.first, errors[c.name], c.on_device
                )
                for c in self._contenders
            ),
        )

    def _checked(
        self, case: Case, missing: dict[str, str]
    ) -> tuple[list[_Contender], dict[str, float | None]]:
        """Those that can run the case, and their errors; see `error_of`."""
        with TemporaryDirectory() as folder:
            for name, array in random_inputs(case).items():
                np.save(Path(folder) / f"{name}.npy", array)
            reference = self._reference
            if reference is not None:
                request = {"prepare": case.name, "folder": folder, "exactly": True}
                reference.send(request)
            running = self._prepared(case, folder, missing)
            if reference is not None:
                told = reference.answer(_LONGEST_ANSWER_SECONDS)
                if "missing" in told:
                    why = f"nothing to check against: {told['missing']}"
                    print(f"\r{case.name}: {why}", file=sys.stderr)
            is_exact = reference is not None
            return running, {
                c.name: error_of(case, c.name, Path(folder), is_exact) for c in running
            }

    def _measure(
        self,
        running: Sequence[_Contender],
        missing: dict[str, str],
        seconds: float,
        rounds: int,
    ) -> None:
        """Take turns for about so many seconds; `missing` says who has no times."""
        budget = seconds / rounds / max(len(running), 1)
        for contender in running:
            contender.seconds = []
            why = _warm_up(contender, budget)
            if why is not None:
                missing[contender.name] = why
        for number in range(rounds):
            if number and any(c.is_late for c in running):
                break
            # Each comes as often after one neighbour as after the other.
            for contender in running[:: -1 if number % 2 else 1]:
                self._take_turn(contender, missing)

    def _take_turn(self, contender: _Contender, missing: dict[str, str]) -> None:
        """Measure the calls of one round, unless the contender is missing by now."""
        if contender.name in missing:
            return
        time.sleep(_REST_SECONDS[self._place])
        answer = contender.ask(repeat=contender.repeats)
        if "missing" in answer:
            missing[contender.name] = answer["missing"]
        else:
            contender.seconds.append(answer["seconds"])

    def _prepared(
        self, case: Case, folder: str, missing: dict[str, str]
    ) -> list[_Contender]:
        """The contenders that can run the case; `missing` says why others cannot."""
        running: list[_Contender] = []
        for contender in self._contenders:
            if contender.name in missing:
                continue
            answer = contender.ask(prepare=case.name, folder=folder)
            if "missing" in answer:
                missing[contender.name] = answer["missing"]
                if self._place == "device" and answer["missing"] != NOT_OFFERED:
                    # A kernel that failed may have left a context of no use.
                    contender.stop()
                continue
            contender.first = answer["first"]
            running.append(contender)
        return running


def _warm_up(contender: _Contender, budget: float) -> str | None:
    """Find how often a call fits into a round, or why the contender is missing."""
    contender.ask(repeat=1)
    answer = contender.ask(repeat=1)
    if "missing" in answer:
        return answer["missing"]
    single = max(answer["seconds"], 1e-7)
    contender.repeats = max(1, min(_MOST_REPEATS, int(budget / single)))
    return None


def _start(
    name: str, python: str | None, device: str | None, place: Place
) -> subprocess.Popen[str]:
    environment = {**os.environ, **PEERS[name].environment}
    # These make OpenBLAS pretend to an older processor; no comparison is won so.
    for handicap in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(handicap, None)
    if device is not None:
        environment["GINGHAM_DEVICE"] = device
    return subprocess.Popen(
        [python or sys.executable, "-m", "bench.worker", name, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env=environment,
        text=True,
    )


def random_inputs(case: Case) -> dict[str, NDArray[Any]]:
    """Random numbers; weights are as small as many of them are added."""
    generator = np.random.default_rng(0)
    arrays: dict[str, NDArray[Any]] = {}
    for name, shape in case.inputs.items():
        if name in case.indices:
            bound = case.indices[name]
            arrays[name] = generator.integers(bound, size=shape, dtype=np.int32)
            continue
        if case.element == "int8":
            arrays[name] = generator.integers(-128, 128, shape, np.int8)
            continue
        array = generator.standard_normal(shape, dtype=np.float32)
        if case.kind == "chain" and name == "A":
            array *= np.float32(_SMALL)
        if case.kind in ("bottleneck", "lstm_cell") and name[0] in "KWU":
            array /= np.float32(prod(shape[:-1]) ** 0.5)
        arrays[name] = array.astype(case.element, copy=False)
    return arrays


def error_of(case: Case, peer: str, folder: Path, is_exact: bool) -> float | None:
    """The largest difference to NumPy's results, or None where there are none.

    Where those are exact, they may be some rows alone.
    """
    worst = 0.0
    rows = case.checked_rows if is_exact else None
    for number in range(len(case.results)):
        paths = [folder / f"{name}.{number}.npy" for name in (peer, _REFERENCE)]
        if not all(path.exists() for path in paths):
            return None
        given, expected = (np.load(path, mmap_mode="r") for path in paths)
        result = (given if rows is None else given[rows]).astype(np.float64).ravel()
        expected = expected.astype(np.float64).ravel()
        scale = float(np.abs(expected).max()) or 1.0
        worst = max(worst, float(np.abs(result - expected).max()) / scale)
    return worst

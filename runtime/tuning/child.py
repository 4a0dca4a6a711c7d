"""The process that measures: `python -m gingham.runtime.tuning.child`.

It reads a `Job` from the first line of its input and prints an `Outcome` for each
decision, one a line behind a mark, as drivers may print, too. When its input ends, so
does it: nobody waits for it any more.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...dialects.stripe.schedule import Schedule
from ...errors import GinghamError
from .jobs import Job, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...targets.backend import Executable

    Array = NDArray[Any]

MARK = "gingham-outcome "
READY = "gingham-ready"
_ABANDONED = 3
_ROUND_SECONDS = 0.01
_AT_ONCE_SECONDS = 0.001
"""Of runs that follow each other: what a call takes is small beside them."""
_TOLERANCE_STEPS = 256


def main() -> int:
    """Measure what the input asks for; the exit status is 0."""
    job = Job.from_json(sys.stdin.readline())
    threading.Thread(target=_wait_for_the_end, daemon=True).start()
    bench = Bench(job)
    print(READY, flush=True)
    for decision in job.decisions:
        print(f"{MARK}{bench.outcome(decision).to_json()}", flush=True)
    return 0


def _wait_for_the_end() -> None:
    sys.stdin.read()
    os._exit(_ABANDONED)


class Bench:
    """A unit with its inputs and the model's own choice, ready to compare."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._model = self._executable(str(Schedule()))
        self._inputs = _inputs(self._model)
        self.wanted = self._model(*self._inputs)
        self._are_checked = _covered_outputs(job)

    def outcome(self, decision: str) -> Outcome:
        """How fast a decision is, and whether it is right."""
        from xdsl.utils.exceptions import DiagnosticException

        try:
            candidate = self._executable(decision)
            results = candidate(*self._inputs)
        except (GinghamError, DiagnosticException, ValueError) as error:
            return Outcome("error", message=" ".join(str(error).split())[:500])
        for got, wanted, is_checked in zip(
            results, self.wanted, self._are_checked, strict=True
        ):
            if is_checked and not is_close(got, wanted):
                return Outcome("wrong", message="its results differ from the model's")
        seconds, model_seconds = self._compare(candidate)
        return Outcome("ok", seconds, model_seconds)

    def _executable(self, decision: str) -> Executable:
        from ...passes.stripe.decide.recall.unit import decide, leaves_of, unit_block
        from ..backends import backend_of
        from ..devices import device
        from .lowering import parsed, run_passes

        backend = backend_of(device(self._job.device))
        unit = parsed(self._job.ir)
        leaf = leaves_of(unit_block(unit))[self._job.leaf]
        decide(leaf, decision)
        run_passes(unit, self._job.passes)
        return backend.executable(unit)

    def _compare(self, candidate: Executable) -> tuple[float, float]:
        """The fastest runs of a candidate and of the model's choice, taken in turns."""
        runs = [self._run_of(each) for each in (candidate, self._model)]
        fastest = [float("inf"), float("inf")]
        end = time.perf_counter() + self._job.seconds
        while time.perf_counter() < end or fastest[0] == float("inf"):
            for number, run in enumerate(runs):
                stop = time.perf_counter() + _ROUND_SECONDS
                while True:
                    fastest[number] = min(fastest[number], run())
                    if time.perf_counter() > stop:
                        break
        return fastest[0], fastest[1]

    def _run_of(self, executable: Executable) -> Callable[[], float]:
        """What runs a program on the inputs, and gives the seconds that it took.

        A device with memory of its own has them there, and runs the program several
        times at once: neither copies nor what the host does for a call count.
        """
        from ..backends import memory_of
        from ..devices import device

        startable = executable.startable
        memory = memory_of(device(self._job.device))
        if memory is None or startable is None or memory.is_shared:
            outputs = executable(*self._inputs)
            return lambda: _seconds(lambda: executable.run(self._inputs, outputs), 1)
        buffers = [memory.upload(each) for each in self._inputs]
        results, _ = startable.start(buffers)

        def run(count: int) -> None:
            events = [startable.start(buffers, results)[1] for _ in range(count)]
            if (last := events[-1]) is not None:
                last.wait()

        count = 1
        while _seconds(partial(run, count), count) * count < _AT_ONCE_SECONDS:
            count *= 2
        return lambda: _seconds(partial(run, count), count)


def _seconds(run: Callable[[], object], count: int) -> float:
    """The seconds of each of so many runs."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) / count


def _inputs(executable: Executable) -> list[Array]:
    """Random inputs: floats below 1 without denormal ones, small numbers for others."""
    import numpy as np

    random = np.random.default_rng(0)
    arrays: list[Array] = []
    for shape, dtype in executable.input_types:
        if dtype.kind == "b":
            arrays.append(random.integers(0, 2, shape).astype(dtype))
        elif dtype.kind in "iu":
            arrays.append(random.integers(0, 4, shape).astype(dtype))
        else:
            arrays.append((random.random(shape) + 0.1).astype(dtype))
    return arrays


def _covered_outputs(job: Job) -> list[bool]:
    """Which outputs have every cell written, so that they can be compared."""
    from ...passes.stripe.decide.recall.unit import covered_outputs
    from .lowering import parsed

    return covered_outputs(parsed(job.ir))


def is_close(got: Array, wanted: Array) -> bool:
    """Whether results are the same but for rounding in another order."""
    import numpy as np

    if got.dtype.kind in "biu":
        return bool(np.array_equal(got, wanted))
    left, right = got.astype(np.float64), wanted.astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    if same.all():
        return True
    name = wanted.dtype.name
    step = 2.0**-8 if name == "bfloat16" else float(np.finfo(wanted.dtype).eps)
    finite = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    apart = np.abs(left[~same] - right[~same])
    return bool((apart <= _TOLERANCE_STEPS * step * finite).all())


def run_child(arguments: Sequence[str] = ()) -> None:
    """The command: errors end it with their message, for the process that waits."""
    del arguments
    try:
        sys.exit(main())
    except GinghamError as error:
        print(error.render(), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run_child()

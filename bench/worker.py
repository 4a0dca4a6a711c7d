"""One contender in a process of its own: `python -m bench.worker PEER PLACE`.

`PLACE` says whose memory the arrays are in, `host` or `device`. It reads lines of JSON
and answers each with one:

* `{"open": true}` loads the peer; answers `{}`, or `{"missing": why}`;
* `{"prepare": NAME, "folder": F}` loads the inputs of a case from `F`, computes once
  and writes the results there; answers `{"first": seconds}`, or `{"missing": why}`;
  with `"exactly": true` of float64 inputs, and of those rows alone that are checked;
* `{"repeat": N}` computes N times; answers `{"seconds": per_call}`, or
  `{"missing": why}` where no case is prepared;
* `{"on_device": N}` does so by the device's own clock, with null where none tells;
* `{"release": true}` forgets the case; answers `{}`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .cases import LISTS, Case
from .peers import PEERS, Place
from .peers.prepared import Array, Prepared

_WARM_UP_SECONDS = 0.02
"""Calls that are not counted, until caches are warm and threads awake."""


class Worker:
    """Holds the case that is being measured."""

    def __init__(self, name: str, place: Place = "host") -> None:
        self._name = name
        self._place: Place = place
        self._prepared: Prepared | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for."""
        if "open" in request:
            return self._open()
        if "prepare" in request:
            return self._prepare(request)
        if "release" in request:
            self._prepared = None
            gc.collect()
            return {}
        if self._prepared is None:
            return {"missing": "ended in the midst of the case, and was started anew"}
        try:
            if "on_device" in request:
                return {"seconds": self._prepared.on_device(request["on_device"])}
            return {"seconds": _repeated(self._prepared, request["repeat"])}
        except Exception as error:
            return _missing(error)

    def _open(self) -> dict[str, Any]:
        try:
            PEERS[self._name].open(self._place)
        except Exception as error:
            return _missing(error)
        return {}

    def _prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        folder, name = Path(request["folder"]), request["prepare"]
        case = next(c for each in LISTS.values() for c in each if c.name == name)
        inputs = {key: np.load(folder / f"{key}.npy") for key in case.inputs}
        if request.get("exactly"):
            inputs = _exactly(case, inputs)
        # A peer may lack packages, a kind or memory; the others go on without it.
        try:
            prepare = PEERS[self._name].load(self._place)
            start = time.perf_counter()
            self._prepared = prepare(case, inputs)
            if self._prepared is None:
                return {"missing": "not offered"}
            results = self._prepared.results()
            first = time.perf_counter() - start
        except Exception as error:
            return _missing(error)
        for number, result in enumerate(results):
            np.save(folder / f"{self._name}.{number}.npy", result)
        return {"first": first}


def _repeated(prepared: Prepared, count: int) -> float:
    """Seconds of a call, of so many behind each other."""
    call, finish = prepared.call, prepared.finish
    warm = time.perf_counter() + _WARM_UP_SECONDS
    while time.perf_counter() < warm:
        call()
        finish()
    start = time.perf_counter()
    for _ in range(count):
        call()
    finish()
    return (time.perf_counter() - start) / count


def _missing(error: Exception) -> dict[str, Any]:
    return {"missing": f"{type(error).__name__}: {error}"[:500]}


def _exactly(case: Case, inputs: dict[str, Array]) -> dict[str, Any]:
    """The inputs as float64, of the rows that are checked."""
    rows = case.checked_rows
    return {
        name: (array if name in case.indices else array.astype(np.float64))[
            rows if rows is not None and name in case.by_rows else slice(None)
        ]
        for name, array in inputs.items()
    }


def main() -> None:
    """Answer requests until there are no more; only answers go to the output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    name, place = sys.argv[1:]
    worker = Worker(name, "device" if place == "device" else "host")
    for line in sys.stdin:
        json.dump(worker.answer(json.loads(line)), answers)
        print(file=answers, flush=True)


if __name__ == "__main__":
    main()

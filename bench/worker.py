"""One contender in a process of its own: `python -m bench.worker PEER`.

Reads lines of JSON and answers each with one:

* `{"prepare": NAME, "folder": F}` loads the inputs of a case from `F`, computes once
  and writes the results there; answers `{"first": seconds}`, or `{"missing": why}`;
* `{"repeat": N}` computes N times; answers `{"seconds": per_call}`, or
  `{"missing": why}` where no case is prepared;
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

from .cases import CASES
from .peers import PEERS
from .peers.prepared import Prepared

_WARM_UP_SECONDS = 0.02
"""Calls that are not counted, until caches are warm and threads awake."""


class Worker:
    """Holds the case that is being measured."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._prepared: Prepared | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for."""
        if "prepare" in request:
            return self._prepare(request["prepare"], Path(request["folder"]))
        if "release" in request:
            self._prepared = None
            gc.collect()
            return {}
        if self._prepared is None:
            return {"missing": "ended in the midst of the case, and was started anew"}
        call = self._prepared.call
        warm = time.perf_counter() + _WARM_UP_SECONDS
        while time.perf_counter() < warm:
            call()
        start = time.perf_counter()
        for _ in range(request["repeat"]):
            call()
        return {"seconds": (time.perf_counter() - start) / request["repeat"]}

    def _prepare(self, name: str, folder: Path) -> dict[str, Any]:
        (case,) = (case for case in CASES if case.name == name)
        inputs = {key: np.load(folder / f"{key}.npy") for key in case.inputs}
        # A peer may lack packages, a kind or memory; the others go on without it.
        try:
            prepare = PEERS[self._name].load()
            start = time.perf_counter()
            self._prepared = prepare(case, inputs)
            if self._prepared is None:
                return {"missing": "not offered"}
            results = self._prepared.results()
            first = time.perf_counter() - start
        except Exception as error:
            return {"missing": f"{type(error).__name__}: {error}"[:500]}
        for number, result in enumerate(results):
            np.save(folder / f"{self._name}.{number}.npy", result)
        return {"first": first}


def main() -> None:
    """Answer requests until there are no more; only answers go to the output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        json.dump(worker.answer(json.loads(line)), answers)
        print(file=answers, flush=True)


if __name__ == "__main__":
    main()

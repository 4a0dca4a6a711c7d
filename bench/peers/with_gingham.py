"""Gingham itself: this version, or another one in its own environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gingham

from ..cases import Case
from .prepared import Inputs, Prepared, arrays_of


def prepare(case: Case, inputs: Inputs) -> Prepared:
    """Compile the Tile program; results that nobody holds are written into again."""
    compute = _computation(case, list(inputs.values()))
    return Prepared(compute, lambda: arrays_of(compute()))


def open_device() -> None:
    """Compile and run something small on the device, so that it is there."""
    double = gingham.compile("function (A[N]) -> (B) { B = A + A; }")
    double(gingham.asarray(np.ones(1, np.float32))).wait()


def prepare_on_device(case: Case, inputs: Inputs) -> Prepared:
    """As `prepare`, with arrays of the device: calls do not wait for each other."""
    compute = _computation(case, [gingham.asarray(each) for each in inputs.values()])
    latest: list[gingham.Array] = []

    def call() -> None:
        outputs = compute()
        latest[:] = outputs if isinstance(outputs, tuple) else (outputs,)

    def finish() -> Sequence[gingham.Array]:
        return [each.wait() for each in latest]

    def on_device(count: int) -> float:
        with gingham.profile() as measured:
            for _ in range(count):
                call()
            finish()
            return sum(each.seconds for each in measured.commands) / count

    def results() -> list[Any]:
        call()
        return [each.numpy() for each in finish()]

    return Prepared(call, results, finish, on_device)


def _computation(case: Case, arguments: Sequence[Any]) -> Callable[[], Any]:
    """A call of the program, or several of which each takes the result before it."""
    function = gingham.compile(case.program, constants=case.constants)
    first, *others = arguments
    calls = case.parameters.get("calls", 1)

    def compute() -> Any:
        outputs = first
        for _ in range(calls):
            outputs = function(outputs, *others)
        return outputs

    return compute

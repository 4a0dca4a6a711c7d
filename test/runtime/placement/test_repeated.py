"""A placed call on one device is what it is of a function compiled for that device."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.runtime.placement.database import database
from gingham.runtime.placement.function import PlacedFunction
from gingham.runtime.placement.links import device_text
from gingham.targets.opencl.devices.device import OpenCLDevice

TEXT = """function (X[N, M], U[M, K]) -> (Z, T) {
  Z[n, k : N, K] = +(X[n, m] * U[m, k]);
  T = X * 2;
}"""
CALLS = 64
SETTLED = 40
"""Calls behind which nothing is tried any more."""


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_RECORDS", str(tmp_path / "records.sqlite3"))


@pytest.fixture(scope="module")
def here() -> OpenCLDevice:
    device = gingham.default_device()
    if not isinstance(device, OpenCLDevice):
        pytest.skip("there is no OpenCL device")
    return device


def hosts(seed: int = 0) -> list[NDArray[np.float32]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-3, 4, (9, 9)).astype(np.float32) for _ in range(2)]


def wait(results: tuple[Any, ...]) -> None:
    for each in results:
        if isinstance(each, gingham.Array):
            each.wait()


def frames(call: Callable[[], object]) -> list[int]:
    """The calls of Python functions in each of some calls."""
    counts: list[int] = []

    def count(frame: FrameType, event: str, _: object) -> None:
        counts[-1] += event == "call"

    gc.disable()
    try:
        for _ in range(CALLS):
            counts.append(0)
            sys.setprofile(count)
            call()
            sys.setprofile(None)
    finally:
        sys.setprofile(None)
        gc.enable()
    return counts


def placed_here(here: OpenCLDevice, measure: bool) -> PlacedFunction:
    """It is tried on the interpreter, too, which turns out to be slower."""
    function = gingham.compile(TEXT, device=[here, "reference"], measure=measure)
    units = function.decision(*hosts()).posed.program.units
    for device, seconds in ((here, 1e-4), (gingham.device("reference"), 1.5e-4)):
        times = {unit.key: seconds for unit in units}
        database().add_times(device_text(device), times)
    return gingham.compile(TEXT, device=[here, "reference"], measure=measure)


@pytest.mark.parametrize("measure", [False, True])
@pytest.mark.parametrize("place", ["host", "here", "elsewhere"])
def test_no_more_work_than_on_that_device_alone(
    here: OpenCLDevice, measure: bool, place: str
) -> None:
    homes: dict[str, OpenCLDevice | str] = {"here": here, "elsewhere": "reference"}
    inputs: list[Any] = list(hosts())
    if place in homes:
        inputs = [gingham.asarray(each, homes[place]) for each in inputs]
    alone = gingham.compile(TEXT, device=here)
    placed = placed_here(here, measure)

    def moved() -> list[Any]:
        return [each.to(here) for each in inputs] if place in homes else inputs

    def call_alone() -> None:
        wait(alone(*moved()))

    def call_placed() -> None:
        wait(placed(*inputs))

    for _ in range(SETTLED):
        call_alone()
        call_placed()
    assert {*placed.decision(*inputs).devices} == {here.name}
    most = max(frames(call_alone))
    # Where the machine holds up a call that is timed, it is decided anew after it.
    series = [[n for n in frames(call_placed) if n > most] for _ in range(3)]
    more = min(series, key=lambda counts: max(counts, default=0))
    assert len(more) <= CALLS // 8
    # What is looked at takes longer, and not much.
    assert max(more, default=0) <= most + 60


def test_runs_of_arrays_repeat_as_calls_do(here: OpenCLDevice) -> None:
    """As programs run that are given buffers."""
    inputs = [gingham.asarray(each, here) for each in hosts()]
    alone = gingham.compile(TEXT, device=here)
    placed = placed_here(here, False)
    out = None, None
    for _ in range(SETTLED):
        wait((*alone.run(inputs, out), *placed.run(inputs, out)))
    most = max(frames(lambda: alone.run(inputs, out)))
    more = [n for n in frames(lambda: placed.run(inputs, out)) if n > most]
    assert len(more) <= CALLS // 8
    for result, expected in zip(placed.run(inputs), alone.run(inputs), strict=True):
        np.testing.assert_array_equal(result.numpy(), expected.numpy())


def test_other_arrays_and_given_results(here: OpenCLDevice) -> None:
    """What repeats is by shapes, types and devices, and never by what was there."""
    placed = placed_here(here, False)
    for number in range(SETTLED):
        x, u = hosts(number)
        given: list[Any] = [x, u]
        if number % 2:
            given = [gingham.asarray(x, "reference"), gingham.asarray(u, here)]
        out: Any = None
        if number % 3 == 1:
            out = np.empty_like(x), None
        if number % 2 and number % 3:
            out = gingham.asarray(np.empty_like(x), here, copy=True), None
        z, t = placed(*given, out=out)
        assert out is None or z is out[0]
        np.testing.assert_array_equal(np.asarray(z), x @ u)
        np.testing.assert_array_equal(np.asarray(t), x * 2)


def test_a_call_that_somebody_listens_to_is_heard(here: OpenCLDevice) -> None:
    placed = gingham.compile(TEXT, device=[here, "reference"], profile=True)
    for _ in range(SETTLED):
        placed(*hosts())
    spans = [span for span in placed.profile.spans if span.category == "call"]
    assert len(spans) == SETTLED

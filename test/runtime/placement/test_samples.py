"""Real runs correct the times that placement is decided by."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham import observation
from gingham.errors import GinghamError
from gingham.runtime import load
from gingham.runtime.arguments import Binding
from gingham.runtime.backends import memory_of
from gingham.runtime.compiler import Compiled, Compiler
from gingham.runtime.placement import machine
from gingham.runtime.placement.database import Database, database
from gingham.runtime.placement.function import PlacedFunction
from gingham.runtime.placement.links import device_text
from gingham.runtime.placement.samples import SAMPLED, Sampler, corrected_times
from gingham.runtime.placement.ways import Ways
from gingham.runtime.profiling.watcher import watcher
from gingham.runtime.starter import Starter
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable

BRANCHES = """function (X[N, M], U[M, K], V[M, K]) -> (Z) {
  P[n, k : N, K] = +(X[n, m] * U[m, k]);
  Q[n, k : N, K] = +(X[n, m] * V[m, k]);
  Z = relu(P) - Q;
}"""
Arrays = list[NDArray[np.float32]]


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Functions of other tests that are measured may still be garbage.
    gc.collect()
    monkeypatch.setenv("GINGHAM_RECORDS", str(tmp_path / "records.sqlite3"))
    # What is measured is kept, however busy this machine is with other work.
    monkeypatch.setattr(load, "_others_share", lambda: 0.0)
    return tmp_path / "placement.sqlite3"


@pytest.fixture(scope="module")
def whole() -> OpenCLDevice:
    device = gingham.default_device()
    if not isinstance(device, OpenCLDevice):
        pytest.skip("there is no OpenCL device")
    return device


@pytest.fixture
def inputs() -> Arrays:
    generator = np.random.default_rng(0)
    return [generator.integers(-3, 4, (9, 9)).astype(np.float32) for _ in range(3)]


def half(device: object) -> float:
    return 0.5


def never(sampler: object) -> bool:
    return False


def unwanted(array: object) -> Any:
    raise AssertionError("a call has waited")


def check(result: Any, inputs: Arrays) -> None:
    x, u, v = inputs
    expected = np.maximum(x @ u, 0) - x @ v
    np.testing.assert_array_equal(np.asarray(result), expected)


def believed(whole: OpenCLDevice, inputs: Arrays, **seconds: float) -> list[str]:
    """Let units be known to take so long on each device; their keys."""
    names = [whole.name, "reference"]
    function = gingham.compile(BRANCHES, device=names)
    keys = [unit.key for unit in function.decision(*inputs).posed.program.units]
    for device, each in zip((whole, "reference"), seconds.values(), strict=True):
        chosen = gingham.device(device) if isinstance(device, str) else device
        database().add_times(device_text(chosen), dict.fromkeys(keys, each))
    return keys


def places(function: PlacedFunction, inputs: Arrays) -> set[str]:
    return {*function.decision(*inputs).devices}


def test_a_wrong_belief_does_not_last(
    whole: OpenCLDevice, inputs: Arrays, records: Path
) -> None:
    keys = believed(whole, inputs, opencl=1e-6, reference=1e-9)
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    assert places(function, inputs) == {"reference"}
    check(function(*inputs), inputs)
    for _ in range(SAMPLED[1]):
        check(function(*inputs), inputs)
    assert places(function, inputs) != {"reference"}
    # Other processes know as well.
    text = device_text(gingham.device("reference"))
    known = Database(records).times(text, keys)
    assert min(known.values()) > 1e-6
    assert not whole.queue.has_timing
    assert observation.observer is None


@pytest.mark.parametrize("measure", [False, True])
def test_a_device_that_is_slower_as_a_whole_than_in_parts(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch, measure: bool
) -> None:
    """Each unit is quick there; all of them at once are not."""
    believed(whole, inputs, opencl=1e-4, reference=2e-4)
    function = gingham.compile(BRANCHES, device=[whole, "reference"], measure=measure)
    real = OpenCLExecutable.run

    def slow(self: OpenCLExecutable, *arguments: Any) -> Any:
        time.sleep(0.03)
        return real(self, *arguments)

    monkeypatch.setattr(OpenCLExecutable, "run", slow)
    assert places(function, inputs) == {whole.name}
    for _ in range(24):
        check(function(*inputs), inputs)
    assert places(function, inputs) == {"reference"}


@pytest.mark.parametrize("is_ready", [True, False])
def test_calls_that_do_not_wait_are_timed_first(
    whole: OpenCLDevice,
    inputs: Arrays,
    monkeypatch: pytest.MonkeyPatch,
    is_ready: bool,
) -> None:
    """Also those with inputs that are still being computed, as results of calls are."""
    monkeypatch.setattr(gingham.Array, "is_ready", property(lambda _: is_ready))
    believed(whole, inputs, opencl=1.5e-4, reference=1e-4)
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    real = Starter.run

    def slow(self: Starter, *arguments: Any) -> Any:
        if vars(self)["_device"].is_reference:
            time.sleep(0.03)
        return real(self, *arguments)

    monkeypatch.setattr(Starter, "run", slow)
    given = [gingham.asarray(each, "reference") for each in inputs]
    assert {*function.decision(*given).devices} == {"reference"}
    for _ in range(48):
        check(function(*given), inputs)
    assert {*function.decision(*given).devices} == {whole.name}
    # Now that all is known, a call waits for nothing.
    monkeypatch.setattr(gingham.Array, "wait", unwanted)
    function(*given)


def test_calls_that_do_not_wait_are_timed_again(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    believed(whole, inputs, opencl=1.5e-4, reference=1e-4)
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    real = Starter.run
    slow, seconds = "reference", 0.0005

    def run(self: Starter, *arguments: Any) -> Any:
        if (slow == "reference") == vars(self)["_device"].is_reference:
            time.sleep(seconds)
        return real(self, *arguments)

    monkeypatch.setattr(Starter, "run", run)
    given = [gingham.asarray(each, "reference") for each in inputs]
    for _ in range(60):
        function(*given).wait()
    assert {*function.decision(*given).devices} == {whole.name}
    slow, seconds = whole.name, 0.0015
    for number in range(4000):
        function(*given).wait()
        if number % 8 == 0 and {*function.decision(*given).devices} == {"reference"}:
            break
    else:
        raise AssertionError("the slower device is used for ever")


def test_what_is_tried_and_fails_harms_no_call(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    believed(whole, inputs, opencl=1.5e-4, reference=1e-4)
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    tried: list[object] = []

    def run(*arguments: Any) -> Any:
        tried.append(None)
        raise GinghamError("out of memory")

    monkeypatch.setattr(OpenCLExecutable, "run", run)
    monkeypatch.setattr(Sampler, "correct", never)
    for _ in range(60):
        check(function(*inputs), inputs)
    assert len(tried) == 1


def test_what_is_tried_leaves_results_where_others_are(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the calls behind it would have inputs elsewhere than they began with."""
    believed(whole, inputs, opencl=1e-4, reference=1.2e-4)
    tried: list[str] = []
    real = Ways.note

    def noted(self: Ways, name: str, seconds: float, is_alone: bool) -> bool:
        tried.append(name)
        return real(self, name, seconds + (name == "reference"), is_alone)

    monkeypatch.setattr(Ways, "note", noted)
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    given = [gingham.asarray(each, whole) for each in inputs]
    results = [function(*given) for _ in range(24)]
    assert "reference" in tried
    assert {each.device for each in results} == {whole}
    check(results[tried.index("reference")], inputs)


def test_inputs_that_failed_are_the_error_of_a_call(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    given = [gingham.asarray(each, whole) for each in inputs]
    check(function(*given), inputs)
    place = memory_of(whole)
    assert place is not None
    given[0].memory.written = place.failed(GinghamError("it was not computed"))
    for _ in range(4):
        with pytest.raises(GinghamError, match="it was not computed"):
            function(*given)
    given[0].memory.written = None
    check(function(*given), inputs)


def test_profiled_runs_that_nobody_waits_for(
    whole: OpenCLDevice, inputs: Arrays
) -> None:
    keys = believed(whole, inputs, opencl=10.0, reference=100.0)
    function = gingham.compile(BRANCHES, device=[whole, "reference"], profile=True)
    given = [gingham.asarray(each, whole) for each in inputs]
    for _ in range(4):
        check(function(*given), inputs)
    assert max(database().times(device_text(whole), keys).values()) < 1
    # What did not run is believed as before.
    reference = device_text(gingham.device("reference"))
    assert {*database().times(reference, keys).values()} == {100.0}


def test_several_segments_are_told_apart(whole: OpenCLDevice, inputs: Arrays) -> None:
    believed(whole, inputs, opencl=10.0, reference=10.0)
    function = gingham.compile(
        BRANCHES, device=[whole, "reference"], place={"Q": "reference", "P": whole.name}
    )
    for _ in range(SAMPLED[1]):
        check(function(*inputs), inputs)
    units = function.explain_placement(*inputs).units
    by_name = {unit.name: unit.times for unit in units}
    assert by_name["Q"]["reference"].source == "measured"
    assert 0 < (by_name["Q"]["reference"].seconds or 0) < 1
    assert by_name["Q"][whole.name].seconds == pytest.approx(10.0)


def test_few_runs_are_looked_at(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    listeners: list[int] = []
    real = watcher.heard_by

    def noted(listener: Any) -> Any:
        listeners.append(calls[-1])
        return real(listener)

    monkeypatch.setattr(watcher, "heard_by", noted)
    # It stays where it is, whatever is found out.
    monkeypatch.setattr(Sampler, "correct", never)
    place = {"P": whole.name, "Q": whole.name, "Z": whole.name}
    function = gingham.compile(BRANCHES, device=[whole, "reference"], place=place)
    for number in range(1, 20):
        calls.append(number)
        function(*inputs)
    assert listeners == [*SAMPLED]
    measured = gingham.compile(BRANCHES, device=[whole, "reference"], measure=True)
    asked = gingham.compile(BRANCHES, device=[whole, "reference"])
    asked.measure_placement(*inputs)
    for function in (measured, asked):
        del listeners[:]
        for _ in range(1, 10):
            function(*inputs)
        assert listeners == []


def test_few_calls_are_timed_behind_the_first(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    for _ in range(24):
        check(function(*inputs), inputs)
    timed: list[str] = []
    real = Ways.note

    def noted(self: Ways, name: str, seconds: float, is_alone: bool) -> bool:
        timed.append(name)
        return real(self, name, seconds, is_alone)

    monkeypatch.setattr(Ways, "note", noted)
    for _ in range(80):
        check(function(*inputs), inputs)
    assert len(timed) <= 10


def test_what_can_not_run_elsewhere_stays(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    believed(whole, inputs, opencl=1e-6, reference=1e-9)
    function = gingham.compile(BRANCHES, device=[whole, "reference"])
    check(function(*inputs), inputs)

    real = Compiler.compiled

    def compiled(self: Compiler, binding: Binding) -> Compiled:
        if self.device is whole:
            raise GinghamError("it can not be compiled")
        return real(self, binding)

    monkeypatch.setattr(Compiler, "compiled", compiled)
    for _ in range(2 * SAMPLED[2]):
        check(function(*inputs), inputs)
    assert places(function, inputs) == {"reference"}


def test_a_failure_while_a_run_is_looked_at(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = gingham.compile(BRANCHES, device=[whole, whole.name, "reference"])
    check(function(*inputs), inputs)

    def fail(self: OpenCLExecutable, *_: object) -> Any:
        raise GinghamError("the device is gone")

    with monkeypatch.context() as patch:
        patch.setattr(OpenCLExecutable, "run", fail)
        patch.setattr(OpenCLExecutable, "start", fail)
        with pytest.raises(GinghamError, match="the device is gone"):
            function(*inputs)
    assert observation.observer is None
    for _ in range(9):
        check(function(*inputs), inputs)


def test_what_segments_took_is_divided_in_proportion(
    whole: OpenCLDevice, inputs: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "load_of", half)
    places = {"Q": "reference", "P": whole.name}
    first = gingham.compile(BRANCHES, device=[whole, "reference"], place=places)
    units = first.decision(*inputs).posed.program.units
    times = {unit.name: n + 1.0 for n, unit in enumerate(units)}
    for device in (whole, gingham.device("reference")):
        known = {unit.key: times[unit.name] for unit in units}
        database().add_times(device_text(device), known)
    function = gingham.compile(BRANCHES, device=[whole, "reference"], place=places)
    plan = function.plan(*inputs)
    units = plan.decision.posed.program.units
    segments = [plan.segments.segments[number] for number in plan.order]
    operations = [segment.operations for segment in segments]
    took = [0.25 * (n + 1) for n in range(len(segments))]
    found = corrected_times(plan, operations, took)
    for number, segment in enumerate(segments):
        inside = [unit for unit in units if unit.ops[0] in segment.operations]
        each = [found[segment.device][unit.key] for unit in inside]
        assert sum(each) == pytest.approx(took[number])
        for unit, seconds in zip(inside, each, strict=True):
            ratio = times[unit.name] / sum(times[other.name] for other in inside)
            assert seconds / took[number] == pytest.approx(ratio)

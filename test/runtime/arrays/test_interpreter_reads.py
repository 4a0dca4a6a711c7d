"""The interpreter reads arrays while other threads want to write to them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import gingham
from gingham.runtime.arrays import memory
from gingham.runtime.arrays.transfers import write_into
from gingham.runtime.interpreted import InterpretedRunner
from gingham.targets.opencl.devices.device import OpenCLDevice

DOUBLE = "function (A[N]) -> (B) { B = A + A; }"


@pytest.mark.parametrize("writer", ["a run", "a copy", "the interpreter"])
def test_who_writes_waits_for_an_interpreter_that_reads(
    opencl: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    reads, goes_on = threading.Event(), threading.Event()
    real = InterpretedRunner.run
    reading: list[object] = []

    def slow(self: InterpretedRunner, inputs: Sequence[Any], *rest: Any) -> Any:
        if self in reading:
            reads.set()
            assert goes_on.wait(60)
        return real(self, inputs, *rest)

    monkeypatch.setattr(InterpretedRunner, "run", slow)
    shared = gingham.asarray(np.ones(100, np.float32), opencl, copy=True)
    interpreted = gingham.compile(DOUBLE, device="reference")
    mine = shared.to("reference")
    assert interpreted(mine).numpy()[0] == 2
    reading.append(vars(interpreted)["_calls"].known([mine]).runner)
    found: list[float] = []

    def read() -> None:
        found.extend(interpreted(mine).numpy().tolist())

    def write() -> None:
        other = gingham.asarray(np.full(100, 5, np.float32), opencl)
        if writer == "a run":
            gingham.compile(DOUBLE, device=opencl)(other, out=shared).wait()
        elif writer == "a copy":
            write_into(shared.storage, other.storage)
        else:
            again = gingham.compile(DOUBLE, device="reference")
            again(other.to("reference"), out=mine)

    threads = [threading.Thread(target=each) for each in (read, write)]
    threads[0].start()
    assert reads.wait(60)
    threads[1].start()
    threads[1].join(0.3)
    assert threads[1].is_alive()
    assert shared.numpy().tolist() == [1.0] * 100
    goes_on.set()
    for thread in threads:
        thread.join(60)
    assert found == [2.0] * 100
    assert shared.numpy().tolist() == [5.0 if writer == "a copy" else 10.0] * 100


def test_who_writes_to_several_arrays_waits_until_none_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_waiting, may_write = threading.Event(), threading.Event()

    class Told(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            is_waiting.set()
            return super().wait(timeout)

    monkeypatch.setattr(memory, "_READ_ENDED", Told(memory.SUBMISSION))
    first, second = memory.Memory(), memory.Memory()

    def write() -> None:
        with memory.SUBMISSION:
            memory.wait_for_host(first, second)
        may_write.set()

    thread = threading.Thread(target=write)
    with ExitStack() as reads_first:
        with memory.read_by_host([second]):
            thread.start()
            assert is_waiting.wait(60)
            # The one that was free is read while the other one is waited for.
            reads_first.enter_context(memory.read_by_host([first]))
        assert not may_write.wait(0.2)
    assert may_write.wait(60)
    thread.join()

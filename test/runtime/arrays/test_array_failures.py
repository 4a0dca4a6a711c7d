"""Runs that fail: who is told, where it points, and that nobody else notices."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from arrays_held_up import Held

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice

NEXT = "function (A[N]) -> (B) {\n  B = A + 1;\n}"
CHAIN = """function (A[N, N]) -> (C) {
  B[i, j : N, N] = +(A[i, k] * A[k, j]);
  C[i, j : N, N] = +(B[i, k] * B[k, j]);
}"""


class Launches:
    """In place of `pyopencl.enqueue_nd_range_kernel`: some launches fail.

    `plan` has for each next launch what becomes of it: "works", "refused" or "fails".
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, device: OpenCLDevice) -> None:
        self.plan: list[str] = []
        self._real: Callable[..., cl.Event] = cl.enqueue_nd_range_kernel
        self._context = device.context
        monkeypatch.setattr(cl, "enqueue_nd_range_kernel", self)

    def __call__(self, *arguments: Any, **named: Any) -> cl.Event:
        what = self.plan.pop(0) if self.plan else "works"
        if what == "refused":
            raise some_error(self._context)
        event = self._real(*arguments, **named)
        if what == "fails":
            event = cl.UserEvent(self._context)
            event.set_status(-5)
        return event


def some_error(context: cl.Context) -> cl.Error:
    """An error of the driver."""
    try:
        cl.Buffer(context, cl.mem_flags.READ_WRITE, 0)
    except cl.Error as error:
        return error
    raise AssertionError("expected the driver to refuse a buffer of no bytes")


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch, opencl: OpenCLDevice) -> Launches:
    return Launches(monkeypatch, opencl)


def ones(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


def test_a_launch_that_fails_is_told_by_the_next_use(
    opencl: OpenCLDevice, launches: Launches
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(ones(8), opencl)
    good = f(x)
    launches.plan = ["fails"]
    bad = f(x)
    beside = f(x)
    worse = f(f(bad))
    for _ in range(2):
        for array in (bad, worse):
            with pytest.raises(GinghamError) as raised:
                array.numpy()
            text = str(raised.value)
            assert ":2:9: error: kernel" in text
            assert "failed: EXEC_STATUS_ERROR" in text
            assert "B = A + 1;\n        ^" in text
    assert "failed" in repr(bad)
    for use in (
        lambda: bad.wait(),
        lambda: bad.to("reference"),
        lambda: f(bad),
        lambda: np.asarray(bad),
        lambda: np.from_dlpack(bad),
        lambda: gingham.asarray(bad, dtype="float64"),
    ):
        with pytest.raises(GinghamError, match="EXEC_STATUS_ERROR"):
            use()
    for array in (good, beside, f(x)):
        np.testing.assert_array_equal(array.numpy(), 2 * ones(8))
    np.testing.assert_array_equal(f(ones(8)), 2 * ones(8))
    np.testing.assert_array_equal(x.numpy(), ones(8))
    opencl.queue.finish()


@pytest.mark.parametrize("place", [0, 1])
def test_which_of_several_launches_failed(
    opencl: OpenCLDevice, launches: Launches, place: int
) -> None:
    f = gingham.compile(CHAIN, device=opencl)
    x = gingham.asarray(ones(32, 32), opencl)
    f(x).wait()
    launches.plan = ["works"] * place + ["fails"]
    bad = f(x)
    with pytest.raises(GinghamError, match=f":{2 + place}:3: error: kernel"):
        bad.wait()
    np.testing.assert_array_equal(f(x).numpy(), np.full((32, 32), 32.0**3))


def test_a_launch_that_is_refused_is_told_by_the_call(
    opencl: OpenCLDevice, launches: Launches
) -> None:
    f = gingham.compile(CHAIN, device=opencl)
    x = gingham.asarray(ones(32, 32), opencl)
    before = f(x)
    out = gingham.asarray(np.zeros((32, 32), np.float32), opencl)
    for plan in (["refused"], ["works", "refused"]):
        launches.plan = [*plan]
        with pytest.raises(GinghamError, match="launching kernel") as raised:
            f(x)
        assert f":{1 + len(plan)}:3: error:" in str(raised.value)
        assert "^" in str(raised.value)
        launches.plan = [*plan]
        with pytest.raises(GinghamError, match="launching kernel"):
            f(x.numpy())
        launches.plan = [*plan]
        with pytest.raises(GinghamError, match="launching kernel"):
            f(x, out=out)
        # Nobody knows what is in there now.
        with pytest.raises(GinghamError, match="launching kernel"):
            out.numpy()
        np.testing.assert_array_equal(x.numpy(), ones(32, 32))
    np.testing.assert_array_equal(f(x, out=out).numpy(), np.full((32, 32), 32.0**3))
    np.testing.assert_array_equal(before.numpy(), np.full((32, 32), 32.0**3))


def test_memory_that_is_missing_is_told_by_the_call(
    opencl: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(ones(1000), opencl)
    kept = [f(x) for _ in range(6)]

    out = gingham.asarray(np.zeros(1000, np.float32), opencl)
    real = cl.Buffer
    with monkeypatch.context() as patch:

        class NoBuffer:
            def __init__(self, context: cl.Context, *rest: Any, **named: Any) -> None:
                raise error

        error = some_error(opencl.context)
        patch.setattr(cl, "Buffer", NoBuffer)
        for use in (
            lambda: [f(x) for _ in range(6)],
            lambda: gingham.asarray(ones(5), opencl),
            lambda: gingham.asarray(x, copy=True),
        ):
            with pytest.raises(GinghamError, match="can not hold a buffer"):
                use()
        # What needs no memory goes on.
        f(x, out=out)
    assert cl.Buffer is real
    for array in (*kept, out, f(x)):
        np.testing.assert_array_equal(array.numpy(), 2 * ones(1000))


def test_a_failure_crosses_to_another_device(
    opencl: OpenCLDevice, other: OpenCLDevice, launches: Launches
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    g = gingham.compile(NEXT, device=other)
    x, y = gingham.asarray(ones(8), opencl), gingham.asarray(ones(8), other)
    g(y).wait()
    launches.plan = ["fails"]
    bad = f(x)
    first = g(bad.to(other, copy=True))
    with pytest.raises(GinghamError, match="EXEC_STATUS_ERROR"):
        first.wait()
    np.testing.assert_array_equal(g(y).numpy(), 2 * ones(8))
    np.testing.assert_array_equal(f(x).numpy(), 2 * ones(8))


def test_a_failure_that_nobody_asks_for(
    opencl: OpenCLDevice, launches: Launches
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(ones(8), opencl)
    for _ in range(100):
        launches.plan = ["fails"]
        f(x)
    gc.collect()
    np.testing.assert_array_equal(f(x).numpy(), 2 * ones(8))
    np.testing.assert_array_equal(f(ones(8)), 2 * ones(8))
    opencl.queue.finish()


def test_what_is_written_again_is_good_again(
    opencl: OpenCLDevice, launches: Launches
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(ones(8), opencl)
    out = gingham.asarray(np.zeros(8, np.float32), opencl)
    launches.plan = ["fails"]
    f(x, out=out)
    with pytest.raises(GinghamError):
        out.wait()
    f(x, out=out)
    np.testing.assert_array_equal(out.numpy(), 2 * ones(8))


def test_failures_with_many_threads(
    opencl: OpenCLDevice, launches: Launches, held_up: Held
) -> None:
    f = gingham.compile(NEXT, device=opencl)
    x = gingham.asarray(ones(8), opencl)
    f(x).wait()
    with held_up(opencl):
        launches.plan = ["fails"]
        bad = f(x)
        results = [f(bad) for _ in range(8)]
        good = [f(x) for _ in range(8)]
    told: list[bool] = []

    def ask(array: gingham.Array, fails: bool) -> None:
        try:
            told.append(bool((array.numpy() == 2).all()) and not fails)
        except GinghamError:
            told.append(fails)

    threads = [
        threading.Thread(target=ask, args=(array, fails))
        for arrays, fails in ((results, True), (good, False))
        for array in arrays
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert told == [True] * 16


def test_reference_failures_are_told_by_the_call() -> None:
    f = gingham.compile(
        "function (A[N], I[M]) -> (B) { B = gather(A, I); }", device="reference"
    )
    x = gingham.asarray(ones(4), "reference")
    wrong = gingham.asarray(ones(4, 4), "reference")
    with pytest.raises(GinghamError):
        f(x, wrong)
    np.testing.assert_array_equal(x.numpy(), ones(4))

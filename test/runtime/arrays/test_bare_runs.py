"""Runs without events, for devices with own memory: order, ends, failures."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread

import numpy as np
import pyopencl as cl
import pytest
from arrays_held_up import Held
from injected import OUT_OF_MEMORY, Faults
from memory_pools import like, own

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl import launches as launching
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.events import failed_run
from gingham.targets.opencl.handles.buffer import allocate

NEXT = "function (A[N]) -> (B) {\n  B = A + 1;\n}"
SUMS = """function (A[N, N]) -> (C) {
  B[i, j : N, N] = +(A[i, k] * A[k, j]);
  C[i, j : N, N] = +(B[i, k] * B[k, j]);
}"""


@pytest.fixture
def apart(opencl: OpenCLDevice) -> OpenCLDevice:
    """The default device as if it had memory of its own."""
    device = own(opencl)
    device.trust()
    if not device.queue.is_bare:
        pytest.skip("OpenCL's C interface is not found here")
    return device


@pytest.fixture
def one(apart: OpenCLDevice) -> gingham.Array:
    return gingham.asarray(np.ones(100, np.float32), device=apart)


def function(text: str, device: OpenCLDevice) -> gingham.Function:
    return gingham.compile(text, device=device, hardware="cpu-avx2")


class Events:
    """In place of `pyopencl.enqueue_nd_range_kernel`: counts, and may refuse."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, device: OpenCLDevice) -> None:
        self._context = device.context
        self.count = 0
        self.refuses = False
        self._real: Callable[..., cl.Event] = cl.enqueue_nd_range_kernel
        monkeypatch.setattr(cl, "enqueue_nd_range_kernel", self)

    def __call__(self, *arguments: object) -> cl.Event:
        self.count += 1
        if self.refuses:
            cl.Buffer(self._context, cl.mem_flags.READ_WRITE, 0)
        return self._real(*arguments)


def test_few_of_many_runs_have_an_event(
    apart: OpenCLDevice, one: gingham.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = Events(monkeypatch, apart)
    add, x = function(NEXT, apart), one
    for _ in range(200):
        x = add(x)
    assert (x.numpy() == 201).all()
    assert 200 // 16 <= events.count <= 200 // 8


def test_a_run_of_several_kernels_has_one_event_at_most(
    apart: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = Events(monkeypatch, apart)
    square = function(SUMS, apart)
    a = np.random.default_rng(0).integers(-2, 3, (40, 40)).astype(np.float32)
    x = gingham.asarray(a, device=apart)
    results = [square(x) for _ in range(16)]
    assert events.count <= 1
    for result in results:
        np.testing.assert_array_equal(result.numpy(), a @ a @ (a @ a))


def test_who_looks_and_never_waits_sees_the_end(
    apart: OpenCLDevice, one: gingham.Array, held_up: Held
) -> None:
    add = function(NEXT, apart)
    with held_up(apart):
        result = add(one)
        assert not result.is_ready
        later = add(result)
        assert not later.is_ready
    end = time.monotonic() + 20
    while not (result.is_ready and later.is_ready):
        assert time.monotonic() < end
    assert (later.numpy() == 3).all()


def test_copies_of_another_queue_come_behind(
    apart: OpenCLDevice, one: gingham.Array, held_up: Held
) -> None:
    add = function(NEXT, apart)
    with held_up(apart):
        results = [add(one) for _ in range(3)]
        copies = [each.to(apart, copy=True) for each in results]
        assert not any(each.is_ready for each in copies)
    for each in copies:
        assert (each.numpy() == 2).all()


def test_memory_of_dropped_results_is_free_though_nobody_waits(
    apart: OpenCLDevice, one: gingham.Array
) -> None:
    add = function(NEXT, apart)
    add(one).wait()
    apart.spare_buffers.drop()
    before = apart.pool.used_bytes
    kept = [add(one) for _ in range(5)]
    assert apart.pool.used_bytes > before
    del kept
    apart.queue.drain()
    apart.spare_buffers.drop()
    assert apart.pool.used_bytes == before


def test_memory_of_dropped_results_is_used_for_other_shapes(
    apart: OpenCLDevice, held_up: Held
) -> None:
    add = function("function (A[M, N]) -> (B) { B = A + 1; }", apart)
    shapes = [(30, 50), (50, 30), (25, 60), (15, 100), (10, 150), (100, 15)]
    ones = [gingham.asarray(np.ones(s, np.float32), device=apart) for s in shapes]
    for one in ones:
        add(one).wait()
    apart.spare_buffers.drop()
    before = apart.pool.used_bytes
    with held_up(apart):
        for one in ones:
            add(one)
        last = add(ones[-1])
        # Nothing has ended, and all results are in one block.
        block = apart.pool.size_class(ones[0].nbytes)
        assert apart.pool.used_bytes == before + block
    assert (last.numpy() == 2).all()


def test_a_refused_launch_is_an_error_and_all_else_is_intact(
    apart: OpenCLDevice, one: gingham.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = launching.bare_enqueue()
    assert real is not None
    plan: list[bool] = []

    def enqueue(*arguments: object) -> int:
        return -5 if plan and plan.pop(0) else real(*arguments)

    monkeypatch.setattr(launching, "bare_enqueue", lambda: enqueue)
    events = Events(monkeypatch, apart)
    square, add = function(SUMS, apart), function(NEXT, apart)
    x = gingham.asarray(np.eye(8, dtype=np.float32), device=apart)
    square(x).wait()
    before = add(one)
    plan[:] = [False, True]
    events.refuses = True
    with pytest.raises(GinghamError, match="launching kernel") as caught:
        square(x)
    events.refuses = False
    assert caught.value.location is not None
    assert caught.value.location.line == 3
    # What is refused once only is tried again.
    plan[:] = [False, True]
    assert (square(x).numpy() == np.eye(8)).all()
    assert (before.numpy() == 2).all()
    assert (add(before).numpy() == 3).all()


def test_a_failure_is_told_by_what_was_not_known_to_have_ended(
    apart: OpenCLDevice, one: gingham.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = function(NEXT, apart)
    good = add(one).wait()
    failed = cl.UserEvent(apart.context)
    failed.set_status(-5)
    lost = [add(good) for _ in range(2)]
    real: Callable[[cl.CommandQueue], cl.Event] = cl.enqueue_marker

    def marker(queue: cl.CommandQueue) -> cl.Event:
        return failed

    monkeypatch.setattr(cl, "enqueue_marker", marker)
    for each in lost:
        with pytest.raises(GinghamError, match="kernels up to 'B'"):
            each.wait()
    monkeypatch.setattr(cl, "enqueue_marker", real)
    with pytest.raises(GinghamError, match="kernels up to 'B'"):
        add(lost[0])
    assert (add(good).numpy() == 3).all()


def test_what_a_copy_of_another_queue_writes_is_waited_for(
    apart: OpenCLDevice, one: gingham.Array, held_up: Held
) -> None:
    add = function(NEXT, apart)
    add(one).wait()
    with held_up(apart):
        copy = add(one).to(apart, copy=True)
        results = [add(copy), add(one)]
        results.append(add(results[0]))
    for result, expected in zip(results, (3, 2, 4), strict=True):
        assert (result.numpy() == expected).all()


def test_arrays_that_failed_alone_let_others_be(
    apart: OpenCLDevice, one: gingham.Array
) -> None:
    add = function("function (A[N], B[N]) -> (C) { C = A + B; }", apart)
    good = add(one, one)
    lost = gingham.asarray(np.ones(100, np.float32), device=apart)
    lost.memory.written = failed_run(apart.queue, GinghamError("lost"))
    with pytest.raises(GinghamError, match="lost"):
        add(good, lost)
    assert (add(good, good).numpy() == 4).all()
    assert (good.numpy() == 2).all()


def test_runs_of_large_arrays_do_not_share_an_event_for_long(
    opencl: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = like(own(opencl), global_memory_bytes=8 << 20)
    device.trust()
    if not device.queue.is_bare:
        pytest.skip("OpenCL's C interface is not found here")
    events = Events(monkeypatch, device)
    add = function(NEXT, device)
    x = gingham.asarray(np.zeros(1 << 16, np.float32), device=device)
    for _ in range(20):
        x = add(x)
    assert (x.numpy() == 20).all()
    assert events.count >= 4


def test_measured_runs_have_events(apart: OpenCLDevice, one: gingham.Array) -> None:
    add = function(NEXT, apart)
    add(one)
    with gingham.profile() as measured:
        for _ in range(3):
            add(one)
    assert [each.name for each in measured.commands] == ["B"] * 3
    assert (add(one).numpy() == 2).all()


def test_who_waits_for_a_copy_waits_for_no_later_run(
    apart: OpenCLDevice, one: gingham.Array, held_up: Held
) -> None:
    add = function(NEXT, apart)
    add(one).wait()
    before = add(one)
    buffer = allocate(apart, (64,), np.uint8)
    copy = apart.queue.write(buffer, np.zeros(64, np.uint8))
    with held_up(apart):
        later = add(one)
        waiter = Thread(target=copy.wait, daemon=True)
        waiter.start()
        waiter.join(20)
        assert not waiter.is_alive()
        assert before.is_ready
        assert not later.is_ready
    assert (later.numpy() == 2).all()


def test_a_launch_without_memory_says_how_much_it_needs(
    apart: OpenCLDevice, one: gingham.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(monkeypatch)
    faults.code = OUT_OF_MEMORY
    add = function(NEXT, apart)
    before = add(one).wait()
    faults.refuses = lambda _: True
    with pytest.raises(GinghamError, match="could not allocate") as caught:
        add(one)
    assert "works on 800 B" in (caught.value.hint or "")
    faults.heal()
    assert (add(before).numpy() == 3).all()


TWO = "function (A[N], B[N]) -> (S, D) {\n  S = A + B;\n  D = A - B;\n}"


def test_calls_of_any_kind_follow_each_other(apart: OpenCLDevice) -> None:
    both = function(TWO, apart)
    x, y, z = (
        gingham.asarray(np.arange(9, dtype=np.float32) * n, device=apart)
        for n in range(3)
    )
    for first, second in ((x, y), (x, y), (y, x), (y, y), (z, y), (z, x)):
        total, difference = both(first, second)
        a, b = first.numpy(), second.numpy()
        np.testing.assert_array_equal(total.numpy(), a + b)
        np.testing.assert_array_equal(difference.numpy(), a - b)
        # Calls with arrays of NumPy leave arguments of their own behind.
        for mixed in ((a, b), (first, b), (a, second)):
            total, difference = both(*mixed)
            np.testing.assert_array_equal(np.asarray(total), a + b)
            np.testing.assert_array_equal(np.asarray(difference), a - b)
    short = gingham.asarray(np.ones(4, np.float32), device=apart)
    assert (both(short, short)[0].numpy() == 2).all()
    assert both(x, z)[0].numpy()[-1] == 16
    assert both(x, B=z)[1].numpy()[-1] == -16


def test_the_first_call_of_a_function_may_be_behind_others(
    apart: OpenCLDevice, one: gingham.Array
) -> None:
    add, both = function(NEXT, apart), function(TWO, apart)
    # What is waited for is the end of both.
    total, difference = both(one, add(one))
    assert (total.numpy() == 3).all()
    assert (difference.numpy() == -1).all()


def test_arguments_are_set_where_memory_is_another_ones(apart: OpenCLDevice) -> None:
    add = function(NEXT, apart)
    for number in range(20):
        # What is dropped here may be where the next one is.
        x = gingham.asarray(np.full(50, number, np.float32), device=apart)
        y = add(add(x))
        apart.spare_buffers.drop()
        assert (y.numpy() == number + 2).all()


def test_a_call_that_does_not_fit_is_refused_behind_others(
    apart: OpenCLDevice, one: gingham.Array
) -> None:
    both = function(TWO, apart)
    for _ in range(3):
        both(one, one)
    with pytest.raises(GinghamError, match="missing input B"):
        both(one)
    with pytest.raises(GinghamError, match="3"):
        both(one, one, one)
    closed = gingham.asarray(np.ones(100, np.float32), device=apart)
    closed.close()
    with pytest.raises(GinghamError, match="closed"):
        both(one, closed)
    elsewhere = gingham.asarray(np.ones(100, np.float32), device="reference")
    with pytest.raises(GinghamError, match="is on reference"):
        both(elsewhere, one)
    assert (both(one, one)[0].numpy() == 2).all()

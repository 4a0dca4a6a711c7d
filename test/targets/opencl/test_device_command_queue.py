"""Launches: results, errors that name the kernel, order, and what is kept alive."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from gingham.errors import GinghamError
from gingham.targets.opencl.command_queue import CommandQueue, Event
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import DeviceBuffer, allocate
from gingham.targets.opencl.memory.copies import download, upload
from gingham.targets.opencl.program import DeviceProgram, build_program

SOURCE = """
kernel void add(global const int *x, global int *y, int scalar, long wide) {
  const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  y[i] = x[i] + scalar + (int)(wide >> 32);
}

kernel __attribute__((reqd_work_group_size(4, 1, 1))) void in_fours(global int *y) {
  y[get_global_id(0)] = get_local_size(0);
}

kernel void increment(global int *y) { y[get_global_id(0)] += 1; }
"""


@pytest.fixture(scope="module")
def program(opencl_device: OpenCLDevice) -> DeviceProgram:
    return build_program(opencl_device, SOURCE)


@pytest.fixture
def queue(opencl_device: OpenCLDevice) -> CommandQueue:
    """A queue that no other test has used."""
    return opencl_device.profiling_queue()


def zeros(device: OpenCLDevice, count: int) -> DeviceBuffer:
    """A writable buffer of zeros, on any kind of device."""
    buffer = allocate(device, (count,), np.int32)
    clear = build_program(
        device, "kernel void clear(global int *y) { y[get_global_id(0)] = 0; }"
    )
    device.queue.enqueue(clear.kernel("clear"), (count,), None, (buffer,)).wait()
    return buffer


def test_arguments_reach_the_kernel(
    opencl_device: OpenCLDevice, program: DeviceProgram
) -> None:
    values = np.arange(24, dtype=np.int32).reshape(4, 6)
    queue = opencl_device.queue
    source = upload(queue, values)
    target = allocate(opencl_device, (4, 6), np.int32)
    arguments = (source, target, np.int32(-5), np.int64(7 << 32))
    queue.enqueue(program.kernel("add"), (6, 4), (3, 2), arguments).wait()
    np.testing.assert_array_equal(download(queue, target), values + 2)


def test_a_required_group_size_is_kept(
    opencl_device: OpenCLDevice, program: DeviceProgram
) -> None:
    queue = opencl_device.queue
    target = allocate(opencl_device, (8,), np.int32)
    kernel = program.kernel("in_fours")
    queue.enqueue(kernel, (8,), (4,), (target,))
    assert download(queue, target).tolist() == [4] * 8
    with pytest.raises(GinghamError) as caught:
        queue.enqueue(kernel, (8,), (2,), (target,))
    assert "launching kernel 'in_fours'" in caught.value.message
    assert "INVALID_WORK_GROUP_SIZE" in caught.value.message
    assert "global size [8], local size [2]" in caught.value.message
    assert "work-items in a group" in (caught.value.hint or "")


def test_a_group_larger_than_the_device_allows(
    opencl_device: OpenCLDevice, program: DeviceProgram
) -> None:
    size = opencl_device.details.max_work_group_size * 2
    target = zeros(opencl_device, size)
    kernel = program.kernel("increment")
    with pytest.raises(GinghamError, match="kernel 'increment' on device"):
        opencl_device.queue.enqueue(kernel, (size,), (size,), (target,))
    # The queue is as good as before.
    opencl_device.queue.enqueue(kernel, (size,), None, (target,))
    assert download(opencl_device.queue, target).tolist() == [1] * size


def test_too_much_local_memory_is_an_error_with_figures(
    opencl_device: OpenCLDevice,
) -> None:
    if opencl_device.details.platform != "Intel(R) OpenCL":
        pytest.skip("PoCL and NVIDIA give a kernel more local memory than they tell")
    size = opencl_device.details.local_memory_bytes * 64
    source = f"""
kernel void greedy(global int *y) {{
  local int scratch[{size // 4}];
  scratch[get_local_id(0)] = y[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[0] = scratch[y[0]];
}}
"""
    target = zeros(opencl_device, 1)
    kernel = build_program(opencl_device, source).kernel("greedy")
    with pytest.raises(GinghamError, match="launching kernel 'greedy'") as caught:
        opencl_device.queue.enqueue(kernel, (1,), (1,), (target,))
    assert "OUT_OF_RESOURCES" in caught.value.message
    assert f"uses {size} of" in (caught.value.hint or "")


def test_a_wrong_number_of_arguments(
    queue: CommandQueue, program: DeviceProgram
) -> None:
    with pytest.raises(GinghamError, match="'add' takes 4 arguments, got 1"):
        queue.enqueue(program.kernel("add"), (1,), None, (np.int32(1),))


def test_a_scalar_of_a_wrong_size(
    opencl_device: OpenCLDevice, program: DeviceProgram
) -> None:
    target = zeros(opencl_device, 1)
    arguments = (target, target, np.int64(1), np.int64(1))
    with pytest.raises(GinghamError, match="launching kernel 'add'"):
        opencl_device.queue.enqueue(program.kernel("add"), (1,), None, arguments)


@pytest.mark.parametrize("size", [(0,), (0, 5), (5, 0, 2)])
def test_no_work_items_do_nothing(
    opencl_device: OpenCLDevice, program: DeviceProgram, size: tuple[int, ...]
) -> None:
    target = zeros(opencl_device, 4)
    queue = opencl_device.queue
    queue.enqueue(program.kernel("increment"), size, None, (target,)).wait()
    assert download(queue, target).tolist() == [0] * 4


def test_commands_run_in_order(
    opencl_device: OpenCLDevice, program: DeviceProgram
) -> None:
    target = zeros(opencl_device, 16)
    kernel = program.kernel("increment")
    queue = opencl_device.queue
    for _ in range(500):
        queue.enqueue(kernel, (16,), (1,), (target,))
    assert download(queue, target).tolist() == [500] * 16


def test_a_launch_waits_for_another_queue(
    opencl_device: OpenCLDevice, program: DeviceProgram, queue: CommandQueue
) -> None:
    target = zeros(opencl_device, 16)
    kernel = program.kernel("increment")
    event: Event | None = None
    for turn in range(50):
        here = queue if turn % 2 == 0 else opencl_device.queue
        after = [event] if event is not None else []
        event = here.enqueue(kernel, (16,), None, (target,), wait_for=after)
    assert event is not None
    event.wait()
    assert event.done
    assert download(opencl_device.queue, target).tolist() == [50] * 16


def test_threads_share_a_queue_and_a_kernel(
    opencl_device: OpenCLDevice, program: DeviceProgram, queue: CommandQueue
) -> None:
    kernel = program.kernel("add")
    source = upload(queue, np.zeros(64, np.int32))
    results: dict[int, list[int]] = {}

    def work(number: int) -> None:
        for turn in range(20):
            target = allocate(opencl_device, (64,), np.int32)
            scalars = (np.int32(number), np.int64(turn << 32))
            queue.enqueue(kernel, (64,), None, (source, target, *scalars)).wait()
            results[number * 100 + turn] = download(queue, target).tolist()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {
        number * 100 + turn: [number + turn] * 64
        for number in range(8)
        for turn in range(20)
    }


class Blocked:
    """A queue that runs nothing before `release`, by OpenCL's user events."""

    def __init__(self, device: OpenCLDevice, queue: CommandQueue) -> None:
        import pyopencl as cl

        self.user_event = cl.UserEvent(device.context)
        nothing = build_program(device, "kernel void nothing() {}").kernel("nothing")
        gate = Event(queue, "the gate", self.user_event, None)
        self.first = queue.enqueue(nothing, (1,), None, (), wait_for=[gate])

    def release(self, status: int = 0) -> None:
        self.user_event.set_status(status)


def test_memory_lives_as_long_as_the_work_on_it(
    opencl_device: OpenCLDevice, program: DeviceProgram, queue: CommandQueue
) -> None:
    blocked = Blocked(opencl_device, queue)
    array = np.arange(1000, dtype=np.int32)
    lives = weakref.ref(array)
    target = allocate(opencl_device, (1000,), np.int32)
    arguments = [upload(queue, array), target, np.int32(1), np.int64(0)]
    event = queue.enqueue(program.kernel("add"), (1000,), None, arguments)
    in_place = isinstance(arguments[0], DeviceBuffer) and arguments[0].host is array
    del array, arguments
    gc.collect()
    if in_place:
        assert lives() is not None
    blocked.release()
    event.wait()
    # The event itself may live on; what it held may not.
    gc.collect()
    assert lives() is None
    assert download(queue, target).tolist() == list(range(1, 1001))


def test_many_launches_without_a_wait_do_not_pile_up(
    opencl_device: OpenCLDevice, program: DeviceProgram, queue: CommandQueue
) -> None:
    kernel = program.kernel("add")
    source = zeros(opencl_device, 4)
    held: list[weakref.ref[DeviceBuffer]] = []

    def launch() -> None:
        target = allocate(opencl_device, (4,), np.int32)
        held.append(weakref.ref(target))
        arguments = (source, target, np.int32(1), np.int64(0))
        queue.enqueue(kernel, (4,), None, arguments)

    for _ in range(1000):
        launch()
    gc.collect()
    assert sum(reference() is not None for reference in held) < 600
    queue.finish()
    assert sum(reference() is not None for reference in held) == 0


def test_a_failure_names_the_command(
    opencl_device: OpenCLDevice, program: DeviceProgram, queue: CommandQueue
) -> None:
    blocked = Blocked(opencl_device, queue)
    blocked.release(-5)
    with pytest.raises(GinghamError, match="kernel 'nothing' failed"):
        blocked.first.wait()
    # Told once: the queue goes on.
    queue.finish()


def test_a_failure_that_nobody_waited_for_is_told_at_the_end(
    opencl_device: OpenCLDevice, queue: CommandQueue
) -> None:
    blocked = Blocked(opencl_device, queue)
    blocked.release(-5)
    with pytest.raises(GinghamError, match="kernel 'nothing' failed"):
        queue.finish()
    queue.finish()


def test_a_copy_that_does_not_fit_is_told(
    opencl_device: OpenCLDevice, queue: CommandQueue
) -> None:
    buffer = allocate(opencl_device, (64,), np.uint8)
    with pytest.raises(GinghamError, match="copying to device") as caught:
        # A device's own memory is given out in larger pieces.
        queue.write(buffer, np.zeros(1 << 16, np.uint8))
    assert "works on 64 B" in (caught.value.hint or "")

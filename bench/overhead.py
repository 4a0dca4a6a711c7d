"""What a call costs on top of its launch: `python -m bench.overhead`.

Calls of functions of 16 floats take turns with a bare launch of an OpenCL kernel of as
many arguments, followed by a wait. The difference is what Gingham's Python takes.

A call with arrays of a device does not wait; what is shown is the time until it
returns, of twenty calls between which nothing is waited for, and on top of as many
launches by OpenCL's C interface, without events.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import gingham

from .measure import Measurement, interleaved

_CALLS = 20

_PROGRAM = "function (A[N], B[N]) -> (C) { C = A * B; }"
_KERNEL = """kernel void product(
    global const float *a, global const float *b, global float *c) {
  vstore16(vload16(0, a) * vload16(0, b), 0, c);
}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 when a call costs more than allowed."""
    parser = argparse.ArgumentParser(prog="python -m bench.overhead")
    parser.add_argument("--seconds", type=float, default=5.0, help="time in all")
    parser.add_argument(
        "--limit",
        type=float,
        default=15.0,
        metavar="US",
        help="microseconds that a call may cost on top of its launch (default 15)",
    )
    parser.add_argument("--device", help="a device of tile-devices")
    options = parser.parse_args(arguments)
    if options.device:
        os.environ["GINGHAM_DEVICE"] = options.device
    return _measure(options.seconds, options.limit)


def _measure(seconds: float, limit: float) -> int:
    from rich.console import Console
    from rich.table import Table

    contenders = _contenders()
    measured = interleaved([call for _, call in contenders], 0.7 * seconds, rounds=21)
    waiting = len(contenders)
    for name, call, finish in _started():
        contenders.append((name, call))
        measured.append(_until_return(call, finish, 0.1 * seconds))
    fastest = [measurement.fastest * 1e6 for measurement in measured]
    medians = [measurement.median * 1e6 for measurement in measured]
    bare = [fastest[0 if n < waiting else waiting] for n in range(len(fastest))]
    table = Table(title="Calls on 16 floats, microseconds")
    table.add_column("call")
    for heading in ("fastest", "on top of the launch", "median"):
        table.add_column(heading, justify="right")
    for (name, _), least, median, launch in zip(
        contenders, fastest, medians, bare, strict=True
    ):
        on_top = f"{least - launch:.1f}"
        table.add_row(name, f"{least:.1f}", on_top, f"{median:.1f}")
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    return 0 if fastest[1] - fastest[0] <= limit else 1


def _contenders() -> list[tuple[str, Callable[[], object]]]:
    """The bare launch first, then ways to call Gingham."""
    import numpy as np

    a = np.arange(16, dtype=np.float32)
    b, out = a + 1, np.empty_like(a)
    compiled = gingham.compile(_PROGRAM)
    x, y = gingham.asarray(a), gingham.asarray(b)
    constant = gingham.compile(_PROGRAM, constants=["B"])
    traced = gingham.jit(_product)
    return [
        ("bare launch and wait", _Bare(compiled.device).launch_and_wait),
        ("compiled", lambda: compiled(a, b)),
        ("compiled, by name", lambda: compiled(A=a, B=b)),
        ("compiled, out=", lambda: compiled(a, b, out=out)),
        ("compiled, one input constant", lambda: constant(a, b)),
        ("jit", lambda: traced(a, b)),
        ("einsum", lambda: gingham.einsum("i,i->i", a, b)),
        ("arrays of the device, and wait", lambda: compiled(x, y).wait()),
    ]


def _started() -> list[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Calls that return before the device has done its work, and what waits for it."""
    import numpy as np

    a = np.arange(16, dtype=np.float32)
    compiled = gingham.compile(_PROGRAM)
    x, y, out = (gingham.asarray(each) for each in (a, a + 1, np.empty_like(a)))
    bare = _Bare(compiled.device)

    def finish() -> None:
        # Runs of a device keep their order.
        compiled(x, y).wait()

    return [
        ("bare launch, until it returns", bare.launch, bare.finish),
        ("arrays, until it returns", lambda: compiled(x, y), finish),
        ("arrays, out=, until it returns", lambda: compiled(x, y, out=out), finish),
    ]


def _until_return(
    call: Callable[[], object], finish: Callable[[], object], seconds: float
) -> Measurement:
    """The time that a call takes to return, per round."""
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while not taken or time.perf_counter() < end:
        call()
        finish()
        start = time.perf_counter()
        for _ in range(_CALLS):
            call()
        taken.append((time.perf_counter() - start) / _CALLS)
        finish()
    return Measurement(tuple(taken))


def _product(x: Any, y: Any) -> Any:
    return x * y


class _Bare:
    """Launches with as little around them as can be: the arguments are set before."""

    def __init__(self, device: Any) -> None:
        import numpy as np
        import pyopencl as cl
        from pyopencl import _cl

        context = device.context
        self._queue = queue = cl.CommandQueue(context, device.handle)
        self._kernel = cl.Program(context, _KERNEL).build().product
        memory = cl.mem_flags
        self._buffers = [cl.Buffer(context, memory.READ_WRITE, 64) for _ in range(3)]
        for buffer in self._buffers[:2]:
            cl.enqueue_copy(queue, buffer, np.ones(16, np.float32))
        self._kernel.set_args(*self._buffers)
        self._enqueue = cl.enqueue_nd_range_kernel
        one = ctypes.c_size_t * 1
        kernel = ctypes.c_void_p(self._kernel.int_ptr)
        sizes = None, one(1), one(1)
        bare = ctypes.CDLL(_cl.__file__).clEnqueueNDRangeKernel
        arguments = ctypes.c_void_p(queue.int_ptr), kernel, 1, *sizes, 0, None, None
        self.launch = lambda: bare(*arguments)
        """By the C interface, without an event."""

    def launch_and_wait(self) -> None:
        """By pyopencl."""
        self._enqueue(self._queue, self._kernel, (1,), (1,)).wait()

    def finish(self) -> None:
        """Wait for all launches."""
        self._queue.finish()


if __name__ == "__main__":
    sys.exit(main())

"""What a call costs on top of its launch: `python -m bench.overhead`.

Calls of functions of 16 floats take turns with a bare launch of an OpenCL kernel of as
many arguments, followed by a wait. The difference is what Gingham's Python takes.

A call with arrays of a device does not wait; what is shown is the time until it
returns, of twenty calls between which nothing is waited for.
"""

from __future__ import annotations

import argparse
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
    options = parser.parse_args(arguments)
    return _measure(options.seconds, options.limit)


def _measure(seconds: float, limit: float) -> int:
    from rich.console import Console
    from rich.table import Table

    contenders = _contenders()
    measured = interleaved([call for _, call in contenders], 0.8 * seconds, rounds=21)
    for name, call in _started():
        contenders.append((name, call))
        measured.append(_until_return(call, 0.1 * seconds))
    fastest = [measurement.fastest * 1e6 for measurement in measured]
    medians = [measurement.median * 1e6 for measurement in measured]
    table = Table(title="Calls on 16 floats, microseconds")
    table.add_column("call")
    for heading in ("fastest", "on top of the launch", "median"):
        table.add_column(heading, justify="right")
    for (name, _), least, median in zip(contenders, fastest, medians, strict=True):
        on_top = f"{least - fastest[0]:.1f}"
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
        ("bare launch and wait", _bare_launch(compiled.device)),
        ("compiled", lambda: compiled(a, b)),
        ("compiled, by name", lambda: compiled(A=a, B=b)),
        ("compiled, out=", lambda: compiled(a, b, out=out)),
        ("compiled, one input constant", lambda: constant(a, b)),
        ("jit", lambda: traced(a, b)),
        ("einsum", lambda: gingham.einsum("i,i->i", a, b)),
        ("arrays of the device, and wait", lambda: compiled(x, y).wait()),
    ]


def _started() -> list[tuple[str, Callable[[], gingham.Array]]]:
    """Calls that return before the device has done its work."""
    import numpy as np

    a = np.arange(16, dtype=np.float32)
    compiled = gingham.compile(_PROGRAM)
    x, y, out = (gingham.asarray(each) for each in (a, a + 1, np.empty_like(a)))
    return [
        ("arrays, until it returns", lambda: compiled(x, y)),
        ("arrays, out=, until it returns", lambda: compiled(x, y, out=out)),
    ]


def _until_return(call: Callable[[], gingham.Array], seconds: float) -> Measurement:
    """The time that a call takes to return, per round."""
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while not taken or time.perf_counter() < end:
        call().wait()
        start = time.perf_counter()
        for _ in range(_CALLS - 1):
            call()
        last = call()
        taken.append((time.perf_counter() - start) / _CALLS)
        last.wait()
    return Measurement(tuple(taken))


def _product(x: Any, y: Any) -> Any:
    return x * y


def _bare_launch(device: Any) -> Callable[[], object]:
    """As little as pyopencl allows: arguments that are set, a launch, a wait."""
    import numpy as np
    import pyopencl as cl

    context = device.context
    queue = cl.CommandQueue(context, device.handle)
    kernel = cl.Program(context, _KERNEL).build().product
    memory = cl.mem_flags
    buffers = [cl.Buffer(context, memory.READ_WRITE, 64) for _ in range(3)]
    for buffer in buffers[:2]:
        cl.enqueue_copy(queue, buffer, np.ones(16, np.float32))
    kernel.set_args(*buffers)
    launch = cl.enqueue_nd_range_kernel

    def call() -> None:
        # What is bound here keeps the buffers alive.
        assert buffers
        launch(queue, kernel, (1,), (1,)).wait()

    return call


if __name__ == "__main__":
    sys.exit(main())

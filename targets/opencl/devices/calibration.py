"""Measures the figures of a device that its description holds, with small kernels.

Each kernel keeps one thing busy: launches, the start of groups, multiply-adds, reading
from a level of the memory. Of several runs the fastest counts, as what disturbs a run
only ever makes it slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from ...hardware import ANY_GPU, MULTIPLY_ADD, Cache, Calibration, Hardware
from ..handles.buffer import DeviceBuffer, allocate
from ..memory.copies import upload
from ..program import build_program

if TYPE_CHECKING:
    import numpy as np

    from .device import OpenCLDevice

_RUNS = 5
_SECONDS = 0.4
"""How long a kernel is run again, in the hope for a moment without disturbance."""
_CHAINS = 12
"""Independent accumulators: more than multiply-adds that are under way at a time."""
_STEPS = 1 << 14
_GROUPS = 1 << 14
_WIDTH_OF_A_LANE = 4
_MOST_BYTES = 1 << 28
_TIMES_LAST_CACHE = 4
_VISITS = 1 << 16
_READ_BYTES = 1 << 26
"""How much is read for a bandwidth, again and again from the same place."""
_LOCAL_NUMBERS = 1 << 12
_LEAST_CONFLICT = 4
"""How many times as long as others accesses take if all lanes meet in one bank."""
_NEARLY = 0.8
_MEASURED = "measured"


def calibrate(device: OpenCLDevice, described: Hardware) -> Calibration:
    """Measure a device; what can not be measured stays as described.

    Takes some seconds, in which the device should have nothing else to do. Raises
    GinghamError where the device refuses.
    """
    bench = Bench(device, described)
    found: dict[str, float] = {}
    found["group_nanoseconds"] = bench.group_seconds() * 1e9
    clock = bench.clock() / 1e9
    comments: dict[str, str] = {}
    arithmetic: dict[str, float] = {}
    if described.name == ANY_GPU:
        # Its clock is known, and not what it does in a cycle.
        rate = clock / described.clock_gigahertz
        arithmetic["per_cycle"] = rate * described.multiply_adds_per_cycle
    else:
        found["clock_gigahertz"] = clock
        comments["clock_gigahertz"] = f"{_MEASURED}, from the rate of multiply-adds"
    found["launch_microseconds"] = bench.launch * 1e6
    described = replace(described, **_rounded(found))
    bench = Bench(device, described)
    arithmetic["latency_cycles"] = bench.latency() * described.clock_gigahertz * 1e9
    comments |= {
        f"instructions.{MULTIPLY_ADD}.{name}": _MEASURED for name in arithmetic
    }
    lanes = _rounded(dict(bench.of_lanes()))
    comments |= {f"lanes.{name}": _MEASURED for name in lanes}
    comments = dict.fromkeys(found, _MEASURED) | comments
    found = {
        "memory_gigabytes_per_second": bench.memory_bandwidth() / 1e9,
        "memory_latency_nanoseconds": bench.memory_latency() * 1e9,
    }
    comments |= dict.fromkeys(found, _MEASURED)
    caches: list[Cache] = []
    for number, cache in enumerate(described.caches):
        figures = dict(bench.of_cache(number))
        caches.append(replace(cache, **_rounded(figures)))
        for name in figures:
            comments[f"caches.{number}.{name}"] = _MEASURED
    hardware = replace(
        described,
        **_rounded(found),
        caches=tuple(caches),
        lanes=replace(described.lanes, **lanes),
    )
    measured = hardware.with_instruction(MULTIPLY_ADD, **_rounded(arithmetic))
    return Calibration(measured, comments)


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    """Figures to three digits; more are noise."""
    return {name: float(f"{value:.3g}") for name, value in figures.items()}


class Bench:
    """The kernels for a device, and how they are timed."""

    def __init__(self, device: OpenCLDevice, hardware: Hardware) -> None:
        self._device = device
        self._hardware = hardware
        self._has_lanes = not hardware.has_vectors
        self._width = (
            _WIDTH_OF_A_LANE if self._has_lanes else hardware.vector_bits // 32
        )
        self._items = hardware.work_group_size
        self._program = build_program(device, _source(self._width, self._items))
        self._sink = allocate(device, (1 << 22,), _float32())
        self.launch = inf
        """Seconds of the fastest launch so far."""

    def group_seconds(self) -> float:
        """What one more group takes."""
        return self._seconds("nothing", _GROUPS, (self._sink,)) / _GROUPS

    def clock(self) -> float:
        """Cycles per second while all cores multiply and add."""
        hardware = self._hardware
        groups = hardware.cores * (8 if self._has_lanes else 4)
        seconds = self._seconds("multiply_adds", groups, (self._sink, _int(_STEPS)))
        width = 1 if self._has_lanes else self._width
        done = groups * self._items * width * _CHAINS * _STEPS
        lanes = hardware.innermost.count
        per_cycle = hardware.cores * hardware.multiply_adds_per_cycle * lanes
        return done / seconds / per_cycle

    def latency(self) -> float:
        """The seconds from an accumulator to its next value."""
        steps = 16 * _STEPS
        return self._seconds("chain", 1, (self._sink, _int(steps))) / steps

    def of_lanes(self) -> Iterator[tuple[str, float]]:
        """The figures of local memory, where work-items are lanes."""
        if not self._has_lanes:
            return
        cycles = self._hardware.clock_gigahertz * 1e9
        arguments = self._sink, _int(_STEPS)
        seconds = self._seconds("barriers", 1, arguments) / _STEPS
        yield "barrier_cycles", max(seconds * cycles, 1.0)
        # As many lanes meet in a bank as their strides are multiples of, until all do.
        strides = [1 << n for n in range(8)]
        times = [self._local_seconds(stride) for stride in strides]
        most = max(times)
        if most >= _LEAST_CONFLICT * times[0]:
            reached = (t >= _NEARLY * most for t in times)
            yield "banks", next(s for s, r in zip(strides, reached, strict=True) if r)

    def _local_seconds(self, stride: int) -> float:
        groups = self._hardware.cores * 4
        return self._seconds(
            "local_reads", groups, (self._sink, _int(64), _int(stride))
        )

    def memory_bandwidth(self) -> float:
        """Bytes per second that all cores read from memory."""
        return self._read(self._large_bytes(), 1)

    def memory_latency(self) -> float:
        """The seconds of one visit that misses all caches."""
        return self._visit(self._large_bytes())

    def of_cache(self, number: int) -> Iterator[tuple[str, float]]:
        """The figures of a level of the caches that can be measured.

        Not inner ones where each core has its own lanes to feed.
        """
        cache = self._hardware.caches[number]
        is_last = number == len(self._hardware.caches) - 1
        cores = self._hardware.cores
        cycles = self._hardware.clock_gigahertz * 1e9
        if self._has_lanes and not is_last:
            return
        whole = cache.size_bytes if cache.is_shared else cache.size_bytes * cores
        repeats = max(_READ_BYTES // whole, 2)
        rate = self._read(whole // 2, repeats)
        yield "bytes_per_cycle", rate / cycles / cores
        yield "latency_cycles", self._visit(cache.size_bytes // 2) * cycles

    def _large_bytes(self) -> int:
        """More than the caches hold, where there is memory for it."""
        last = self._hardware.caches[-1].size_bytes
        room = self._device.details.max_allocation_bytes // 2
        return min(max(_TIMES_LAST_CACHE * last, 1 << 26), _MOST_BYTES * 4, room)

    def _read(self, size: int, repeats: int) -> float:
        """Bytes per second when all cores read `size` bytes, each its own part."""
        import numpy as np

        parts = self._hardware.cores * (4 if self._has_lanes else 1)
        step = 8 * self._width * self._items
        count = max(size // 4 // parts // step, 1)
        ones = np.ones(parts * count * step, dtype=np.float32)
        data = upload(self._device.queue, ones, self._hardware.cache_line_bytes)
        arguments = (data, self._sink, _int(count), _int(repeats))
        seconds = self._seconds("read", parts, arguments)
        return parts * count * step * 4 * repeats / seconds

    def _visit(self, size: int) -> float:
        """The seconds of a visit when each tells where the next one is, in `size`."""
        import numpy as np

        line = self._hardware.cache_line_bytes // 4
        places = max(size // 4 // line, 2)
        order = np.random.default_rng(0).permutation(places)
        following = np.zeros(places * line, dtype=np.int32)
        following[order * line] = np.roll(order, -1) * line
        data = upload(self._device.queue, following)
        # All places, so that the run before has left them where they can stay.
        visits = max(places, _VISITS)
        arguments = (data, self._sink, _int(visits))
        return self._seconds("visit", 1, arguments) / visits

    def _seconds(
        self, name: str, groups: int, arguments: tuple[DeviceBuffer | np.generic, ...]
    ) -> float:
        """The fastest run of a kernel, without what any launch takes.

        Launches take turns with it: what slows down all launches of a while is no part
        of what they take, and is not to be taken off the kernel.
        """
        launch, whole = _fastest(
            self._run("nothing", 1, (self._sink,)), self._run(name, groups, arguments)
        )
        self.launch = min(self.launch, launch)
        return max(whole - self.launch, 1e-9)

    def _run(
        self, name: str, groups: int, arguments: tuple[DeviceBuffer | np.generic, ...]
    ) -> Callable[[], None]:
        kernel = self._program.kernel(name)
        queue = self._device.queue
        items = (groups * self._items,)

        def run() -> None:
            queue.enqueue(kernel, items, (self._items,), arguments)
            queue.finish()

        return run


def _fastest(*runs: Callable[[], None]) -> list[float]:
    """Seconds of the fastest run of each, of runs in turns."""
    for run in runs:
        run()
    times: list[list[float]] = []
    end = time.perf_counter() + _SECONDS
    while len(times) < _RUNS or time.perf_counter() < end:
        times.append([_seconds_of(run) for run in runs])
    return [min(each) for each in zip(*times, strict=True)]


def _seconds_of(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _float32() -> type[np.float32]:
    import numpy as np

    return np.float32


def _int(value: int) -> np.generic:
    import numpy as np

    return np.int32(value)


def _source(width: int, items: int) -> str:
    """The kernels, for vectors of a width and groups of a size."""
    vector = f"float{width}" if width > 1 else "float"
    lane = "float" if items > 1 else vector
    group = f"__attribute__((reqd_work_group_size({items}, 1, 1)))"
    chains = range(_CHAINS)
    return f"""\
kernel {group} void nothing(global float *out) {{}}

kernel {group} void multiply_adds(global float *out, int steps) {{
  const {lane} a = ({lane})(1.0f + out[0] * 0.0f), b = ({lane})(out[1] * 0.0f);
  {lane} {", ".join(f"x{n} = ({lane})({n}.0f)" for n in chains)};
  for (int i = 0; i < steps; ++i) {{
    {" ".join(f"x{n} = x{n} * a + b;" for n in chains)}
  }}
  const {lane} x = {" + ".join(f"x{n}" for n in chains)};
  {_store(lane, width, "x")}
}}

kernel {group} void chain(global float *out, int steps) {{
  const {lane} a = ({lane})(1.0f + out[0] * 0.0f), b = ({lane})(out[1] * 0.0f);
  {lane} x = ({lane})(1.0f);
  for (int i = 0; i < steps; ++i) x = x * a + b;
  {_store(lane, width, "x")}
}}

kernel {group} void read(
    global const {vector} *data, global float *out, int count, int repeats) {{
  {vector} {", ".join(f"s{n} = ({vector})(0.0f)" for n in range(8))};
  for (int r = 0; r < repeats; ++r) {{
    const int part = (get_group_id(0) + {"r" if items > 1 else "0"})
        % get_num_groups(0);
    global const {vector} *own =
        data + (size_t)part * count * {8 * items} + get_local_id(0);
    for (int i = 0; i < count; ++i) {{
      {" ".join(f"s{n} += own[(8 * i + {n}) * {items}];" for n in range(8))}
    }}
  }}
  const {vector} x = {" + ".join(f"s{n}" for n in range(8))};
  {_store(vector, width, "x")}
}}

kernel {group} void barriers(global float *out, int steps) {{
  for (int i = 0; i < steps; ++i) barrier(CLK_LOCAL_MEM_FENCE);
}}

kernel {group} void local_reads(global float *out, int steps, int stride) {{
  local float numbers[{_LOCAL_NUMBERS}];
  const int item = get_local_id(0);
  for (int i = item; i < {_LOCAL_NUMBERS}; i += {items}) numbers[i] = out[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float x = 0.0f;
  for (int i = 0; i < steps; ++i) {{
    for (int n = 0; n < 64; ++n) {{
      x += numbers[(item * stride + n + i) & {_LOCAL_NUMBERS - 1}];
    }}
  }}
  {_store("float", 1, "x")}
}}

kernel {group} void visit(global const int *data, global float *out, int visits) {{
  int place = 0;
  for (int i = 0; i < visits; ++i) place = data[place];
  if (get_local_id(0) == 0) out[2] = place;
}}
"""


def _store(type_name: str, width: int, value: str) -> str:
    """Keeps a result, so that what leads to it is not left out.

    The condition is never true, and the compiler does not know it.
    """
    if type_name == "float":
        return f"if ({value} == -12345.0f) out[4 + get_global_id(0) % 1024] = {value};"
    return f"if ({value}.s0 == -12345.0f) vstore{width}({value}, 1, out);"

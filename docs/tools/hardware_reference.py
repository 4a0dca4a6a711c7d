"""The text of `docs/hardware.md`: the fields as the dataclasses document them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from docstrings import of_attributes, on_one_line, table

from gingham.targets.hardware import (
    HARDWARE_NAMES,
    Cache,
    Hardware,
    Instruction,
    Level,
    load_hardware,
)
from gingham.targets.hardware.lanes import LaneFigures
from gingham.targets.hardware.overheads import Overheads

_INTRODUCTION = """\
# Hardware descriptions

What the passes decide, they decide by the figures of a device: how wide its vectors
are, what its caches hold and deliver, what a launch costs. The figures are data, in
files that can be read, changed and written anew. Each is named with its unit, and
stands beside a comment that says where it is from.

## Which one is used

`tile-devices` shows it for each device. It is the first of these:

1. what the caller asks for: `--hardware=FILE` of `tile-run`, `hardware=` of
   `gingham.compile`;
2. what the environment variable `GINGHAM_HARDWARE` names;
3. the one that fits the device. A CPU is known by its native vector width, one with
   AVX-512 also by its name (a Xeon has a slower shared cache), a GPU by its vendor and
   name; one whose vendor nobody knows has `gpu`, with the lanes, the clock and the last
   cache that it tells. What any device tells of itself (cores, local memory, the limit
   of work-groups) takes the place of the file's figures, and so do the sizes of the
   caches that Linux tells of a CPU: of a shared cache 16 MiB a core at most, because a
   virtual machine with few cores is told of the whole cache of its host.

`--hardware` takes the path of a file or a name, and behind a colon figures to change:

```sh
tile-run examples/softmax.tile --shape X=64x100 --check --hardware=cpu-avx2
```

```text
device: ...
input X: 64x100, float32
output Y: 64x100, float32
check Y: ok, ...
```

```sh
tile-opt --print-pipeline=opencl-cpu-avx512 --hardware=cpu-neon:parallel.vector.count=8
```

```text
...stripe-vectorize{bits=256}...
```

Fields are named by the way to them: `caches.1.ways`, of rows that have a name
`instructions.load.per_cycle`. `cores` is short for `parallel.group.count`.

## Your own

`tile-devices --hardware` prints the one that is used, as a file to begin with. A file
may also name another one as its base, and say only what differs:

```sh
cat > server.toml <<END
base = "cpu-avx512"
name = "server"
memory_gigabytes_per_second = 300

[[parallel]]
name = "group"
count = 64
END
tile-run examples/softmax.tile --shape X=64x100 --check --hardware=server.toml
```

```text
device: ...
input X: 64x100, float32
output Y: 64x100, float32
check Y: ok, ...
```

`tile-devices --measure` prints one whose figures are measured on the device, as far as
they can be (launches, groups, the clock or the rate of multiply-adds, bandwidths and
latencies, of a GPU barriers and the banks of local memory), in some seconds in which it
should have nothing else to do; it warns where other programs have been busy meanwhile:

```sh
tile-devices --measure > measured.toml
tile-run examples/softmax.tile --shape X=64x100 --check --hardware=measured.toml
```

```text
device: ...
input X: 64x100, float32
output Y: 64x100, float32
check Y: ok, ...
```

A mistake in a file is an error with its line:

```sh fails
cat > server.toml <<END
base = "cpu-avx512"

[[parallel]]
name = "vector"
cont = 8
END
tile-run examples/softmax.tile --shape X=64x100 --hardware=server.toml
```

```text
server.toml:5:1: error: there is no field 'parallel.vector.cont'
cont = 8
^~~~
hint: did you mean 'count'?
```

A pass that goes by these figures is a `HardwarePass` of
[passes/hardware_pass.py](../passes/hardware_pass.py): its option `hardware` takes the
same texts, and pipelines hand it the description itself."""


def text() -> str:
    """The whole page."""
    parts = [_INTRODUCTION, "## The fields", table(_HEAD, [*_fields(Hardware)])]
    parts += ["Each row `[[caches]]` has these:", table(_HEAD, [*_fields(Cache)])]
    parts += [_OVERHEADS, table(_HEAD, [*_fields(Overheads)])]
    parts += [_LANES, table(_HEAD, [*_fields(LaneFigures)])]
    parts += [_LEVELS, table(_HEAD, [*_fields(Level)])]
    parts += [_INSTRUCTIONS, table(_HEAD, [*_fields(Instruction)])]
    parts += ["## What is there by name", _descriptions()]
    return "\n\n".join(parts) + "\n"


_LEVELS = """\
## What runs at the same time

No pass asks whether a device is a CPU or a GPU. A description lists the levels of what
runs at the same time, as rows `[[parallel]]` from the whole device inwards, and passes
go by those: groups on cores, and inside of them either the vectors that a work-item
has, or sub-groups of lanes, each of them a work-item. Only vectors are divided by
scalars, stored past the caches and fetched for ahead; lanes have other sub-groups to
run meanwhile. `tile-devices` prints the levels of each device.

```toml
[[parallel]]
name = "group"
count = 132
memory_bytes = 49152
item_limit = 1024

[[parallel]]
name = "subgroup"
count = 8

[[parallel]]
name = "lane"
count = 32
registers = 255
access_bits = 128
```"""

_INSTRUCTIONS = """\
## What a core does at once

Rows `[[instructions]]` say what a core can do in one instruction, and how often. The
cost model counts in three of them, which each description has: `multiply_add`, `load`
and `store`.

```toml
[[instructions]]
name = "multiply_add"
per_cycle = 2
latency_cycles = 4
```

Others have the block that they compute, and [a schedule can name
them](schedules.md#let-an-instruction-compute-the-innermost-block), those of your own
file as well; `tile-devices` lists them. Their spelling becomes part of kernels as it
is: take a file with one only from people whose code you would run."""

_OVERHEADS = """\
The `[overheads]` are what no manual tells. They were found by measuring nests of loops,
and hardly differ between processors. What a file leaves out of them is as its base
has it, or else as in [`cpu-avx512-xeon`](../targets/hardware/cpu-avx512-xeon.toml)."""

_LANES = """\
Where work-items are lanes, `[lanes]` says what a core has for them, and what they lose.
What a file leaves out is as its base has it, or else as in
[`nvidia-h200`](../targets/hardware/nvidia-h200.toml), where it was measured."""

_HEAD = ("field", "type", "meaning")


def _fields(
    kind: type[Hardware | Cache | Level | Instruction | Overheads | LaneFigures],
) -> Iterator[tuple[str, ...]]:
    docs = of_attributes(kind)
    for field in dataclasses.fields(kind):
        if field.name != "origin":
            type_name = str(field.type).replace("|", r"\|")
            yield f"`{field.name}`", f"`{type_name}`", on_one_line(docs[field.name])


def _descriptions() -> str:
    head = ("name", "levels", "GHz", "TFLOP/s", "caches", "GB/s")
    rows: list[tuple[str, ...]] = []
    for name in HARDWARE_NAMES:
        each = load_hardware(name)
        rows.append(
            (
                f"[`{name}`](../targets/hardware/{name}.toml)",
                ", ".join(map(str, each.parallel)),
                f"{each.clock_gigahertz:g}",
                f"{2e-12 * each.multiply_adds_per_second:.3g}",
                ", ".join(_size(level.size_bytes) for level in each.caches),
                f"{each.memory_gigabytes_per_second:g}",
            )
        )
    return table(head, rows)


def _size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"

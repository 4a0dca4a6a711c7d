"""Which passes change anything: `python -m bench.passes [PROGRAM ...]`.

Each program of the collection is compiled for each hardware, and the IR before and
after each pass is compared. A pass that comes several times in the pipeline has a row
for each time, `stripe-localize #2`. The table says for how many programs a pass changes
anything, on each hardware, and what part of the time of all passes it takes.

A pass that changes the IR may do so in vain, as another one would have done it:
`--without "NAME #N"`, which may be repeated, leaves out that pass and says which
programs end up as another `opencl` IR, or can not be compiled any more. `--fires
"NAME #N"` says which programs it changes.

With `--device` programs that end up as another IR without a pass are run there, both
ways in turns, and what they take of the processor's time is compared, as a machine may
be shared: best on one core, such as `pocl.0/0:1`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gingham.dialects import make_context
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import stage_steps
from gingham.passes.target_options import TargetOptions
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.backends import backend_of
from gingham.runtime.hardware import target_options
from gingham.targets.hardware import load_hardware

from .collection import Sample, collection, select
from .measure import interleaved

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SECONDS = 3.0
_ROUNDS = 31
_HARDWARE = ("cpu-avx512", "cpu-avx2", "nvidia-h200")


@dataclass
class Row:
    """What one pass of the pipeline did."""

    name: str
    fires: dict[str, list[str]] = field(
        default_factory=lambda: defaultdict[str, list[str]](list)
    )
    """The programs that it changes, by hardware."""
    seconds: float = 0.0
    """Of processor time, over all programs."""
    hardware: set[str] = field(default_factory=set[str])
    """Whose pipelines have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at all passes and print the table; 1 when `--without` makes a difference."""
    options = _arguments(arguments)
    samples = select(collection(), options.programs)
    targets = [*map(_options_for, options.hardware)]
    known = {name for target in targets for name, _ in _passes(target)}
    unknown = {*options.without, *options.fires} - known
    if not samples:
        print(f"no program is called {' or '.join(options.programs)}", file=sys.stderr)
    if unknown:
        print(f"not in the pipeline: {', '.join(sorted(unknown))}", file=sys.stderr)
    if unknown or not samples:
        return 2
    if options.device:
        return _print_times(samples, options.device, options.without)
    if options.without:
        return _print_differences(samples, options.hardware, options.without)
    rows = _watched(samples, options.hardware)
    if options.json:
        _write(rows, options.json)
    if options.fires:
        for name in options.fires:
            for hardware, programs in rows[name].fires.items():
                print(f"{name}, {hardware}: {'; '.join(programs)}")
        return 0
    _print(rows, options.hardware, len(samples))
    return 0


def _watched(samples: Sequence[Sample], hardware: Sequence[str]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for name in hardware:
        for sample in samples:
            _say(f"{name}: {sample.name}")
            _watch(sample, name, rows)
    _say("")
    return rows


def _options_for(hardware: str) -> TargetOptions:
    return TargetOptions(hardware=load_hardware(hardware))


def _passes(options: TargetOptions) -> Iterator[tuple[str, ModulePass]]:
    """The passes of the pipeline, each with a name of its own."""
    steps = [step for stage in stage_steps(options).values() for step in stage]
    names = [step.name for step in steps]
    for number, step in enumerate(steps):
        count = names[: number + 1].count(step.name)
        several = names.count(step.name) > 1
        yield f"{step.name} #{count}" if several else step.name, step.module_pass()


def _module(sample: Sample) -> ModuleOp:
    types = [parse_argument_type(each) for each in sample.types]
    return specialize(parse_tile(sample.text, sample.name), types)


def _watch(sample: Sample, hardware: str, rows: dict[str, Row]) -> None:
    """Compile a program; what each pass did is added to its row."""
    context = make_context()
    module = _module(sample)
    before = str(module)
    for name, each in _passes(_options_for(hardware)):
        row = rows.setdefault(name, Row(name))
        row.hardware.add(hardware)
        start = time.process_time()
        each.apply(context, module)
        row.seconds += time.process_time() - start
        after = str(module)
        if after != before:
            row.fires[hardware].append(sample.name)
        before = after


def _print_differences(
    samples: Sequence[Sample], hardware: Sequence[str], without: Sequence[str]
) -> int:
    """Say which programs need one of these passes; 1 when any does."""
    different: list[str] = []
    for name in hardware:
        for sample in samples:
            _say(f"{name}: {sample.name}")
            target = _options_for(name)
            expected, changes = _compiled(sample, target, (), without)
            if not changes:
                continue
            try:
                found, _ = _compiled(sample, target, without)
                why = "" if str(found) == str(expected) else "other IR"
            except Exception as error:  # Whatever a pass raises is an answer.
                why = f"{type(error).__name__}: {error}".splitlines()[0]
            if why:
                different.append(f"{name}, {sample.name}: {why}")
    _say("")
    print("\n".join(different))
    count = len(samples) * len(hardware)
    print(f"{len(different)} of {count} differ without {', '.join(without)}")
    return 1 if different else 0


def _compiled(
    sample: Sample,
    target: TargetOptions,
    without: Sequence[str],
    watched: Sequence[str] = (),
) -> tuple[ModuleOp, bool]:
    """The IR at the end, and whether a watched pass has changed any."""
    context = make_context()
    module = _module(sample)
    has_changed = False
    for name, each in _passes(target):
        if name in without:
            continue
        before = str(module) if name in watched else ""
        each.apply(context, module)
        has_changed |= name in watched and str(module) != before
    module.verify()
    return module, has_changed


def _print_times(samples: Sequence[Sample], name: str, without: Sequence[str]) -> int:
    """Say how much longer programs take without these passes, on a device."""
    import gingham

    device = gingham.device(name)
    backend = backend_of(device)
    if backend.kernels is None:
        print(f"{name} runs no kernels", file=sys.stderr)
        return 2
    target = target_options(device, None, False)
    for sample in samples:
        whole, changes = _compiled(sample, target, (), without)
        if not changes:
            continue
        less, _ = _compiled(sample, target, without)
        if str(whole) == str(less):
            continue
        inputs = [_array(each) for each in sample.types]
        calls = [
            partial(backend.executable(module), *inputs) for module in (whole, less)
        ]
        before, after = interleaved(calls, _SECONDS, _ROUNDS, time.process_time)
        ratio = after.typical / before.typical
        print(f"{sample.name}: {ratio:.2f} times as long", flush=True)
    return 0


def _array(type: str) -> NDArray[Any]:
    """An input with small numbers: all are valid indices, bins and the like."""
    import numpy as np

    tensor = parse_argument_type(type)
    dtype = numpy_dtype(tensor.element_type)
    random = np.random.default_rng(0)
    if dtype.kind in "iu":
        return random.integers(0, 4, tensor.get_shape()).astype(dtype)
    return (random.random(tensor.get_shape()) - 0.5).astype(dtype)


def _print(rows: dict[str, Row], hardware: Sequence[str], programs: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Programs that a pass changes, of {programs}")
    table.add_column("pass")
    for name in hardware:
        table.add_column(name, justify="right")
    table.add_column("of the time", justify="right")
    total = sum(row.seconds for row in rows.values())
    for row in rows.values():
        counts = [
            str(len(row.fires[name])) if name in row.hardware else "-"
            for name in hardware
        ]
        part = f"{100 * row.seconds / total:.1f} %"
        never = not any(row.fires.values())
        table.add_row(row.name, *counts, part, style="bold red" if never else None)
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    idle = [row.name for row in rows.values() if not any(row.fires.values())]
    print(f"change nothing: {', '.join(idle) or 'none'}")


def _write(rows: dict[str, Row], path: str) -> None:
    found = [
        {"pass": row.name, "fires": row.fires, "seconds": row.seconds}
        for row in rows.values()
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


def _say(text: str) -> None:
    print(f"\r{text:70}\r", end="", file=sys.stderr, flush=True)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.passes",
        description="Which passes change anything, on which programs.",
    )
    parser.add_argument("programs", nargs="*", help="by parts of names, or by group")
    parser.add_argument(
        "--hardware",
        type=lambda text: text.split(","),
        default=_HARDWARE,
        metavar="A,B",
        help=f"default {','.join(_HARDWARE)}",
    )
    parser.add_argument("--without", action="append", default=[], metavar="NAME[ #N]")
    parser.add_argument("--fires", action="append", default=[], metavar="NAME[ #N]")
    parser.add_argument(
        "--device",
        metavar="NAME",
        help="with --without: measure there how much longer programs take",
    )
    parser.add_argument("--json", metavar="FILE", help="also write all there")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

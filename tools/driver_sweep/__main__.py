"""The command: `python -m gingham.tools.driver_sweep`; see the package."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from ...errors import GinghamError
from ..command import ArgumentParser, run_command, show
from .kernels import LOOPS
from .trial import Batch, Finding, device_named, print_kernel
from .workers import Worker

_BATCH = 20
"""Kernels of one program: building many at once takes less time for each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sweep; the exit status is 1 when something was found."""
    return run_command(lambda: _run(_parse(arguments)))


def sweep(
    device: str, seconds: float, seed: int, loops: str = "printed"
) -> tuple[int, list[Finding]]:
    """How many kernels were tried in that time, a batch at least; what was found."""
    options = _parse([f"--device={device}", f"--seed={seed}", f"--loops={loops}"])
    return _sweep(options, seconds)


def _run(options: argparse.Namespace) -> int:
    from ...runtime.devices import default_device

    if options.device is None:
        options.device = default_device().name
    device = device_named(options.device)
    if options.kernel is not None:
        show(print_kernel(_batch(options, options.kernel, 1)))
        return 0
    show(f"device: {device.name}, {device.description}")
    show(f"driver: {device.details.driver_version}", flush=True)
    tried, findings = _sweep(options, options.seconds, print_each=True)
    counts = Counter(finding.verdict for finding in findings)
    found = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    show(f"{tried} kernels of seed {options.seed}: {found or 'all right'}")
    return 1 if findings else 0


def _batch(options: argparse.Namespace, first: int, count: int) -> Batch:
    return Batch(
        options.device, options.seed, first, count, options.loops, options.fast_math
    )


def _sweep(
    options: argparse.Namespace, seconds: float, *, print_each: bool = False
) -> tuple[int, list[Finding]]:
    end = time.monotonic() + seconds
    first = tried = options.first
    findings: list[Finding] = []
    worker = Worker()
    try:
        while tried == first or time.monotonic() < end:
            for finding in worker.findings(_batch(options, tried, _BATCH)):
                findings.append(finding)
                if print_each:
                    text = f"kernel {finding.number}: {finding.verdict}"
                    show(f"{text}, {finding.message}", flush=True)
            tried += _BATCH
    finally:
        worker.close()
    return tried - first, findings


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="python -m gingham.tools.driver_sweep",
        description="Compare what a device's compiler makes of random kernels with "
        "what they mean.",
    )
    parser.add_argument("--device", help="a device of tile-devices")
    parser.add_argument(
        "--seconds", type=_seconds, default=60.0, help="how long (default 60)"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws others (default 1)")
    parser.add_argument(
        "--first", type=int, default=0, metavar="N", help="begin with kernel N"
    )
    parser.add_argument(
        "--loops",
        choices=LOOPS,
        default="printed",
        help="how loops are marked: as the passes do (the default), or not, which "
        "shows what the marks are for",
    )
    parser.add_argument(
        "--fast-math", action="store_true", help="build as fast_math=True does"
    )
    parser.add_argument(
        "--kernel", type=int, metavar="N", help="print kernel N and do nothing else"
    )
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise GinghamError(f"expected seconds such as 60, got {text!r}") from None


if __name__ == "__main__":
    sys.exit(main())

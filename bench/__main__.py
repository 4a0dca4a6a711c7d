"""The command: `python -m bench [NAME ...] [--device D] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cases import Case

# These make OpenBLAS pretend to an older processor; a comparison should not be won so.
_HANDICAPS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def main() -> int:
    """Measure, print a table, write JSON; 1 when a result is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Gingham against NumPy."
    )
    parser.add_argument("names", nargs="*", help="only benchmarks whose name has this")
    parser.add_argument("--device", help="a device of tile-devices")
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="time for each benchmark (default 3)"
    )
    options = parser.parse_args()
    for variable in _HANDICAPS:
        if os.environ.pop(variable, None) is not None:
            print(f"ignoring the environment's {variable}", file=sys.stderr)
    # NumPy reads the environment when it is imported.
    from .cases import CASES

    cases = [
        case
        for case in CASES
        if not options.names or any(name in case.name for name in options.names)
    ]
    results = [_measure(case, options.device, options.seconds) for case in cases]
    _print_table(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": _machine(), "results": results}, file, indent=2)
    return 0 if all(result["correct"] for result in results) else 1


def _measure(case: Case, device: str | None, seconds: float) -> dict[str, Any]:
    import numpy as np

    import gingham

    from .measure import interleaved

    function = gingham.compile(case.program, device=device)
    inputs = case.inputs(np.random.default_rng(0))
    ours = np.asarray(function(*inputs))
    theirs = np.empty_like(ours)
    case.numpy(inputs, theirs)
    scale = float(np.abs(theirs).max())
    error = float(np.abs(ours - theirs).max()) / scale
    del ours
    # Results that nobody holds are written into again, so neither side pays for memory.
    gingham_time, numpy_time = interleaved(
        [lambda: function(*inputs), lambda: case.numpy(inputs, theirs)],
        seconds,
    )
    return {
        "name": case.name,
        "device": function.device.name,
        "gingham_ms": gingham_time.median * 1e3,
        "numpy_ms": numpy_time.median * 1e3,
        "speedup": numpy_time.median / gingham_time.median,
        "rate": case.work / gingham_time.median / 1e9,
        "numpy_rate": case.work / numpy_time.median / 1e9,
        "unit": "GFLOP/s" if case.unit == "flop" else "GB/s",
        "error": error,
        "correct": error <= case.tolerance,
    }


def _print_table(results: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Gingham against NumPy, medians of interleaved rounds")
    table.add_column("benchmark")
    for heading in ("Gingham ms", "NumPy ms", "speed-up", "rate", "error"):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(
            result["name"],
            f"{result['gingham_ms']:.3f}",
            f"{result['numpy_ms']:.3f}",
            f"{result['speedup']:.2f}",
            f"{result['rate']:.1f} {result['unit']}",
            f"{result['error']:.0e}" if result["correct"] else "WRONG",
        )
    Console(width=None if sys.stdout.isatty() else 110).print(table)


def _machine() -> dict[str, object]:
    import numpy as np

    import gingham

    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "gingham": gingham.__version__,
    }


if __name__ == "__main__":
    sys.exit(main())

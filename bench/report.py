"""What a run of the benchmarks found: tables and JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from math import exp, log
from typing import Any

from .contest import NOT_OFFERED, Result, Row

LIMITS: dict[str, tuple[float, float]] = {
    "products": (1.10, 1.00),
    "convolutions": (1.15, 1.00),
    "rows": (1.10, 0.95),
    "fused": (0.90, 0.70),
    "chains": (1.00, 1.00),
    "plaidml": (0.80, 0.50),
}
"""Our time as a part of the fastest peer's: at most this in each row of a group, and
at most that in the geometric mean.
"""


def geometric_mean(ratios: Sequence[float]) -> float:
    """The number whose logarithm is the mean of theirs."""
    return exp(sum(map(log, ratios)) / len(ratios))


def ratio(row: Row, other: Result | None) -> float | None:
    """Our time as a part of another's; None where one of them has none."""
    if other is None or not row.ours.seconds:
        return None
    return row.ours.median / other.median


def summary(rows: Sequence[Row]) -> dict[str, list[float]]:
    """The ratios of each group, and of all rows to PlaidML's."""
    ratios: dict[str, list[float]] = {}
    for row in rows:
        for group, other in (
            (row.case.group, row.fastest_peer),
            ("plaidml", row.result("plaidml")),
        ):
            found = ratio(row, other)
            if found is not None:
                ratios.setdefault(group, []).append(found)
    return ratios


def print_tables(rows: Sequence[Row], width: int | None) -> None:
    """The times of all contenders, and how each group does against its limits."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=width)
    peers = [result.peer for result in rows[0].results]
    table = Table(title="Milliseconds a call, medians of interleaved rounds")
    table.add_column("benchmark", overflow="fold")
    for heading in (*peers, "rate", "ratio", "first call s"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(row.case.name, *_cells(row))
    console.print(table)
    groups = Table(title="Our time as a part of the fastest peer's")
    for heading in ("group", "rows", "mean", "limit", "worst", "limit", "missed"):
        groups.add_column(heading, justify="left" if heading == "group" else "right")
    for group, ratios in summary(rows).items():
        each, mean = LIMITS[group]
        groups.add_row(
            group,
            str(len(ratios)),
            f"{geometric_mean(ratios):.2f}",
            f"{mean:.2f}",
            f"{max(ratios):.2f}",
            f"{each:.2f}",
            str(sum(r > each for r in ratios)),
        )
    console.print(groups)
    for row in rows:
        for result in row.results:
            if result.missing not in ("", NOT_OFFERED):
                print(f"{row.case.name}: no {result.peer}: {result.missing}")


def _cells(row: Row) -> list[str]:
    fastest = row.fastest_peer
    cells: list[str] = []
    for result in row.results:
        text = f"{result.median * 1e3:.3f}" if result.seconds else "-"
        cells.append(f"[bold]{text}[/bold]" if result is fastest else text)
    if not row.ours.seconds:
        return [*cells, "-", "-", "-"]
    amount, unit = row.case.work
    found = ratio(row, fastest)
    cells.append(f"{amount / row.ours.median / 1e9:.1f} {unit}")
    cells.append("-" if found is None else f"{found:.2f}")
    if not row.is_correct:
        cells[-1] = "WRONG"
    return [*cells, f"{row.ours.first_seconds:.2f}"]


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """All figures, with the machine they are of."""
    import numpy as np

    return {
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "rows": [
            {
                "name": row.case.name,
                "group": row.case.group,
                "work": row.case.work[0],
                "unit": row.case.work[1],
                "ratio": ratio(row, row.fastest_peer),
                "ratio_to_plaidml": ratio(row, row.result("plaidml")),
                "correct": row.is_correct,
                "results": {
                    result.peer: {
                        "seconds": result.seconds,
                        "first_seconds": result.first_seconds,
                        "on_device": result.on_device,
                        "error": result.error,
                        "missing": result.missing,
                    }
                    for result in row.results
                },
            }
            for row in rows
        ],
    }

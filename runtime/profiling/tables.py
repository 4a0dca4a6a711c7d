"""A profile as text for people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .summary import HostRow, Summary

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 120
"""Of the text where it is not shown in a terminal."""


def render(summary: Summary) -> str:
    """The tables, as wide as the terminal."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    console = Console(width=width, color_system=None, emoji=False, markup=False)
    with console.capture() as capture:
        if not summary.calls and not summary.kernels:
            console.print("no calls were measured")
        if summary.kernels:
            console.print(_kernels(summary))
        if summary.transfers:
            console.print(_transfers(summary))
        if summary.calls:
            console.print(_host(_title(summary), summary.steps))
        if summary.compiling:
            console.print(_host("Compiling", summary.compiling))
    lines = capture.get().split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip()


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _kernels(summary: Summary) -> Table:
    names = ["device", "kernel", "location"]
    numbers = ["calls", "ms", "ms a call", "GFLOP/s", "GB/s", "of roofline"]
    table = _table("Kernels", names, numbers)
    for row in summary.kernels:
        table.add_row(
            row.device,
            row.name,
            row.location or "",
            str(row.calls),
            milliseconds(row.seconds),
            milliseconds(row.seconds / row.calls),
            f"{row.flops_per_second * 1e-9:.1f}",
            f"{row.bytes_per_second * 1e-9:.1f}",
            percentage(row.share),
        )
    return table


def _transfers(summary: Summary) -> Table:
    numbers = ["copies", "ms", "MB", "GB/s"]
    table = _table("Transfers", ["device", "way"], numbers)
    for row in summary.transfers:
        table.add_row(
            row.device,
            row.name,
            str(row.calls),
            milliseconds(row.seconds),
            f"{row.size_in_bytes * 1e-6:.3f}",
            f"{row.size_in_bytes / row.seconds * 1e-9:.1f}",
        )
    return table


def _title(summary: Summary) -> str:
    return f"Host, {summary.calls} calls in {milliseconds(summary.host_seconds)} ms"


def _host(title: str, rows: Sequence[HostRow]) -> Table:
    table = _table(title, ["step"], ["times", "ms", "us each"])
    for row in rows:
        table.add_row(
            row.name,
            str(row.calls),
            milliseconds(row.seconds),
            f"{row.seconds * 1e6 / row.calls:.1f}",
        )
    return table


def milliseconds(seconds: float) -> str:
    """With digits enough for short kernels."""
    return f"{seconds * 1e3:.3f}"


def percentage(share: float | None) -> str:
    """A share of a roofline."""
    return "" if share is None else f"{share * 100:.0f} %"

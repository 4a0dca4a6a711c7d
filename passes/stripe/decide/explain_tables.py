"""An explanation as tables for people."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from .search import duration

if TYPE_CHECKING:
    from rich.table import Table

    from .explain import ExplainedBlock, ExplainedNest, Explanation

_WIDTH = 160
_SHOWN = 0.005
"""Parts that are a smaller share of the time in all nests have no column."""


def render(explanation: Explanation) -> str:
    """The whole explanation as text."""
    from rich.console import Console

    stream = StringIO()
    console = Console(file=stream, width=_WIDTH, highlight=False, emoji=False)
    for fusion in explanation.fusions:
        members = ", ".join(name or "(no name)" for name in fusion.blocks)
        what = f"one nest of {members}" if fusion.is_nest else f"{members} alone"
        console.print(f"{what}: {fusion.reason}", markup=False)
    for block in explanation.blocks:
        console.print(_heading(block), markup=False)
        if block.nests:
            console.print(_table(block))
    for launch in explanation.launches:
        names = ", ".join(launch.kernels)
        what = "one launch of" if launch.is_joined else "launch of"
        console.print(f"{what} {names}: {launch.reason}", markup=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _heading(block: ExplainedBlock) -> str:
    name = block.name or "(no name)"
    ranges = ", ".join(f"{index} : {n}" for index, n in block.indices.items())
    place = f" at {block.place}" if block.place else ""
    return f"{name} [{ranges}]{place}: {_plain(block.schedule)}; {block.reason}"


def _table(block: ExplainedBlock) -> Table:
    from rich import box
    from rich.table import Table

    largest: dict[str, float] = {}
    for nest in block.nests:
        for name, seconds in nest.breakdown.items():
            share = seconds / nest.seconds if nest.seconds else 0.0
            largest[name] = max(largest.get(name, 0.0), share)
    names = [name for name, share in largest.items() if share >= _SHOWN]
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("", "predicted", *names):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("schedule")
    for nest in block.nests:
        times = [duration(nest.breakdown.get(name, 0.0)) for name in names]
        table.add_row(*_row(block, nest, times))
    return table


def _row(block: ExplainedBlock, nest: ExplainedNest, times: list[str]) -> list[str]:
    mark = "*" if nest.schedule == block.schedule else ""
    schedule = _plain(nest.schedule).replace("[", "\\[")
    return [mark, duration(nest.seconds), *times, schedule]


def _plain(schedule: str) -> str:
    """A schedule without its brackets."""
    return schedule.removeprefix("<").removesuffix(">")

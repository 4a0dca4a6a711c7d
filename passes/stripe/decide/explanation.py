"""An explanation of decisions: figures in seconds, and tables of them for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

from ...clock import time_text

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 160
_SHOWN = 0.005
"""Parts that are a smaller share of the time in all nests have no column."""


@dataclass(frozen=True)
class ExplainedNest:
    """One way to run a block."""

    seconds: float
    """The predicted time."""
    breakdown: dict[str, float]
    """Its parts in seconds. Those up to `memory` overlap, the others come on top."""
    schedule: str
    """What makes the passes build it."""


@dataclass(frozen=True)
class ExplainedBlock:
    """A block that was to be tiled."""

    name: str
    place: str
    """`file:line` in the program, where it is known."""
    indices: dict[str, int]
    """The range of each index."""
    schedule: str
    """What was decided."""
    reason: str
    reasons: dict[str, str]
    """Why each part of the schedule is there, where it has a reason of its own."""
    nests: tuple[ExplainedNest, ...]
    """The fastest by prediction; none where the decision needed no model."""


@dataclass(frozen=True)
class ExplainedLayout:
    """Buffers of which the axes got another order, and why."""

    buffers: tuple[str, ...]
    order: tuple[int, ...]
    """The numbers of the axes as they were."""
    reason: str


@dataclass(frozen=True)
class ExplainedFusion:
    """Blocks that become one nest, or a block that is left alone, and why."""

    blocks: tuple[str, ...]
    reason: str
    is_nest: bool = True


@dataclass(frozen=True)
class ExplainedBinding:
    """What indices of a block became on the device, and why."""

    kernel: str
    """The name of the block that is the kernel, around it or itself."""
    indices: dict[str, str]
    """For each of them, by what it is called there, what it is bound to."""
    reason: str


@dataclass(frozen=True)
class ExplainedLaunch:
    """Launches that become one, or a launch that is left alone, and why."""

    kernels: tuple[str, ...]
    """Their names, or what is written where several launches have one kernel."""
    reason: str
    is_joined: bool


@dataclass
class Explanation:
    """The decisions about a program, in order."""

    layouts: list[ExplainedLayout] = field(default_factory=list[ExplainedLayout])
    fusions: list[ExplainedFusion] = field(default_factory=list[ExplainedFusion])
    blocks: list[ExplainedBlock] = field(default_factory=list[ExplainedBlock])
    bindings: list[ExplainedBinding] = field(default_factory=list[ExplainedBinding])
    launches: list[ExplainedLaunch] = field(default_factory=list[ExplainedLaunch])

    def as_json(self) -> dict[str, Any]:
        """All of it as what the module `json` writes."""
        return asdict(self)

    def __str__(self) -> str:
        """Tables for people."""
        return render(self)


def render(explanation: Explanation) -> str:
    """The whole explanation as text."""
    from rich.console import Console

    stream = StringIO()
    console = Console(file=stream, width=_WIDTH, highlight=False, emoji=False)
    for layout in explanation.layouts:
        names = ", ".join(name or "(no name)" for name in layout.buffers)
        console.print(
            f"axes {[*layout.order]} of {names}: {layout.reason}", markup=False
        )
    for fusion in explanation.fusions:
        members = ", ".join(name or "(no name)" for name in fusion.blocks)
        what = f"one nest of {members}" if fusion.is_nest else f"{members} alone"
        console.print(f"{what}: {fusion.reason}", markup=False)
    for block in explanation.blocks:
        console.print(_heading(block), markup=False)
        for part, reason in block.reasons.items():
            console.print(f"  {part}: {reason}", markup=False)
        if block.nests:
            console.print(_table(block))
    for binding in explanation.bindings:
        bound = ", ".join(f"{index} {word}" for index, word in binding.indices.items())
        name = binding.kernel or "(no name)"
        console.print(f"{name}, {bound}: {binding.reason}", markup=False)
    for launch in explanation.launches:
        names = ", ".join(launch.kernels)
        what = "one launch of" if launch.is_joined else "launch of"
        console.print(f"{what} {names}: {launch.reason}", markup=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _heading(block: ExplainedBlock) -> str:
    name = block.name or "(no name)"
    ranges = ", ".join(f"{index} : {n}" for index, n in block.indices.items())
    place = f" at {block.place}" if block.place else ""
    words = "; ".join(filter(None, (_plain(block.schedule), block.reason)))
    return f"{name} [{ranges}]{place}: {words}"


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
        times = [time_text(nest.breakdown.get(name, 0.0)) for name in names]
        table.add_row(*_row(block, nest, times))
    return table


def _row(block: ExplainedBlock, nest: ExplainedNest, times: list[str]) -> list[str]:
    mark = "*" if nest.schedule == block.schedule else ""
    schedule = _plain(nest.schedule).replace("[", "\\[")
    return [mark, time_text(nest.seconds), *times, schedule]


def _plain(schedule: str) -> str:
    """A schedule without its brackets."""
    return schedule.removeprefix("<").removesuffix(">")

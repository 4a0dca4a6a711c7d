"""What a run on a GPU found: each peer's times beside ours, by two clocks.

The wall clock tells what calls behind each other take, with all that the host does. The
device's clock tells what the device works: events around kernels for ours, a CUDA graph
of the calls for PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .contest import NOT_OFFERED, Result, Row
from .report import geometric_mean, ratio

LIMITS: dict[tuple[str, str], tuple[float, float | None]] = {
    ("products", "torch"): (1.15, 1.02),
    ("convolutions", "torch"): (1.15, 0.80),
    ("rows", "torch"): (1.05, 0.80),
    ("rows", "inductor"): (1.05, None),
    ("fused", "torch"): (1.10, 0.90),
    ("chains", "torch"): (1.00, 1.00),
}
"""Our time as a part of a peer's: at most this in each row of a group, and at most
that in the geometric mean.
"""


@dataclass(frozen=True)
class Standing:
    """Our times as parts of those of a peer, in a group of cases."""

    group: str
    peer: str
    ratios: dict[str, float]
    """By the names of cases."""

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return geometric_mean([*self.ratios.values()])

    @property
    def worst(self) -> str:
        """The case where we do worst."""
        return max(self.ratios, key=lambda name: self.ratios[name])

    @property
    def missed(self) -> list[str]:
        """The cases above the limit of a case, where there is one."""
        each, _ = LIMITS.get((self.group, self.peer), (math.inf, None))
        return [name for name, found in self.ratios.items() if found > each]


def standings(rows: Sequence[Row]) -> list[Standing]:
    """How we stand against each peer, group by group."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        for other in row.results[1:]:
            part = ratio(row, row.result(other.peer))
            if part is not None:
                key = row.case.group, other.peer
                found.setdefault(key, {})[row.case.name] = part
    return [Standing(*key, ratios) for key, ratios in found.items()]


def device_ratio(row: Row, other: Result) -> float | None:
    """As `ratio`, by the clocks of the device."""
    ours = row.ours.on_device
    return ours / other.on_device if ours and other.on_device else None


def print_device_tables(
    rows: Sequence[Row], width: int | None, absent: Collection[str] = ()
) -> None:
    """The times of all contenders by both clocks, and how each group does.

    Peers that are `absent` have no column, and nothing more is said of them.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(width=width)
    peers = [each.peer for each in rows[0].results if each.peer not in absent]
    table = Table(
        title="Microseconds a call: by the wall clock (by the device's); ours / theirs"
    )
    table.add_column("benchmark", overflow="fold")
    others = [heading for peer in peers[1:] for heading in (peer, f"/ {peer}")]
    for heading in (*peers[:1], *others, "rate", "first s"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(row.case.name, *_cells(row, peers))
    console.print(table)
    if standings(rows):
        console.print(_groups(rows))
    for row in rows:
        for result in row.results:
            if result.missing not in ("", NOT_OFFERED) and result.peer not in absent:
                print(f"{row.case.name}: no {result.peer}: {result.missing}")


def _cells(row: Row, peers: Sequence[str]) -> list[str]:
    cells: list[str] = []
    for result in row.results:
        if result.peer not in peers:
            continue
        cells.append(_times(result))
        if result is not row.ours:
            cells.append(_ratios(row, result))
    if not row.ours.seconds:
        return [*cells, "-", "-"]
    amount, unit = row.case.work
    rate = f"{amount / row.ours.median / 1e9:.0f} {unit}"
    first = f"{row.ours.first_seconds:.2f}"
    return [*cells, rate if row.is_correct else "WRONG", first]


def _times(result: Result) -> str:
    if not result.seconds:
        return "-"
    own = "" if result.on_device is None else f" ({result.on_device * 1e6:.1f})"
    return f"{result.median * 1e6:.1f}{own}"


def _ratios(row: Row, other: Result) -> str:
    found = ratio(row, row.result(other.peer))
    if found is None:
        return "-"
    own = device_ratio(row, other)
    return f"{found:.2f}" + ("" if own is None else f" ({own:.2f})")


def _groups(rows: Sequence[Row]) -> object:
    from rich.table import Table

    groups = Table(title="Our time as a part of theirs, by the wall clock")
    for heading in ("group", "peer", "rows", "mean", "limit", "worst", "limit"):
        groups.add_column(heading, justify="left" if len(heading) < 4 else "right")
    groups.add_column("missed", justify="right")
    groups.add_column("worst row", overflow="fold")
    for each in standings(rows):
        limit, mean = LIMITS.get((each.group, each.peer), (None, None))
        groups.add_row(
            each.group,
            each.peer,
            str(len(each.ratios)),
            f"{each.mean:.2f}",
            "" if mean is None else f"{mean:.2f}",
            f"{each.ratios[each.worst]:.2f}",
            "" if limit is None else f"{limit:.2f}",
            "" if limit is None else str(len(each.missed)),
            each.worst,
        )
    return groups

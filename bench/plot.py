"""A picture of what a run of the benchmarks found; needs Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from .contest import Row
from .measured import Measured
from .report import ratio


def plot(rows: Sequence[Row], path: str) -> None:
    """A bar for each row: how our time compares to the fastest peer's.

    The name of the file chooses the format.
    """
    shown = [(row, r) for row in rows if (r := ratio(row, row.fastest_peer))]
    figure = Figure(figsize=(9, 1.2 + 0.28 * len(shown)), layout="constrained")
    axes = figure.subplots()
    names = [row.case.name for row, _ in shown]
    values = [value for _, value in shown]
    colors = ["tab:green" if value <= 1 else "tab:orange" for value in values]
    axes.barh(names, values, color=colors)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel("our time / the fastest peer's (shorter is better)")
    figure.savefig(path)


def plot_growth(rows: Sequence[Measured], path: str) -> None:
    """Draw how long users wait for programs of each family, over their statements.

    The gradients of a family are dashed. The grey line is 20 ms for each statement.
    """
    families = dict.fromkeys(row.family for row in rows)
    forward = [*dict.fromkeys(family.split(",")[0] for family in families)]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for family in families:
        own = [row for row in rows if row.family == family]
        sizes, seconds = zip(*((row.statements, row.wall) for row in own), strict=True)
        axes.plot(
            sizes,
            seconds,
            marker=".",
            color=f"C{forward.index(family.split(',')[0])}",
            linestyle="--" if "," in family else "-",
            label=family,
        )
    ends = [least(row.statements for row in rows) for least in (min, max)]
    axes.plot(ends, [0.02 * n for n in ends], color="lightgrey", zorder=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("statements")
    axes.set_ylabel("seconds until it is compiled")
    figure.legend(loc="outside right center", fontsize="small", frameon=False)
    figure.savefig(path)


def plot_ranking(
    programs: Sequence[tuple[str, Sequence[float], Sequence[float]]], path: str
) -> None:
    """Draw what was measured over what was predicted, in a field for each program.

    Each has a name, predicted and measured seconds. On the grey line they are equal.
    """
    across = min(len(programs), 4)
    down = -(-len(programs) // across)
    size = (2.4 * across, 2.3 * down)
    figure = Figure(figsize=size, layout="constrained")
    fields = figure.subplots(down, across, squeeze=False).flat
    for (name, predicted, measured), axes in zip(programs, fields, strict=False):
        ends = [least((*predicted, *measured)) * 1e6 for least in (min, max)]
        axes.plot(ends, ends, color="lightgrey", zorder=0)
        us = [[1e6 * each for each in times] for times in (predicted, measured)]
        axes.plot(*us, marker=".", linestyle="none")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(NullFormatter())
        axes.tick_params(labelsize="x-small")
        axes.set_title(fill(name, 26), fontsize="small")
    for axes in [*fields]:
        axes.remove()
    figure.supxlabel("predicted microseconds")
    figure.supylabel("measured microseconds")
    figure.savefig(path)

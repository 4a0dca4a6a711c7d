"""Which axes an aggregation keeps, and the pieces of its Tile text."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any


def compute_aggregation_axes(
    dims: Sequence[Any],
    axes: Iterable[int] | int | None = None,
    keepdims: bool = False,
) -> tuple[tuple[Any, ...], list[int], dict[str, str]]:
    """The sizes that an aggregation has, its axes, and pieces of its text.

    `axes` are those aggregated over, counted from the end where negative; without them
    the last one. The result has the axes in falling order; with `keepdims` they stay
    with the size 1. The pieces are `src_`, `dest_` and `reduce_`, each with `indices`,
    `ranges` and the colon between both, `sep`. Raises IndexError for an axis that is
    not there, and ValueError for one that is named twice.
    """
    rank = len(dims)
    chosen = sorted(_axes(rank, axes), reverse=True)
    kept = [axis for axis in range(rank) if axis not in chosen]
    indices = [f"x{axis}" for axis in range(rank)]
    ranges = [f"X{axis}" for axis in range(rank)]
    if keepdims:
        sizes = [1 if axis in chosen else dim for axis, dim in enumerate(dims)]
        dest_indices = [f"s{i}" if n in chosen else i for n, i in enumerate(indices)]
        dest_ranges = ["1" if n in chosen else r for n, r in enumerate(ranges)]
    else:
        sizes = [dims[axis] for axis in kept]
        dest_indices = [indices[axis] for axis in kept]
        dest_ranges = [ranges[axis] for axis in kept]
    pieces: dict[str, str] = {}
    for part, part_indices, part_ranges in (
        ("src", indices, ranges),
        ("dest", dest_indices, dest_ranges),
        ("reduce", [indices[a] for a in chosen], [ranges[a] for a in chosen]),
    ):
        pieces[f"{part}_indices"] = ", ".join(part_indices)
        pieces[f"{part}_ranges"] = ", ".join(part_ranges)
        pieces[f"{part}_sep"] = " : " if part_indices else ""
    return tuple(sizes), chosen, pieces


def _axes(rank: int, axes: Iterable[int] | int | None) -> list[int]:
    if axes is None:
        axes = [-1]
    given = axes if isinstance(axes, Iterable) else [axes]
    found: list[int] = []
    for axis in map(operator.index, given):
        if not -rank <= axis < rank:
            raise IndexError(f"axis {axis} is out of bounds: there are {rank} axes")
        found.append(axis % rank)
    if len(set(found)) != len(found):
        raise ValueError(f"an axis is named twice: {found}")
    return found

"""Footprints in closed form: how much memory the accesses of a loop nest touch.

An access walks through memory by loops, each a byte stride and a number of steps. Seen
from the smallest stride to the largest, loops whose steps are no longer than what the
ones before cover make one contiguous run; the others repeat runs at a distance. Loops
with strides that are multiples of each other walk on one grid, where `y + ky` with 14
values of `y` and 3 of `ky` is 16 places, not 42: that is the union of the windows of a
convolution.

The form is exact for accesses of which the steps divide each other, and an upper bound
for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from typing import TypeAlias

Walk: TypeAlias = tuple[tuple[int, int], ...]
"""Loops as (byte stride, steps), in any order."""


@dataclass(frozen=True)
class Footprint:
    """What a walk touches once, however often it comes by."""

    bytes: int
    lines: float
    """Cache lines, in the mean over places where the memory may start."""
    pages: float
    jumps: float
    """How often it goes on elsewhere: in another page, or past some lines."""
    run_bytes: int
    """How long the contiguous pieces are."""
    repeats: tuple[tuple[int, int], ...]
    """How the pieces repeat, as (byte stride, steps), the smallest stride first."""
    crowdings: dict[int, float] = field(
        default_factory=dict[int, float], compare=False, repr=False
    )
    """What is known of `crowding`."""

    def crowding(self, set_bytes: int, line_bytes: int) -> float:
        """How many lines more than the mean meet in one set of a cache.

        `set_bytes` is the distance of addresses that meet in one set. Strides that are
        multiples of it, or share a large power of two with it, use a few of the sets
        only: a column of a matrix whose rows are 4096 bytes apart meets in one.
        """
        known = self.crowdings.get(set_bytes)
        if known is None:
            known = self._crowding(set_bytes, line_bytes)
            self.crowdings[set_bytes] = known
        return known

    def _crowding(self, set_bytes: int, line_bytes: int) -> float:
        sets = max(set_bytes // line_bytes, 1)
        reached = min(max(self.run_bytes / line_bytes, 1.0), sets)
        for stride, steps in self.repeats:
            apart = set_bytes // gcd(set_bytes, stride)
            reached *= min(steps, apart)
        # Steps shorter than a line fill the lines between.
        finest = gcd(set_bytes, *(stride for stride, _ in self.repeats))
        spread = max(finest, line_bytes)
        run_lines = max(min(self.run_bytes, spread) / line_bytes, 1.0)
        most = set_bytes / spread * run_lines if self.repeats else sets
        reached = max(min(reached, most, sets), 1.0)
        return self.lines / reached - self.lines / sets


NOTHING = Footprint(0, 0.0, 0.0, 0.0, 1, ())
"""Of what is in registers."""


@lru_cache(maxsize=1 << 16)
def footprint(walk: Walk, element: int, line: int, page: int) -> Footprint:
    """The footprint of a walk over elements of `element` bytes."""
    run = element
    loops = sorted(walk)
    while loops and loops[0][0] <= run:
        stride, steps = loops.pop(0)
        run += stride * (steps - 1)
    return _measure(run, tuple(united(loops)), element, line, page)


def united(loops: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Loops of which those on one grid are one, as (stride, steps), the smallest first.

    `y + ky` with 14 values of `y` and 3 of `ky` takes 16 steps.
    """
    found: list[tuple[int, int]] = []
    for stride, steps in sorted(loops):
        if found:
            last, count = found[-1]
            factor, rest = divmod(stride, last)
            if rest == 0 and factor <= count:
                found[-1] = (last, count + factor * (steps - 1))
                continue
        found.append((stride, steps))
    return found


def box(
    rows: Sequence[Sequence[int]], sizes: Sequence[int], window: Sequence[int]
) -> tuple[int, ...]:
    """The box around the windows of all points of a tile, along each axis.

    `rows` are the coefficients of the access, `window` is what one point sees.
    """
    return tuple(
        own + sum(abs(c) * (size - 1) for c, size in zip(row, sizes, strict=True))
        for row, own in zip(rows, window, strict=True)
    )


def _measure(
    run: int, repeats: tuple[tuple[int, int], ...], element: int, line: int, page: int
) -> Footprint:
    pieces = 1
    line_run, line_pieces = run, 1
    spacing = 0
    page_run, page_pieces = run, 1
    for stride, steps in repeats:
        pieces *= steps
        if stride <= max(line, line_run) and line_pieces == 1:
            line_run += stride * (steps - 1)
        else:
            line_pieces *= steps
            spacing = spacing or stride
        if stride <= max(page, page_run) and page_pieces == 1:
            page_run += stride * (steps - 1)
        else:
            page_pieces *= steps
    aligned = all(stride % line == 0 for stride, _ in repeats) and run % line == 0
    lines = line_run / line if aligned else (line_run - element) / line + 1
    pages = (page_run - element) / page + 1 if page_pieces > 1 else page_run / page
    pages = max(pages, 1.0) * page_pieces
    return Footprint(
        run * pieces,
        max(lines, 1.0) * line_pieces,
        pages,
        max(pages, line_pieces * min(2 * spacing / page, 1.0)),
        run,
        repeats,
    )

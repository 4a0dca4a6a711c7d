"""Traffic between the levels of memory, for a nest of loops.

A level keeps the data of the loops inside some point of the nest if all their
footprints fit it together, by cache sets: each access takes as many of a set's ways as
it has lines there, so that strides by powers of two count with what they really take.
Then each access comes in once for every step of the loops around, except for those next
to it that do not move it: there it is still in place.

Fitting is not sharp. Around the point where a level is full the misses grow linearly.

What loops around read again comes in while they take their first step, and not in the
others: a panel that 16 strips of rows use comes in while the first of them runs. How
many strips that are is the traffic's *reuse*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from .....targets.hardware.description import Hardware
from ...analysis.footprint import NOTHING, Footprint, Walk, footprint
from ...analysis.problem import Access

_OUTER = 2
"""The level from which on, whatever it is, a core waits after each jump."""
_LINE_STEPS = 16
"""Steps after which it shows how fast a loop fills a cache."""


class Traffic(NamedTuple):
    """What passes a level's border while the nest runs on one core."""

    lines: float
    """Cache lines, those that are stored twice: they are read first."""
    jumps: float
    """How often it goes on elsewhere, where nothing is fetched ahead."""
    walks: float
    """How often a page is not in the table of pages."""
    reuses: Mapping[float, float]
    """The lines by their reuse: they come in during that part of the time."""
    look_ups: float = 0.0
    """How often it is not in the first level of that table."""


class Stream(NamedTuple):
    """An access that the loops of a nest move."""

    access: Access
    strides: Sequence[int]
    """The bytes that each loop moves it by."""
    crossing: float = 0.0
    """The part of its vectors that lie in two cache lines, and wait for both."""


class _Walked(NamedTuple):
    """A stream, and what it touches."""

    stream: Stream
    footprints: Sequence[Footprint]
    """For each number of loops outside, what the ones inside touch."""
    hardware: Hardware
    cores: int
    copies: int
    """How many cores each have a part of their own."""
    moved: Sequence[int]
    """For each number of loops outside, how many there are up to one that moves it."""

    @staticmethod
    def of(
        stream: Stream,
        steps: Sequence[int],
        hardware: Hardware,
        held: int,
        cores: int,
        copies: int,
    ) -> _Walked:
        """Inside the first `held` loops outputs are in registers."""
        access, strides = stream.access, stream.strides
        footprints = [_footprint((), access, hardware)]
        if access.is_output and held < len(steps):
            footprints = [NOTHING]
        walk: Walk = ()
        for number in reversed(range(len(steps))):
            stride, count = strides[number], steps[number]
            if access.is_output and number > held:
                footprints.append(NOTHING)
                if stride and count > 1:
                    walk = (*walk, (abs(stride), count))
            elif stride and count > 1:
                walk = (*walk, (abs(stride), count))
                touched = _footprint(walk, access, hardware)
                footprints.append(_in_order(touched, footprints[-1], hardware))
            elif footprints[-1] is NOTHING:
                footprints.append(_footprint(walk, access, hardware))
            else:
                footprints.append(footprints[-1])
        footprints.reverse()
        moved = [0]
        for outside, stride in enumerate(strides, 1):
            moved.append(outside if stride else moved[-1])
        return _Walked(stream, footprints, hardware, cores, copies, moved)

    def comes_in(
        self, steps: Sequence[int], outside: int, fitting: int
    ) -> tuple[float, float]:
        """The lines that come in where the loops inside fit a level, and the jumps.

        `fitting` steps of the loop around fit too and come in as one, so that a line is
        fetched once for all its elements.
        """
        moved = self.moved[outside]
        times = float(prod(steps[:moved]))
        found = self.footprints[outside]
        if moved < outside or fitting <= 1:
            return found.lines * times, found.jumps * times
        together = self.part(steps, outside, fitting)
        lines = together.lines * times / fitting
        # Neighbouring runs are one only if nothing else is read in between.
        is_short = abs(self.stream.strides[moved - 1]) < self.hardware.cache_line_bytes
        if is_short and found.lines <= self.hardware.overheads.nearby_lines:
            return lines, together.jumps * times / fitting
        return lines, found.jumps * times

    def crossed_twice(self, outside: int) -> float:
        """The part of the lines inside that two vectors reach into."""
        found = self.footprints[outside]
        if not self.stream.crossing or not found.lines:
            return 0.0
        filled = found.bytes / (found.lines * self.hardware.cache_line_bytes)
        return self.stream.crossing * max(2 * filled - 1, 0.0)

    def reuse(self, steps: Sequence[int], outside: int, depth: int) -> float:
        """Into how small a part of the time it comes in, where the loops inside fit.

        Loops that it does not move through read again what their first step brought,
        if loops inside of them move it.
        """
        moved = self.moved[outside]
        found = waiting = 1
        for number in range(moved, depth):
            if self.stream.strides[number]:
                found *= waiting
                waiting = 1
            else:
                waiting *= steps[number]
        return found

    def pages_found(
        self, steps: Sequence[int], outside: int, hardware: Hardware
    ) -> float:
        """How many pages come in where the loops inside fit the table of pages."""
        moved = self.moved[outside]
        times = float(prod(steps[:moved]))
        if moved and moved == outside:
            # Steps that are shorter than a page stay in it.
            stride = abs(self.stream.strides[moved - 1]) / hardware.page_bytes
            times *= min(max(stride, 1 / steps[moved - 1]), 1.0)
        return self.footprints[outside].pages * times

    def part(self, steps: Sequence[int], outside: int, count: int) -> Footprint:
        """What the loops inside touch in `count` steps of the loop around."""
        if not outside or not self.stream.strides[outside - 1]:
            return self.footprints[outside]
        if self.footprints[outside] is NOTHING:
            return NOTHING
        moving = zip(
            (count, *steps[outside:]), self.stream.strides[outside - 1 :], strict=True
        )
        walk = [(abs(stride), n) for n, stride in moving if stride and n > 1]
        return _footprint(tuple(reversed(walk)), self.stream.access, self.hardware)


def _in_order(touched: Footprint, inside: Footprint, hardware: Hardware) -> Footprint:
    """What a loop touches, with the jumps of the order in which it does.

    Pieces next to each other are one run only if the loop comes back to them at once.
    """
    if inside is NOTHING or inside.lines <= hardware.overheads.nearby_lines:
        return touched
    jumps = inside.jumps * touched.lines / inside.lines
    return replace(touched, jumps=jumps) if jumps > touched.jumps else touched


def _footprint(walk: Walk, access: Access, hardware: Hardware) -> Footprint:
    line, page = hardware.cache_line_bytes, hardware.page_bytes
    return footprint(walk, access.element_bytes, line, page)


def traffic(
    streams: Sequence[Stream],
    steps: Sequence[int],
    hardware: Hardware,
    cores: int,
    held: int,
    depth: int,
    divided: Sequence[int] | None = None,
) -> Iterator[Traffic]:
    """The traffic into each cache from what is behind it, the nearest first.

    That of a cache is found when it is asked for.

    One core takes `steps` of the loops, outermost first. Inside the first `held` ones
    outputs are in registers. Those inside the first `depth` are unrolled: what they
    read is loaded once. `divided` are the loops of which each core takes other steps:
    what they do not move is the same for all cores, and a shared cache holds it once.
    Without them all have their own.
    """
    walked = [
        _Walked.of(
            stream, steps, hardware, held, cores, _copies(stream, divided, cores)
        )
        for stream in streams
    ]
    inside = [[one.footprints[n] for one in walked] for n in range(depth + 1)]
    pages = [sum([found.pages for found in together]) for together in inside]
    walks = _page_walks(walked, pages, steps, hardware, hardware.page_entries)
    near = hardware.near_page_entries
    look_ups = _page_walks(walked, pages, steps, hardware, near)
    for level in range(len(hardware.caches)):
        near_look_ups = 0.0 if level else look_ups
        yield _Level(hardware, level).traffic(
            walked, inside, steps, walks, near_look_ups
        )


def _copies(stream: Stream, divided: Sequence[int] | None, cores: int) -> int:
    """How many cores have a part of an access for themselves."""
    is_own = divided is None or any(stream.strides[number] for number in divided)
    return cores if is_own else 1


def level_cycles(
    found: Iterable[Traffic], hardware: Hardware, cores: int
) -> Iterator[tuple[str, dict[float, float]]]:
    """The name of each level of memory, and the cycles that one core waits for it.

    Those of a level are by the reuse of what it brings.
    """
    overheads = hardware.overheads
    lost_per_line = 0.0
    for level, moved in enumerate(found, 1):
        is_cache = level < len(hardware.caches)
        rate = _bytes_per_cycle(hardware, level, cores)
        if level == _OUTER and moved.lines:
            lost = moved.jumps * overheads.jump_cycles
            lost += moved.walks * overheads.page_walk_cycles
            lost_per_line = lost / moved.lines
        per_line = hardware.cache_line_bytes / rate + lost_per_line
        waiting = {reuse: lines * per_line for reuse, lines in moved.reuses.items()}
        if moved.look_ups:
            looked_up = moved.look_ups * overheads.page_look_up_cycles
            waiting[1] = waiting.get(1, 0.0) + looked_up
        yield f"cache {level + 1}" if is_cache else "memory", waiting


def _bytes_per_cycle(hardware: Hardware, level: int, cores: int) -> float:
    """What one core gets from a level; the one after the last cache is the memory."""
    if level < len(hardware.caches):
        return hardware.caches[level].bytes_per_cycle
    return hardware.memory_gigabytes_per_second / cores / hardware.clock_gigahertz


def _misses(used: float, fits: float, overflows: float) -> float:
    """Which part of the data does not stay, where this much of a level is wanted.

    All stay in a part of `fits` of it, none from `overflows` on.
    """
    return min(max((used - fits) / (overflows - fits), 0.0), 1.0)


def _page_walks(
    walked: Sequence[_Walked],
    pages: Sequence[float],
    steps: Sequence[int],
    hardware: Hardware,
    entries: int,
) -> float:
    """How often a page is looked up that a table of so many entries does not hold.

    `pages` are those that the loops inside touch, for each number of loops outside.
    """
    overheads = hardware.overheads
    bounds = overheads.cache_fits, overheads.cache_overflows
    total = 0.0
    before = 1.0
    depth = len(pages) - 1
    for outside, touched in enumerate(pages):
        now = _misses(touched / entries, *bounds) if outside < depth else 0.0
        share, before = before - now, now
        if share > 0 and outside:
            found = [one.pages_found(steps, outside, hardware) for one in walked]
            total += share * sum(found)
        if not now:
            break
    return total


@dataclass(frozen=True)
class _Level:
    """One cache and what it holds."""

    hardware: Hardware
    number: int

    @property
    def bounds(self) -> tuple[float, float]:
        """See `_misses`."""
        return self.hardware.cache_bounds(self.hardware.caches[self.number])

    def used(self, found: Sequence[Footprint], walked: Sequence[_Walked]) -> float:
        """How much of it footprints take together; 1 is all."""
        cache = self.hardware.caches[self.number]
        line = self.hardware.cache_line_bytes
        size = cache.size_bytes
        if cache.is_shared:
            # Places in a shared cache are hashed, so that strides do not matter.
            pairs = zip(found, walked, strict=True)
            return sum([f.lines * one.copies for f, one in pairs]) * line / size
        everywhere = sum([f.lines for f in found]) * line / size
        set_bytes = cache.size_bytes // cache.ways
        crowded = max([f.crowding(set_bytes, line) for f in found])
        return everywhere + crowded / cache.ways

    def fitting(
        self, walked: Sequence[_Walked], steps: Sequence[int], outside: int, used: float
    ) -> int:
        """How many steps of the loop around fit it with all that they touch."""
        if outside == 0 or used >= 1:
            return 1
        most = steps[outside - 1]
        few = min(most, _LINE_STEPS)
        parts = [one.part(steps, outside, few) for one in walked]
        together = self.used(parts, walked)
        slope = max((together - used) / max(few - 1, 1), 1e-9)
        return max(min(int(1 + (1 - used) / slope), most), 1)

    def traffic(
        self,
        walked: Sequence[_Walked],
        inside: Sequence[Sequence[Footprint]],
        steps: Sequence[int],
        walks: float,
        look_ups: float,
    ) -> Traffic:
        """What comes into it.

        `inside` has, for each number of loops outside that are no unrolled ones, what
        those inside touch of each stream.
        """
        depth = len(inside) - 1
        is_shared = self.hardware.caches[self.number].is_shared
        jumps = 0.0
        reuses: defaultdict[float, float] = defaultdict(float)
        before = 1.0
        bounds = self.bounds
        for outside, together in enumerate(inside):
            used = self.used(together, walked)
            now = _misses(used, *bounds) if outside < depth else 0.0
            share, before = before - now, now
            # What all fits without any loop outside stays from one run to the next.
            if share > 0 and outside:
                fitting = self.fitting(walked, steps, outside, used)
                for one in walked:
                    came, jumped = one.comes_in(steps, outside, fitting)
                    weight = 2.0 if one.stream.access.is_output else 1.0
                    if not self.number:
                        weight += one.crossed_twice(outside)
                    reuse = one.reuse(steps, outside, depth)
                    if is_shared and reuse == 1:
                        # What one core has brought is there for the others; at the
                        # pace of a burst each of them waits for itself.
                        weight *= one.copies / one.cores
                    reuses[reuse] += share * came * weight
                    jumps += share * jumped
            if not now:
                break
        return Traffic(sum(reuses.values()), jumps, walks, reuses, look_ups)

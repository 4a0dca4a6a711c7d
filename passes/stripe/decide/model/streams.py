"""The time of a block of which each cell is computed on its own, by lanes.

Such a block is as fast as its data moves: from memory, each sector that it touches
once; from the last cache, each as often as a sub-group accesses it; through the first
one, line by line; out of local memory, as fast as the banks allow. These overlap, and
with them the arithmetic, so that the slowest counts, with a part of the others. Memory
is only as fast as what is on its way allows: so many bytes of as many work-items as run
at once, for the time that each waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .....targets.hardware.description import Hardware
from .....targets.hardware.lanes import LaneFigures
from ....clock import Clock, Estimate
from ...analysis.footprint import box
from ...analysis.problem import Access, Problem
from .lane_memory import Steps, bank_turns, moved_bytes, sectors, touched
from .occupancy import resident_groups
from .sharing import Sharing


@dataclass(frozen=True)
class Staged:
    """An input that a group copies to local memory first."""

    number: int
    """Of the refinement."""
    sizes: tuple[int, ...]
    """Of the copy, along the axes of the input."""
    padding: int
    """Cells behind each row."""

    @property
    def pitches(self) -> tuple[int, ...]:
        """How many cells it is from one place to the next, along each axis."""
        found: list[int] = []
        pitch = 1
        for axis, size in enumerate(reversed(self.sizes)):
            found.append(pitch)
            pitch *= size + (self.padding if axis == 0 else 0)
        return tuple(reversed(found))

    @property
    def cells(self) -> int:
        """All of them, padding included."""
        return prod(self.sizes[:-1]) * (self.sizes[-1] + self.padding)


def estimate(
    problem: Problem, sharing: Sharing, staged: tuple[Staged, ...], hardware: Hardware
) -> Estimate:
    """The time of a block whose points are shared like that."""
    return _Model(problem, sharing, {s.number: s for s in staged}, hardware).estimate()


@dataclass(frozen=True)
class _Model:
    problem: Problem
    sharing: Sharing
    staged: dict[int, Staged]
    hardware: Hardware

    @property
    def lanes(self) -> int:
        """The work-items of a sub-group."""
        return self.hardware.items_at_once

    def estimate(self) -> Estimate:
        hardware, figures = self.hardware, self.hardware.lanes
        moved = issued = local = unique = read = 0.0
        for access in self.problem.accesses:
            stage = self.staged.get(access.number)
            touched = moved_bytes(access, self.problem.ranges, self.hardware)
            unique += touched
            read += 0.0 if access.is_output else touched
            if stage is None:
                sector_count, turns = self._plain(access)
            else:
                sector_count, turns, served = self._copied(access, stage)
                local += served
            moved += sector_count * figures.sector_bytes
            issued += turns
        groups = self.groups
        rate = 1e9 * hardware.memory_gigabytes_per_second
        # Of the core that has the most groups.
        core = -(-groups // hardware.cores) * Clock(hardware).cycle
        parts = {
            "memory": self._tail * together(unique / rate, read / self._rate, figures),
            "last cache": core * moved / hardware.caches[-1].bytes_per_cycle,
            "accesses": core * issued,
            "local memory": core * local,
            "arithmetic": core * self._computed,
        }
        slowest, rest = max(parts.values()), sum(parts.values())
        shown = figures.window_overlap if self._is_unrolled else figures.stream_overlap
        seconds = slowest + shown * (rest - slowest)
        # Groups start while others run.
        starts = groups * hardware.group_nanoseconds * 1e-9
        launch = Clock(hardware).launch
        parts |= {"work-groups": starts, "launch": launch}
        return Estimate(max(seconds, starts) + launch, parts)

    @property
    def groups(self) -> int:
        """The work-groups that there are."""
        pairs = zip(self.problem.ranges, self.sharing.group, strict=True)
        return prod(-(-extent // size) for extent, size in pairs)

    @property
    def _tail(self) -> float:
        """How many times as long memory takes, as cores have nothing left in the end.

        Copies to local memory and aggregations are in figures of their own.
        """
        if self.staged or self.problem.aggregates:
            return 1.0
        resident = resident_groups(prod(self.sharing.items), self.hardware)
        waves = self.groups / (resident * self.hardware.cores)
        return 1 + self.hardware.lanes.tail_waves / waves if waves > 1 else 1.0

    @property
    def _rate(self) -> float:
        """The bytes that are read in a second, by what is on its way."""
        hardware, items = self.hardware, prod(self.sharing.items)
        figures = hardware.lanes
        held = sum(
            stage.cells * self._access(stage.number).element_bytes
            for stage in self.staged.values()
        )
        resident = resident_groups(items, hardware, local_bytes=held)
        running = min(self.groups, resident * hardware.cores)
        all_points = prod(self.problem.ranges) / prod(self.sharing.group)
        # What is not moved by all indices comes out of caches mostly.
        inputs = [
            access
            for access in self.problem.inputs
            if access.number not in self.staged
            and all(_moves(access, index) for index in self.sharing.order)
        ]
        bytes_each = sum(self._size(a) * self._times(a) for a in inputs) * items + held
        if not bytes_each:
            return 1e9 * hardware.memory_gigabytes_per_second
        if held:
            # They wait for each other before they store what they have loaded.
            bytes_each /= 2
        seconds = figures.busy_latency * hardware.memory_latency_nanoseconds * 1e-9
        return min(running, all_points) * bytes_each / seconds

    def _access(self, number: int) -> Access:
        return next(a for a in self.problem.accesses if a.number == number)

    def _size(self, access: Access) -> int:
        """The bytes that a lane accesses at once."""
        is_vector = access.uses(self.sharing.order[-1])
        return access.element_bytes * (self.sharing.width if is_vector else 1)

    def _times(self, access: Access) -> int:
        """How often each lane does so: not again where a step does not move it."""
        sharing = self.sharing
        if access.number == sharing.kept:
            window = box(access.coefficients, sharing.unit, access.window)
            moving = (n for n in range(access.rank) if _moves(access, n))
            turns = prod(sharing.turns[index] for index in moving)
            return prod(window) // sharing.width * turns
        pairs = enumerate(zip(sharing.turns, sharing.loops, strict=True))
        return prod(turns * n for index, (turns, n) in pairs if _moves(access, index))

    def _steps(self, strides: tuple[int, ...]) -> Steps:
        """How neighbouring lanes step, by the bytes that each index moves."""
        sharing = self.sharing
        return tuple(
            (strides[index] * sharing.unit[index], sharing.items[index])
            for index in reversed(sharing.order)
            if sharing.items[index] > 1
        )

    @property
    def _is_unrolled(self) -> bool:
        """Whether what a work-item goes through in a turn are no loops."""
        return self.sharing.kept is not None

    @property
    def _computed(self) -> float:
        """The cycles of arithmetic of a group."""
        sharing = self.sharing
        points = prod(sharing.turns) * prod(sharing.loops) * sharing.width
        operations = self._subgroups * points * self.problem.operations
        return operations / self.hardware.multiply_adds_per_cycle

    @property
    def _accessed(self) -> float:
        """The bytes of global memory that a sub-group accesses in a cycle."""
        return self.hardware.caches[0].bytes_per_cycle

    @property
    def _subgroups(self) -> int:
        return -(-prod(self.sharing.items) // self.lanes)

    def _plain(self, access: Access) -> tuple[float, float]:
        """The sectors that a group moves, and the cycles of its accesses."""
        figures = self.hardware.lanes
        sector = figures.sector_bytes
        size = self._size(access)
        steps, line = self._steps(access.strides), self.hardware.cache_line_bytes
        each = sectors(steps, size, self.lanes, figures)
        lines = touched(steps, size, self.lanes, line) * figures.line_cycles
        times = self._subgroups * self._times(access)
        cycles = max(each * sector / self._accessed, lines, figures.access_cycles)
        if not access.is_output and self.problem.aggregates and not self._is_unrolled:
            cycles += figures.loop_cycles
        if access.is_output:
            # Nothing gathers what is written before it gets to the last cache.
            is_whole = each * sector <= size * self.lanes
            parts = 1 if is_whole else figures.partial_sector
            return each * times * parts, cycles * times
        # What a group reads again is in the first cache.
        once = moved_bytes(access, self.sharing.group, self.hardware) / sector
        return min(each * times, once), cycles * times

    def _copied(self, access: Access, stage: Staged) -> tuple[float, float, float]:
        """The same of a copy, and the cycles that local memory serves it."""
        element, figures = access.element_bytes, self.hardware.lanes
        touched = moved_bytes(access, self.sharing.group, self.hardware)
        moved, turns = touched / figures.sector_bytes, touched / self._accessed
        rows = tuple(
            (pitch * element, size)
            for pitch, size in zip(stage.pitches, stage.sizes, strict=True)
        )
        copies = -(-prod(stage.sizes) // self.lanes)
        written = bank_turns(rows[::-1], element, self.lanes, figures) * copies
        near = tuple(
            element
            * sum(
                row[index] * pitch
                for row, pitch in zip(access.coefficients, stage.pitches, strict=True)
            )
            for index in range(self.problem.rank)
        )
        times = self._subgroups * self._times(access) * self.sharing.width
        read = bank_turns(self._steps(near), element, self.lanes, figures) * times
        return moved, turns, written + read


def together(rate: float, latency: float, figures: LaneFigures) -> float:
    """The time of data that both bound: near where they meet, both show."""
    exponent = figures.latency_exponent
    return float((rate**exponent + latency**exponent) ** (1 / exponent))


def _moves(access: Access, index: int) -> bool:
    """Whether an index may lead to other places."""
    return access.is_chosen or access.uses(index)

"""The time of a walk whose products the work-items of groups share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import ceil

from .....targets.hardware.description import Hardware
from .occupancy import resident_groups
from .tiling import AT_ONCE, Tiling

_ROWS = (1, 2, 4, 8)
"""Of a lane."""
_COLUMNS = (1, 2, 4, 8, 12, 16, 20, 24)
"""Of a lane: as many as it loads at once, or several times that."""
_BEST = 8
"""Ways to share a product of which those of several are combined."""
_DEPTHS = (16, 32)
"""How many values are summed up between two loads of local memory."""


@dataclass(frozen=True)
class Product:
    """What a product of a walk computes in a step of it."""

    rows: int
    columns: int
    depth: int
    staged: int
    """How many of its inputs come to local memory for it, the columns last."""
    keeps: bool
    """Whether it hands on values to others of the step."""
    element_bytes: int
    is_once: bool = False
    """Whether its rows come to local memory once, before the walk."""


@dataclass(frozen=True)
class Way:
    """How a group shares the products of a step."""

    products: tuple[Product, ...]
    sharings: tuple[Tiling, ...]

    @property
    def items(self) -> int:
        """The work-items of a group."""
        return self.sharings[0].items

    def local_bytes(self, *, ahead: bool) -> int:
        """The local memory of a group, with the pieces of the next step or without."""
        pieces = kept = 0
        for each, sharing in zip(self.products, self.sharings, strict=True):
            side = each.columns + AT_ONCE * sharing.columns[2]
            rows = each.rows + AT_ONCE * sharing.rows[2]
            if each.is_once:
                kept += rows * each.depth
            elif each.staged > 1:
                side += rows
            pieces += side * sharing.depth * (2 if ahead else 1)
            if each.keeps:
                kept += each.columns * (each.rows + AT_ONCE)
        rows = self.products[0].rows
        return self.products[0].element_bytes * (pieces + kept + 8 * rows)

    @property
    def registers(self) -> int:
        """What a lane holds at least."""
        words = -(-self.products[0].element_bytes // 4)
        cells = words * sum(sharing.cells for sharing in self.sharings)
        return cells + max(s.rows[0] + s.columns[0] for s in self.sharings) + 40

    def fits(self, hardware: Hardware) -> bool:
        """Whether a device has room for a group."""
        memory, registers = hardware.array_memory_bytes, hardware.vector_registers
        return self.local_bytes(ahead=True) <= memory and self.registers <= registers

    def cycles(self, hardware: Hardware) -> float:
        """Those that a step of a group keeps a core busy."""
        figures, total = hardware.lanes, 0.0
        for each, sharing in zip(self.products, self.sharings, strict=True):
            adds = sharing.subgroups * sharing.cells / hardware.multiply_adds_per_cycle
            loads = sharing.subgroups * sharing.loads(figures)
            local = loads / hardware.loads_per_cycle
            far = _side(each) * each.element_bytes / hardware.caches[-1].bytes_per_cycle
            shown = figures.walk_local_share * local + figures.walk_cache_share * far
            total += (max(adds, local) + shown) * each.depth
        return total

    def latency(self, hardware: Hardware) -> float:
        """The cycles of a step of a group that has a core for itself."""
        figures, total = hardware.lanes, 0.0
        for each, sharing in zip(self.products, self.sharings, strict=True):
            total += figures.walk_add_cycles * sharing.cells * each.depth
            total += figures.walk_step_cycles * ceil(each.depth / sharing.depth)
            if each.keeps:
                total += figures.walk_value_cycles * sharing.cells
        return total

    def seconds(self, groups: int, steps: int, hardware: Hardware) -> float:
        """Of so many groups that each walk so many steps.

        Groups that a core runs at once use it while others wait.
        """
        resident = resident_groups(
            self.items,
            hardware,
            local_bytes=self.local_bytes(ahead=True),
            registers=self.registers,
        )
        work, alone = self.cycles(hardware), self.latency(hardware)
        rounds, rest = divmod(groups, hardware.cores * resident)
        last = ceil(rest / hardware.cores)
        cycles = rounds * max(resident * work, alone)
        if last:
            cycles += max(last * work, alone)
        return cycles * steps / (hardware.clock_gigahertz * 1e9)


def _side(each: Product) -> int:
    """The numbers that come to local memory for each value that is summed up."""
    return each.columns + (each.rows if each.staged > 1 and not each.is_once else 0)


@lru_cache(maxsize=256)
def ways_of(products: tuple[Product, ...], hardware: Hardware) -> tuple[Way, ...]:
    """The ways to share the products of a step, each with as many work-items.

    What all steps need is in local memory all the time, if there is room.
    """
    once = tuple([replace(each, is_once=each.staged > 1) for each in products])
    return _ways_of(once, hardware) or _ways_of(products, hardware)


def _ways_of(products: tuple[Product, ...], hardware: Hardware) -> tuple[Way, ...]:
    found: list[Way] = []
    lanes = hardware.innermost.count
    for subgroups in (1, 2, 4, 8):
        items = subgroups * lanes
        if items > hardware.work_group_size or items < products[0].rows:
            continue
        sharings = [_fastest(each, lanes, subgroups, hardware) for each in products]
        ways = [Way(products, several) for several in product(*sharings)]
        found += [way for way in ways if way.fits(hardware)]
    return tuple(found)


def _fastest(
    each: Product, lanes: int, subgroups: int, hardware: Hardware
) -> list[Tiling]:
    """Some ways to share a product, those that keep a core busy the least."""
    found = [Way((each,), (own,)) for own in _sharings(each, lanes, subgroups)]
    found.sort(key=lambda way: (way.cycles(hardware), -way.sharings[0].rows[0]))
    return [way.sharings[0] for way in found[:_BEST]]


def fastest_way(
    products: Sequence[Product], groups: int, steps: int, hardware: Hardware
) -> Way | None:
    """The fastest way for so many groups that each walk so many steps, if any fits.

    Of several that take the same time, that in which a group by itself is faster.
    """
    return min(
        ways_of(tuple(products), hardware),
        key=lambda way: (way.seconds(groups, steps, hardware), way.latency(hardware)),
        default=None,
    )


def _sharings(each: Product, lanes: int, subgroups: int) -> Iterator[Tiling]:
    """The ways to share all cells of a product, none left over."""
    depths = {min(depth, each.depth) for depth in _DEPTHS}
    for own, across, depth in product(_ROWS, _COLUMNS, sorted(depths)):
        for high in _divisors(subgroups):
            rows, columns = own * high, across * (subgroups // high)
            if each.rows % rows or each.columns % columns:
                continue
            tall, wide = each.rows // rows, each.columns // columns
            if tall * wide == lanes:
                yield Tiling(
                    (own, tall, high),
                    (across, wide, subgroups // high),
                    (depth,),
                )


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]

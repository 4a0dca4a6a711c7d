"""How many work-items take turns at a row, and how many rows a group has."""

from __future__ import annotations

from collections.abc import Sequence

from .....targets.hardware import Hardware
from .....targets.hardware.lanes import LaneFigures

_ROWS_OF_CORE = 2
"""How many cores' parts of the rate of memory one group can take."""


def turns_of(extent: int, items: int, figures: LaneFigures) -> int:
    """A power of two of items, of so many at most, for rows of that length."""
    wanted = max(min(-(-extent // figures.row_values), items), 1)
    return 1 << (wanted.bit_length() - 1)


def row_registers(hardware: Hardware) -> int:
    """Those of a work-item that the cells of rows may take."""
    return int(hardware.vector_registers * hardware.lanes.row_registers_share)


def part_of_rows(length: int, rows: int, hardware: Hardware) -> int:
    """The values of a part of rows of that length; all where none is cut."""
    items = hardware.work_group_size
    registers = row_registers(hardware)
    is_few = _ROWS_OF_CORE * rows < hardware.cores
    if not is_few and length <= hardware.work_group_limit * registers:
        return length
    wanted = hardware.cores * hardware.overheads.groups_per_core // rows
    worth = length // (items * hardware.lanes.part_values)
    needed = -(-2 * length // (items * registers))
    count = max(min(wanted, worth), needed if worth > 1 else 1, 1)
    return -(-length // (items * count)) * items


def rows_of_group(row: int, extents: Sequence[int], hardware: Hardware) -> list[int]:
    """Tiles of so many rows as there are items for, of ranges of these extents.

    They leave nothing over where that takes little.
    """
    items = hardware.work_group_size
    left = items // turns_of(row, items, hardware.lanes)
    sizes: list[int] = []
    for extent in reversed(extents):
        size = min(left, extent)
        divisors = (n for n in range(size, size // 2, -1) if extent % n == 0)
        sizes.append(max(next(divisors, size), 1))
        left //= sizes[-1]
    return sizes[::-1]

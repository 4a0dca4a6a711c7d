"""How many work-items take turns at a row, and how many rows a group has."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .....targets.hardware import Hardware
from .....targets.hardware.lanes import LaneFigures

_BUFFERS = 2
"""Buffers of rows that are in registers at once."""
_ROWS_OF_CORE = 2
"""How many cores' parts of the rate of memory one group can take."""


def turns_of(extent: int, items: int, figures: LaneFigures) -> int:
    """A power of two of items, of so many at most, for rows of that length."""
    wanted = max(min(-(-extent // figures.row_values), items), 1)
    return 1 << (wanted.bit_length() - 1)


def row_registers(hardware: Hardware) -> int:
    """Those of a work-item that the cells of rows may take."""
    return int(hardware.vector_registers * hardware.lanes.row_registers_share)


def part_of_rows(length: int, rows: int, hardware: Hardware, width: int = 1) -> int:
    """The values of a part of rows of that length; all where none is cut.

    There are so many groups with rows, each with `width` columns.
    """
    items = max(hardware.work_group_size // width, 1)
    registers = row_registers(hardware)
    is_few = _ROWS_OF_CORE * rows < hardware.cores
    if not is_few and width * length <= hardware.work_group_limit * registers:
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


def columns_of_group(
    column: int, extents: Sequence[int], hardware: Hardware
) -> list[int]:
    """Tiles of neighbouring columns of that length, along the last of these ranges.

    As many as a sub-group has lanes, or fewer where their cells would not fit the
    registers of a group, or there would be too few groups: down to whole sectors.
    """
    cells = hardware.work_group_limit * row_registers(hardware) // _BUFFERS
    least = hardware.lanes.sector_bytes // hardware.lanes.word_bytes
    *outer, last = extents
    width = hardware.items_at_once
    while width > least and (
        width * column > cells or prod(outer) * last < width * hardware.cores
    ):
        width //= 2
    return [*[1] * len(outer), min(width, last)]

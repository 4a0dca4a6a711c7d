"""How a work-group shares the tile of a product: rows, columns, lanes, sub-groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from .....targets.hardware.lanes import LaneFigures

AT_ONCE = 4
"""Numbers that a lane loads from local memory at once."""


@dataclass(frozen=True)
class Tiling:
    """How a work-group shares a tile of rows and columns."""

    rows: tuple[int, int, int]
    """Those of a lane, the lanes along them, the sub-groups along them."""
    columns: tuple[int, int, int]
    depths: tuple[int, ...]
    """How many values of each index that aggregates are summed up in a step."""

    @cached_property
    def depth(self) -> int:
        """How many values are summed up in a step."""
        return prod(self.depths)

    @cached_property
    def row_count(self) -> int:
        """The rows of a group."""
        own, lanes, subgroups = self.rows
        return own * lanes * subgroups

    @cached_property
    def column_count(self) -> int:
        """The columns of a group."""
        own, lanes, subgroups = self.columns
        return own * lanes * subgroups

    @cached_property
    def subgroups(self) -> int:
        """The sub-groups of a group."""
        return self.rows[2] * self.columns[2]

    @cached_property
    def items(self) -> int:
        """The work-items of a group."""
        return self.rows[1] * self.columns[1] * self.subgroups

    @cached_property
    def registers(self) -> int:
        """What a lane holds: cells, factors, places, and what it loads ahead.

        That is the more, the more steps of the sum a compiler sees.
        """
        rows, columns = self.rows[0], self.columns[0]
        return self.cells + rows + columns + 28 + self.depth

    def local_bytes(self, element_bytes: int) -> int:
        """The local memory of a group: of one step, and of the next."""
        sides = self.row_count + self.column_count
        padding = AT_ONCE * (self.rows[2] + self.columns[2])
        return 2 * (sides + padding) * self.depth * element_bytes

    def loads(self, figures: LaneFigures) -> float:
        """The cycles in which a sub-group loads factors from local memory, for a value.

        In one it loads a number from each bank, and some go by for the request.
        """
        cycles = 0.0
        for own, lanes, _ in (self.rows, self.columns):
            served = ceil(min(own, AT_ONCE) * lanes / figures.banks)
            cycles += ceil(own / AT_ONCE) * (served + figures.request_cycles)
        return cycles

    @property
    def cells(self) -> int:
        """The cells of a work-item."""
        return self.rows[0] * self.columns[0]

    def __str__(self) -> str:
        return (
            f"groups of {self.items} work-items with {self.rows[0]}x{self.columns[0]} "
            f"of {self.row_count}x{self.column_count} cells each"
        )

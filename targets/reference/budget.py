"""What one run of the interpreter may take, so that every run ends.

It is counted in points, of which a core runs some hundred million in a second: each
point of a contraction, each statement for each point of a block or for each work-item,
and 16 for each cell of a tensor or buffer, which bounds the memory as well. A statement
that runs for few points counts as one for `LEAST`, as it takes no less time.
"""

from __future__ import annotations

from typing import Final

from xdsl.ir import Operation

from ...dialects.locations import error_at
from ...errors import GinghamError
from ...settings import find

LEAST: Final = 1024
"""Points that take as long as a statement that runs for one."""

POINTS_OF_A_CELL: Final = 16


class OverBudgetError(GinghamError):
    """The program may be right, but the interpreter would take too long for it."""


class Budget:
    """Points that may still be run, by one run or by several together."""

    def __init__(self, points: int | None = None) -> None:
        self.points: int = (
            find("interpreted_points").value if points is None else points
        )
        """What there was at first; without a number the setting."""
        self.left = self.points

    def spend(self, op: Operation, points: int) -> None:
        """Take points; raises OverBudgetError at `op` when there are not that many."""
        if points > self.left:
            raise self.exceeded(op, points)
        self.left -= points

    def require(self, op: Operation, points: int) -> None:
        """Raises OverBudgetError when there are not that many, and takes none."""
        if points > self.left:
            raise self.exceeded(op, points)

    def allocate(self, op: Operation, cells: int) -> None:
        """Take what so many cells count; before they are there."""
        self.spend(op, cells * POINTS_OF_A_CELL)

    def require_cells(self, op: Operation, cells: int) -> None:
        """Raises OverBudgetError when there is not what so many cells count."""
        self.require(op, cells * POINTS_OF_A_CELL)

    def exceeded(self, op: Operation, points: int) -> OverBudgetError:
        """The error for an operation that would take so many points."""
        if points >= self.points:
            which = f"takes {points:,} points"
        else:
            which = f"takes {points:,} points, when {self.points - self.left:,} are run"
        error = error_at(
            op,
            f"'{op.name}' {which}: more than the {self.points:,} that the reference "
            "interpreter runs",
            "choose smaller sizes; the setting interpreted_points "
            "(GINGHAM_INTERPRETED_POINTS=N) allows more",
        )
        return OverBudgetError(error.message, error.location, error.hint)

"""Which index of a block a walk runs over, as a part of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.parser import AttrParser

from .schedule_part import Part, ScheduledBlock, index_names


@dataclass(frozen=True)
class Walk(Part):
    """That a block of a nest is run for some values of an index at a time.

    `walk 2 by 64`: 64 values of index 2 for each step of a walk that it shares with the
    other blocks of its nest that have one.
    """

    word: ClassVar[str] = "walk"
    example: ClassVar[str] = "walk 2 by 64"
    applied_by: ClassVar[str] = "stripe-walk"

    index: int
    size: int
    """The same in all blocks of a nest."""

    @classmethod
    def parse(cls, parser: AttrParser) -> Walk:
        """Read `2 by 64`."""

        def number() -> int:
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        index = number()
        parser.parse_keyword("by")
        return cls(index, number())

    def format(self) -> str:
        """The index and the size."""
        return f"{self.index} by {self.size}"

    def over(self, kept: Sequence[int]) -> Walk:
        """The same with the index' new number."""
        if self.index not in kept:
            return self
        return replace(self, index=kept.index(self.index))

    def check(self, block: ScheduledBlock) -> None:
        """There is such an index, with more values than a step has."""
        count = len(block.index_ranges)
        if self.index >= count:
            raise self.refuse(
                f"expected the index of a walk to be of {index_names(block)}, 0 to "
                f"{count - 1}, got {self.index}"
            )
        extent = block.index_ranges[self.index]
        if not 0 < self.size < extent:
            raise self.refuse(
                f"expected a step of a walk over {extent} values to have 1 to "
                f"{extent - 1} of them, got {self.size}"
            )

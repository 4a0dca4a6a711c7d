"""Which blocks become one nest, as parts of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.parser import AttrParser

from .schedule_part import Part, ScheduledBlock, index_names, parse_numbers


@dataclass(frozen=True)
class Fusion(Part):
    """That a block becomes part of a nest together with the others of its group.

    `fuse group 0 shared [0, [1, 2]] tiles [[64, 8], [1, 8]]`: the first shared index is
    this block's index 0, the second is made of 1 and 2. The outer blocks of the nest
    run over indices that all members have; each member is a leaf inside, with what is
    left of its indices.
    """

    word: ClassVar[str] = "fuse"
    example: ClassVar[str] = "fuse group 0 shared [0, [1, 2]] tiles [[64, 8], [1, 8]]"
    applied_by: ClassVar[str] = "stripe-fuse-nests"

    group: int
    """The same number in all members."""
    shared: tuple[tuple[int, ...], ...]
    """For each shared index, this block's number of it. Several numbers, the slowest
    first, are indices that are contiguous in all buffers and become one."""
    tiles: tuple[tuple[int, ...], ...]
    """For each level of outer blocks, outermost first, a size per shared index: how
    many of its values one point of that block holds; 0 for all. The same in all
    members."""

    @classmethod
    def parse(cls, parser: AttrParser) -> Fusion:
        """Read `group 0 shared [0, [1, 2]] tiles [[64, 8], [1, 8]]`."""
        square = parser.Delimiter.SQUARE

        def number() -> int:
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        def index() -> tuple[int, ...]:
            several = parser.parse_optional_comma_separated_list(square, number)
            return (number(),) if several is None else tuple(several)

        parser.parse_keyword("group")
        group = number()
        parser.parse_keyword("shared")
        shared = parser.parse_comma_separated_list(square, index)
        parser.parse_keyword("tiles")
        tiles = parser.parse_comma_separated_list(
            square, lambda: parse_numbers(parser, "a size")
        )
        return cls(group, tuple(shared), tuple(tiles))

    def format(self) -> str:
        """A shared index of one number by that number, others as lists."""
        shared = ", ".join(
            str(numbers[0]) if len(numbers) == 1 else str([*numbers])
            for numbers in self.shared
        )
        tiles = ", ".join(str([*sizes]) for sizes in self.tiles)
        return f"group {self.group} shared [{shared}] tiles [{tiles}]"

    def over(self, kept: Sequence[int]) -> Fusion:
        """The same with the indices' new numbers."""
        shared = [
            tuple([kept.index(number) for number in numbers if number in kept])
            for numbers in self.shared
        ]
        return replace(self, shared=tuple(shared))

    def check(self, block: ScheduledBlock) -> None:
        """Shared indices are those of the block, each once, with a size per level."""
        count = len(block.index_ranges)
        numbers = [number for several in self.shared for number in several]
        if not all(self.shared) or any(number >= count for number in numbers):
            raise self.refuse(
                f"expected shared indices to be of {index_names(block)}, 0 to "
                f"{count - 1}, got {[[*several] for several in self.shared]}"
            )
        if len({*numbers}) != len(numbers):
            raise self.refuse(f"expected each index to be shared once, got {numbers}")
        if not self.tiles:
            raise self.refuse("expected one level of tiles at least")
        for sizes in self.tiles:
            if len(sizes) != len(self.shared):
                raise self.refuse(
                    f"expected {len(self.shared)} size(s) per level, one for each "
                    f"shared index, got {list(sizes)}"
                )


@dataclass(frozen=True)
class Alone(Part):
    """That a block becomes part of no nest: `alone`."""

    word: ClassVar[str] = "alone"
    example: ClassVar[str] = "alone"
    applied_by: ClassVar[str] = "stripe-fuse-nests"

    @classmethod
    def parse(cls, parser: AttrParser) -> Alone:
        """Read nothing: the word says it all."""
        return cls()

    def format(self) -> str:
        """Nothing."""
        return ""

    def check(self, block: ScheduledBlock) -> None:
        """Any block may be left alone."""


@dataclass(frozen=True)
class Epilogue(Part):
    """That a block is computed at the end of the one before: `epilogue`.

    That one has the cells in registers which this one reads.
    """

    word: ClassVar[str] = "epilogue"
    example: ClassVar[str] = "epilogue"
    applied_by: ClassVar[str] = "stripe-fuse-epilogues"

    @classmethod
    def parse(cls, parser: AttrParser) -> Epilogue:
        """Read nothing: the word says it all."""
        return cls()

    def format(self) -> str:
        """Nothing."""
        return ""

    def check(self, block: ScheduledBlock) -> None:
        """Which block it is for, and may be, is seen when it is applied."""

"""The decision to fuse blocks over shared indices, as an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

FUSE_ATTRIBUTE = "stripe.fuse"
"""On a block: a `#stripe.fuse<...>`."""

FUSE_REASON_ATTRIBUTE = "stripe.fuse_reason"
"""On the first block of a group: why it is one, in words and figures."""


@dataclass(frozen=True)
class Fusion:
    """That a block becomes part of a nest together with the others of its group.

    The outer blocks of the nest run over indices that all members have; each member
    is a leaf inside, with what is left of its indices.
    """

    group: int
    """The same number in all members."""
    shared: tuple[tuple[int, ...], ...]
    """For each shared index, this block's number of it. Several numbers, the slowest
    first, are indices that are contiguous in all buffers and become one."""
    tiles: tuple[tuple[int, ...], ...]
    """For each level of outer blocks, outermost first, a size per shared index: how
    many of its values one point of that block holds; 0 for all. The same in all
    members."""


@irdl_attr_definition
class FusionAttr(Data[Fusion]):
    """A `Fusion`: `#stripe.fuse<group 0 shared [0, [1, 2]] tiles [[64, 8], [1, 8]]>`.

    The first shared index is this block's index 0, the second is made of 1 and 2.
    """

    name = "stripe.fuse"

    @classmethod
    def of(
        cls,
        group: int,
        shared: Sequence[Sequence[int]],
        tiles: Sequence[Sequence[int]],
    ) -> FusionAttr:
        """The attribute of a group by its parts; see `Fusion`."""
        fusion = Fusion(group, tuple(map(tuple, shared)), tuple(map(tuple, tiles)))
        return cls(fusion)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Fusion:
        """Read `<group 0 shared [0, [1, 2]] tiles [[64, 8], [1, 8]]>`."""

        def number() -> int:
            return parser.parse_integer(allow_negative=False)

        def numbers() -> tuple[int, ...]:
            square = parser.Delimiter.SQUARE
            return tuple(parser.parse_comma_separated_list(square, number))

        def index() -> tuple[int, ...]:
            square = parser.Delimiter.SQUARE
            several = parser.parse_optional_comma_separated_list(square, number)
            return (number(),) if several is None else tuple(several)

        with parser.in_angle_brackets():
            parser.parse_keyword("group")
            group = number()
            parser.parse_keyword("shared")
            square = parser.Delimiter.SQUARE
            shared = parser.parse_comma_separated_list(square, index)
            parser.parse_keyword("tiles")
            tiles = parser.parse_comma_separated_list(square, numbers)
            return Fusion(group, tuple(shared), tuple(tiles))

    def print_parameter(self, printer: Printer) -> None:
        """Print a shared index of one number by that number, others as lists."""
        fusion = self.data
        shared = ", ".join(
            str(numbers[0]) if len(numbers) == 1 else str(list(numbers))
            for numbers in fusion.shared
        )
        tiles = ", ".join(str(list(sizes)) for sizes in fusion.tiles)
        with printer.in_angle_brackets():
            printer.print_string(
                f"group {fusion.group} shared [{shared}] tiles [{tiles}]"
            )

    def verify(self) -> None:
        """Raise VerifyException unless each level has a size per shared index."""
        fusion = self.data
        numbers = [number for index in fusion.shared for number in index]
        if not all(fusion.shared) or len(set(numbers)) != len(numbers):
            raise VerifyException(
                f"expected different numbers of indices, got {list(fusion.shared)}"
            )
        if not fusion.tiles:
            raise VerifyException("expected sizes of one level of tiles at least")
        for sizes in fusion.tiles:
            if len(sizes) != len(fusion.shared):
                raise VerifyException(
                    f"expected {len(fusion.shared)} size(s) per level, one for each "
                    f"shared index, got {list(sizes)}"
                )

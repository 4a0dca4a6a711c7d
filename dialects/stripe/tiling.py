"""The loops of a nest as parts of a schedule: levels of tiles, points, padding.

A block that is tiled becomes a nest. With `n` levels of tiles its blocks are numbered
from 0, the outermost, to `n`, the innermost, which runs over the points of a tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.parser import AttrParser

from .schedule_part import (
    Part,
    ScheduledBlock,
    check_is_free,
    check_one_each,
    check_order,
    order_over,
    parse_numbers,
)

OUTPUT_ORDER_ATTRIBUTE = "stripe.output_order"
"""On a block with one output: the numbers of the output's indices, in the order in
which they are to be its axes."""


@dataclass(frozen=True)
class Points(Part):
    """The loops of the innermost block: `points order [2, 0, 1]`.

    `order` has numbers of the block's indices in the order of the loops, outermost
    first. Indices that a block of the nest does not have are passed over, and those
    that are not listed stay behind those that are, in the order they had. Without an
    order, indices that only aggregate come first.
    """

    word: ClassVar[str] = "points"
    example: ClassVar[str] = "points order [2, 0, 1]"
    applied_by: ClassVar[str] = "stripe-tile"

    order: tuple[int, ...] = ()

    @classmethod
    def parse(cls, parser: AttrParser) -> Points:
        """Read `order [2, 0, 1]`."""
        parser.parse_keyword("order")
        return cls(parse_numbers(parser, "the number of an index"))

    def format(self) -> str:
        """The order in brackets."""
        return _order(self.order)

    def over(self, kept: Sequence[int]) -> Points:
        """The order of those indices."""
        return replace(self, order=order_over(self.order, kept))

    def check(self, block: ScheduledBlock) -> None:
        """The order is one of the block's indices."""
        check_is_free(self, block)
        check_order(self, self.order, block)


@dataclass(frozen=True)
class Tiles(Part):
    """One level of tiles, and the loops over them: `tile [8, 32, 0] order [1, 0]`.

    `sizes` has a size for each index of the block, 0 for its whole range, and `order`
    the numbers of indices in the order of the loops over these tiles, see `points`.

    The last index of block 0 runs fastest over the work-groups: with `order [1, 0, 2]`
    for `[%i, %j, %k]`, work-groups that follow each other have neighbouring `%i` and
    the same `%j`.
    """

    word: ClassVar[str] = "tile"
    example: ClassVar[str] = "tile [8, 32, 0] order [1, 0]"
    applied_by: ClassVar[str] = "stripe-tile"

    sizes: tuple[int, ...]
    order: tuple[int, ...] = ()

    @classmethod
    def parse(cls, parser: AttrParser) -> Tiles:
        """Read `[8, 32, 0]`, and an order where there is one."""
        sizes = parse_numbers(parser, "a size")
        if parser.parse_optional_keyword("order") is None:
            return cls(sizes)
        return cls(sizes, parse_numbers(parser, "the number of an index"))

    def format(self) -> str:
        """The sizes in brackets, and the order if it has one."""
        sizes = f"[{', '.join(map(str, self.sizes))}]"
        return f"{sizes} {_order(self.order)}" if self.order else sizes

    def over(self, kept: Sequence[int]) -> Tiles:
        """The sizes and the order of those indices."""
        sizes = tuple([self.sizes[index] for index in kept])
        return replace(self, sizes=sizes, order=order_over(self.order, kept))

    def check(self, block: ScheduledBlock) -> None:
        """There is a size for each index, and the order is one of them."""
        check_is_free(self, block)
        check_one_each(self, "tile size", self.sizes, block)
        check_order(self, self.order, block)


@dataclass(frozen=True)
class Padding(Part):
    """Of what ranges become multiples: `pad [0, 16, 0]`; 0 and 1 leave one alone.

    Together with a `fill` of the inputs that the index moves, a range that is no
    multiple of the vectors is computed by whole vectors; only what lies in the output
    is stored.
    """

    word: ClassVar[str] = "pad"
    example: ClassVar[str] = "pad [0, 16, 0]"
    applied_by: ClassVar[str] = "stripe-pad"

    multiples: tuple[int, ...]

    @classmethod
    def parse(cls, parser: AttrParser) -> Padding:
        """Read `[0, 16, 0]`."""
        return cls(parse_numbers(parser, "a number"))

    def format(self) -> str:
        """The numbers in brackets."""
        return f"[{', '.join(map(str, self.multiples))}]"

    def over(self, kept: Sequence[int]) -> Padding:
        """The numbers of those indices."""
        return replace(self, multiples=tuple([self.multiples[i] for i in kept]))

    def check(self, block: ScheduledBlock) -> None:
        """There is a number for each index."""
        check_is_free(self, block)
        check_one_each(self, "number", self.multiples, block)


def _order(order: tuple[int, ...]) -> str:
    return f"order [{', '.join(map(str, order))}]"

"""Copies of inputs of a nest as parts of a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.parser import AttrParser

from .attributes import Direction, MemorySpace, format_number, parse_number
from .schedule_part import Part, ScheduledBlock, parse_numbers


@dataclass(frozen=True)
class Staging(Part):
    """Copies windows of one input of a nest into contiguous scratch memory.

    `stage input 1 at 0 of 2 order [0, 1] global fill 1` stages refinement 1 before
    block 0 of the nest runs, in windows of block 2. Without a `fill` it is 0.

    The windows are those that block `window` of the nest cuts through refinement
    `refinement` (an `in`; every block of the nest has its refinements in the order of
    the block that was tiled). All of them that the points of blocks `before` to
    `window` use, at one point of the blocks around block `before`, are copied just
    before block `before` runs. The scratch has one axis for each index of blocks
    `before` to `window` that occurs in the accesses of that refinement there, outermost
    first, as long as the index' range; then the axes of the window, permuted:
    axis `n` of these is axis `order[n]` of the window. Blocks inside read the scratch.

    With `before` 0 the copy is a block of its own in front of the nest. At the top of a
    function that is a launch, and the scratch lies in `global` memory: this is packing.
    Otherwise the copy is a statement of the points of block `before - 1` and the
    scratch is `private` or `local`, one for each point. A negative `before` means
    blocks around the nest: -1 is the block of which block 0 is a statement.

    For a matrix product with `tile [8, 32, 1024]`, and `%B[%k, %j]` as refinement 1,
    `stage input 1 at 0 of 0 order [0, 1] global` makes panels `[N / 32][K][32]`. Where
    it is `%B[%j, %k]`, `order [1, 0]` makes the same panels, so that the index of the
    vectors steps through their last axis.

    Several apply one after the other. Where an earlier one has staged the refinement
    already, at the same block or one around it, its windows have further axes in front,
    of size 1, which stay in front.

    Of a window of which the blocks inside use every second cell alone, as those of a
    stride 2 do, only these are copied, and lie side by side.

    Windows may overlap: cells that are in two of them are copied twice. They may reach
    out of their buffer, too. Then only what lies inside is copied; what would lie
    outside is set to `fill`.

    With `order [1, 0] padding 4` there are 4 cells behind each row of the scratch, so
    that work-items that access neighbouring rows use different banks of local memory.
    """

    word: ClassVar[str] = "stage"
    example: ClassVar[str] = "stage input 1 at 0 of 0 order [0, 1] global"
    applied_by: ClassVar[str] = "stripe-stage"

    refinement: int
    before: int
    window: int
    order: tuple[int, ...]
    space: MemorySpace = MemorySpace.GLOBAL
    fill: int | float = 0
    padding: int = 0

    @classmethod
    def parse(cls, parser: AttrParser) -> Staging:
        """Read `input 1 at 0 of 0 order [0, 1] global fill 1`."""
        parser.parse_keyword("input")
        refinement = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("at")
        before = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("of")
        window = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("order")
        order = parse_numbers(parser, "the number of an axis")
        padding = 0
        if parser.parse_optional_keyword("padding") is not None:
            padding = parser.parse_integer(allow_boolean=False, allow_negative=False)
        space = parser.parse_str_enum(MemorySpace)
        has_fill = parser.parse_optional_keyword("fill") is not None
        fill = parse_number(parser) if has_fill else 0
        return cls(refinement, before, window, order, space, fill, padding)

    def format(self) -> str:
        """All of it; a fill of 0 is left out."""
        order = f"[{', '.join(map(str, self.order))}]"
        if self.padding:
            order += f" padding {self.padding}"
        text = (
            f"input {self.refinement} at {self.before} of {self.window} "
            f"order {order} {self.space.value}"
        )
        return f"{text} fill {format_number(self.fill)}" if self.fill != 0 else text

    def check(self, block: ScheduledBlock) -> None:
        """It is an input, and windows are those of a block inside the copy."""
        if self.window < self.before:
            raise self.refuse(
                f"expected windows of block {self.before} of the nest or of one inside "
                f"it, got {self.window}"
            )
        if sorted(self.order) != list(range(len(self.order))):
            raise self.refuse(
                f"expected an order of axes such as [1, 0], got {list(self.order)}"
            )
        if self.padding and not self.order:
            raise self.refuse("expected an axis to pad, got an order of none")
        refinements = block.refinement_list
        if self.refinement >= len(refinements):
            raise self.refuse(
                f"cannot stage input {self.refinement}: the block has "
                f"{len(refinements)} refinement(s)"
            )
        if refinements[self.refinement].direction is not Direction.IN:
            inputs = [
                n for n, r in enumerate(refinements) if r.direction is Direction.IN
            ]
            raise self.refuse(
                f"cannot stage refinement {self.refinement}: it is no input; "
                f"inputs are {inputs}"
            )

"""Decisions about nests as attributes: windows to stage, and the order of loops.

A tiled block becomes a nest: with `n` levels of tile sizes its blocks are numbered from
0, the outermost, to `n`, the innermost. The attributes here stand on the block before
it is tiled, beside `stripe.tile`; `stripe-tile` hands them on to block 0 of the nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .attributes import MemorySpace, format_number, parse_number

STAGE_ATTRIBUTE = "stripe.stage"
"""On a block: an array of `#stripe.stage<...>`, applied one after the other."""

ORDER_ATTRIBUTE = "stripe.order"
"""On a block: an array of `array<i64: ...>`, one for each block of the nest, outermost
first. Each lists numbers of the block's indices in the order of the loops there,
outermost first; indices that a block of the nest does not have are passed over, and
those that are not listed stay behind those that are, in the order they had.

The last index of block 0 runs fastest over the work-groups: with `[1, 0, 2]` for
`[%i, %j, %k]`, work-groups that follow each other have neighbouring `%i` and the same
`%j`.
"""

PAD_ATTRIBUTE = "stripe.pad"
"""On a block: `array<i64: ...>` with a number for each index, of which `stripe-pad`
makes its range a multiple; 0 and 1 leave it alone. Together with a `fill` of the inputs
that the index moves, a range that is no multiple of the vectors is computed by whole
vectors; only what lies in the output is stored.
"""


@dataclass(frozen=True)
class Staging:
    """Copies windows of one input of a nest into contiguous scratch memory.

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

    For a matrix product with `stripe.tile = [array<i64: 8, 32, 1024>]`, and
    `%B[%k, %j]` as refinement 1, `#stripe.stage<input 1 at 0 of 0 order [0, 1] global>`
    makes panels `[N / 32][K][32]`. Where it is `%B[%j, %k]`, `order [1, 0]` makes the
    same panels, so that the index of the vectors steps through their last axis.

    Entries apply one after the other. Where an earlier one has staged the refinement
    already, at the same block or one around it, its windows have further axes in front,
    of size 1, which stay in front.

    Windows may overlap: cells that are in two of them are copied twice. They may reach
    out of their buffer, too. Then only what lies inside is copied; what would lie
    outside is set to `fill`.
    """

    refinement: int
    before: int
    window: int
    order: tuple[int, ...]
    space: MemorySpace = MemorySpace.GLOBAL
    fill: int | float = 0


@irdl_attr_definition
class StagingAttr(Data[Staging]):
    """A `Staging`: `#stripe.stage<input 1 at 0 of 2 order [0, 1] global fill 1>`.

    Refinement 1, staged before block 0 of the nest runs, in windows of block 2. Without
    a `fill` it is 0.
    """

    name = "stripe.stage"

    @classmethod
    def of(
        cls,
        refinement: int,
        before: int,
        window: int,
        order: Sequence[int],
        space: MemorySpace = MemorySpace.GLOBAL,
        fill: int | float = 0,
    ) -> StagingAttr:
        """The attribute of a staging by its parts; see `Staging`."""
        staging = Staging(refinement, before, window, tuple(order), space, fill)
        return cls(staging)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Staging:
        """Read `<input 1 at 0 of 2 order [0, 1] global fill 1>`."""
        with parser.in_angle_brackets():
            parser.parse_keyword("input")
            refinement = parser.parse_integer(allow_negative=False)
            parser.parse_keyword("at")
            before = parser.parse_integer()
            parser.parse_keyword("of")
            window = parser.parse_integer()
            parser.parse_keyword("order")
            order = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE,
                lambda: parser.parse_integer(allow_negative=False),
            )
            space = parser.parse_str_enum(MemorySpace)
            has_fill = parser.parse_optional_keyword("fill") is not None
            fill = parse_number(parser) if has_fill else 0
            return Staging(refinement, before, window, tuple(order), space, fill)

    def print_parameter(self, printer: Printer) -> None:
        """Print all parts; a fill of 0 is left out."""
        staging = self.data
        order = ", ".join(map(str, staging.order))
        text = (
            f"input {staging.refinement} at {staging.before} of {staging.window} "
            f"order [{order}] {staging.space.value}"
        )
        if staging.fill != 0:
            text += f" fill {format_number(staging.fill)}"
        with printer.in_angle_brackets():
            printer.print_string(text)

    def verify(self) -> None:
        """Raise VerifyException for windows of a block outside, or a wrong order."""
        staging = self.data
        if staging.window < staging.before:
            raise VerifyException(
                f"expected windows of block {staging.before} of the nest or of one "
                f"inside it, got {staging.window}"
            )
        if sorted(staging.order) != list(range(len(staging.order))):
            raise VerifyException(
                f"expected an order of axes such as [1, 0], got {list(staging.order)}"
            )

"""The loops of a nest as parts of a schedule: levels of tiles, points; padding.

A block that is tiled becomes a nest. With `n` levels of tiles its blocks are numbered
from 0, the outermost, to `n`, the innermost, which runs over the points of a tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from xdsl.parser import AttrParser

from ...suggestions import did_you_mean
from ..aggregation import Aggregation
from ..hints import HintedVerifyException, fail_to_parse
from .binding import PARALLEL, Binding, check_bindings, index_name
from .schedule_part import (
    Part,
    ScheduledBlock,
    check_is_free,
    check_one_each,
    check_order,
    order_over,
    parse_numbers,
)


class Loops(Part):
    """The loops of one block of a nest: their order, and what each is bound to.

    `order` has numbers of the block's indices in the order of the loops, outermost
    first. Indices that a block of the nest does not have are passed over, and those
    that are not listed stay behind those that are, in the order they had. Without an
    order, indices that only aggregate come first in all blocks but the outermost.

    `bind` has a `Binding` for each index of the block that is tiled, `_` for what is
    left to the passes that decide. What an index of the nest has one value of is bound
    to nothing.
    """

    order: tuple[int, ...]
    bind: tuple[Binding, ...]

    def over(self, kept: Sequence[int]) -> Self:
        """The order and the bindings of those indices."""
        bind = tuple([self.bind[index] for index in kept]) if self.bind else ()
        return replace(self, order=order_over(self.order, kept), bind=bind)

    def check(self, block: ScheduledBlock) -> None:
        """The order is one of the block's indices, and each has a binding, or none."""
        check_is_free(self, block)
        check_order(self, self.order, block)
        if self.bind:
            check_one_each(self, "binding", self.bind, block)

    def with_loops(self, order: tuple[int, ...], bind: tuple[Binding, ...]) -> Self:
        """The same with another order, and other bindings."""
        if order == self.order and bind == self.bind:
            return self
        return replace(self, order=order, bind=bind)

    def of_steps(self, steps: Sequence[int]) -> Self:
        """The one way to say the same of a block that has a loop for these indices.

        They are in the order that loops have without one being given.
        """
        if not self.order and not self.bind:
            return self
        order = [index for index in self.order if index in steps]
        order += [index for index in steps if index not in order]
        bind = [
            binding if index in steps else Binding.UNDECIDED
            for index, binding in enumerate(self.bind)
        ]
        return self.with_loops(
            () if order == [*steps] else tuple(order),
            () if all(each is Binding.UNDECIDED for each in bind) else tuple(bind),
        )


@dataclass(frozen=True)
class Points(Loops):
    """The loops of the innermost block: `points order [2, 0, 1] bind [_, unroll, _]`.

    See `tile` for what an order and bindings are.
    """

    word: ClassVar[str] = "points"
    example: ClassVar[str] = "points order [2, 0, 1] bind [_, unroll, vector]"
    applied_by: ClassVar[str] = "stripe-tile"

    order: tuple[int, ...] = ()
    bind: tuple[Binding, ...] = ()

    @classmethod
    def parse(cls, parser: AttrParser) -> Points:
        """Read `order [2, 0, 1]`, bindings, or both."""
        start = parser.pos
        found = cls(*_parse_loops(parser))
        if parser.pos == start:
            parser.raise_error("expected 'order' or 'bind'")
        return found

    def format(self) -> str:
        """The order and the bindings in brackets."""
        return _format_loops(self)


@dataclass(frozen=True)
class Tiles(Loops):
    """One level of tiles, and the loops over them: `tile [8, 32, 0] order [1, 0]`.

    `sizes` has a size for each index of the block, 0 for its whole range.

    `order` has numbers of the block's indices in the order of the loops over these
    tiles, outermost first. Indices that a block of the nest does not have are passed
    over, and those that are not listed stay behind those that are, in the order they
    had. Without an order, indices that only aggregate come first in all blocks but the
    outermost. The last index of block 0 runs fastest over the work-groups: with `order
    [1, 0, 2]` for `[%i, %j, %k]`, work-groups that follow each other have neighbouring
    `%i` and the same `%j`.

    `bind` says what the tiles along each index become, as `bind [grid, grid, loop]`:
    `grid` (work-groups), `group` (work-items of one), `subgroup` and `lane` (sub-groups
    of one, and work-items of these), `loop`, `unroll`, and `_` for what passes may
    decide. Points have `vector`, too. An index that has one tile is bound to nothing.
    """

    word: ClassVar[str] = "tile"
    example: ClassVar[str] = "tile [8, 32, 0] order [1, 0] bind [grid, grid, _]"
    applied_by: ClassVar[str] = "stripe-tile"

    sizes: tuple[int, ...]
    order: tuple[int, ...] = ()
    bind: tuple[Binding, ...] = ()

    @classmethod
    def parse(cls, parser: AttrParser) -> Tiles:
        """Read `[8, 32, 0]`, and an order and bindings where there are some."""
        return cls(parse_numbers(parser, "a size"), *_parse_loops(parser))

    def format(self) -> str:
        """The sizes in brackets, and the order and the bindings if it has some."""
        return f"[{', '.join(map(str, self.sizes))}] {_format_loops(self)}".rstrip()

    def over(self, kept: Sequence[int]) -> Tiles:
        """The sizes, the order and the bindings of those indices."""
        sizes = tuple([self.sizes[index] for index in kept])
        return replace(super().over(kept), sizes=sizes)

    def check(self, block: ScheduledBlock) -> None:
        """There is a size for each index, and tiles are no lanes of vectors."""
        super().check(block)
        check_one_each(self, "tile size", self.sizes, block)
        if Binding.VECTOR in self.bind:
            raise HintedVerifyException(
                "cannot bind tiles to 'vector': vectors are of points",
                "for example 'points bind [_, vector, _]'",
            )


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

    def padded(self, ranges: Sequence[int]) -> tuple[int, ...]:
        """The ranges as multiples."""
        pairs = zip(ranges, self.multiples, strict=True)
        return tuple([-(-extent // max(n, 1)) * max(n, 1) for extent, n in pairs])

    def over(self, kept: Sequence[int]) -> Padding:
        """The numbers of those indices."""
        return replace(self, multiples=tuple([self.multiples[i] for i in kept]))

    def check(self, block: ScheduledBlock) -> None:
        """There is a number for each index."""
        check_is_free(self, block)
        check_one_each(self, "number", self.multiples, block)


@dataclass(frozen=True)
class OutputOrder(Part):
    """Which axes an output is computed with: `output order [1, 0]`.

    For a block with one output: `order` has the numbers of the output's indices, in the
    order in which they are to be its axes. The cells are copied to where they belong.
    """

    word: ClassVar[str] = "output"
    example: ClassVar[str] = "output order [1, 0]"
    applied_by: ClassVar[str] = "stripe-transpose-outputs"

    order: tuple[int, ...]

    @classmethod
    def parse(cls, parser: AttrParser) -> OutputOrder:
        """Read `order [1, 0]`."""
        parser.parse_keyword("order")
        return cls(parse_numbers(parser, "the number of an index"))

    def format(self) -> str:
        """The order in brackets."""
        return f"order [{', '.join(map(str, self.order))}]"

    def over(self, kept: Sequence[int]) -> OutputOrder:
        """The order of those indices."""
        return replace(self, order=order_over(self.order, kept))

    def check(self, block: ScheduledBlock) -> None:
        """There is one output, and the order is one of its indices."""
        check_is_free(self, block)
        rank = len(block.index_ranges)
        outputs = [r for r in block.refinement_list if r.direction.writes]
        if len(outputs) != 1:
            raise self.refuse(f"expected a block with one output, got {len(outputs)}")
        (output,) = outputs
        own = sorted({n for form in output.access for n in form.support if n < rank})
        if sorted(self.order) != own:
            raise self.refuse(
                f"expected an order of the indices {own} of the output, each once, got "
                f"{[*self.order]}"
            )


def verify_bindings(block: ScheduledBlock) -> None:
    """Raise HintedVerifyException unless the indices may be bound as they are."""
    bindings = block.index_bindings
    if any(binding is not Binding.UNDECIDED for binding in bindings):
        around, is_nested = block.bindings_around, block.is_nested
        check_bindings(
            block.indices,
            bindings,
            around,
            is_nested=is_nested,
            is_serial=block.is_serial,
        )


def check_nest(loops: Sequence[Loops], block: ScheduledBlock) -> None:
    """Raise HintedVerifyException unless the blocks of a nest may be bound so.

    `loops` are those of each block, outermost first, without what says nothing, and
    `block` is the one that they are to take the place of.
    """
    around, is_nested = block.bindings_around, block.is_nested
    for number, part in enumerate(loops):
        bound = part.bind or (Binding.UNDECIDED,) * len(block.index_ranges)
        for index, own in enumerate(block.index_bindings):
            if own is Binding.UNDECIDED:
                continue
            if bound[index] is not Binding.UNDECIDED:
                name = index_name(block.indices[index], index)
                raise part.refuse(
                    f"cannot bind index '{name}' by '{part}': it is bound to "
                    f"'{own.value}' where it stands"
                )
            # Work-items are of the outermost tiles, and vectors of points.
            if number == (len(loops) - 1 if own is Binding.VECTOR else 0):
                bound = (*bound[:index], own, *bound[index + 1 :])
        _check_parallel(part, block)
        check_bindings(block.indices, bound, around, is_nested=is_nested)
        around, is_nested = around | {*bound}, True


def _check_parallel(part: Loops, block: ScheduledBlock) -> None:
    """Refuse work-items that would aggregate into the same cells."""
    for number, refinement in enumerate(block.refinement_list):
        if refinement.aggregation is Aggregation.ASSIGN:
            continue
        moving = {index for form in refinement.access for index in form.support}
        for index, binding in enumerate(part.bind):
            if binding in PARALLEL and index not in moving:
                name = index_name(block.indices[index], index)
                view = block.views[number].name_hint or number
                raise HintedVerifyException(
                    f"cannot bind index '{name}' to '{binding.value}': its values "
                    f"aggregate into the same cells of output '%{view}'",
                    f"'stripe-split-reduction' gives each its own; else bind '{name}' "
                    "to 'loop' or 'unroll', or leave it '_'",
                )


def _parse_loops(
    parser: AttrParser,
) -> tuple[tuple[int, ...], tuple[Binding, ...]]:
    """Read `order [1, 0] bind [grid, _]`, or a part of it."""
    order: tuple[int, ...] = ()
    bind: tuple[Binding, ...] = ()
    if parser.parse_optional_keyword("order") is not None:
        order = parse_numbers(parser, "the number of an index")
    if parser.parse_optional_keyword("bind") is not None:
        square = parser.Delimiter.SQUARE
        found = parser.parse_comma_separated_list(
            square, lambda: _parse_binding(parser)
        )
        bind = tuple(found)
    return order, bind


def _parse_binding(parser: AttrParser) -> Binding:
    start = parser.pos
    word = parser.parse_optional_identifier() or ""
    if word in [*Binding]:
        return Binding(word)
    hint = did_you_mean(word, [*Binding]) or "a binding is " + ", ".join(Binding)
    fail_to_parse(parser, f"'{word}' is no binding", hint, start, max(len(word), 1))


def _format_loops(loops: Loops) -> str:
    parts: list[str] = []
    if loops.order:
        parts.append(f"order [{', '.join(map(str, loops.order))}]")
    if loops.bind:
        parts.append(f"bind [{', '.join(loops.bind)}]")
    return " ".join(parts)

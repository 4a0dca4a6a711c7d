"""Schedules: how a block is to run, in one attribute.

A `stripe.block` says what is computed; its schedule says how: into what tiles it is
cut, in which order their loops run, what is copied nearer to its use.

```mlir
stripe.block "C" [%i : 1024, %j : 1024, %k : 1024] ...
    attributes {stripe.schedule = #stripe.schedule<
      tile [128, 64, 1024] order [1, 0],
      tile [8, 32, 1024],
      stage input 1 at 0 of 1 order [0, 1] global,
      because "4.5 ms: arithmetic 4.1 ms, ...">} { ... }
```

A schedule is a list of parts, each of a kind that begins with a word of its own (see
`PARTS`) and may end with `because "..."`. Passes that decide write it, and each pass
that applies takes its parts away. The search looks at schedules before they stand on
any block. What indices are called may be said first, `over [i, j, k]`, for who reads
their numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from operator import is_
from typing import TypeVar

from xdsl.context import Context
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ...affine.form import Kept
from ...suggestions import did_you_mean
from ..bounded_parser import BoundedParser
from ..hints import HintedVerifyException, fail_to_parse
from ..work import WORK_ATTRIBUTE
from .attributes import KERNEL_ATTRIBUTE, UNLESS_NUMBERS_ATTRIBUTE
from .fusion import Alone, Epilogue, Fusion
from .instruction import Instruction
from .schedule_part import Part, ScheduledBlock, index_names
from .staging import Staging
from .tiling import Loops, OutputOrder, Padding, Points, Tiles, check_nest
from .walking import Walk

SCHEDULE = "stripe.schedule"
"""The attribute of a block that holds what is still to be done with it."""

PARTS: dict[str, type[Part]] = {
    kind.word: kind
    for kind in (
        OutputOrder,
        Fusion,
        Alone,
        Epilogue,
        Walk,
        Tiles,
        Points,
        Staging,
        Padding,
        Instruction,
    )
}
"""The kinds of parts, by their words, in the order in which they are printed."""

_PLACES = {word: place for place, word in enumerate(PARTS)}
_ATTRIBUTES = (
    SCHEDULE,
    KERNEL_ATTRIBUTE,
    UNLESS_NUMBERS_ATTRIBUTE,
    WORK_ATTRIBUTE,
    "stripe.scheduled",
)
"""What the dialect has a meaning for on a block."""
_EXAMPLE = f"{SCHEDULE} = #{SCHEDULE}<{Tiles.example}>"
_BECAUSE = "because"
_OVER = "over"
_HINT = "a part begins with one of " + ", ".join((*PARTS, _OVER, _BECAUSE))

_POINTS = Points()

PartType = TypeVar("PartType", bound=Part)


@dataclass(frozen=True)
class Schedule:
    """How a block runs. Schedules that differ in their reasons alone are equal."""

    levels: tuple[Tiles, ...] = ()
    """Tiles, from the outermost level to the innermost."""
    points: Points = _POINTS
    """The loops inside the innermost tiles."""
    stages: tuple[Staging, ...] = ()
    """Copies of inputs, applied one after the other."""
    parts: tuple[Part, ...] = ()
    """At most one of each other kind, in the order of `PARTS`."""
    reason: str = field(default="", compare=False)
    """Why the tiles are as they are, for people; or nothing."""
    indices: tuple[str, ...] = ()
    """What the indices are called that numbers and bindings are of, `_` for one without
    a name; or nothing, where they are those of the block that it stands on."""

    @staticmethod
    def of(
        sizes: Sequence[Sequence[int]],
        orders: Sequence[Sequence[int]] = (),
        stages: Iterable[Staging] = (),
        reason: str = "",
    ) -> Schedule:
        """A nest by the sizes of its levels and the orders of its first blocks."""
        levels = tuple([Tiles(tuple(level)) for level in sizes])
        schedule = Schedule(levels, stages=tuple(stages), reason=reason)
        return schedule.with_orders(orders) if any(orders) else schedule

    # Tiles.

    @Kept
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of the tiles of each level."""
        return tuple([level.sizes for level in self.levels])

    @Kept
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """The order of loops of each block of the nest; empty where none is given."""
        return (*(level.order for level in self.levels), self.points.order)

    @property
    def loops(self) -> tuple[Loops, ...]:
        """The loops of each block of the nest, outermost first."""
        return (*self.levels, self.points)

    @property
    def tile(self) -> tuple[int, ...]:
        """The sizes of the innermost level."""
        return self.levels[-1].sizes

    def with_orders(self, orders: Sequence[Sequence[int]]) -> Schedule:
        """The same with these orders of loops of its first blocks, and none of others.

        Raises ValueError for more orders than there are blocks.
        """
        count = len(self.levels)
        if len(orders) > count + 1:
            raise ValueError(f"expected {count + 1} order(s) at most, got {orders}")
        given = [*map(tuple, orders), *((),) * (count + 1 - len(orders))]
        pairs = zip(self.levels, given, strict=False)
        levels = [level.with_loops(order, level.bind) for level, order in pairs]
        points = self.points.with_loops(given[-1], self.points.bind)
        stages, parts = self.stages, self.parts
        return Schedule(tuple(levels), points, stages, parts, self.reason, self.indices)

    def with_sizes(self, sizes: Sequence[Sequence[int]]) -> Schedule:
        """The same with other sizes of its tiles."""
        pairs = zip(self.levels, sizes, strict=True)
        levels = [replace(level, sizes=tuple(own)) for level, own in pairs]
        return replace(self, levels=tuple(levels))

    def normalized(
        self, ranges: Sequence[int], aggregating: Collection[int] = ()
    ) -> Schedule:
        """The one schedule in place of all that make the same loops over `ranges`.

        What says nothing is left out: orders that the loops have anyway, numbers of
        indices with one value in a block, their bindings, levels of one tile. Sizes are
        those that tiles have. The outermost level stays, as work-groups are its tiles,
        and so does one before which, and not further in, something is copied.
        `aggregating` are the indices that only aggregate; ranges that are still to be
        padded are taken as if they were.
        """
        if (padding := self.part(Padding)) is not None:
            ranges = padding.padded(ranges)
        default = range(len(ranges))
        inner = sorted(default, key=lambda index: index not in aggregating)
        outer, levels = tuple(ranges), list[Tiles]()
        busy = list[bool]()
        for level in self.levels:
            pairs = zip(level.sizes, outer, strict=True)
            sizes = tuple([min(own, around) or around for own, around in pairs])
            steps = [index for index in default if sizes[index] < outer[index]]
            level = level.of_steps(steps)
            if level.sizes != sizes:
                level = replace(level, sizes=sizes)
            levels.append(level)
            busy.append(bool(steps))
            outer, default = sizes, inner
        points = self.points.of_steps([i for i in default if outer[i] > 1])
        same = self
        if points is not self.points or not all(map(is_, levels, self.levels)):
            same = replace(self, levels=tuple(levels), points=points)
        for block in range(len(levels) - 1, 0, -1):
            if not busy[block] and not same._copies_at(block):
                same = same.without_level(block)
        return same

    def _copies_at(self, block: int) -> bool:
        """Whether something is copied before a block of its nest, and no further in."""
        return any(stage.before == stage.window == block for stage in self.stages)

    def without_level(self, block: int) -> Schedule:
        """The same without block `block` of its nest, by which copies count."""
        stages = [
            replace(
                stage,
                before=stage.before - (stage.before > block),
                window=stage.window - (stage.window >= block),
            )
            for stage in self.stages
        ]
        levels = self.levels[:block] + self.levels[block + 1 :]
        return replace(self, levels=levels, stages=tuple(stages))

    # Other parts.

    @Kept
    def staged(self) -> dict[int, Staging]:
        """The copies by the refinements of which they are."""
        return {stage.refinement: stage for stage in self.stages}

    def part(self, kind: type[PartType]) -> PartType | None:
        """The decision of a kind of which a schedule has one at most."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def with_part(self, part: Part) -> Schedule:
        """The same with a decision in place of the one of its kind."""
        others = [each for each in self.parts if each.word != part.word]
        parts = sorted([*others, part], key=lambda each: _PLACES[each.word])
        return replace(self, parts=tuple(parts))

    def without(self, kind: type[Part]) -> Schedule:
        """The same without the decision of a kind."""
        kept = [part for part in self.parts if not isinstance(part, kind)]
        return replace(self, parts=tuple(kept))

    # All parts.

    def completed_by(self, other: Schedule) -> Schedule:
        """This, and what another one says of what nothing is decided about here."""
        known = [part.word for part in self.parts]
        tiled = self if self.levels else other
        both = replace(
            tiled,
            points=self.points if self.points != _POINTS else other.points,
            stages=self.stages or other.stages,
            parts=self.parts,
        )
        for part in other.parts:
            both = both if part.word in known else both.with_part(part)
        return both

    def over(self, kept: Sequence[int]) -> Schedule:
        """The same for a block that only has these of the indices, in this order."""
        return replace(
            self,
            levels=tuple([level.over(kept) for level in self.levels]),
            points=self.points.over(kept),
            stages=tuple([stage.over(kept) for stage in self.stages]),
            parts=tuple([part.over(kept) for part in self.parts]),
            indices=(),
        )

    def unexplained(self) -> Schedule:
        """The same without reasons."""
        return replace(
            self,
            levels=tuple([replace(level, reason="") for level in self.levels]),
            points=replace(self.points, reason=""),
            stages=tuple([replace(stage, reason="") for stage in self.stages]),
            parts=tuple([replace(part, reason="") for part in self.parts]),
            reason="",
        )

    def __bool__(self) -> bool:
        """Whether anything is decided."""
        return bool(self.levels or self.points != _POINTS or self.stages or self.parts)

    def __iter__(self) -> Iterator[Part]:
        """The parts as they are printed, in the order of `PARTS`."""
        points = () if self.points == _POINTS else (self.points,)
        parts = (*self.levels, *points, *self.stages, *self.parts)
        return iter(sorted(parts, key=lambda part: _PLACES[part.word]))

    def check(self, block: ScheduledBlock) -> None:
        """Raise HintedVerifyException unless the block may be scheduled so."""
        if self.indices and len(self.indices) != len(block.indices):
            raise HintedVerifyException(
                f"expected '{_OVER}' to name the indices {index_names(block)}, got "
                f"[{', '.join(self.indices)}]",
                "what stands behind it goes by their numbers",
            )
        for part in self:
            part.check(block)
        if any(part.bind for part in self.loops):
            check_nest(self.normalized(block.index_ranges).loops, block)

    # Text.

    @staticmethod
    def parse(parser: AttrParser) -> Schedule:
        """Read `<part, part, ...>`. Raises ParseError."""
        found: list[Part] = []
        reasons: list[str] = []
        indices: list[str] = []
        parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE,
            lambda: _parse_part(parser, found, reasons, indices),
        )
        single = [part for part in found if part.word in _SINGLE]
        schedule = Schedule(
            tuple(_of_kind(Tiles, found)),
            next(iter(_of_kind(Points, found)), _POINTS),
            tuple(_of_kind(Staging, found)),
            reason="".join(reasons),
            indices=tuple(indices),
        )
        for part in single:
            schedule = schedule.with_part(part)
        return schedule

    def print(self, printer: Printer, separator: str = " ") -> None:
        """Print `<part, part, ...>`, the reason last; `separator` is behind commas."""
        printer.print_string("<" + separator.strip(" "))
        if self.indices:
            end = f",{separator}" if self or self.reason else ""
            printer.print_string(f"{_OVER} [{', '.join(self.indices)}]{end}")
        for number, part in enumerate(self):
            printer.print_string(f",{separator}" if number else "")
            printer.print_string(str(part))
            _print_reason(part.reason, " ", printer)
        _print_reason(self.reason, f",{separator}" if self else "", printer)
        printer.print_string(">")

    def __str__(self) -> str:
        """As it is written in an attribute: `<tile [8, 32], ...>`."""
        stream = StringIO()
        self.print(Printer(stream))
        return stream.getvalue()


_SINGLE = [word for word, kind in PARTS.items() if kind not in (Tiles, Points, Staging)]
"""The kinds that `Schedule.parts` holds."""


def _of_kind(kind: type[PartType], parts: Iterable[Part]) -> list[PartType]:
    return [part for part in parts if isinstance(part, kind)]


def _parse_part(
    parser: AttrParser, found: list[Part], reasons: list[str], indices: list[str]
) -> None:
    """Read one part to `found`, or the reason for all of them, or names of indices."""
    start = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        fail_to_parse(parser, "expected a part of a schedule", _HINT, start)
    if word not in (*PARTS, _BECAUSE, _OVER):
        hint = did_you_mean(word, [*PARTS, _BECAUSE, _OVER]) or _HINT
        message = f"'{word}' is no part of a schedule"
        fail_to_parse(parser, message, hint, start, len(word))
    is_again = any(part.word == word for part in found)
    is_again &= word not in _SEVERAL
    if is_again or (reasons and word == _BECAUSE) or (indices and word == _OVER):
        message = f"expected one '{word}' in a schedule, got another one"
        fail_to_parse(parser, message, None, start, len(word))
    if word == _BECAUSE:
        reasons.append(_parse_text(parser))
        return
    if word == _OVER:
        square = parser.Delimiter.SQUARE
        indices += parser.parse_comma_separated_list(square, parser.parse_identifier)
        return
    part = PARTS[word].parse(parser)
    if parser.parse_optional_keyword(_BECAUSE) is not None:
        part = replace(part, reason=_parse_text(parser))
    found.append(part)


def _parse_text(parser: AttrParser) -> str:
    """Read a string; xDSL takes one with other characters than ASCII for bytes."""
    text = parser.parse_optional_str_literal()
    if text is not None:
        return text
    start = parser.pos
    try:
        return parser.parse_bytes_literal().decode()
    except UnicodeDecodeError:
        parser.raise_error("expected a text in UTF-8", start)


_SEVERAL = (Tiles.word, Staging.word)
"""The kinds of which a schedule has any number."""


def _print_reason(reason: str, before: str, printer: Printer) -> None:
    if reason:
        printer.print_string(f"{before}{_BECAUSE} ")
        printer.print_string_literal(reason)


def parse_schedule(text: str) -> Schedule:
    """The schedule that a text `<tile [8, 32], ...>` says. Raises ParseError."""
    parser = BoundedParser(Context(), text)
    schedule = Schedule.parse(parser)
    if parser.pos < len(text.rstrip()):
        parser.raise_error("expected nothing behind a schedule")
    return schedule


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """A `Schedule`: `#stripe.schedule<tile [8, 32, 0], because "...">`."""

    name = "stripe.schedule"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        """Read `<tile [8, 32, 0], ...>`."""
        return Schedule.parse(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print each part in a line of its own where there are several."""
        schedule = self.data
        is_short = len([*schedule]) + bool(schedule.reason) < 2
        with printer.indented():
            schedule.print(printer, " " if is_short else "\n")


# On blocks.


def schedule_of(block: ScheduledBlock) -> Schedule:
    """What is to be done with a block; an empty schedule where nothing is decided.

    Raises HintedVerifyException where the attribute is something else.
    """
    attribute = block.attributes.get(SCHEDULE)
    if attribute is None:
        return _NOTHING
    if not isinstance(attribute, ScheduleAttr):
        raise HintedVerifyException(
            f"expected {SCHEDULE} to be a schedule, got {attribute}",
            f"for example {_EXAMPLE}",
        )
    return attribute.data


_NOTHING = Schedule()


def verify_schedule(block: ScheduledBlock) -> None:
    """Raise HintedVerifyException for what stands on a block and does not fit it."""
    for name in block.attributes:
        if name.startswith("stripe.") and name not in _ATTRIBUTES:
            hint = did_you_mean(name, [SCHEDULE]) or f"for example {_EXAMPLE}"
            raise HintedVerifyException(f"has no attribute '{name}'", hint)
    schedule_of(block).check(block)


def set_schedule(block: ScheduledBlock, schedule: Schedule) -> None:
    """Let this be what is to be done with a block; an empty one leaves no attribute."""
    if schedule:
        block.attributes[SCHEDULE] = ScheduleAttr(schedule)
    else:
        block.attributes.pop(SCHEDULE, None)

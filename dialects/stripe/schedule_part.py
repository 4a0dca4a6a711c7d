"""What all decisions of a schedule have in common: a word, a text, checks, a reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, Self

from xdsl.ir import Attribute, BlockArgument
from xdsl.parser import AttrParser

from ..hints import HintedVerifyException
from .attributes import Refinement
from .binding import Binding, index_name


class ScheduledBlock(Protocol):
    """What a decision is about: a `stripe.block`."""

    attributes: dict[str, Attribute]
    """Its attributes, the schedule among them."""

    @property
    def index_ranges(self) -> tuple[int, ...]:
        """The number of values of each index."""
        ...

    @property
    def indices(self) -> tuple[BlockArgument, ...]:
        """The arguments that hold the indices."""
        ...

    @property
    def views(self) -> tuple[BlockArgument, ...]:
        """The arguments that hold the windows."""
        ...

    @property
    def refinement_list(self) -> tuple[Refinement, ...]:
        """How each window is cut out, and whether it is read or written."""
        ...

    @property
    def is_serial(self) -> bool:
        """Whether the points run in order."""
        ...

    @property
    def index_bindings(self) -> tuple[Binding, ...]:
        """What each index is bound to where it stands."""
        ...

    @property
    def bindings_around(self) -> frozenset[Binding]:
        """What indices of the blocks around it are bound to."""
        ...

    @property
    def is_nested(self) -> bool:
        """Whether there are blocks around it."""
        ...


@dataclass(frozen=True)
class Part(ABC):
    """One decision about a block, with the reason for it.

    A kind of decision is a subclass: a frozen dataclass with the word that it begins
    with, and how what follows is read, printed and checked. The table `PARTS` of
    `schedule` lists the kinds. What was decided is the same whatever the reason.
    """

    word: ClassVar[str]
    """What it begins with."""
    example: ClassVar[str]
    """How one is written, for hints."""
    applied_by: ClassVar[str]
    """The pass that applies it."""

    reason: str = field(default="", compare=False, kw_only=True)
    """Why, for people; or nothing."""

    @classmethod
    @abstractmethod
    def parse(cls, parser: AttrParser) -> Self:
        """Read what follows the word, up to the reason. Raises ParseError."""

    @abstractmethod
    def format(self) -> str:
        """What follows the word, without the reason."""

    def __str__(self) -> str:
        """The word and what follows it, without the reason."""
        return f"{self.word} {self.format()}".rstrip()

    def over(self, kept: Sequence[int]) -> Self:
        """The same for a block that only has these of the indices, in this order."""
        return self

    @abstractmethod
    def check(self, block: ScheduledBlock) -> None:
        """Raise HintedVerifyException unless the block may be scheduled so."""

    def refuse(self, message: str) -> HintedVerifyException:
        """The error for a decision that does not fit, with how one is written."""
        return HintedVerifyException(message, f"for example '{self.example}'")


def parse_numbers(parser: AttrParser, what: str) -> tuple[int, ...]:
    """Read `[8, 0, 32]`, numbers of 0 or more; `what` each of them is, for errors."""

    def number() -> int:
        found = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if found is None:
            parser.raise_error(f"expected {what} of 0 or more")
        return found

    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number))


def order_over(order: Sequence[int], kept: Sequence[int]) -> tuple[int, ...]:
    """An order of indices for a block that only has these of them."""
    return tuple([kept.index(index) for index in order if index in kept])


def index_names(block: ScheduledBlock) -> str:
    """The indices of a block as they are written: `%i, %j and %k`."""
    names = [index_name(index, number) for number, index in enumerate(block.indices)]
    if not names:
        return "none"
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def check_is_free(part: Part, block: ScheduledBlock) -> None:
    """Refuse what changes the order of points that have one."""
    if block.is_serial:
        raise HintedVerifyException(
            "cannot be scheduled: the points of a serial block have an order, and "
            f"'{part.word}' would change it",
            "schedule a block around it",
        )


def check_order(part: Part, order: Sequence[int], block: ScheduledBlock) -> None:
    """Refuse an order of loops that has an index twice, or one there is not."""
    count = len(block.index_ranges)
    if len({*order}) != len(order) or any(index >= count for index in order):
        raise part.refuse(
            f"expected an order of the indices {index_names(block)} by their numbers, "
            f"0 to {count - 1}, each once, got {[*order]}"
        )


def check_one_each(
    part: Part, what: str, numbers: Sequence[object], block: ScheduledBlock
) -> None:
    """Refuse numbers that are not as many as the block has indices."""
    count = len(block.index_ranges)
    if len(numbers) != count:
        raise part.refuse(
            f"expected {count} {what}(s), one for each of the indices "
            f"{index_names(block)}, got [{', '.join(map(str, numbers))}]"
        )

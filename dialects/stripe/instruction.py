"""The instruction that computes the innermost block, as a part of a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.parser import AttrParser

from ..hints import fail_to_parse
from .schedule_part import Part, ScheduledBlock, check_is_free


@dataclass(frozen=True)
class Instruction(Part):
    """What computes the innermost block of the nest: `instruction "fma_f32x16"`.

    It is one that the description of the hardware lists with the block that it
    computes; the innermost block must be the same in all but names: the same ranges,
    accesses, operations, aggregation and types.
    """

    word: ClassVar[str] = "instruction"
    example: ClassVar[str] = 'instruction "fma_f32x16"'
    applied_by: ClassVar[str] = "stripe-instruct"

    name: str

    @classmethod
    def parse(cls, parser: AttrParser) -> Instruction:
        """Read the name, in quotes."""
        start = parser.pos
        name = parser.parse_optional_str_literal()
        if name is None:
            hint = f"for example '{cls.example}'"
            fail_to_parse(parser, "expected the name of an instruction", hint, start)
        return cls(name)

    def format(self) -> str:
        """The name in quotes."""
        return f'"{self.name}"'

    def check(self, block: ScheduledBlock) -> None:
        """What computes a point at once leaves no order of points."""
        check_is_free(self, block)

"""What a core can do in one instruction: rows `[[instructions]]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .positive import require_positive

MULTIPLY_ADD, LOAD, STORE = "multiply_add", "load", "store"
_PLAIN = (MULTIPLY_ADD, LOAD, STORE)
"""What every description has: compilers make these of plain operations."""
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_MACRO = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Instruction:
    """Something that a core does at once, with its cost."""

    name: str
    """`multiply_add`, `load` and `store` are of a vector or of all lanes of a
    sub-group, a load of one value for all of them, too; each description has these."""
    per_cycle: float
    """How many of them one core starts per cycle."""
    latency_cycles: float = 0
    """From its operands to its result, of a `multiply_add` from an accumulator to its
    next value; 0 where nobody waits for it."""
    block: str = ""
    """What it computes, so that a schedule may name it: a `func.func` of one leaf block
    of the `stripe` dialect. Its arguments and its result are the operands."""
    spelling: str = ""
    """The body of a function of OpenCL C that does so, over the operands: `return
    fma({A}, {B}, {C});`. An operand of f16 or bf16 is its bits, a `ushort`. Without a
    spelling it is written out."""
    needs: str = ""
    """The macro that is defined where OpenCL C has it, such as that of an extension;
    elsewhere it is written out."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                "name: expected letters, digits, '_' and '.', not a digit first, "
                f"got '{self.name}'"
            )
        require_positive(self, allowed={"latency_cycles": 0})
        if self.name == MULTIPLY_ADD and not self.latency_cycles:
            raise ValueError("latency_cycles: expected a number above 0, got 0")
        for field in ("spelling", "needs"):
            if getattr(self, field) and not self.block:
                raise ValueError(f"{field}: expected a block that it computes, too")
        if self.needs and not _MACRO.fullmatch(self.needs):
            raise ValueError(f"needs: expected the name of a macro, got '{self.needs}'")


def check_instructions(instructions: Sequence[Instruction]) -> None:
    """Raise ValueError unless what the clock goes by is among them."""
    names = [instruction.name for instruction in instructions]
    for name in _PLAIN:
        if name not in names:
            raise ValueError(f'instructions: expected one with name = "{name}"')

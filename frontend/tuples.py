"""Tuples: values of several parts, which exist while a program is read only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.ir import BlockArgument, SSAValue

from ..dialects.eltwise.ops import FUNCTION_OPS
from ..errors import GinghamError
from .builder import Value


class TupleExpected(GinghamError):
    """An input of a function has to be a tuple, which only another function gives."""


@dataclass(frozen=True)
class Tuple:
    """`tuple(a, b)`, whose parts `element` gives back, or what `prng_step` gives.

    Those of `prng_step` are the numbers and the new state.
    """

    elements: tuple[AnyValue, ...]
    is_random: bool = False

    @cached_property
    def count(self) -> int:
        """How many parts there are, with those of the tuples in it."""
        return sum(e.count if isinstance(e, Tuple) else 1 for e in self.elements)

    @cached_property
    def depth(self) -> int:
        """How many tuples are inside each other."""
        return 1 + max(
            (e.depth for e in self.elements if isinstance(e, Tuple)), default=0
        )

    @property
    def description(self) -> str:
        """What it is, in the user's words."""
        return "the result of 'prng_step'" if self.is_random else "a tuple"

    @property
    def hint(self) -> str:
        """How to come by what is in it."""
        if self.is_random:
            return "prng_value(P) gives the numbers, prng_state(P) the new state"
        return "element(T, 0) gives its first part"


AnyValue: TypeAlias = Value | Tuple
"""What a name of a Tile program may stand for."""


def parts_of(value: AnyValue) -> list[Value]:
    """A value itself, or all that a tuple and the tuples in it hold."""
    found: list[Value] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Tuple):
            pending += reversed(part.elements)
        else:
            found.append(part)
    return found


def first_value(value: AnyValue) -> Value:
    """A value itself, or the first part of a tuple that is no tuple."""
    while isinstance(value, Tuple):
        value = value.elements[0]
    return value


def is_open_input(value: AnyValue) -> bool:
    """Whether it is an input, or a copy of one, of which nothing is known."""
    copy = FUNCTION_OPS["ident"]
    while isinstance(value, SSAValue) and isinstance(value.owner, copy):
        value = value.owner.arguments[0]
    is_input = isinstance(value, BlockArgument)
    return is_input and isinstance(value.type, UnrankedTensorType)

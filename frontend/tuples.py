"""Tuples: values of several parts, which exist while a program is read only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .builder import Value


@dataclass(frozen=True)
class Tuple:
    """`tuple(a, b)`, whose parts `element` gives back, or what `prng_step` gives.

    Those of `prng_step` are the numbers and the new state.
    """

    elements: tuple[AnyValue, ...]
    is_random: bool = False

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


def first_value(value: AnyValue) -> Value:
    """A value itself, or the first part of a tuple that is no tuple."""
    while isinstance(value, Tuple):
        value = value.elements[0]
    return value

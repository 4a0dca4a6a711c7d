"""Conditions that hold where a kernel's code runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...dialects.index_sum import IndexSum


@dataclass(frozen=True)
class KnownConditions:
    """Sums that are at least zero wherever the surrounding code runs."""

    least: Mapping[frozenset[tuple[SSAValue, int]], int]
    """For each direction the smallest constant with which it is known to be >= 0."""

    @staticmethod
    def none() -> KnownConditions:
        """What is known at the top of a kernel: nothing."""
        return KnownConditions({})

    def and_also(self, conditions: Iterable[IndexSum]) -> KnownConditions:
        """These and further conditions."""
        least = dict(self.least)
        for condition in conditions:
            constant = least.get(condition.direction, condition.constant)
            least[condition.direction] = min(constant, condition.constant)
        return KnownConditions(least)

    def imply(self, condition: IndexSum) -> bool:
        """Whether a known condition is the same or stronger."""
        constant = self.least.get(condition.direction)
        return constant is not None and constant <= condition.constant

"""Index merging: indices that always move together become one.

    S[] = +(I[2*x + i]), x < 8, i < 2       S[] = +(I[y]), y < 16

Two indices of a box are contiguous when every form steps over the one as it does over
the whole range of the other: as `2*x + i` does with two values of `i`. Such a pair runs
through all values of `range * x + i`, and so does one index in its place. A pair that
no form mentions is contiguous too: it only counts points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod

from .form import LinearForm

LARGEST_RANGE = 2**31 - 1
"""Merged ranges stay within what a 32-bit index can count."""


@dataclass(frozen=True)
class Merging:
    """New indices of a box, each in the place of old ones that are contiguous."""

    old_ranges: tuple[int, ...]

    groups: tuple[tuple[int, ...], ...]
    """For each new index the old ones, the one with the largest step first."""

    @property
    def ranges(self) -> tuple[int, ...]:
        """The size of each new index: the product of those that it replaces."""
        return tuple(
            prod(self.old_ranges[index] for index in group) for group in self.groups
        )

    def apply(self, form: LinearForm) -> LinearForm:
        """One of the forms that were asked for, over the new indices."""
        steps = [form.coefficients[group[-1]] for group in self.groups]
        return LinearForm.of(steps, form.constant)


def merge_contiguous(
    ranges: Sequence[int],
    forms: Sequence[LinearForm],
    parts: Sequence[range],
    largest: int = LARGEST_RANGE,
) -> Merging:
    """Merge what is contiguous in all forms over a box that is not empty.

    Only indices of one of `parts` merge, which are ranges of index numbers and cover
    all of them; the new indices keep their order. A merged range is at most `largest`.
    """
    groups: list[tuple[int, ...]] = []
    for part in parts:
        pending: list[tuple[int, ...]] = [(index,) for index in part]
        while pair := _contiguous(pending, ranges, forms, largest):
            slow, fast = pair
            pending[pending.index(slow)] = slow + fast
            pending.remove(fast)
        groups += pending
    return Merging(tuple(ranges), tuple(groups))


def _contiguous(
    groups: Sequence[tuple[int, ...]],
    ranges: Sequence[int],
    forms: Sequence[LinearForm],
    largest: int,
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Two groups of which the first steps over the second in every form."""
    for slow, fast in permutations(groups, 2):
        span = prod(ranges[index] for index in fast)
        if span * prod(ranges[index] for index in slow) <= largest and all(
            form.coefficients[slow[-1]] == span * form.coefficients[fast[-1]]
            for form in forms
        ):
            return slow, fast
    return None

"""The order that sorting puts keys in, as statements of a block."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ..stripe.edit.point_block import PointBlock


@dataclass(frozen=True)
class Sorting:
    """How rows are sorted, for one kind of devices; all are powers of two."""

    run: int
    """The keys of a run, whose ranks are counted."""
    chunk: int
    """How many keys a point merges: few enough for many points to run in parallel."""
    chains: int
    """How many parts of its chunk a point merges at once.

    Each step of a merge waits for the one before it, so that a processor does several
    of these chains in the time of one.
    """


@dataclass(frozen=True)
class SortOrder:
    """Ascending or descending; NaNs, which only floats have, last in both."""

    is_float: bool
    is_descending: bool

    @property
    def _comparison(self) -> str:
        return "cmp_gt" if self.is_descending else "cmp_lt"

    def goes_before(
        self, block: PointBlock, key: SSAValue, other: SSAValue
    ) -> SSAValue:
        """Whether a key has to stand before another: a truth value."""
        is_before = block.apply(self._comparison, [key, other], i1)
        if not self.is_float:
            return is_before
        is_number = block.apply("cmp_eq", [key, key], i1)
        other_is_nan = block.apply("cmp_ne", [other, other], i1)
        before_nan = block.apply("bit_and", [is_number, other_is_nan], i1)
        return block.apply("bit_or", [is_before, before_nan], i1)

    def count_before(
        self, block: PointBlock, key: SSAValue, other: SSAValue, tie: SSAValue
    ) -> SSAValue:
        """1 when a key has to stand before another, 0 when behind, else `tie`.

        By selections between numbers alone, which vectors have.
        """
        count = tie.type
        one, zero = block.constant(1, count), block.constant(0, count)
        unordered = zero
        if self.is_float:
            # No truth value may be of the key alone: it could be one for all lanes.
            is_number = block.apply("cmp_eq", [key, key], i1)
            number = block.apply("cond", [is_number, one, zero], count)
            unordered = block.apply("max", [number, tie], count)
            other_is_number = block.apply("cmp_eq", [other, other], i1)
            unordered = block.apply("cond", [other_is_number, zero, unordered], count)
        is_equal = block.apply("cmp_eq", [key, other], i1)
        value = block.apply("cond", [is_equal, tie, unordered], count)
        is_before = block.apply(self._comparison, [key, other], i1)
        return block.apply("cond", [is_before, one, value], count)

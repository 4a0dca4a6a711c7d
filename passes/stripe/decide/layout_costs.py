"""What blocks take with the axes of their buffers in one order or another.

And what the passes that go by it have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from xdsl.ir import Operation

from ....dialects.stripe.block import BlockOp
from ....targets.hardware import Hardware, hardware_with
from ...clock import Clock
from ...hardware_pass import HardwarePass
from ...locations import check_positive
from ..analysis.problem import Problem, problem_of
from ..analysis.reductions import aggregates_plainly, is_of_rows
from ..analysis.varying import may_step
from ..edit.merge import may_merge
from ..edit.permute_axes import Permuted
from .model.copying import copy_seconds
from .search import best_of

_LONG = 4
"""Of so many vectors what is left over of the last is little."""


@dataclass(frozen=True)
class LayoutPass(HardwarePass):
    """A pass that looks for blocks that are slow by the order of axes."""

    bits: int = 0
    """The width of the device's vectors in bits; 0 is as the hardware says."""
    worth: int = 150
    """The time of blocks that are looked at, in percent of that of their arithmetic."""
    parallelism: int = 32
    """Rows with fewer cells than these are left to `stripe-split-reduction`."""

    def checked_hardware(self, module: Operation) -> Hardware:
        """The figures that the options ask for.

        Raises GinghamError for those that no device has, and options less than 1.
        """
        check_positive(module, worth=self.worth, parallelism=self.parallelism)
        return hardware_with(self.figures, vector_bits=self.bits)

    def slow(self, block: BlockOp, hardware: Hardware) -> Slow | None:
        """What is slow about a block: see `Slow`."""
        return Slow.of(block, hardware, self.worth, self.parallelism)


@dataclass(frozen=True)
class Slow:
    """A block that takes longer than its arithmetic has to."""

    seconds: float
    least: float
    """The seconds of its arithmetic and a launch."""
    orders: tuple[tuple[int, ...], ...]
    """Of the output's indices, each with another one last that has whole vectors."""

    @staticmethod
    def of(
        block: BlockOp, hardware: Hardware, worth: int, parallelism: int
    ) -> Slow | None:
        """None for blocks that are best as they are, or that the model does not know.

        Blocks are slow that take `worth` percent of the time of their arithmetic in
        whole vectors, and lose a launch or more by it. Rows with fewer cells than
        `parallelism` are for other passes.
        """
        if not aggregates_plainly(block) or is_of_rows(block, parallelism):
            return None
        problem = problem_of(block, hardware.vector_bits)
        if len(problem.outputs) != 1 or problem.lanes < 2 or not problem.aggregates:
            return None
        orders = tuple(_orders(block, problem))
        if not orders or _has_whole_vectors(problem) or _will_merge(block, problem):
            return None
        seconds, least = (
            best_of(block, problem, hardware).seconds,
            _least(problem, hardware),
        )
        if not _is_slow(seconds, least, hardware, worth):
            return None
        return Slow(seconds, least, orders)


def _least(problem: Problem, hardware: Hardware) -> float:
    """The seconds of the arithmetic of a block, and of a launch."""
    clock = Clock(hardware)
    return clock.operations(problem.vector_operations) + clock.launch


def _is_slow(seconds: float, least: float, hardware: Hardware, worth: int) -> bool:
    """Whether a block takes `worth` percent of its arithmetic, and loses a launch."""
    launch = Clock(hardware).launch
    return seconds - least >= max((worth / 100 - 1) * (least - launch), launch)


def _will_merge(block: BlockOp, problem: Problem) -> bool:
    """Whether `stripe-merge-indices` will make longer rows of the output."""
    fast = problem.vector
    others = range(len(problem.ranges))
    return fast is not None and any(
        slow != fast and may_merge(block, slow, fast) for slow in others
    )


def _has_whole_vectors(problem: Problem) -> bool:
    """Whether vectors along the output as it is are as good as any."""
    index = problem.vector
    if index is None or problem.ranges[index] < _LONG * problem.lanes:
        return False
    is_constrained = any(index in form for form in problem.constrained)
    return not is_constrained and not any(
        problem.blocked[access.number] for access in problem.inputs
    )


def _orders(block: BlockOp, problem: Problem) -> Iterator[tuple[int, ...]]:
    """Orders of the output's indices with another index of whole vectors last."""
    for last in problem.parallel:
        is_free = last != problem.vector and problem.ranges[last] >= problem.lanes
        is_constrained = any(last in form for form in problem.constrained)
        if is_free and not is_constrained and may_step(block, last):
            yield (*(n for n in problem.parallel if n != last), last)


Orders: TypeAlias = "tuple[tuple[int, tuple[int, ...]], ...]"
"""Numbers of buffers of a block, and the orders that their axes are to have."""


@dataclass(frozen=True)
class LayoutCosts:
    """The predicted seconds of blocks, each asked once for the same orders of axes."""

    hardware: Hardware
    worth: int
    """As of a pass."""
    parallelism: int
    """Rows with fewer cells are cut."""
    _known: dict[tuple[BlockOp, Orders], float] = field(
        default_factory=dict["tuple[BlockOp, Orders]", float]
    )
    _least: dict[BlockOp, float] = field(default_factory=dict[BlockOp, float])

    def seconds(self, block: BlockOp, orders: Orders) -> float:
        """Of a block; axes of buffers that are not named stay as they are."""
        key = block, orders
        if key not in self._known:
            self._known[key] = self._ask(block, orders)
        return self._known[key]

    def note(self, slow: Mapping[BlockOp, Slow]) -> None:
        """Know what has been found out of blocks as they are."""
        for block, own in slow.items():
            self._known[block, ()], self._least[block] = own.seconds, own.least

    def loses(self, block: BlockOp, orders: Orders) -> bool:
        """Whether a block is slower with other orders of axes, by what is known.

        Of one that would have to be asked for its time as it is: whether it is slow.
        """
        seconds, plain = self.seconds(block, orders), (block, ())
        if plain in self._known or not self._is_searched(block):
            return seconds > self.seconds(*plain)
        return _is_slow(seconds, self.least(block), self.hardware, self.worth)

    def least(self, block: BlockOp) -> float:
        """The seconds of the arithmetic of a block, and of a launch."""
        if not aggregates_plainly(block):
            return 0.0
        if block not in self._least:
            problem = problem_of(block, self.hardware.vector_bits)
            self._least[block] = _least(problem, self.hardware)
        return self._least[block]

    def least_as_they_are(self, blocks: Sequence[BlockOp]) -> float:
        """Seconds that blocks take at least with the axes that they have."""
        return sum(self._known.get((block, ()), self.least(block)) for block in blocks)

    def may_gain(self, blocks: Sequence[BlockOp], share: float) -> bool:
        """Whether blocks could save such a share of their time, by what is known.

        At best they take the time of their arithmetic.
        """
        seconds = self.least_as_they_are(blocks)
        return seconds - sum(map(self.least, blocks)) > share * seconds

    def _is_searched(self, block: BlockOp) -> bool:
        """Whether the time of a block is that of the best of its nests."""
        return aggregates_plainly(block) and not is_of_rows(block, self.parallelism)

    def _ask(self, block: BlockOp, orders: Orders) -> float:
        if not orders:
            return self._seconds(block)
        permuted = Permuted.of(block, dict(orders))
        seconds = self._seconds(permuted.block)
        permuted.discard()
        return seconds

    def _seconds(self, block: BlockOp) -> float:
        problem = problem_of(block, self.hardware.vector_bits)
        if not aggregates_plainly(block):
            return self._reordering(problem)
        if is_of_rows(block, self.parallelism):
            read = sum(each.element_bytes * prod(each.sizes) for each in problem.inputs)
            return Clock(self.hardware).handed_on(read)
        return best_of(block, problem, self.hardware).seconds

    def _reordering(self, problem: Problem) -> float:
        """What is more than if all buffers had their axes in one order."""
        vector = problem.vector
        if vector is None or all(
            each.strides[vector] in (0, each.element_bytes) for each in problem.inputs
        ):
            return 0.0
        return copy_seconds(problem, self.hardware)

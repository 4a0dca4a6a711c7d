"""Panels: tiles of the shared indices inside of which contractions are nests in blocks.

Where a contraction has indices that the group does not share, a tile holds all values
of these. A tile that is a register tile along the shared indices reads the whole of an
operand for it. A larger one, a panel, lets the contraction run inside as it would by
itself: in blocks of the aggregating indices, with the operand's part copied into local
memory, and register tiles down the rows. Its sums are the scratch of the panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import prod

from ....targets.hardware import Hardware
from ..cost.estimate import Model
from ..cost.groups import blocked
from ..cost.nest import Nest, scratch_bytes
from ..cost.problem import Problem

_COLUMNS = (32, 64, 128)
"""Along the vectors, about."""
_ROWS = (32, 64, 128)
"""Along the other indices, about."""


@dataclass(frozen=True)
class Panel:
    """Sizes of the shared indices, with the nest of each contraction inside."""

    sizes: tuple[int, ...]
    leaves: tuple[Nest, ...]
    seconds: float
    """Of the contractions of one panel, on one core."""


@dataclass(frozen=True)
class Leaf:
    """A nest of a contraction inside a panel."""

    nest: Nest
    seconds: float
    """Of one panel, on one core."""
    local_bytes: int
    """Of the memory that a work-group has for its own copies."""


@dataclass(frozen=True)
class Contraction:
    """A contraction of a group: its problem, its own nest, and its shared indices.

    What it could be inside of panels it knows from one group to the next.
    """

    problem: Problem
    nest: Nest
    shared: tuple[int, ...]
    _leaves: dict[tuple[int, ...], tuple[Leaf, ...]] = field(
        default_factory=dict[tuple[int, ...], tuple[Leaf, ...]],
        repr=False,
        compare=False,
    )

    def within(self, sizes: Sequence[int]) -> Problem:
        """The problem inside a tile of the shared indices, as if it were alone."""
        ranges = list(self.problem.ranges)
        for index, size in zip(self.shared, sizes, strict=True):
            ranges[index] = size
        return replace(self.problem, name="", ranges=tuple(ranges), is_nested=False)

    def best_leaf(
        self, sizes: tuple[int, ...], hardware: Hardware, local_bytes: int
    ) -> Leaf | None:
        """The fastest leaf of a panel that has so much memory for copies."""
        if sizes not in self._leaves:
            problem = self.within(sizes)
            own = self.nest
            self._leaves[sizes] = leaves(problem, own.tile, own.lanes, hardware)
        fitting = (e for e in self._leaves[sizes] if e.local_bytes <= local_bytes)
        return next(fitting, None)


def panels(
    contractions: Sequence[Contraction],
    extents: Sequence[int],
    hardware: Hardware,
    fits: Callable[[Sequence[int]], bool],
) -> Iterator[Panel]:
    """Panels worth a thought that divide the shared indices of these ranges.

    `fits` says whether the scratch of a panel of some sizes is small enough. There are
    none where a contraction has no nest inside that leaves nothing over.
    """
    one_core = hardware if hardware.cores == 1 else replace(hardware, cores=1)
    local_bytes = max(hardware.local_memory_bytes // len(contractions), 1)
    for sizes in _sizes(contractions[0], extents):
        points = prod(-(-n // size) for n, size in zip(extents, sizes, strict=True))
        if points < hardware.cores or not fits(sizes):
            continue
        found = [each.best_leaf(sizes, one_core, local_bytes) for each in contractions]
        best = [leaf for leaf in found if leaf is not None]
        if len(best) == len(found):
            seconds = sum(leaf.seconds for leaf in best)
            yield Panel(sizes, tuple(leaf.nest for leaf in best), seconds)


def _sizes(main: Contraction, extents: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Multiples of the register tile of a contraction that divide the ranges."""
    choices: list[set[int]] = []
    for index, extent in zip(main.shared, extents, strict=True):
        lanes = main.nest.lanes if index == main.problem.vector else 1
        size = even(min(main.nest.tile[index], extent), extent, lanes)
        if extent % size:
            return
        divisors = [n for n in range(size, extent + 1, size) if extent % n == 0]
        wanted = _COLUMNS if index == main.problem.vector else _ROWS
        near = {min(divisors, key=lambda n: abs(n - aim)) for aim in wanted}
        choices.append(near)
    yield from product(*map(sorted, choices))


@lru_cache(maxsize=512)
def leaves(
    problem: Problem, wanted: tuple[int, ...], lanes: int, hardware: Hardware
) -> tuple[Leaf, ...]:
    """Nests on one core with about the wanted register tile, the fastest first.

    None where none leaves nothing over. Equal members of a group share the answer.
    """
    tile = tuple(
        extent
        if index in problem.reductions
        else even(min(size, extent), extent, lanes if index == problem.vector else 1)
        for index, (size, extent) in enumerate(zip(wanted, problem.ranges, strict=True))
    )
    if any(n % size for n, size in zip(problem.ranges, tile, strict=True)):
        return ()
    plain = Nest((tile,), lanes)
    model = Model(problem, hardware)
    launch = hardware.launch_microseconds * 1e-6
    found = [
        Leaf(
            nest,
            model.estimate(nest).seconds - launch,
            sum(
                scratch_bytes(problem, nest, stage, problem.ranges)
                for stage in nest.stages
            ),
        )
        for nest in (plain, *blocked(problem, plain, hardware))
    ]
    return tuple(sorted(found, key=lambda leaf: leaf.seconds))


def even(size: int, extent: int, unit: int = 1) -> int:
    """A size near `size` that divides a range, if there is one not much smaller.

    It is a multiple of `unit`, the lanes of the vectors along the range.
    """
    divisors = [n for n in range(unit, size + 1, unit) if extent % n == 0]
    return divisors[-1] if divisors and 2 * divisors[-1] > size else size

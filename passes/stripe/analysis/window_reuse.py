"""Which loops over windows are worth unrolling, as their steps read the same cells.

A tile of eight cells `y` of a convolution reads `I[y + j]`: for each of three values of
`j` eight numbers, but only ten different ones. Where the loop over `j` is unrolled,
too, a compiler loads those once and keeps them in registers. That pays as long as they
fit there together with the cells; where they do not, they are stored and loaded again.

The rule is the same for the pass that marks the loops and for the model that predicts
their time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import TypeAlias

from ....targets.hardware import Hardware
from .footprint import united

Rows: TypeAlias = "Sequence[Sequence[int]]"
"""How far each index moves an access, for each axis."""


def places(rows: Rows, sizes: Sequence[int], indices: Collection[int]) -> int:
    """How many different places an access has while some indices take all values.

    Steps along an axis that are multiples of each other meet: `y + j` with 8 values of
    `y` and 3 of `j` is 10 places.
    """
    count = 1
    for row in rows:
        moves = united((abs(row[i]), sizes[i]) for i in indices if row[i])
        count *= prod(length for _, length in moves)
    return count


def reusing_loops(
    sizes: Sequence[int],
    held: Collection[int],
    loops: Sequence[int],
    inputs: Sequence[Rows],
    hardware: Hardware,
    accumulators: int,
) -> frozenset[int]:
    """The loops that are worth unrolling around a tile that is unrolled already.

    `held` are the indices of the tile, `loops` those of the loops around it, the
    innermost last, `sizes` the values each of them takes. `inputs` are the accesses
    that are read in each step.
    """
    copies, registers = hardware.overheads.unrolled_copies, hardware.vector_registers
    chosen: frozenset[int] = frozenset(held)
    for loop in reversed(loops):
        trial = chosen | {loop}
        if prod(sizes[index] for index in trial) > copies:
            break
        again = [
            places(rows, sizes, trial)
            for rows in inputs
            if any(row[loop] for row in rows)
            and places(rows, sizes, trial) < places(rows, sizes, chosen) * sizes[loop]
        ]
        if not again or accumulators + sum(again) + len(inputs) > registers:
            break
        chosen = trial
    return chosen - frozenset(held)

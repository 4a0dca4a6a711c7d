"""What is measured: a Tile program, its inputs, and what one call of it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal, TypeAlias

CaseGroup: TypeAlias = Literal["products", "convolutions", "rows", "fused"]
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One benchmark.

    `program` is Tile; `inputs` has the shape of each of its arguments, by name, and
    `results` that of each result. `kind` and `parameters` say to the peers, which do
    not read Tile, what to compute: each of them has a function for a kind. All numbers
    are f32.
    """

    name: str
    group: CaseGroup
    program: str
    inputs: Mapping[str, Shape]
    results: Mapping[str, Shape]
    kind: str
    parameters: Mapping[str, int] = field(default_factory=dict[str, int])
    constants: tuple[str, ...] = ()
    """The inputs that are weights, the same in all calls: those who can prepare them
    once may."""
    flops: float = 0.0
    """Floating-point operations of one call; 0 where memory is what limits."""
    tolerance: float = 1e-4
    """The largest difference to NumPy, as a part of the largest result."""

    @property
    def bytes(self) -> float:
        """What one call must read and write at least."""
        shapes = [*self.inputs.values(), *self.results.values()]
        return 4.0 * sum(map(prod, shapes))

    @property
    def work(self) -> tuple[float, str]:
        """What a rate is a rate of, and its unit per second."""
        return (self.flops, "GFLOP/s") if self.flops else (self.bytes, "GB/s")


def dimensions(*sizes: int) -> str:
    """A shape as people write it: `64x4096x4096`."""
    return "x".join(map(str, sizes))


def select(cases: Sequence[Case], words: Sequence[str]) -> list[Case]:
    """The cases whose name has one of the words, or whose group is one; all if none."""
    return [
        case
        for case in cases
        if not words or any(word in case.name or word == case.group for word in words)
    ]

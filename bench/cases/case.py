"""What is measured: a Tile program, its inputs, and what one call of it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, prod
from random import Random
from typing import Literal, TypeAlias

CaseGroup: TypeAlias = Literal[
    "products", "convolutions", "rows", "fused", "chains", "types"
]
Shape: TypeAlias = tuple[int, ...]
Element: TypeAlias = Literal["float32", "float16", "int8"]

_BYTES: Mapping[Element, int] = {"float32": 4, "float16": 2, "int8": 1}
_HALF_TOLERANCE = 2e-3
"""Two units of the last place of a float16."""
_MOST_CHECKED = 1e10
"""Operations, of those that are computed once more to check a large result."""
_OPERATIONS_PER_BYTE = 40
"""What a byte costs a processor that computes little, in operations of products."""


@dataclass(frozen=True)
class Case:
    """One benchmark.

    `program` is Tile; `inputs` has the shape of each of its arguments, by name, and
    `results` that of each result. `kind` and `parameters` say to the peers, which do
    not read Tile, what to compute: each of them has a function for a kind.
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
    by_rows: tuple[str, ...] = ()
    """The inputs whose first axis is that of all results, which are computed of each
    index of it apart: large results are checked at some of them."""
    indices: Mapping[str, int] = field(default_factory=dict[str, int])
    """The inputs that are int32, from 0 to below these numbers."""
    element: Element = "float32"
    """The type of all other inputs, and of results; of int8 results are int32."""

    @property
    def bytes(self) -> float:
        """What one call must read and write at least."""
        read = sum(
            prod(shape) * (4 if name in self.indices else _BYTES[self.element])
            for name, shape in self.inputs.items()
        )
        result = 4 if self.element == "int8" else _BYTES[self.element]
        return float(read + result * sum(map(prod, self.results.values())))

    @property
    def checked_rows(self) -> list[int] | None:
        """Which indices of the first axis of a large result are checked; None: all."""
        if not self.by_rows:
            return None
        rows = next(iter(self.results.values()))[0]
        work = max(self.flops, self.bytes * _OPERATIONS_PER_BYTE)
        count = ceil(rows * _MOST_CHECKED / work)
        if count >= rows:
            return None
        # Both ends, where something is left over, and some in between.
        between = Random(0).sample(range(1, rows - 1), max(count - 2, 0))
        return sorted({0, rows - 1, *between})

    @property
    def work(self) -> tuple[float, str]:
        """What a rate is a rate of, and its unit per second."""
        return (self.flops, "GFLOP/s") if self.flops else (self.bytes, "GB/s")


def of_halves(case: Case) -> Case:
    """The same with numbers of 16 bits."""
    name = f"{case.name}, f16"
    return replace(case, name=name, element="float16", tolerance=_HALF_TOLERANCE)


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

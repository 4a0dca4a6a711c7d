"""Grids: some cells of a tensor, those of certain coordinates along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

Coordinates = npt.NDArray[np.int64]
"""In rising order, each once."""


@dataclass(frozen=True)
class Grid:
    """The cells whose coordinate along each axis is one of those listed for it."""

    axes: tuple[Coordinates, ...]

    @staticmethod
    def whole(shape: Sequence[int]) -> Grid:
        """All cells of a tensor."""
        return Grid(tuple(np.arange(size, dtype=np.int64) for size in shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many coordinates there are along each axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    def union(self, other: Grid | None) -> Grid:
        """The smallest grid with the cells of both."""
        if other is None:
            return self
        pairs = zip(self.axes, other.axes, strict=True)
        return Grid(tuple(np.union1d(one, two) for one, two in pairs))

    def places(self, other: Grid) -> tuple[Coordinates, ...]:
        """Where the cells of a grid inside this one are, for use as an array's index.

        Axes of size 1 that are broadcast have one coordinate here.
        """
        own = self.axes[len(self.axes) - len(other.axes) :]
        found = [
            np.searchsorted(mine, theirs)
            for mine, theirs in zip(own, other.axes, strict=True)
        ]
        return np.ix_(*found)

    def cells(self, shape: Sequence[int]) -> Coordinates:
        """Their numbers in row-major order of a tensor of this shape, as a vector."""
        if not self.axes:
            return np.zeros(1, np.int64)
        mesh = np.meshgrid(*self.axes, indexing="ij")
        numbers = np.ravel_multi_index(tuple(mesh), tuple(shape))
        return np.asarray(numbers, np.int64).reshape(-1)

    def broadcast_from(self, shape: Sequence[int]) -> Grid:
        """The cells of an operand of this shape that are broadcast to these."""
        behind = self.axes[len(self.axes) - len(shape) :]
        return Grid(
            tuple(
                np.zeros(min(len(axis), 1), np.int64) if size == 1 else axis
                for axis, size in zip(behind, shape, strict=True)
            )
        )

    @staticmethod
    def around(cells: Coordinates, shape: Sequence[int]) -> Grid:
        """The smallest grid with the cells of these numbers in row-major order."""
        if not shape:
            return Grid(())
        return Grid(
            tuple(np.unique(axis) for axis in np.unravel_index(cells, tuple(shape)))
        )


def sample(shape: Sequence[int], count: int, seed: int) -> Grid:
    """A grid of at most `count` cells, and at least one of a tensor that has cells.

    The first and the last coordinate of each axis are taken before others, which are
    drawn: what goes wrong at borders goes wrong there.
    """
    sizes = [min(size, 1) for size in shape]
    # One more along the axis that has the fewest, until there are enough.
    while True:
        rising = [n for n, size in enumerate(sizes) if size < shape[n]]
        rising.sort(key=lambda n: sizes[n])
        for axis in rising:
            if prod(sizes) // sizes[axis] * (sizes[axis] + 1) <= count:
                sizes[axis] += 1
                break
        else:
            break
    random = np.random.default_rng(seed)
    return Grid(
        tuple(
            _drawn(random, size, chosen)
            for size, chosen in zip(shape, sizes, strict=True)
        )
    )


def _drawn(random: np.random.Generator, size: int, count: int) -> Coordinates:
    ends = [0, size - 1][:count] if count > 1 else []
    inside = np.arange(len(ends) // 2, size - len(ends) // 2, dtype=np.int64)
    others = random.choice(inside, count - len(ends), replace=False)
    return np.sort(np.concatenate([np.array(ends, np.int64), others]))

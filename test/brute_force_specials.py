"""What the special functions of Tile mean, in plain Python: cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from brute_force import Tensor, hold, places

Cell = tuple[int, ...]


def reshape(x: Tensor, shape: Cell) -> Tensor:
    """The same elements, row by row, in another shape."""
    values = [x.cells[at] for at in places(x.shape)]
    return Tensor(x.type, shape, dict(zip(places(shape), values, strict=True)))


def index(x: Tensor, axis: int) -> Tensor:
    """The coordinate of each cell along an axis."""
    return Tensor("si32", x.shape, {at: at[axis] for at in places(x.shape)})


def shape_of(x: Tensor) -> Tensor:
    """The sizes of a tensor, as a tensor."""
    cells = {(axis,): size for axis, size in enumerate(x.shape)}
    return Tensor("si32", (len(x.shape),), cells)


def gather(values: Tensor, indices: Tensor, axis: int, zero: bool) -> Tensor:
    """`axis` of the values replaced by the axes of the indices.

    An index outside is the nearest one inside, or gives 0.
    """
    before, size, behind = parts(values.shape, axis)
    shape = (*before, *indices.shape, *behind)
    cells: dict[Cell, int] = {}
    for at in places(shape):
        last = len(before) + len(indices.shape)
        wanted = indices.cells[at[len(before) : last]]
        place = min(max(wanted, 0), size - 1)
        found = values.cells[(*at[: len(before)], place, *at[last:])]
        cells[at] = 0 if zero and wanted != place else found
    return Tensor(values.type, shape, cells)


def scatter(updates: Tensor, indices: Tensor, size: int, zero: bool) -> Tensor:
    """Zeros of `size` rows, to which each update is added in the row of its index.

    An index outside is the nearest one inside; with `zero` its update is dropped.
    """
    rank = len(indices.shape)
    shape = (size, *updates.shape[rank:])
    cells = dict.fromkeys(places(shape), 0)
    total = dict.fromkeys(cells, 0)
    for at in places(updates.shape):
        wanted = indices.cells[at[:rank]]
        place = min(max(wanted, 0), size - 1)
        if zero and wanted != place:
            continue
        cell = (place, *at[rank:])
        cells[cell] += updates.cells[at]
        # Floats must be exact whatever order they are added in.
        total[cell] += abs(updates.cells[at])
        if updates.type[0] not in "su":
            hold(updates.type, total[cell])
    held = {at: hold(updates.type, value) for at, value in cells.items()}
    return Tensor(updates.type, shape, held)


def argsort(x: Tensor, axis: int, descending: bool) -> Tensor:
    """The places of the elements along an axis, sorted; equal ones keep their order."""
    before, size, behind = parts(x.shape, axis)
    cells: dict[Cell, int] = {}
    for first in places(before):
        for last in places(behind):
            line = [x.cells[(*first, n, *last)] for n in range(size)]
            sign = -1 if descending else 1
            keys = [(sign * value, n) for n, value in enumerate(line)]
            for n, (_, place) in enumerate(sorted(keys)):
                cells[(*first, n, *last)] = place
    return Tensor("si32", x.shape, cells)


def parts(shape: Cell, axis: int) -> tuple[Cell, int, Cell]:
    """The sizes before an axis, of it, and behind it."""
    return shape[:axis], shape[axis], shape[axis + 1 :]


def factors(count: int, choices: Sequence[int]) -> Cell:
    """A shape of so many elements; `choices` pick a divisor each."""
    shape: list[int] = []
    for choice in choices:
        divisors = [n for n in range(1, count + 1) if count % n == 0] or [0]
        shape.append(divisors[choice % len(divisors)])
        count //= max(shape[-1], 1)
    return (*shape, count)


def is_small(shape: Cell) -> bool:
    """Whether a tensor of this shape is not too large to be computed here."""
    return math.prod(shape) <= 1200

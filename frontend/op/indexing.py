"""Elements at places that are computed: read from there, or written there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from ..edsl.functions import max as larger
from ..edsl.functions import min as smaller
from ..edsl.functions import select
from ..edsl.locations import error
from ..edsl.specials import gather as gather_cells
from ..edsl.specials import scatter as scatter_cells
from ..edsl.tensors import Tensor
from .axes import (
    Size,
    axis_of,
    indices,
    known_size,
    product,
    require_choice,
    require_rank,
    require_size,
    sizes_of,
)
from .contractions import MAX, MIN, PRODUCT, moved
from .creation import places
from .operation import TensorLike, as_tensor, operation
from .reductions import reduced
from .shapes import flatten

__all__ = [
    "embedding",
    "gather",
    "gather_nd",
    "index_add",
    "put_along_axis",
    "scatter_elements",
    "scatter_nd",
    "take",
    "take_along_axis",
]

_REDUCTIONS = ("none", "add", "mul", "max", "min")


def from_start(positions: Tensor, size: Any) -> Tensor:
    """Positions on an axis, with negative ones counted from its end."""
    return select(positions < 0, positions + size, positions)


@operation
def take(x: TensorLike, positions: TensorLike, axis: int | None = None) -> Tensor:
    """The cells of x at positions on an axis, as NumPy's take.

    The axes of the positions come to stand where the axis was. Without an axis x is as
    if it had one. Negative positions are counted from the end; those beyond the ends
    mean the nearest cell.
    """
    x = as_tensor(x)
    if axis is None:
        return take(flatten(x), positions, 0)
    place = axis_of(x, axis)
    positions = from_start(as_tensor(positions), sizes_of(x)[place])
    return gather_cells(x, positions, axis=place)


@operation
def gather(x: TensorLike, positions: TensorLike, axis: int = 0) -> Tensor:
    """The cells of x at positions on an axis, as ONNX's Gather: `take` with axis 0."""
    return take(x, positions, axis)


@operation
def embedding(positions: TensorLike, weight: TensorLike) -> Tensor:
    """The rows of the weight at positions, as torch.nn.functional.embedding."""
    weight = as_tensor(weight)
    require_rank(weight, 2, "the weight")
    return gather_cells(weight, as_tensor(positions))


@operation
def take_along_axis(x: TensorLike, positions: TensorLike, axis: int = -1) -> Tensor:
    """For each position the element of x at it along an axis, else at the same place.

    As NumPy's take_along_axis, torch.gather and ONNX's GatherElements: x and the
    positions have as many axes, and beside `axis` the positions may have less cells.
    Negative positions are counted from the end.
    """
    x, positions = as_tensor(x), as_tensor(positions)
    place = _along(x, positions, axis)
    return gather_cells(flatten(x), _cells(x, positions, place))


def _along(x: Tensor, positions: Tensor, axis: int) -> int:
    """The axis from 0. Raises GinghamError for positions that do not fit."""
    place = axis_of(x, axis)
    require_rank(positions, x.ndim, "the positions")
    own, others = sizes_of(x), sizes_of(positions)
    for number, (size, other) in enumerate(zip(own, others, strict=True)):
        has, wants = known_size(size), known_size(other)
        if number != place and has is not None and wants is not None and wants > has:
            raise error(
                f"the positions have {wants} cells on axis {number}, and x has {has}"
            )
    return place


def _cells(x: Tensor, positions: Tensor, axis: int) -> Tensor:
    """The numbers, in row-major order, of elements at positions along an axis."""
    number: Any = 0
    rank, own = x.ndim, sizes_of(x)
    for each, (size, other) in enumerate(zip(own, sizes_of(positions), strict=True)):
        position = places(rank, each, other)
        position = _limited(positions, size) if each == axis else position
        number = number * size + position
    return number


@operation
def gather_nd(x: TensorLike, positions: TensorLike, batch_dims: int = 0) -> Tensor:
    """The cells or slices of x at positions on several axes, as ONNX's GatherND.

    The last axis of the positions holds one for each of the first axes of x, behind
    `batch_dims` axes that both have. Negative ones are counted from the end.
    """
    x, positions = as_tensor(x), as_tensor(positions)
    sizes, shape = sizes_of(x), sizes_of(positions)
    depth = _depth(x, positions, batch_dims)
    behind = batch_dims + depth
    batch, outer = product(sizes[:batch_dims]), product(shape[batch_dims:-1])
    rows = product(sizes[batch_dims:behind])
    numbers = _row_numbers(positions, sizes[batch_dims:behind]).reshape(batch, outer)
    cells = x.reshape(batch, rows, product(sizes[behind:]))
    found = gather_cells(cells, numbers, axis=1, batch_dims=1)
    return found.reshape(*shape[:-1], *sizes[behind:])


def _depth(x: Tensor, positions: Tensor, batch_dims: int) -> int:
    """How many positions there are for each cell, which has to be known."""
    if not 0 <= batch_dims < positions.ndim:
        raise error(
            f"expected an axis of positions behind {batch_dims} axes, got "
            f"{positions.ndim} axes"
        )
    depth = int(sizes_of(positions)[-1])
    if depth > x.ndim - batch_dims:
        raise error(f"{depth} positions on {x.ndim - batch_dims} axes")
    return depth


@operation
def scatter_elements(
    x: TensorLike,
    positions: TensorLike,
    updates: TensorLike,
    axis: int = 0,
    reduction: str = "none",
) -> Tensor:
    """`x` with updates at positions along an axis, as ONNX's ScatterElements.

    As torch's scatter and scatter_reduce: for each position the element at it along the
    axis, else at the same place, is overwritten, or combined with the update by add,
    mul, max or min. Of updates that overwrite one element the last counts. mul, max and
    min look at all pairs of an element and an update: they are for small tensors.
    """
    x, positions = as_tensor(x), as_tensor(positions)
    place = _along(x, positions, axis)
    updates = _of_shape(as_tensor(updates), positions)
    cells = flatten(_cells(x, positions, place))
    result = _written(_column(x), cells, _column(updates), reduction)
    return result.reshape(*sizes_of(x))


def _of_shape(updates: Tensor, positions: Tensor) -> Tensor:
    """Updates, which are one number or have the shape of the positions."""
    if updates.ndim == 0:
        return select(positions == positions, updates, updates * 0)
    require_rank(updates, positions.ndim, "the updates")
    for axis, size in enumerate(sizes_of(positions)):
        require_size(updates, axis, size, "as of the positions")
    return updates


@operation
def put_along_axis(
    x: TensorLike, positions: TensorLike, values: TensorLike, axis: int
) -> Tensor:
    """`x` with values at positions along an axis, as NumPy's put_along_axis."""
    return scatter_elements(x, positions, values, axis)


def _column(x: Tensor) -> Tensor:
    """All elements in rows of one."""
    return x.reshape(product(sizes_of(x)), 1)


def _written(x: Tensor, rows: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """A matrix with updates of some rows, or combined with them there."""
    require_choice(reduction, _REDUCTIONS, "reduction")
    if reduction == "none":
        return scatter_cells(updates, rows, x, mode="update_slice")
    if reduction == "add":
        return x + scatter_cells(updates, rows, x)
    return _combined(x, rows, updates, reduction)


def _combined(x: Tensor, rows: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """By all pairs of a row and an update."""
    aggregation: Aggregation = {"mul": PRODUCT, "max": MAX, "min": MIN}[reduction]
    (size, inner), (count, _) = sizes_of(x), sizes_of(updates)
    hits = rows.reshape(1, count, 1) == places(3, 0, size)
    # What changes nothing: 1, or the element itself.
    neutral = 1 if reduction == "mul" else x.reshape(size, 1, inner)
    every = select(hits, updates.reshape(1, count, inner), neutral)
    combined = reduced(every, aggregation, 1, False)
    if reduction == "mul":
        return x * combined
    return larger(x, combined) if reduction == "max" else smaller(x, combined)


@operation
def scatter_nd(
    x: TensorLike, positions: TensorLike, updates: TensorLike, reduction: str = "none"
) -> Tensor:
    """`x` with updates at positions on its first axes, as ONNX's ScatterND.

    The last axis of the positions holds one for each of these axes. The updates have
    the shape of the other axes of positions, then of x. Negative positions are counted
    from the end. The reductions are those of `scatter_elements`.
    """
    x, positions = as_tensor(x), as_tensor(positions)
    updates = as_tensor(updates)
    sizes, depth = sizes_of(x), _depth(x, positions, 0)
    rows, inner = product(sizes[:depth]), product(sizes[depth:])
    count = product(sizes_of(positions)[:-1])
    cells = _row_numbers(positions, sizes[:depth]).reshape(count)
    updates = updates.reshape(count, inner)
    return _written(x.reshape(rows, inner), cells, updates, reduction).reshape(*sizes)


def _row_numbers(positions: Tensor, sizes: Sequence[Size]) -> Tensor:
    """The numbers, in row-major order, of cells with positions on several axes."""
    number: Any = 0
    outer, others = sizes_of(positions)[:-1], indices(positions.ndim - 1)
    for axis, size in enumerate(sizes):
        position = moved(positions, outer, others, [*others, axis])
        number = number * size + _limited(position, size)
    return number


def _limited(positions: Tensor, size: Size) -> Tensor:
    """Positions from the start, within the axis, so that no other row is meant."""
    return smaller(larger(from_start(positions, size), 0), size - 1)


@operation
def index_add(
    x: TensorLike, axis: int, positions: TensorLike, updates: TensorLike
) -> Tensor:
    """`x` with updates added to cells at positions on an axis, as torch's index_add.

    The positions are a vector, and the updates have its size along the axis.
    """
    x, positions = as_tensor(x), as_tensor(positions)
    require_rank(positions, 1, "the positions")
    place = axis_of(x, axis)
    found = from_start(positions, sizes_of(x)[place])
    return x + scatter_cells(as_tensor(updates), found, x, axis=place)

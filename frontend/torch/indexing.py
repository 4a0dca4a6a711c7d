"""Elements that other tensors choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import op
from ..edsl.tensors import Tensor, cast
from .rows import Call, NotLowered, as_type, row, sizes_of, type_of


@row("aten.embedding.default")
def embedding(call: Call, weight: Tensor, indices: Tensor, *options: Any) -> Tensor:
    """The rows of a table that indices choose."""
    return op.take(weight, indices, 0)


@row("aten.embedding_dense_backward.default")
def embedding_backward(
    call: Call,
    change: Tensor,
    indices: Tensor,
    count: int,
    padding: int,
    by_frequency: bool,
) -> Tensor:
    """The gradient of a table: what its rows that were chosen have changed."""
    if by_frequency:
        raise NotLowered("gradients scaled by frequency")
    rows = change.reshape(_count(indices), call.sizes[-1])
    places = indices.reshape(_count(indices), 1)
    if padding >= 0:
        rows = op.where(places != padding, rows, 0.0)
    return op.scatter_nd(op.zeros(list(call.sizes), call.dtype), places, rows, "add")


def _count(x: Tensor) -> int:
    result = 1
    for size in sizes_of(x):
        result *= size
    return result


@row("aten.index_select.default")
def index_select(call: Call, x: Tensor, dim: int, indices: Tensor) -> Tensor:
    """The cells along an axis that indices choose."""
    return op.take(x, indices, dim)


@row("aten.gather.default")
def gather(call: Call, x: Tensor, dim: int, indices: Tensor, **options: Any) -> Tensor:
    """Along an axis the elements that indices choose, one for each index."""
    return op.take_along_axis(x, indices, dim)


@row("aten.index.Tensor")
def index(call: Call, x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at indices for some axes, which broadcast, as in NumPy."""
    axes, chosen = _chosen(indices)
    if len(axes) == 1:
        return op.take(x, chosen[0], axes[0])
    sizes, depth = sizes_of(x), len(axes)
    together = _stacked(chosen)
    front = [*axes, *(axis for axis in range(x.ndim) if axis not in axes)]
    found = op.gather_nd(op.transpose(x, front), together)
    # The axes of the indices come to stand where the first of theirs was.
    rank = together.ndim - 1
    order = [*range(rank, rank + axes[0]), *range(rank)]
    return op.transpose(
        found, [*order, *range(rank + axes[0], len(sizes) - depth + rank)]
    )


def _chosen(indices: Sequence[Tensor | None]) -> tuple[list[int], list[Tensor]]:
    """The axes that have indices, and these."""
    axes = [axis for axis, each in enumerate(indices) if each is not None]
    chosen = [each for each in indices if each is not None]
    if any(type_of(each) == "bool" for each in chosen):
        raise NotLowered("a mask as index")
    if axes != [*range(axes[0], axes[-1] + 1)]:
        raise NotLowered("indices for axes that are not beside each other")
    return axes, chosen


def _stacked(chosen: Sequence[Tensor]) -> Tensor:
    """Indices of several axes, which broadcast, as the coordinates of a last axis."""
    return op.stack(op.broadcast_tensors(*(cast(each, "int64") for each in chosen)), -1)


@row("aten.index_put.default", "aten._unsafe_index_put.default")
def index_put(
    call: Call,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """The tensor with elements at indices replaced, or added to."""
    axes, chosen = _chosen(indices)
    places = _stacked(chosen)
    front = [*axes, *(axis for axis in range(x.ndim) if axis not in axes)]
    back = sorted(range(x.ndim), key=front.__getitem__)
    rank = places.ndim - 1
    sizes = [sizes_of(x)[axis] for axis in front[len(axes) :]]
    shape = sizes_of(places)[:-1]
    first = axes[0]
    updates = op.broadcast_to(
        as_type(values, call.dtype), [*sizes[:first], *shape, *sizes[first:]]
    )
    behind = [*range(first), *range(first + rank, rank + len(sizes))]
    updates = op.transpose(updates, [*range(first, first + rank), *behind])
    how = "add" if accumulate else "none"
    result = op.scatter_nd(op.transpose(x, front), places, updates, how)
    return op.transpose(result, back)


@row("aten.scatter_add.default")
def scatter_add(
    call: Call, x: Tensor, dim: int, indices: Tensor, source: Tensor
) -> Tensor:
    """The tensor with elements added along an axis where indices say."""
    return op.scatter_elements(x, indices, source, dim, "add")


@row("aten.scatter.src")
def scatter(call: Call, x: Tensor, dim: int, indices: Tensor, source: Tensor) -> Tensor:
    """The tensor with elements replaced along an axis where indices say."""
    return op.scatter_elements(x, indices, source, dim)


@row("aten.scatter.value")
def scatter_value(
    call: Call, x: Tensor, dim: int, indices: Tensor, value: float
) -> Tensor:
    """The tensor with a number along an axis where indices say."""
    source = op.full(sizes_of(indices), value, call.dtype)
    return op.scatter_elements(x, indices, source, dim)

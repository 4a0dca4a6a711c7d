"""Operators that give the same elements in other shapes and orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import op
from ..edsl.tensors import Tensor
from ..op.axes import indices
from ..op.contractions import moved
from .rows import Call, NotLowered, row, sizes_of

_END = 2**63 - 1
"""What PyTorch says for the end of an axis."""


@row(
    "aten.view.default",
    "aten.reshape.default",
    "aten._unsafe_view.default",
    "aten._reshape_copy.default",
    "aten.squeeze.default",
    "aten.squeeze.dim",
    "aten.squeeze.dims",
    "aten.unsqueeze.default",
    "prims.view_of.default",
    "prims.collapse_view.default",
    "prims.split_dim.default",
)
def reshape(call: Call, x: Tensor, *arguments: Any) -> Tensor:
    """The elements in the same order with the sizes of the result."""
    return x if sizes_of(x) == list(call.sizes) else x.reshape(*call.sizes)


@row("aten.permute.default", "prims.transpose.default")
def permute(call: Call, x: Tensor, dims: Sequence[int]) -> Tensor:
    """The axes in another order."""
    return op.transpose(x, dims)


@row("aten.t.default")
def t(call: Call, x: Tensor) -> Tensor:
    """Rows as columns."""
    return op.transpose(x)


@row("aten.transpose.int")
def transpose(call: Call, x: Tensor, first: int, second: int) -> Tensor:
    """Two axes exchanged."""
    return op.swapaxes(x, first, second)


@row("aten.expand.default")
def expand(call: Call, x: Tensor, sizes: Sequence[int], **options: Any) -> Tensor:
    """Axes of size 1 repeated."""
    return op.broadcast_to(x, list(call.sizes))


@row("aten.copy.default")
def copy(call: Call, x: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """The elements of the source, in the shape and type of the first."""
    return op.broadcast_to(source, list(call.sizes))


@row("aten.slice.Tensor")
def slice(
    call: Call,
    x: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A part of an axis."""
    last = None if end is None or end >= _END else end
    return op.slice(x, [start or 0], [last], [dim], [step])


@row("aten.slice_scatter.default")
def slice_scatter(
    call: Call,
    x: Tensor,
    source: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """The tensor with a part of an axis replaced by another tensor."""
    size = call.sizes[dim]
    taken = range(size)[start or 0 : None if end is None else end : step]
    at = indices(len(call.sizes))
    axis = dim % len(call.sizes)
    target = [*at[:axis], at[axis] * step + taken.start, *at[axis + 1 :]]
    return moved(source, list(call.sizes), target, at, default=x)


@row("aten.select.int")
def select(call: Call, x: Tensor, dim: int, index: int) -> Tensor:
    """What stands at one place of an axis, which is gone."""
    return op.select_index(x, index, dim)


@row("aten.select_scatter.default")
def select_scatter(
    call: Call, x: Tensor, source: Tensor, dim: int, index: int
) -> Tensor:
    """The tensor with what stands at one place of an axis replaced."""
    axis = dim % len(call.sizes)
    at = indices(len(call.sizes) - 1)
    target = [*at[:axis], index % call.sizes[axis], *at[axis:]]
    return moved(source, list(call.sizes), target, at, default=x)


@row("aten.cat.default")
def cat(call: Call, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors behind each other along an axis."""
    return op.concatenate(call.converted(*tensors), dim)


@row("aten.stack.default")
def stack(call: Call, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors along a new axis."""
    return op.stack(call.converted(*tensors), dim)


@row("aten.split_with_sizes.default")
def split(
    call: Call, x: Tensor, sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Parts of an axis."""
    return op.split(x, list(sizes), dim)


@row("aten.split.Tensor")
def split_evenly(call: Call, x: Tensor, size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of an axis, all of one size but for the last."""
    parts = [0 if each is None else each.sizes[dim] for each in call.results]
    return op.split(x, parts, dim)


@row("aten.unbind.int")
def unbind(call: Call, x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """What stands at each place of an axis, which is gone."""
    return op.unstack(x, dim)


@row("aten.constant_pad_nd.default")
def constant_pad(
    call: Call, x: Tensor, pads: Sequence[int], value: float = 0
) -> Tensor:
    """A number before and behind the elements of axes, the last axis first."""
    pairs = [*zip(pads[::2], pads[1::2], strict=True)][::-1]
    axes = range(x.ndim - len(pairs), x.ndim)
    return op.pad(x, pairs, value=value, axes=[*axes])


@row(
    "aten.reflection_pad1d.default",
    "aten.reflection_pad2d.default",
    "aten.reflection_pad3d.default",
)
def reflection_pad(call: Call, x: Tensor, pads: Sequence[int]) -> Tensor:
    """A mirror image before and behind the elements of the last axes."""
    pairs = [*zip(pads[::2], pads[1::2], strict=True)][::-1]
    axes = range(x.ndim - len(pairs), x.ndim)
    return op.pad(x, pairs, mode="reflect", axes=[*axes])


@row(
    "aten.replication_pad1d.default",
    "aten.replication_pad2d.default",
    "aten.replication_pad3d.default",
)
def replication_pad(call: Call, x: Tensor, pads: Sequence[int]) -> Tensor:
    """The outer elements again before and behind those of the last axes."""
    pairs = [*zip(pads[::2], pads[1::2], strict=True)][::-1]
    axes = range(x.ndim - len(pairs), x.ndim)
    return op.pad(x, pairs, mode="edge", axes=[*axes])


@row("aten.flip.default")
def flip(call: Call, x: Tensor, dims: Sequence[int]) -> Tensor:
    """Axes in the opposite order."""
    return op.flip(x, list(dims))


@row("aten.roll.default")
def roll(
    call: Call, x: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()
) -> Tensor:
    """The elements moved along axes, those beyond the end at the start."""
    if not dims:
        return op.roll(x, shifts[0])
    return op.roll(x, list(shifts), list(dims))


@row("aten.repeat.default")
def repeat(call: Call, x: Tensor, repeats: Sequence[int]) -> Tensor:
    """The whole tensor several times along each axis."""
    return op.tile(x, list(repeats))


@row("aten.tril.default")
def tril(call: Call, x: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros above a diagonal."""
    return op.tril(x, diagonal)


@row("aten.triu.default")
def triu(call: Call, x: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros below a diagonal."""
    return op.triu(x, diagonal)


@row("aten.as_strided.default")
def as_strided(
    call: Call, x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int = 0
) -> Tensor:
    """Another view of memory, where it is the same elements in order."""
    expected = 1
    for count, step in zip(reversed(size), reversed(stride), strict=True):
        if count != 1 and step != expected:
            raise NotLowered("strides that are not those of the elements in order")
        expected *= count
    total = 1
    for count in sizes_of(x):
        total *= count
    if offset or expected != total:
        raise NotLowered("a part of the memory")
    return x.reshape(*size)

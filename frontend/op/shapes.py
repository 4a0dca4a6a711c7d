"""The same elements in other shapes and orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..edsl.calls import Call
from ..edsl.dims import is_size
from ..edsl.functions import min as smaller
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import (
    Axes,
    Size,
    axes_of,
    axis_list,
    axis_of,
    indices,
    known_size,
    known_sizes,
    product,
    replaced,
    require_size,
    size_list,
    sizes_of,
)
from .contractions import moved
from .operation import TensorLike, as_tensor, operation

__all__ = [
    "broadcast_tensors",
    "broadcast_to",
    "expand",
    "expand_dims",
    "flatten",
    "moveaxis",
    "reshape",
    "squeeze",
    "swapaxes",
    "transpose",
    "unflatten",
    "unsqueeze",
]


@operation
def reshape(x: TensorLike, *shape: Any) -> Tensor:
    """The elements in row-major order with other sizes, as ONNX's Reshape.

    One size may be -1: what is left for it. A size of 0 is that of the same axis of x.
    Sizes are given one by one or in a list. Raises GinghamError where the numbers of
    elements differ, or two sizes are -1.
    """
    x = as_tensor(x)
    given = size_list(shape[0]) if len(shape) == 1 else [*shape]
    own = sizes_of(x)
    sizes: list[Size] = []
    for axis, size in enumerate(given):
        number = known_size(size) if is_size(size) else None
        if number == 0 and axis >= len(own):
            raise error(f"size {axis} is 0, but x has {len(own)} axes")
        sizes.append(own[axis] if number == 0 else size)
    missing = [axis for axis, size in enumerate(sizes) if known_size(size) == -1]
    if len(missing) > 1:
        raise error("more than one size is -1")
    for axis in missing:
        sizes[axis] = _remaining(own, replaced(sizes, axis, 1))
    return x.reshape(*sizes)


def _remaining(sizes: Sequence[Size], others: Sequence[Size]) -> Size:
    """What the product of the others has to be multiplied with."""
    whole, part = product(sizes), product(others)
    if isinstance(whole, int) and isinstance(part, int) and whole % max(part, 1):
        raise error(f"{whole} elements are no multiple of {part}")
    return whole // part


@operation
def flatten(x: TensorLike, start_axis: int = 0, end_axis: int = -1) -> Tensor:
    """Several axes as one, as torch.flatten; from the first to the last by default."""
    x = as_tensor(x)
    if x.ndim == 0:
        return x.reshape(1)
    first, last = axis_of(x, start_axis), axis_of(x, end_axis)
    if first > last:
        raise error(f"axis {start_axis} comes after axis {end_axis}")
    sizes = sizes_of(x)
    return x.reshape(
        *sizes[:first], product(sizes[first : last + 1]), *sizes[last + 1 :]
    )


@operation
def unflatten(x: TensorLike, axis: int, sizes: Sequence[Size]) -> Tensor:
    """One axis as several, as torch.unflatten; one of the sizes may be -1."""
    x = as_tensor(x)
    place, own = axis_of(x, axis), sizes_of(x)
    return reshape(x, [*own[:place], *sizes, *own[place + 1 :]])


@operation
def squeeze(x: TensorLike, axes: Axes = None) -> Tensor:
    """Without some axes of size 1, or without all of them, as NumPy's squeeze.

    Raises GinghamError for an axis of another size, and without `axes` for sizes that
    are not known while the program is made.
    """
    x = as_tensor(x)
    sizes = sizes_of(x)
    if axes is None:
        gone = [axis for axis, size in enumerate(sizes) if int(size) == 1]
    else:
        gone = axes_of(x, axes)
    for axis in gone:
        require_size(x, axis, 1, "only axes of size 1 can be squeezed")
    return x.reshape(*(size for axis, size in enumerate(sizes) if axis not in gone))


@operation
def unsqueeze(x: TensorLike, axes: int | Sequence[int]) -> Tensor:
    """With further axes of size 1, by their places in the result, as ONNX's Unsqueeze.

    NumPy calls it expand_dims.
    """
    x = as_tensor(x)
    several = [axes] if isinstance(axes, int) else list(axes)
    new = axes_of(x, several, len(several))
    own = iter(sizes_of(x))
    rank = x.ndim + len(several)
    return x.reshape(*(1 if axis in new else next(own) for axis in range(rank)))


expand_dims = unsqueeze


@operation
def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """The axes in another order, reversed by default, as NumPy's transpose."""
    x = as_tensor(x)
    order = list(range(x.ndim))[::-1]
    if axes is not None:
        order = [axis_of(x, axis) for axis in axis_list(axes)]
    if sorted(order) != list(range(x.ndim)):
        raise error(f"expected each of {x.ndim} axes once, got {axes}")
    if order == list(range(x.ndim)):
        return x
    places, sizes = indices(x.ndim), sizes_of(x)
    return moved(x, [sizes[a] for a in order], [places[a] for a in order], places)


@operation
def swapaxes(x: TensorLike, first: int, second: int) -> Tensor:
    """Two axes exchanged, as NumPy's swapaxes."""
    x = as_tensor(x)
    one, other = axis_of(x, first), axis_of(x, second)
    order = list(range(x.ndim))
    order[one], order[other] = other, one
    return transpose(x, order)


@operation
def moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """Axes moved to other places, the rest in order, as NumPy's moveaxis."""
    x = as_tensor(x)
    sources = [source] if isinstance(source, int) else source
    targets = [destination] if isinstance(destination, int) else destination
    if len(sources) != len(targets):
        raise error(f"{len(sources)} axes are to be moved to {len(targets)} places")
    moves = {
        axis_of(x, t): axis_of(x, s) for s, t in zip(sources, targets, strict=True)
    }
    rest = iter(axis for axis in range(x.ndim) if axis not in moves.values())
    return transpose(x, [moves[a] if a in moves else next(rest) for a in range(x.ndim)])


@operation
def broadcast_to(x: TensorLike, shape: Sequence[Size]) -> Tensor:
    """Repeated along axes of size 1 and new first axes, as NumPy's broadcast_to.

    A size of -1 is that which the axis has, as of torch.expand. Where `shape` has 1 and
    x has not, the axis stays as it is, as in ONNX's Expand.
    """
    x = as_tensor(x)
    own, wanted = sizes_of(x), size_list(shape)
    rank = max(len(own), len(wanted))
    own = [*[1] * (rank - len(own)), *own]
    wanted = [*[1] * (rank - len(wanted)), *wanted]
    wanted = [s if known_size(w) == -1 else w for s, w in zip(own, wanted, strict=True)]
    if known_sizes(own) == known_sizes(wanted) and None not in known_sizes(own):
        return x.reshape(*own) if x.ndim < rank else x
    places = indices(rank)
    source = [repeated(place, size) for place, size in zip(places, own, strict=True)]
    sizes = broadcast_sizes([own, wanted])
    return moved(x, sizes, places, source[rank - x.ndim :])


def repeated(place: Any, size: Size) -> Any:
    """Where to read an axis that broadcasts: at a place, or where it is 1, at 0."""
    number = known_size(size)
    if number is None:
        return smaller(size - 1, 1) * place
    return 0 if number == 1 else place


expand = broadcast_to


@operation
def broadcast_tensors(*tensors: TensorLike) -> tuple[Tensor, ...]:
    """All in the shape that they broadcast to, as NumPy's broadcast_arrays."""
    several = [as_tensor(tensor) for tensor in tensors]
    shape = broadcast_sizes([sizes_of(tensor) for tensor in several])
    return tuple(broadcast_to(tensor, shape) for tensor in several)


def broadcast_sizes(shapes: Sequence[Sequence[Size]]) -> list[Size]:
    """The sizes that shapes broadcast to.

    Raises GinghamError, now or when sizes are known, where they do not.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    aligned = [[*[1] * (rank - len(shape)), *shape] for shape in shapes]
    return [_common(sizes) for sizes in zip(*aligned, strict=True)]


def _common(sizes: Sequence[Size]) -> Size:
    """What several axes broadcast to."""
    others = [size for size in sizes if known_size(size) != 1]
    numbers = {known_size(size) for size in others}
    if len(numbers - {None}) > 1:
        raise error(f"axes of sizes {', '.join(map(str, numbers))} do not broadcast")
    if not others:
        return 1
    if len(others) == 1 or None not in numbers:
        return others[0]
    return Call("broadcast", *others)

"""Elements put around a tensor, or cut off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..edsl.calls import Call
from ..edsl.indices import IndexExpression
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import (
    Size,
    axis_of,
    indices,
    known_size,
    pairs_per_axis,
    replaced,
    require_choice,
    sizes_of,
)
from .contractions import moved
from .creation import full
from .operation import TensorLike, as_tensor, operation

__all__ = ["pad"]

_Border: TypeAlias = Callable[[Any, Any], Any]
"""The element that the k-th one beyond an end of an axis is, for k and the size."""

_MODES = ("constant", "reflect", "symmetric", "edge", "wrap")


@operation
def pad(
    x: TensorLike,
    pads: Any,
    mode: str = "constant",
    value: TensorLike = 0,
    axes: Sequence[int] | None = None,
) -> Tensor:
    """Elements before and behind those of some axes, all by default, as NumPy's pad.

    `pads` is a number for all ends, one for each axis, or a pair (before, behind) for
    each axis. Negative numbers cut off elements. The modes are constant, with a value;
    reflect, a mirror image without the last element; symmetric, with it; edge, the last
    element; and wrap, the elements from the other end. ONNX's Pad has the same modes
    but symmetric. Raises GinghamError for an image that is larger than the axis.
    """
    x = as_tensor(x)
    require_choice(mode, _MODES, "mode")
    chosen = range(x.ndim) if axes is None else [axis_of(x, axis) for axis in axes]
    pairs = pairs_per_axis(pads, len(chosen), "pads")
    if mode == "constant":
        return _constant(x, dict(zip(chosen, pairs, strict=True)), value)
    for axis, (before, behind) in zip(chosen, pairs, strict=True):
        x = _bordered(x, axis, before, behind, mode)
    return x


def _constant(
    x: Tensor, pads: dict[int, tuple[Size, Size]], value: TensorLike
) -> Tensor:
    sizes, source = sizes_of(x), indices(x.ndim)
    target = list[IndexExpression](source)
    for axis, (before, behind) in pads.items():
        sizes[axis] = _padded_size(sizes[axis], before, behind, axis)
        target[axis] = source[axis] + before
    is_zero = isinstance(value, int | float) and not value
    default = None if is_zero else full(sizes, value)
    return moved(x, sizes, target, source, default=default)


def _padded_size(size: Size, before: Size, behind: Size, axis: int) -> Size:
    whole = size + before + behind
    number = known_size(whole)
    if number is not None and number < 1:
        raise error(f"nothing is left of axis {axis} of size {size}")
    return whole


def _bordered(x: Tensor, axis: int, before: Size, behind: Size, mode: str) -> Tensor:
    """An axis with elements of its own around it."""
    sizes, source = sizes_of(x), indices(x.ndim)
    own = sizes[axis]
    most = own - 1 if mode == "reflect" else own
    for count in (before, behind):
        _check_image(count, most, mode, axis)
    sizes[axis] = _padded_size(own, before, behind, axis)
    target = replaced(source, axis, source[axis] + before)
    result = moved(x, sizes, target, source)
    place = source[axis]
    for count, first, read in (
        (before, before - 1 - place, _BEFORE[mode](place, own)),
        (behind, own + before + place, _BEHIND[mode](place, own)),
    ):
        number = known_size(count)
        if number is not None and number <= 0:
            continue
        result = moved(
            x,
            sizes,
            replaced(source, axis, first),
            replaced(source, axis, read),
            [place < count],
            result,
        )
    return result


def _check_image(count: Size, most: Size, mode: str, axis: int) -> None:
    number, limit = known_size(count), known_size(most)
    if mode == "edge" or (number is not None and number <= 0):
        return
    if number is None or limit is None:
        Call("assert_pad_within_axis", count <= most)
    elif number > limit:
        raise error(
            f"mode {mode} has at most {limit} elements for each end of axis {axis}, "
            f"got {number}"
        )


_BEFORE: dict[str, _Border] = {
    "reflect": lambda k, size: k + 1,
    "symmetric": lambda k, size: k,
    "edge": lambda k, size: 0,
    "wrap": lambda k, size: size - 1 - k,
}
_BEHIND: dict[str, _Border] = {
    "reflect": lambda k, size: size - 2 - k,
    "symmetric": lambda k, size: size - 1 - k,
    "edge": lambda k, size: size - 1,
    "wrap": lambda k, size: k,
}

"""Images sampled at places that a grid says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..edsl.functions import abs, round
from ..edsl.functions import max as larger
from ..edsl.functions import min as smaller
from ..edsl.locations import error
from ..edsl.specials import gather as gather_cells
from ..edsl.specials import index
from ..edsl.tensors import Tensor
from .axes import (
    Size,
    product,
    require_choice,
    require_rank,
    require_size,
    sizes_of,
)
from .creation import places
from .elementwise import mod
from .joining import stack
from .operation import TensorLike, as_tensor, operation
from .padding import pad
from .products import matmul
from .shapes import moveaxis
from .slicing import select_index
from .windows import windows

__all__ = ["affine_grid", "deform_conv", "grid_sample"]

_BORDER = 3
"""Elements around an image that a cubic interpolation of one inside may read."""


@operation
def grid_sample(
    x: TensorLike,
    grid: TensorLike,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """Images at the places of a grid, as torch's grid_sample.

    Images have shape [N, C, spatial..], the grid [N, spatial.., D] for D spatial axes,
    of which the last comes first. Places go from -1 to 1: from the middle of the first
    element of an axis to that of the last with `align_corners`, else from border to
    border. The mode is bilinear, nearest or bicubic; beyond an image are zeros, its
    border, or its reflection.
    """
    x, grid = as_tensor(x), as_tensor(grid)
    require_choice(mode, ("bilinear", "linear", "nearest", "bicubic", "cubic"), "mode")
    require_choice(padding_mode, ("zeros", "border", "reflection"), "padding_mode")
    if x.ndim < 3:
        raise error(f"expected images of at least 3 axes, got {x.ndim}")
    require_rank(grid, x.ndim, "the grid")
    rank, sizes = x.ndim - 2, sizes_of(x)
    require_size(grid, grid.ndim - 1, rank, "the number of spatial axes")
    pixels = [
        _pixel(select_index(grid, rank - 1 - axis, -1), sizes[2 + axis], align_corners)
        for axis in range(rank)
    ]
    kind = {"nearest": "nearest", "bilinear": "linear", "linear": "linear"}
    return _sampled(x, pixels, kind.get(mode, "cubic"), padding_mode, align_corners)


def _pixel(place: Tensor, size: Size, align_corners: bool) -> Tensor:
    """A place from -1 to 1 as a coordinate of an axis."""
    if align_corners:
        return (place + 1.0) * ((as_tensor(size) - 1.0) * 0.5)
    return ((place + 1.0) * size - 1.0) * 0.5


def _sampled(
    x: Tensor,
    pixels: Sequence[Tensor],
    interpolation: str,
    padding_mode: str,
    align_corners: bool,
) -> Tensor:
    _, channels, *spatial = sizes_of(x)
    found: list[Tensor] = []
    for place, size in zip(pixels, spatial, strict=True):
        if padding_mode == "reflection":
            place = _reflected(place, size, align_corners)
        if interpolation == "nearest":
            # Of two that are as near the even one, as torch and ONNX have it.
            place = round(place)
        least: Any = 0.0
        most: Any = as_tensor(size) - 1.0
        if padding_mode == "zeros" or interpolation == "cubic":
            # As far as anything of the image still counts; behind are zeros only.
            least, most = (-2.0, as_tensor(size) + 1.0)
        found.append(smaller(larger(place, least), most) + float(_BORDER))
    mode = {"zeros": "constant", "border": "edge"}.get(padding_mode)
    mode = mode or ("reflect" if align_corners else "symmetric")
    outside = [(0, 0), (0, 0)] + [(_BORDER, _BORDER)] * len(spatial)
    if padding_mode == "reflection" and interpolation != "cubic":
        mode = "edge"
    images = moveaxis(pad(x, outside, mode), 1, -1)
    result = gather_cells(
        images,
        stack(found, -1),
        mode="nd",
        batch_dims=1,
        interpolation=interpolation,
    )
    shape = sizes_of(found[0])
    return moveaxis(result.reshape(*shape, channels), -1, 1)


def _reflected(place: Tensor, size: Size, align_corners: bool) -> Any:
    """A coordinate within an axis, by reflection at both of its ends."""
    shift = 0.0 if align_corners else 0.5
    length = as_tensor(size) * 1.0 - (1.0 if align_corners else 0.0)
    # One element alone has no length from its middle to its middle.
    period = larger(length, 0.5)
    turned = mod(place + shift, period * 2.0)
    return smaller(period - abs(period - turned), length) - shift


@operation
def affine_grid(
    theta: TensorLike, size: Sequence[Size], align_corners: bool = False
) -> Tensor:
    """The grid of affine maps of images of a size, as torch's affine_grid.

    theta has shape [N, D, D + 1] for D spatial axes; the size is that of the result of
    `grid_sample`, [N, C, spatial..].
    """
    theta = as_tensor(theta)
    batch, _, *spatial = size
    rank = len(spatial)
    require_rank(theta, 3, "theta")
    coordinates: list[Tensor] = []
    for axis in reversed(range(rank)):
        length = as_tensor(spatial[axis]) * 1.0
        place = index(list(spatial), axis) * 1.0
        if align_corners:
            coordinates.append(place * 2.0 / larger(length - 1.0, 1.0) - 1.0)
        else:
            coordinates.append((place * 2.0 + 1.0) / length - 1.0)
    result: list[Any] = []
    for row in range(rank):
        total: Any = 0.0
        for column in range(rank + 1):
            factor = select_index(select_index(theta, column, 2), row, 1)
            factor = factor.reshape(batch, *[1] * rank)
            total = total + (factor * coordinates[column] if column < rank else factor)
        result.append(total)
    return stack(result, -1)


@operation
def deform_conv(
    x: TensorLike,
    weight: TensorLike,
    offset: TensorLike,
    bias: TensorLike = None,
    mask: TensorLike = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[Any] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    offset_groups: int = 1,
) -> Tensor:
    """A convolution whose elements are read beside their places, as ONNX's DeformConv.

    As torchvision's deform_conv2d: the offset, of shape [N, offset groups * elements of
    the kernel * 2, rows, columns], says how far from its place each element is read, by
    interpolation, (y, x); the mask, [N, offset groups * elements of the kernel, rows,
    columns], what it is multiplied by. Beyond an image are zeros. The other arguments
    are those of `conv`.
    """
    x, weight, offset = as_tensor(x), as_tensor(weight), as_tensor(offset)
    for tensor, what in ((x, "the images"), (weight, "the weight")):
        require_rank(tensor, 4, what)
    batch, channels, *sizes = sizes_of(x)
    outputs, _, *kernel = sizes_of(weight)
    moves = windows(sizes, kernel, stride, padding, dilation)
    counts, taps = [move.count for move in moves], product(kernel)
    shape = [batch, offset_groups, *kernel, 2, *counts]
    shifts = offset.reshape(*shape)
    found: list[Tensor] = []
    for axis, move in enumerate(moves):
        place = move.element(
            places(6, 4 + axis, move.count), places(6, 2 + axis, move.kernel)
        )
        place = place + select_index(shifts, axis, 4)
        found.append(place.reshape(batch * offset_groups, taps * counts[0], counts[1]))
    parts = x.reshape(batch * offset_groups, channels // offset_groups, *sizes)
    seen = _sampled(parts, found, "linear", "zeros", True)
    seen = seen.reshape(batch, offset_groups, channels // offset_groups, taps, *counts)
    if mask is not None:
        seen = seen * as_tensor(mask).reshape(batch, offset_groups, 1, taps, *counts)
    depth, width = channels // groups * taps, outputs // groups
    columns = seen.reshape(batch, groups, depth, product(counts))
    result = matmul(weight.reshape(groups, width, depth), columns)
    result = result.reshape(batch, outputs, *counts)
    if bias is None:
        return result
    return result + as_tensor(bias).reshape(outputs, 1, 1)

"""Blocks of images as channels, and channels as blocks."""

from __future__ import annotations

from typing import Any

from ..edsl.indices import Constraint
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, indices, known_size, require_choice
from .contractions import moved
from .operation import TensorLike, as_tensor, operation
from .windows import image, image_sizes

__all__ = [
    "depth_to_space",
    "pixel_shuffle",
    "pixel_unshuffle",
    "reorg_yolo",
    "space_to_depth",
]


@operation
def depth_to_space(
    x: TensorLike, block_size: int, mode: str = "DCR", *, channels_last: bool = False
) -> Tensor:
    """Channels as blocks of each image, as ONNX's DepthToSpace.

    In mode DCR the channel is the last part of the axis of channels, in mode CRD the
    first, as in torch's pixel_shuffle. x has shape [N, C, H, W], or channels last.
    """
    x = as_tensor(x)
    require_choice(mode, ("DCR", "CRD"), "mode")
    batch, depth, sizes = _image(x, block_size, channels_last)
    count = block_size ** len(sizes)
    _multiple(depth, count, "the channels")
    channels = depth // count
    wide, deep, constraints = _places(len(sizes), block_size, channels, mode)
    return moved(
        x,
        image(batch, channels, [size * block_size for size in sizes], channels_last),
        image(*wide, channels_last),
        image(*deep, channels_last),
        constraints,
    )


def _places(
    rank: int, block_size: int, channels: Size, mode: str
) -> tuple[tuple[Any, Any, list[Any]], tuple[Any, Any, list[Any]], list[Constraint]]:
    """Where an element is in an image and among the channels that a block becomes."""
    n, c = indices(2)
    at, inside = indices(rank), indices(rank)
    offset: Any = 0
    for place in inside:
        offset = offset * block_size + place
    count = block_size**rank
    depth = offset * channels + c if mode == "DCR" else c * count + offset
    pixels = [block_size * one + other for one, other in zip(at, inside, strict=True)]
    constraints = [place < block_size for place in inside]
    return (n, c, pixels), (n, depth, [*at]), [*constraints, c < channels]


@operation
def pixel_shuffle(x: TensorLike, upscale_factor: int) -> Tensor:
    """Channels as blocks of each image, as torch's pixel_shuffle."""
    return depth_to_space(x, upscale_factor, "CRD")


@operation
def space_to_depth(
    x: TensorLike, block_size: int, mode: str = "DCR", *, channels_last: bool = False
) -> Tensor:
    """Blocks of each image as channels, as ONNX's SpaceToDepth.

    The opposite of depth_to_space in the same mode.
    """
    x = as_tensor(x)
    require_choice(mode, ("DCR", "CRD"), "mode")
    batch, channels, sizes = _image(x, block_size, channels_last)
    for size in sizes:
        _multiple(size, block_size, "the size of an image")
    wide, deep, constraints = _places(len(sizes), block_size, channels, mode)
    depth = channels * block_size ** len(sizes)
    return moved(
        x,
        image(batch, depth, [size // block_size for size in sizes], channels_last),
        image(*deep, channels_last),
        image(*wide, channels_last),
        constraints,
    )


@operation
def pixel_unshuffle(x: TensorLike, downscale_factor: int) -> Tensor:
    """Blocks of each image as channels, as torch's pixel_unshuffle."""
    return space_to_depth(x, downscale_factor, "CRD")


@operation
def reorg_yolo(x: TensorLike, stride: int) -> Tensor:
    """Blocks of each image as channels in Darknet's order, as OpenVINO's ReorgYolo.

    The elements are taken for images of [N, C / stride ** 2, H * stride, W * stride].
    """
    x = as_tensor(x)
    batch, channels, spatial = _image(x, stride, False)
    count = stride ** len(spatial)
    _multiple(channels, count, "the channels")
    larger = [size * stride for size in spatial]
    blocks = space_to_depth(x.reshape(batch, channels // count, *larger), stride)
    smaller = [size // stride for size in spatial]
    return blocks.reshape(batch, channels * count, *smaller)


def _image(
    x: Tensor, block_size: int, channels_last: bool
) -> tuple[Size, Size, list[Size]]:
    if block_size < 1:
        raise error(f"expected a block size of at least 1, got {block_size}")
    return image_sizes(x, channels_last)


def _multiple(size: Size, factor: int, what: str) -> None:
    number = known_size(size)
    if number is not None and number % factor:
        raise error(f"{what}, {number}, are no multiple of {factor}")

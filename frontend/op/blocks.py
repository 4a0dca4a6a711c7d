"""Blocks of images as channels, and channels as blocks."""

from __future__ import annotations

from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, known_size, require_choice, sizes_of
from .operation import TensorLike, as_tensor, operation
from .shapes import moveaxis, transpose

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
    if channels_last:
        channels_first = depth_to_space(moveaxis(x, -1, 1), block_size, mode)
        return moveaxis(channels_first, 1, -1)
    require_choice(mode, ("DCR", "CRD"), "mode")
    x = as_tensor(x)
    batch, depth, *spatial = _image(x, block_size)
    rank, n = len(spatial), block_size
    _multiple(depth, n**rank, "the channels")
    channels = depth // n**rank
    blocks = [n] * rank
    parts = [*blocks, channels] if mode == "DCR" else [channels, *blocks]
    whole = x.reshape(batch, *parts, *spatial)
    first = 2 if mode == "CRD" else 1
    channel = 1 if mode == "CRD" else 1 + rank
    order = [0, channel]
    for axis in range(rank):
        order += [2 + rank + axis, first + axis]
    sizes = [size * n for size in spatial]
    return transpose(whole, order).reshape(batch, channels, *sizes)


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
    if channels_last:
        channels_first = space_to_depth(moveaxis(x, -1, 1), block_size, mode)
        return moveaxis(channels_first, 1, -1)
    require_choice(mode, ("DCR", "CRD"), "mode")
    x = as_tensor(x)
    batch, channels, *spatial = _image(x, block_size)
    rank, n = len(spatial), block_size
    sizes = list[Size]()
    for size in spatial:
        _multiple(size, n, "the size of an image")
        sizes += [size // n, n]
    whole = x.reshape(batch, channels, *sizes)
    inner = [3 + 2 * axis for axis in range(rank)]
    outer = [2 + 2 * axis for axis in range(rank)]
    order = [0, *inner, 1, *outer] if mode == "DCR" else [0, 1, *inner, *outer]
    return transpose(whole, order).reshape(batch, channels * n**rank, *sizes[::2])


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
    batch, channels, *spatial = _image(x, stride)
    count = stride ** len(spatial)
    _multiple(channels, count, "the channels")
    larger = [size * stride for size in spatial]
    blocks = space_to_depth(x.reshape(batch, channels // count, *larger), stride)
    smaller = [size // stride for size in spatial]
    return blocks.reshape(batch, channels * count, *smaller)


def _image(x: Tensor, block_size: int) -> list[Size]:
    if x.ndim < 3:
        raise error(f"expected images of at least 3 axes, got {x.ndim}")
    if block_size < 1:
        raise error(f"expected a block size of at least 1, got {block_size}")
    return sizes_of(x)


def _multiple(size: Size, factor: int, what: str) -> None:
    number = known_size(size)
    if number is not None and number % factor:
        raise error(f"{what}, {number}, are no multiple of {factor}")

"""Convolutions over any number of spatial axes, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..edsl.functions import max as larger
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import (
    Size,
    indices,
    known_size,
    pairs_per_axis,
    per_axis,
    require_rank,
    require_size,
    sizes_of,
)
from .contractions import SUM, contract
from .operation import TensorLike, as_tensor, operation
from .windows import Padding, image, image_sizes, windows

__all__ = ["conv", "conv_transpose"]


@operation
def conv(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike = None,
    stride: int | Sequence[int] = 1,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    channels_last: bool = False,
) -> Tensor:
    """A convolution over one spatial axis or more, as torch's conv1d to conv3d.

    x has shape [N, C, spatial..] and the weight [O, C / groups, spatial..]; with
    `channels_last`, as in Keras, they are [N, spatial.., C] and [spatial.., C / groups,
    O]. The bias has shape [O]. `padding` is a number of zeros for all spatial axes, one
    for each, a pair (before, behind) for each, or as ONNX's auto_pad `"VALID"`,
    `"SAME_UPPER"` or `"SAME_LOWER"`.
    """
    x, weight = as_tensor(x), as_tensor(weight)
    batch, channels, sizes = image_sizes(x, channels_last)
    require_rank(weight, x.ndim, "the weight")
    own = sizes_of(weight)
    outputs = own[-1] if channels_last else own[0]
    kernel = own[:-2] if channels_last else own[2:]
    _check_groups(groups, channels, outputs)
    inner_axis = x.ndim - 2 if channels_last else 1
    inner, outer = channels, outputs
    if groups > 1:
        inner, outer = channels // groups, outputs // groups
    require_size(weight, inner_axis, inner, "the channels of x in a group")
    moves = windows(sizes, kernel, stride, padding, dilation)
    n, group, output, channel = indices(4)
    at, taps = indices(len(moves)), indices(len(moves))
    reads = [m.element(i, k) for m, i, k in zip(moves, at, taps, strict=True)]
    to = outer * group + output if groups > 1 else output
    of = inner * group + channel if groups > 1 else channel
    weights = [*taps, channel, to] if channels_last else [to, channel, *taps]
    constraints = [output < outer, group < groups] if groups > 1 else []
    result = contract(
        SUM,
        image(batch, outputs, [move.count for move in moves], channels_last),
        image(n, to, at, channels_last),
        x[tuple(image(n, of, reads, channels_last))] * weight[tuple(weights)],
        constraints,
    )
    return _with_bias(result, bias, outputs, channels_last)


def _check_groups(groups: int, *channels: Size) -> None:
    if groups < 1:
        raise error(f"expected at least one group, got {groups}")
    for size in channels:
        number = known_size(size)
        if number is not None and number % groups:
            raise error(f"{number} channels cannot be divided into {groups} groups")


def _with_bias(
    x: Tensor, bias: TensorLike, channels: Size, channels_last: bool
) -> Tensor:
    if bias is None:
        return x
    bias = as_tensor(bias)
    require_rank(bias, 1, "the bias")
    require_size(bias, 0, channels, "the channels of the result")
    if channels_last:
        return x + bias
    return x + bias.reshape(channels, *[1] * (x.ndim - 2))


@operation
def conv_transpose(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike = None,
    stride: int | Sequence[int] = 1,
    padding: Padding = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
    *,
    output_shape: Sequence[Size] | None = None,
    channels_last: bool = False,
) -> Tensor:
    """What a convolution's derivative does, as torch's conv_transpose1d to 3d.

    x has shape [N, C, spatial..] and the weight [C, O / groups, spatial..]; with
    `channels_last`, as in Keras, they are [N, spatial.., C] and [spatial.., O / groups,
    C]. Without padding a spatial axis of the result has size `stride * (size - 1) +
    dilation * (kernel - 1) + 1`; padding is cut off from it, output padding added at
    the end. `output_shape`, as of ONNX's ConvTranspose, says the spatial sizes instead;
    then padding may be `"SAME_UPPER"` or `"SAME_LOWER"`, which are also the sizes times
    the stride where it is missing.
    """
    x, weight = as_tensor(x), as_tensor(weight)
    batch, channels, sizes = image_sizes(x, channels_last)
    require_rank(weight, x.ndim, "the weight")
    own = sizes_of(weight)
    outer, inner_axis = (own[-2], x.ndim - 1) if channels_last else (own[1], 0)
    kernel = own[:-2] if channels_last else own[2:]
    _check_groups(groups, channels)
    require_size(weight, inner_axis, channels, "the channels of x")
    rank = len(sizes)
    strides = per_axis(stride, rank, "the strides", 1)
    steps = per_axis(dilation, rank, "the dilations", 1)
    further = per_axis(output_padding, rank, "the output padding", 0)
    full = [
        s * (size - 1) + d * (k - 1) + 1
        for s, size, d, k in zip(strides, sizes, steps, kernel, strict=True)
    ]
    wanted = None if output_shape is None else [*output_shape]
    if wanted is None and isinstance(padding, str) and padding.upper() != "VALID":
        wanted = [size * s for size, s in zip(sizes, strides, strict=True)]
    before, whole = _cut(full, further, padding, wanted)
    n, group, output, channel = indices(4)
    at, taps = indices(rank), indices(rank)
    writes = [
        s * i + d * k - p
        for s, i, d, k, p in zip(strides, at, steps, taps, before, strict=True)
    ]
    to = outer * group + output if groups > 1 else output
    of = (channels // groups) * group + channel if groups > 1 else channel
    weights = [*taps, output, of] if channels_last else [of, output, *taps]
    bounds = [channel < channels // groups, group < groups] if groups > 1 else []
    result = contract(
        SUM,
        image(batch, outer * groups, whole, channels_last),
        image(n, to, writes, channels_last),
        x[tuple(image(n, of, at, channels_last))] * weight[tuple(weights)],
        bounds,
    )
    return _with_bias(result, bias, outer * groups, channels_last)


def _cut(
    full: Sequence[Size],
    further: Sequence[int],
    padding: Padding,
    wanted: Sequence[Size] | None,
) -> tuple[list[Size], list[Size]]:
    """How much is cut off before each axis, and the sizes that are left."""
    rank = len(full)
    if wanted is None:
        pairs = pairs_per_axis(
            0 if isinstance(padding, str) else padding, rank, "padding"
        )
        sizes: list[Any] = [
            size - before - behind + more
            for size, (before, behind), more in zip(full, pairs, further, strict=True)
        ]
        return [before for before, _ in pairs], sizes
    if len(wanted) != rank:
        raise error(f"expected output_shape to have {rank} sizes, got {len(wanted)}")
    is_upper = isinstance(padding, str) and padding.upper() == "SAME_UPPER"
    cuts: list[Any] = []
    for size, more, target in zip(full, further, wanted, strict=True):
        # What the result is larger than all that is written is zeros at its end.
        cut = larger(size + more - target, 0)
        cuts.append(cut // 2 if is_upper else cut - cut // 2)
    return cuts, [*wanted]

"""Convolutions and pools against loops over the windows in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from plaidml_tensors import Array
from plaidml_values import evaluated, floats

from gingham import plaidml
from gingham.plaidml import op, tile

FIRST, LAST = (
    op.ConvolutionDataFormat.CHANNELS_FIRST,
    op.ConvolutionDataFormat.CHANNELS_LAST,
)
KERNEL_FIRST = op.ConvolutionKernelFormat.CHANNELS_FIRST
KERNEL_LAST = op.ConvolutionKernelFormat.CHANNELS_LAST
PADDINGS = ["VALID", "SAME_UPPER", "SAME_LOWER"]


def zeros(size: int, extent: int, stride: int, padding: str) -> tuple[int, int]:
    """How many zeros come before and behind an axis."""
    if padding == "VALID":
        return 0, 0
    count = -(-size // stride)
    total = max((count - 1) * stride + extent - size, 0)
    small, large = total // 2, total - total // 2
    return (small, large) if padding == "SAME_UPPER" else (large, small)


def windows(
    data: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[tuple[int, int]],
    fill: float = 0,
) -> Array:
    """Of data [N, x..., C] the windows [N, x..., k..., C]."""
    padded = np.pad(data, [(0, 0), *pads, (0, 0)], constant_values=fill)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    axes = tuple(range(1, len(kernel) + 1))
    found = np.lib.stride_tricks.sliding_window_view(padded, extents, axes)
    found = np.moveaxis(found, len(kernel) + 1, -1)
    places = [slice(None, None, stride) for stride in strides]
    taps = [slice(None, None, dilation) for dilation in dilations]
    return found[(slice(None), *places, *taps)]


def convolved(data: Array, kernel: Array, **options: Any) -> Array:
    """A convolution, channels last."""
    found = windows(data, kernel.shape[:-2], **options)
    rank = kernel.ndim - 2
    rows = found.reshape(*found.shape[: rank + 1], -1)
    return rows @ kernel.reshape(-1, kernel.shape[-1])


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(
    ("shape", "kernel", "strides", "dilations"),
    [
        ((2, 7, 3), (3, 3, 4), (1,), (2,)),
        ((2, 7, 6, 3), (3, 2, 3, 4), (2, 1), (1, 2)),
        ((1, 4, 5, 3, 2), (2, 2, 2, 2, 3), (1, 2, 1), (1, 1, 1)),
    ],
)
def test_convolutions(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str,
    known: bool,
) -> None:
    data, weights = floats(*shape), floats(*kernel)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=False)]
    pads = [
        zeros(size, extent, stride, padding)
        for size, extent, stride in zip(shape[1:-1], extents, strides, strict=True)
    ]
    expected = convolved(data, weights, strides=strides, dilations=dilations, pads=pads)

    def convolution(x: Any, k: Any) -> Any:
        return op.convolution(
            x,
            k,
            strides,
            op.AutoPadding[padding],
            data_format=LAST,
            kernel_format=KERNEL_LAST,
            dilation_rate=dilations,
        )

    found = evaluated(convolution, data, weights, known=known)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_channels_first_and_explicit_padding() -> None:
    data, weights = floats(2, 3, 7, 6), floats(4, 3, 3, 2)
    pads, strides = [(1, 0), (2, 1)], (2, 1)
    expected = convolved(
        np.moveaxis(data, 1, -1),
        weights.transpose(2, 3, 1, 0),
        strides=strides,
        dilations=(1, 1),
        pads=pads,
    )
    found = evaluated(
        lambda x, k: op.convolution(
            x,
            k,
            strides,
            pads=(1, 2, 0, 1),
            data_format=FIRST,
            kernel_format=KERNEL_FIRST,
        ),
        data,
        weights,
        known=False,
    )
    np.testing.assert_allclose(
        np.moveaxis(found, 1, -1), expected, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("format", list(op.GroupedChannelFormat))
def test_groups(format: op.GroupedChannelFormat, known: bool) -> None:
    """Each group is a convolution of its own: here 2, of 3 channels to 2."""
    groups, inside, outside = 2, 3, 2
    if format is op.GroupedChannelFormat.GroupGroupOut:
        groups, inside = 6, 1
    data = floats(2, 5, 5, 6)
    weights = floats(3, 3, groups, outside, inside)
    parts = [
        convolved(
            part,
            weights[:, :, number].swapaxes(-1, -2),
            strides=(1, 1),
            dilations=(1, 1),
            pads=[(0, 0)] * 2,
        )
        for number, part in enumerate(np.split(data, groups, -1))
    ]
    shapes = {
        op.GroupedChannelFormat.FullOutGroupIn: (3, 3, groups * outside, inside),
        op.GroupedChannelFormat.GroupGroupOut: (3, 3, groups, outside),
        op.GroupedChannelFormat.GroupGroupOutGroupIn: weights.shape,
    }
    found = evaluated(
        lambda x, k: op.convolution(
            x,
            k,
            padding=op.AutoPadding.VALID,
            data_format=LAST,
            kernel_format=KERNEL_LAST,
            grouping=op.ConvolutionGrouping.EXPLICIT,
            group=groups,
            group_format=format,
        ),
        data,
        weights.reshape(shapes[format]),
        known=known,
    )
    np.testing.assert_allclose(found, np.concatenate(parts, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("padding", PADDINGS)
def test_transposed_convolutions_are_adjoint(padding: str, known: bool) -> None:
    """<conv(x), y> = <x, transposed(y)>, which defines it."""
    data, weights = floats(2, 8, 6, 3), floats(3, 2, 3, 4)
    strides = (2, 1)
    pads = [zeros(8, 3, 2, padding), zeros(6, 2, 1, padding)]
    forward = convolved(data, weights, strides=strides, dilations=(1, 1), pads=pads)
    other = floats(*forward.shape, seed=3)

    def transposed(x: Any, y: Any, k: Any) -> Any:
        return op.convolution_transpose(
            y, k, x.dims, strides, op.AutoPadding[padding], LAST, KERNEL_LAST
        )

    found = evaluated(transposed, data, other, weights, known=known)
    assert found.shape == data.shape
    np.testing.assert_allclose((forward * other).sum(), (data * found).sum(), rtol=1e-4)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", list(op.PoolMode))
def test_pools(mode: op.PoolMode, padding: str, known: bool) -> None:
    data, kernel, strides = floats(2, 7, 6, 3), (3, 2), (2, 1)
    pads = [
        zeros(size, extent, stride, padding)
        for size, extent, stride in zip(data.shape[1:-1], kernel, strides, strict=True)
    ]
    found = windows(data, kernel, strides, (1, 1), pads, np.nan)
    reduce = np.nanmax if mode is op.PoolMode.MAX else np.nanmean
    expected = reduce(found, axis=(3, 4))

    def pool(x: Any) -> Any:
        layout = op.PoolDataFormat.NXC
        return op.pool(x, mode, kernel, strides, None, op.AutoPadding[padding], layout)

    np.testing.assert_allclose(
        evaluated(pool, data, known=known), expected, rtol=1e-5, atol=1e-6
    )


def test_pools_channels_first() -> None:
    data = floats(2, 3, 7)
    padded = np.pad(data, [(0, 0), (0, 0), (1, 1)], constant_values=-np.inf)
    expected = np.lib.stride_tricks.sliding_window_view(padded, 3, 2).max(-1)
    found = evaluated(lambda x: op.max_pool(x, (3,), None, (1,)), data, known=False)
    np.testing.assert_array_equal(found, expected)
    found = evaluated(lambda x: op.average_pool(x, (2,), (2,)), data, known=True)
    np.testing.assert_allclose(
        found, data[..., :6].reshape(2, 3, 3, 2).mean(-1), rtol=1e-6
    )


@pytest.mark.parametrize("padding", ["VALID", "same"])
def test_patches_of_images(padding: str) -> None:
    images, sizes, strides, rates = floats(2, 9, 8, 3), (3, 2), (2, 1), (1, 2)
    pads = [
        zeros(size, (k - 1) * rate + 1, stride, padding.replace("same", "SAME_UPPER"))
        for size, k, stride, rate in zip((9, 8), sizes, strides, rates, strict=True)
    ]
    found = windows(images, sizes, strides, rates, pads)
    expected = found.reshape(*found.shape[:3], -1)
    patches = evaluated(
        lambda x: op.extract_image_patches(
            x, (1, *sizes, 1), (1, *strides, 1), (1, *rates, 1), padding
        ),
        images,
        known=True,
    )
    np.testing.assert_array_equal(patches, expected)


def test_wrong_windows() -> None:
    x, k = (
        tile.Value.from_dimensions([1, 2, 2, 3]),
        tile.Value.from_dimensions([3, 3, 3, 4]),
    )
    formats: dict[str, Any] = {"data_format": LAST, "kernel_format": KERNEL_LAST}
    valid = op.AutoPadding.VALID
    with pytest.raises(plaidml.PlaidMLError, match="no window of 4 fits an axis of 2"):
        op.convolution(
            x, tile.Value.from_dimensions([4, 1, 3, 4]), padding=valid, **formats
        )
    for options, message in (
        ({"strides": (1,)}, "1 strides for 2"),
        ({"dilation_rate": (0, 1)}, "dilations of at least 1"),
        ({"grouping": op.ConvolutionGrouping.MAX}, "format of grouped channels"),
    ):
        with pytest.raises(ValueError, match=message):
            op.convolution(x, k, **formats, **options)
    for kernel in (tile.Value.from_ndims(3), tile.Value.from_ndims(5)):
        with pytest.raises(ValueError, match="does not fit"):
            op.convolution(x, kernel, **formats)
    with pytest.raises(ValueError, match="windows, not those of"):
        op.convolution_transpose(x, k, (1, 9, 4, 3), (1, 1), valid, LAST, KERNEL_LAST)

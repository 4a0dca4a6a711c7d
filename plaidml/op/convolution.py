"""Convolutions: strided, dilated, grouped, transposed, in any order of axes.

The text of a convolution in two dimensions, channels last:

```
function (I[N, L0, L1, CI], K[LK0, LK1, CI, CO]) -> (O) {
  Pad0 = ...; Pad1 = ...;
  O[n, x0, x1, co : N, ..., ..., CO]
      = +(I[n, s0*x0 + d0*k0 - Pad0, s1*x1 + d1*k1 - Pad1, ci] * K[k0, k1, ci, co]);
}
```

Of groups the channels of both tensors are two axes, the group and the channel in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from ..operations import Operation, Shape
from ..values import Value
from .windows import AutoPadding, extended_pads, strides_of, window_texts

__all__ = [
    "ConvIndex",
    "Convolution",
    "ConvolutionDataFormat",
    "ConvolutionGrouping",
    "ConvolutionKernelFormat",
    "ConvolutionTranspose",
    "GroupedChannelFormat",
    "convolution",
    "convolution_transpose",
]


class ConvolutionDataFormat(Enum):
    """Where the channels of data are: before the spatial axes, or behind them."""

    CHANNELS_FIRST = 1
    CHANNELS_LAST = 2


class ConvolutionKernelFormat(Enum):
    """Where the channels of a kernel are.

    First, those of the output come before those of the input; last, behind them.
    """

    CHANNELS_FIRST = 1
    CHANNELS_LAST = 2


class ConvolutionGrouping(Enum):
    """Which channels of the output depend on which of the input."""

    NONE = 1
    """All on all."""
    MAX = 2
    """Each on one: a depthwise convolution."""
    EXPLICIT = 3
    """Those of a group on those of the same group; the number of groups is said."""
    AUTO = 4
    """As EXPLICIT, with the number of groups that sizes tell."""


class GroupedChannelFormat(Enum):
    """What the channels of the kernel of a grouped convolution are."""

    FullOutGroupIn = 1
    """Those of the output, and those of the input in a group."""
    GroupGroupOut = 2
    """The group, and those of the output in it."""
    GroupGroupOutGroupIn = 3
    """The group, those of the output in it, and those of the input in it."""


class ConvIndex(Enum):
    """What an axis of a convolution is."""

    ci = 1
    co = 2
    g = 3
    gci = 4
    gco = 5
    k = 6
    n = 7
    x = 8


class _Channels(NamedTuple):
    """The channels of a convolution, as sizes and indices of Tile text."""

    kernel: Sequence[str]
    """Sizes of the kernel's, as it is given."""
    kernel_groups: Sequence[str] | None
    """Sizes that they are reshaped to; None where they stay."""
    kernel_indices: Sequence[str]
    input_index: str
    output: Sequence[str]
    """Sizes of the output's, before a group is one axis with the channel in it."""
    output_indices: Sequence[str]
    groups: str = "1"
    """The number of groups."""


def _ungrouped(kernel_format: ConvolutionKernelFormat) -> _Channels:
    is_first = kernel_format is ConvolutionKernelFormat.CHANNELS_FIRST
    sizes = ["CO", "CI"] if is_first else ["CI", "CO"]
    indices = [size.lower() for size in sizes]
    return _Channels(sizes, None, indices, "ci", ["CO"], ["co"])


def _grouped(group_format: GroupedChannelFormat | None) -> _Channels:
    if group_format is GroupedChannelFormat.FullOutGroupIn:
        kernel, groups = ["CO", "GCI"], "(CI / GCI)"
        channels = [groups, "(CO * GCI / CI)", "GCI"]
    elif group_format is GroupedChannelFormat.GroupGroupOut:
        kernel, groups = ["G", "GCO"], "G"
        channels = [groups, "GCO", "(CI / G)"]
    elif group_format is GroupedChannelFormat.GroupGroupOutGroupIn:
        kernel, groups = ["G", "GCO", "GCI"], "G"
        channels = kernel
    else:
        raise ValueError(f"expected the format of grouped channels, got {group_format}")
    return _Channels(
        kernel,
        None if channels is kernel else channels,
        ["g", "gco", "gci"],
        f"{channels[2]} * g + gci",
        channels[:2],
        ["g", "gco"],
        groups,
    )


def _data_axes(
    data_format: ConvolutionDataFormat,
    batch: Any,
    channels: Sequence[Any],
    spatial: Sequence[Any],
) -> list[Any]:
    if data_format is ConvolutionDataFormat.CHANNELS_FIRST:
        return [batch, *channels, *spatial]
    return [batch, *spatial, *channels]


def _kernel_axes(
    kernel_format: ConvolutionKernelFormat,
    channels: Sequence[Any],
    spatial: Sequence[Any],
) -> list[Any]:
    if kernel_format is ConvolutionKernelFormat.CHANNELS_FIRST:
        return [*channels, *spatial]
    return [*spatial, *channels]


def _text(parts: Sequence[str]) -> str:
    return ", ".join(parts)


class _Windows(NamedTuple):
    """How the kernel moves over the spatial axes."""

    paddings: Sequence[str]
    """The statements that say how many zeros come before each axis."""
    sizes: Sequence[str]
    counts: Sequence[Any]
    reads: Sequence[str]
    """Where in the data an element of the kernel lies."""


def _windows(
    symbol: str,
    data: Sequence[Any],
    kernel: Sequence[Any],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: AutoPadding,
    pads: Sequence[int] | None,
) -> _Windows:
    rank = len(data)
    paddings, sizes, counts, reads = list[str](), list[str](), list[Any](), list[str]()
    for axis in range(rank):
        extent = dilations[axis] * (kernel[axis] - 1) + 1
        text, before, count = window_texts(
            (f"{symbol}{axis}", f"({dilations[axis]} * (LK{axis} - 1) + 1)"),
            (data[axis], extent),
            strides[axis],
            padding,
            None if pads is None else (pads[axis], pads[axis + rank]),
        )
        paddings.append(f"Pad{axis} = {before};")
        sizes.append(text)
        counts.append(count)
        reads.append(f"{strides[axis]}*x{axis} + {dilations[axis]}*k{axis} - Pad{axis}")
    return _Windows(paddings, sizes, counts, reads)


def _dilations(dilation_rate: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    rates = tuple(dilation_rate or (1,) * rank)
    if len(rates) != rank or any(rate < 1 for rate in rates):
        raise ValueError(f"expected {rank} dilations of at least 1, got {rates}")
    return rates


class Convolution(Operation):
    """A convolution, as networks call a correlation of data with a kernel.

    `strides` and `dilation_rate` are 1 where they are not said, `pads` are zeros before
    each spatial axis and then behind each, `group` is the number of groups if grouping
    is EXPLICIT, and `kernel_shape` the spatial sizes of the kernel where it does not
    know them. Winograd's method, which `winograd_allowed` allows, is not used.

    Raises ValueError for numbers of axes that do not fit, and where a size is known and
    wrong GinghamError.
    """

    def __init__(
        self,
        data: Value,
        kernel: Value,
        strides: Sequence[int] | None = None,
        padding: AutoPadding = AutoPadding.EXPLICIT,
        pads: Sequence[int] | None = None,
        group: int = 1,
        kernel_shape: Sequence[int] | None = None,
        data_format: ConvolutionDataFormat | None = None,
        kernel_format: ConvolutionKernelFormat | None = None,
        dilation_rate: Sequence[int] | None = None,
        grouping: ConvolutionGrouping = ConvolutionGrouping.NONE,
        group_format: GroupedChannelFormat | None = None,
        winograd_allowed: bool = True,
        name: str | None = None,
    ) -> None:
        rank = data.ndims - 2
        steps, rates = strides_of(strides, rank), _dilations(dilation_rate, rank)
        order = ConvolutionDataFormat(data_format)
        kernel_order = ConvolutionKernelFormat(kernel_format)
        is_grouped = grouping is not ConvolutionGrouping.NONE and (
            grouping is not ConvolutionGrouping.EXPLICIT or group != 1
        )
        channels = _grouped(group_format) if is_grouped else _ungrouped(kernel_order)
        if kernel.ndims != rank + len(channels.kernel):
            raise ValueError(f"kernel {kernel!r} does not fit data {data!r}")
        is_first = kernel_order is ConvolutionKernelFormat.CHANNELS_FIRST
        start = len(channels.kernel) if is_first else 0
        channel_start = 0 if is_first else rank
        kernel_spatial = kernel_shape or kernel.dims[start : start + rank]
        kernel_channels = kernel.dims[channel_start:][: len(channels.kernel)]
        spatial_start = 2 if order is ConvolutionDataFormat.CHANNELS_FIRST else 1
        windows = _windows(
            "L",
            data.dims[spatial_start : spatial_start + rank],
            kernel_spatial,
            steps,
            rates,
            padding,
            extended_pads(pads, rank),
        )
        every = range(rank)
        taps, places = [f"k{axis}" for axis in every], [f"x{axis}" for axis in every]
        data_head = _data_axes(order, "N", ["CI"], [f"L{axis}" for axis in every])
        kernel_spatial_head = [f"LK{axis}" for axis in every]
        kernel_head = _kernel_axes(kernel_order, channels.kernel, kernel_spatial_head)
        body = [*_group_checks(channels, grouping, group), *windows.paddings]
        kernel_name, result = "K", "O"
        if channels.kernel_groups is not None:
            kernel_name = "KG"
            sizes = _kernel_axes(
                kernel_order, channels.kernel_groups, kernel_spatial_head
            )
            body.append(f"KG = reshape(K, {_text(sizes)});")
        if is_grouped:
            result = "OG"
        target = _data_axes(order, "n", channels.output_indices, places)
        target_sizes = _data_axes(order, "N", channels.output, windows.sizes)
        source = _data_axes(order, "n", [channels.input_index], windows.reads)
        weights = _kernel_axes(kernel_order, channels.kernel_indices, taps)
        body.append(
            f"{result}[{_text(target)} : {_text(target_sizes)}] = "
            f"+(I[{_text(source)}] * {kernel_name}[{_text(weights)}]);"
        )
        if is_grouped:
            whole = " * ".join(channels.output)
            sizes = _data_axes(order, "N", [whole], windows.sizes)
            body.append(f"O = reshape(OG, {_text(sizes)});")
        output = _output_channels(kernel_channels, channels, kernel_order)
        dims = _data_axes(order, data.dims[0], [output], windows.counts)
        super().__init__(
            f"function (I[{_text(data_head)}], K[{_text(kernel_head)}]) -> (O) {{\n  "
            + "\n  ".join(body)
            + "\n}",
            [("I", data), ("K", kernel)],
            [("O", Shape(data.shape.dtype, dims))],
            name or f"Convolution{rank}d",
        )


def _group_checks(
    channels: _Channels, grouping: ConvolutionGrouping, group: int
) -> list[str]:
    if grouping is ConvolutionGrouping.MAX:
        return [f"Checked = assert_group_count({channels.groups} == CI);"]
    if grouping is ConvolutionGrouping.EXPLICIT and group != 1:
        return [f"Checked = assert_group_count({channels.groups} == {group});"]
    return []


def _output_channels(
    dims: Sequence[Any], channels: _Channels, kernel_format: ConvolutionKernelFormat
) -> Any:
    """How many channels the output has, by those of the kernel."""
    if "CO" in channels.kernel:
        return dims[channels.kernel.index("CO")]
    return dims[0] * dims[1]


class ConvolutionTranspose(Operation):
    """What data a convolution would have had, by the derivative of its output.

    `output_shape` is the shape of the result, of which sizes may be values. Raises
    ValueError for numbers of axes and sizes that do not fit.
    """

    def __init__(
        self,
        x: Value,
        kernel: Value,
        output_shape: Sequence[Any],
        strides: Sequence[int],
        padding: AutoPadding,
        data_format: ConvolutionDataFormat,
        kernel_format: ConvolutionKernelFormat,
        dilation_rate: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        rank = x.ndims - 2
        if kernel.ndims != rank + 2 or len(output_shape) != rank + 2:
            raise ValueError(
                f"kernel {kernel!r} or shape {output_shape} does not fit {x!r}"
            )
        channels = _ungrouped(kernel_format)
        is_first = kernel_format is ConvolutionKernelFormat.CHANNELS_FIRST
        start = 2 if is_first else 0
        order = data_format
        spatial_start = 2 if order is ConvolutionDataFormat.CHANNELS_FIRST else 1
        spatial = output_shape[spatial_start : spatial_start + rank]
        windows = _windows(
            "D",
            spatial,
            kernel.dims[start : start + rank],
            strides_of(strides, rank),
            _dilations(dilation_rate, rank),
            padding,
            None,
        )
        own = x.dims[spatial_start : spatial_start + rank]
        for expected, given in zip(
            [output_shape[0], *windows.counts], [x.dims[0], *own], strict=True
        ):
            if isinstance(expected, Value) or isinstance(given, Value):
                continue
            if expected is not None and expected != given:
                raise ValueError(
                    f"a convolution of shape {tuple(output_shape)} has "
                    f"{tuple(windows.counts)} windows, not those of {x!r}"
                )
        every = range(rank)
        places, taps = [f"x{axis}" for axis in every], [f"k{axis}" for axis in every]
        sizes = [f"D{axis}" for axis in every]
        head = _data_axes(order, "N", ["CO"], [f"L{axis}" for axis in every])
        kernel_head = _kernel_axes(
            kernel_format, channels.kernel, [f"LK{axis}" for axis in every]
        )
        target = _data_axes(order, "n", ["ci"], windows.reads)
        target_sizes = _data_axes(order, "N", ["CI"], sizes)
        source = _data_axes(order, "n", ["co"], places)
        weights = _kernel_axes(kernel_format, channels.kernel_indices, taps)
        super().__init__(
            f"function (O[{_text(head)}], K[{_text(kernel_head)}], {_text(sizes)})"
            " -> (I) {\n  " + "\n  ".join(windows.paddings) + "\n"
            f"  I[{_text(target)} : {_text(target_sizes)}] = "
            f"+(O[{_text(source)}] * K[{_text(weights)}]);\n}}",
            [("O", x), ("K", kernel), *zip(sizes, spatial, strict=True)],
            [("I", Shape(x.shape.dtype, tuple(output_shape)))],
            name or f"ConvolutionTranspose{rank}d",
        )


convolution = Convolution.function
convolution_transpose = ConvolutionTranspose.function

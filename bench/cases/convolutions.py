"""Convolutions, NHWC; weights by taps, then input and output channels."""

from __future__ import annotations

from .case import Case


def convolution(
    channels: tuple[int, int],
    size: int,
    taps: int,
    *,
    batch: int = 1,
    stride: int = 1,
    dilation: int = 1,
    groups: int = 1,
) -> Case:
    """A convolution with padding that keeps the size, but for the stride.

    With groups of channels the axis of the channels is two: groups, and channels of a
    group.
    """
    inputs, outputs = channels
    reach = dilation * (taps - 1)
    pad = reach // 2
    small = (size + 2 * pad - reach - 1) // stride + 1
    x, y = (f"{stride} * {i} + {dilation} * {k} - {pad}" for i, k in ("xi", "yj"))
    facts = [
        f"{taps}x{taps}",
        f"{inputs}-{outputs} at {size}",
        *([f"batch {batch}"] if batch > 1 else []),
        *([f"stride {stride}"] if stride > 1 else []),
        *([f"dilated {dilation}"] if dilation > 1 else []),
        *([f"{groups} groups"] if groups > 1 else []),
    ]
    depthwise = groups == inputs
    if depthwise:
        program = (
            "function (I[N, X, Y, C], K[KX, KY, C]) -> (O) {"
            f" O[n, x, y, c : N, {small}, {small}, C] = +(I[n, {x}, {y}, c] *"
            " K[i, j, c]); }"
        )
        shapes = (batch, size, size, inputs), (taps, taps, inputs)
        result = (batch, small, small, outputs)
    elif groups > 1:
        program = (
            "function (I[N, X, Y, G, CI], K[KX, KY, G, CI, CO]) -> (O) {"
            f" O[n, x, y, g, co : N, {small}, {small}, G, CO] ="
            f" +(I[n, {x}, {y}, g, ci] * K[i, j, g, ci, co]); }}"
        )
        part, result_part = inputs // groups, outputs // groups
        shapes = (
            (batch, size, size, groups, part),
            (taps, taps, groups, part, result_part),
        )
        result = (batch, small, small, groups, result_part)
    else:
        program = (
            "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
            f" O[n, x, y, co : N, {small}, {small}, CO] ="
            f" +(I[n, {x}, {y}, ci] * K[i, j, ci, co]); }}"
        )
        shapes = (batch, size, size, inputs), (taps, taps, inputs, outputs)
        result = (batch, small, small, outputs)
    return Case(
        ("depthwise " if depthwise else "convolution ") + ", ".join(facts),
        "convolutions",
        program,
        dict(zip("IK", shapes, strict=True)),
        {"O": result},
        "depthwise" if depthwise else "convolution",
        {"stride": stride, "dilation": dilation, "pad": pad, "groups": groups},
        constants=("K",),
        by_rows=("I",),
        flops=2.0
        * (batch * small * small * taps * taps * outputs * (inputs // groups)),
    )


def channels_first(
    channels: tuple[int, int], size: int, taps: int, *, batch: int = 1, stride: int = 1
) -> Case:
    """A convolution of images NCHW; weights by output and input channels, then taps."""
    inputs, outputs = channels
    pad = (taps - 1) // 2
    small = (size + 2 * pad - taps) // stride + 1
    x, y = (f"{stride} * {i} + {k} - {pad}" for i, k in ("xi", "yj"))
    shape = f"{taps}x{taps}, {inputs}-{outputs} at {size}"
    return Case(
        f"convolution {shape}, batch {batch}, stride {stride}, NCHW",
        "convolutions",
        "function (I[N, CI, X, Y], K[CO, CI, KX, KY]) -> (O) {"
        f" O[n, co, x, y : N, CO, {small}, {small}] ="
        f" +(I[n, ci, {x}, {y}] * K[co, ci, i, j]); }}",
        {"I": (batch, inputs, size, size), "K": (outputs, inputs, taps, taps)},
        {"O": (batch, outputs, small, small)},
        "channels_first",
        {"stride": stride, "dilation": 1, "pad": pad, "groups": 1},
        constants=("K",),
        by_rows=("I",),
        flops=2.0 * batch * small * small * taps * taps * outputs * inputs,
    )


def transposed_convolution(channels: tuple[int, int], size: int, taps: int) -> Case:
    """A convolution with stride 2 turned round: the image grows twice as large."""
    inputs, outputs = channels
    pad = taps // 2 - 1
    return Case(
        f"transposed convolution {taps}x{taps}, {inputs}-{outputs} at {size}, stride 2",
        "convolutions",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        f" O[n, 2 * x + i - {pad}, 2 * y + j - {pad}, co : N, 2 * X, 2 * Y, CO] ="
        " +(I[n, x, y, ci] * K[i, j, ci, co]); }",
        {"I": (1, size, size, inputs), "K": (taps, taps, inputs, outputs)},
        {"O": (1, 2 * size, 2 * size, outputs)},
        "transposed_convolution",
        {"stride": 2, "pad": pad},
        constants=("K",),
        flops=2.0 * size * size * taps * taps * inputs * outputs,
    )


CONVOLUTIONS = (
    convolution((64, 64), 56, 3),
    convolution((64, 64), 56, 3, batch=8),
    convolution((256, 64), 56, 1),
    convolution((3, 64), 224, 7, stride=2),
    convolution((512, 512), 7, 3),
    convolution((128, 128), 56, 3, stride=2),
    convolution((64, 64), 56, 3, dilation=2),
    convolution((256, 256), 28, 3, groups=32),
    convolution((32, 32), 112, 3, groups=32),
    transposed_convolution((64, 32), 28, 4),
)

"""Windows that move over axes: how they are padded, pools, and patches of images."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from ...errors import GinghamError
from ..operations import Operation, Shape
from ..values import Value

__all__ = [
    "AutoPadding",
    "ImagePatches",
    "Pool",
    "PoolDataFormat",
    "PoolMode",
    "ReflectionPadding",
    "average_pool",
    "extract_image_patches",
    "max_pool",
    "pad_compute",
    "pool",
    "reflection_padding",
]


class AutoPadding(Enum):
    """How much zero is put around what windows move over."""

    EXPLICIT = 1
    """As said."""
    VALID = 2
    """None: all windows lie inside."""
    SAME_UPPER = 3
    """As much as makes sizes over strides; where that is odd, more at the end."""
    SAME_LOWER = 4
    """As much as makes sizes over strides; where that is odd, more at the start."""


class PoolDataFormat(Enum):
    """Where the channels are: behind the spatial axes, or before them."""

    NXC = 1
    NCX = 2


class PoolMode(Enum):
    """What is taken of a window: the largest element, or the mean."""

    MAX = 1
    AVG = 2


def pad_compute(
    sym: str,
    input_size: Any,
    filter_size: int,
    stride: int,
    padding: AutoPadding,
    pads: Sequence[int] | None = None,
) -> tuple[str, int | str, Any]:
    """How windows move over an axis whose size Tile text calls `sym`.

    `input_size` and `filter_size` are the sizes of the axis and of a window, `pads` the
    zeros before and behind it where they are EXPLICIT. The result is how many windows
    there are, as text; how many zeros come before, as text or number; and how many
    windows, as number or value. Raises GinghamError where no window fits.
    """
    sizes = (input_size, filter_size)
    return window_texts((sym, str(filter_size)), sizes, stride, padding, pads)


def window_texts(
    symbols: tuple[str, str],
    sizes: tuple[Any, Any],
    stride: int,
    padding: AutoPadding,
    pads: Sequence[int] | None,
) -> tuple[str, int | str, Any]:
    """As `pad_compute`, for an axis and a window of which text and size are given."""
    (axis, window), (size, extent) = symbols, sizes
    before: int | str = 0
    if pads or padding is AutoPadding.EXPLICIT:
        before, behind = pads or (0, 0)
        count = (size + before + behind - extent + stride) // stride
        text = f"({axis} + {before + behind} - {window} + {stride}) / {stride}"
    elif padding is AutoPadding.VALID:
        count = (size - extent + stride) // stride
        text = f"({axis} - {window} + {stride}) / {stride}"
    else:
        count = (size + stride - 1) // stride
        text = f"({axis} + {stride} - 1) / {stride}"
        missing = f"max(0, ({text} - 1) * {stride} + {window} - {axis})"
        odd = 0 if padding is AutoPadding.SAME_UPPER else 1
        before = f"({missing} + {odd}) / 2"
    if not isinstance(count, Value) and count < 0:
        raise GinghamError(f"no window of {extent} fits an axis of {size}")
    return text, before, count


def extended_pads(pads: Sequence[int] | None, rank: int) -> list[int] | None:
    """Zeros before each axis and then behind each; what is left out is as before."""
    if pads is None:
        return None
    before = [*pads[:rank], *[0] * (rank - len(pads))]
    behind = [*pads[rank : 2 * rank]]
    return before + behind + before[len(behind) :]


def strides_of(strides: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """A stride for each spatial axis, 1 where none is said."""
    if not strides:
        return (1,) * rank
    if len(strides) != rank:
        raise ValueError(f"{len(strides)} strides for {rank} spatial axes")
    return tuple(strides)


class Pool(Operation):
    """The largest element or the mean of each window; zeros around do not count.

    Raises ValueError for strides that are not of the number of spatial axes.
    """

    def __init__(
        self,
        data: Value,
        mode: PoolMode,
        kernel_shape: Sequence[int],
        strides: Sequence[int] | None,
        pads: Sequence[int] | None = None,
        padding: AutoPadding = AutoPadding.EXPLICIT,
        data_format: PoolDataFormat = PoolDataFormat.NCX,
        name: str | None = None,
    ) -> None:
        rank = data.ndims - 2
        steps, zeros = strides_of(strides, rank), extended_pads(pads, rank)
        first = 1 if data_format is PoolDataFormat.NXC else 2
        statements, sizes, dims = list[str](), list[str](), [*data.dims]
        reads = list[str]()
        for axis in range(rank):
            text, before, count = pad_compute(
                f"L{axis}",
                data.dims[first + axis],
                kernel_shape[axis],
                steps[axis],
                padding,
                None if zeros is None else (zeros[axis], zeros[axis + rank]),
            )
            statements.append(f"Pad{axis} = {before};")
            sizes.append(text)
            dims[first + axis] = count
            reads.append(f"{steps[axis]}*x{axis} + k{axis} - Pad{axis}")

        def placed(batch: str, channel: str, spatial: Sequence[str]) -> str:
            if data_format is PoolDataFormat.NXC:
                return ", ".join([batch, *spatial, channel])
            return ", ".join([batch, channel, *spatial])

        head = placed("N", "C", [f"L{axis}" for axis in range(rank)])
        target = placed("n", "c", [f"x{axis}" for axis in range(rank)])
        target += " : " + placed("N", "C", sizes)
        source = placed("n", "c", reads)
        bounds = ", ".join(f"k{a} < {kernel_shape[a]}" for a in range(rank))
        if mode is PoolMode.MAX:
            statements.append(f"O[{target}] = >(I[{source}]), {bounds};")
        else:
            every = placed("n", "c", [f"l{axis}" for axis in range(rank)])
            statements += [
                f"One[{every} : {head}] = =(Unit[]);",
                f"Count[{target}] = +(One[{source}]), {bounds};",
                f"S[{target}] = +(I[{source}]), {bounds};",
                "O = S / Count;",
            ]
        inputs: list[tuple[str, Any]] = [("I", data)]
        unit = ""
        if mode is PoolMode.AVG:
            inputs.append(("Unit", 1.0))
            unit = ", Unit[]"
        super().__init__(
            f"function (I[{head}]{unit}) -> (O) {{\n  "
            + "\n  ".join(statements)
            + "\n}",
            inputs,
            [("O", Shape(data.shape.dtype, dims))],
            name,
        )


class ImagePatches(Operation):
    """The patches of images, the elements of each on the axis of the channels.

    `ksizes`, `strides` and `rates` are those of the axes of the images, of which batch
    and channels have 1; between the elements of a patch `rates` pixels are passed.
    `padding` is VALID or SAME. Sizes of images must be known.
    """

    def __init__(
        self,
        images: Value,
        ksizes: Sequence[int],
        strides: Sequence[int],
        rates: Sequence[int] = (1, 1, 1, 1),
        padding: str = "VALID",
    ) -> None:
        is_same = padding.upper() == "SAME"
        mode = AutoPadding.SAME_UPPER if is_same else AutoPadding.VALID
        counts, reads = list[Any](), list[str]()
        for axis, (patch, index) in enumerate((("i", "y"), ("j", "x")), start=1):
            if isinstance(images.dims[axis], Value):
                raise GinghamError(
                    f"the size of axis {axis} of {images!r} is not known"
                )
            size, extent = images.dims[axis], (ksizes[axis] - 1) * rates[axis] + 1
            _, _, count = pad_compute("", size, extent, strides[axis], mode)
            zeros = max((count - 1) * strides[axis] + extent - size, 0) // 2
            counts.append(count)
            reads.append(
                f"{index} * {strides[axis]} + {patch} * {rates[axis]} - "
                f"{zeros if is_same else 0}"
            )
        rows, columns = counts
        batch, channels = images.dims[0], images.dims[-1]
        dims = (batch, rows, columns, ksizes[1] * ksizes[2] * channels)
        super().__init__(
            "function (I[B, Y, X, C]) -> (O) {\n"
            f"  P[b, y, x, i, j, c : B, {rows}, {columns}, {ksizes[1]}, {ksizes[2]}, C]"
            f" = =(I[b, {reads[0]}, {reads[1]}, c]);\n"
            f"  O = reshape(P, B, {rows}, {columns}, {ksizes[1] * ksizes[2]} * C);\n}}",
            [("I", images)],
            [("O", Shape(images.shape.dtype, dims))],
        )


class ReflectionPadding(Operation):
    """The elements, and around them as in a mirror those beside the first and last.

    `paddings` has for each axis a number, or one before and one behind. Raises
    ValueError for another number of axes, and GinghamError for a mirror image that is
    as large as the axis.
    """

    def __init__(self, inp: Value, paddings: Sequence[int | Sequence[int]]) -> None:
        if len(paddings) != inp.ndims:
            raise ValueError(f"{len(paddings)} paddings for {inp.ndims} axes")
        pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in paddings]
        sizes = [f"N{axis}" for axis in range(inp.ndims)]
        body, dims, source = list[str](), [*inp.dims], "I"
        for axis, (before, behind) in enumerate(pairs):
            size = inp.dims[axis]
            if not isinstance(size, Value) and max(before, behind) >= size:
                raise GinghamError(
                    f"axis {axis} of size {size} cannot be padded by "
                    f"{max(before, behind)} elements of its own"
                )
            if not before and not behind:
                continue
            dims[axis] = size + before + behind
            sizes[axis] = f"N{axis} + {before + behind}"
            target = f"T{axis}"
            body += _reflected(axis, inp.ndims, (before, behind), source, sizes)
            source = target
        body.append(f"O = {source};")
        head = ", ".join(f"N{axis}" for axis in range(inp.ndims))
        super().__init__(
            f"function (I[{head}]) -> (O) {{\n  " + "\n  ".join(body) + "\n}",
            [("I", inp)],
            [("O", Shape(inp.shape.dtype, dims))],
        )


def _reflected(
    axis: int, rank: int, pads: tuple[int, int], source: str, sizes: Sequence[str]
) -> list[str]:
    """The statements that put the mirror images of an axis around it."""
    before, behind = pads
    indices = [f"n{number}" for number in range(rank)]
    own = indices[axis]

    def part(name: str, target: str, read: str, bound: str) -> str:
        to, of = list(indices), list(indices)
        to[axis], of[axis] = target, read
        return (
            f"{name}{axis}[{', '.join(to)} : {', '.join(sizes)}] = "
            f"=({source}[{', '.join(of)}]){bound};"
        )

    statements = [part("M", f"{own} + {before}", own, "")]
    terms = [f"M{axis}"]
    if before:
        statements.append(part("A", own, f"{before} - {own}", f", {own} < {before}"))
        terms.append(f"A{axis}")
    if behind:
        last = f"N{axis} + {before}"
        bound = f", {own} < {behind}"
        statements.append(part("B", f"{own} + {last}", f"N{axis} - 2 - {own}", bound))
        terms.append(f"B{axis}")
    return [*statements, f"T{axis} = {' + '.join(terms)};"]


extract_image_patches = ImagePatches.function
pool = Pool.function
reflection_padding = ReflectionPadding.function


def average_pool(
    data: Value,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None = None,
    padding: AutoPadding = AutoPadding.EXPLICIT,
    data_format: PoolDataFormat = PoolDataFormat.NCX,
    name: str | None = None,
) -> Any:
    """The mean of each window; zeros around do not count."""
    return pool(
        data, PoolMode.AVG, kernel_shape, strides, pads, padding, data_format, name
    )


def max_pool(
    data: Value,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None = None,
    padding: AutoPadding = AutoPadding.EXPLICIT,
    data_format: PoolDataFormat = PoolDataFormat.NCX,
    name: str | None = None,
) -> Any:
    """The largest element of each window."""
    return pool(
        data, PoolMode.MAX, kernel_shape, strides, pads, padding, data_format, name
    )

"""Windows that move over the spatial axes of images: strides, dilations, padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..edsl.functions import max as larger
from ..edsl.functions import min as smaller
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, known_size, pairs_per_axis, per_axis, require_choice, sizes_of
from .creation import places

Padding: TypeAlias = str | int | Sequence[Any]
"""`"VALID"`, `"SAME_UPPER"`, `"SAME_LOWER"`, or elements before and behind each axis.

These are one number for all, one for each axis, or a pair for each axis.
"""

_NAMES = ("VALID", "SAME_UPPER", "SAME_LOWER", "SAME")


@dataclass(frozen=True)
class Window:
    """How windows move over one axis."""

    size: Size
    """Of the axis."""
    kernel: Size
    """How many elements a window has."""
    stride: int
    dilation: int
    before: Size
    """How many elements of padding come before the axis."""
    behind: Size
    ceil: bool = False
    """Whether a window that reaches beyond the padding counts."""

    @property
    def extent(self) -> Size:
        """How far a window reaches."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def count(self) -> Size:
        """How many windows there are; each begins within the axis or before it."""
        room = self.size + self.before + self.behind - self.extent
        if not self.ceil:
            return room // self.stride + 1
        count = (room + self.stride - 1) // self.stride + 1
        begins = (self.size + self.before - 1) // self.stride + 1
        return smaller(count, begins)

    def element(self, window: Any, tap: Any) -> Any:
        """Where on the axis an element of a window lies."""
        return self.stride * window + self.dilation * tap - self.before

    def elements_inside(self, rank: int, axis: int, with_padding: bool) -> Tensor:
        """How many elements of each window lie within the axis, or in the padding too.

        A tensor of integers, along an axis of so many, with size 1 along all others.
        """
        start = places(rank, axis, self.count) * self.stride - self.before
        end = self.size + self.behind if with_padding else self.size
        least = -self.before if with_padding else 0
        step = self.dilation
        first = larger((least - start + (step - 1)) / step, 0)
        last = smaller((end - 1 - start) / step, self.kernel - 1)
        return last - first + 1


def windows(
    sizes: Sequence[Size],
    kernel: Sequence[Size],
    stride: Any,
    padding: Padding,
    dilation: Any,
    ceil: bool = False,
) -> list[Window]:
    """How windows move over spatial axes.

    Raises GinghamError for arguments that do not fit, and where no window does.
    """
    rank = len(sizes)
    strides = per_axis(stride, rank, "the strides", 1)
    dilations = per_axis(dilation, rank, "the dilations", 1)
    extents = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    pads = _pads(padding, sizes, extents, strides)
    found = [
        Window(size, length, step, gap, before, behind, ceil)
        for size, length, step, gap, (before, behind) in zip(
            sizes, kernel, strides, dilations, pads, strict=True
        )
    ]
    for axis, window in enumerate(found):
        count = known_size(window.count)
        if count is not None and count < 1:
            raise error(
                f"no window of {window.extent} elements fits spatial axis {axis}, "
                f"which has {window.size} and {window.before} + {window.behind} of "
                "padding"
            )
    return found


def _pads(
    padding: Padding,
    sizes: Sequence[Size],
    extents: Sequence[Size],
    strides: Sequence[int],
) -> list[tuple[Size, Size]]:
    if not isinstance(padding, str):
        return pairs_per_axis(padding, len(sizes), "padding")
    name = padding.upper()
    require_choice(name, _NAMES, "padding")
    if name == "VALID":
        return [(0, 0)] * len(sizes)
    pairs: list[tuple[Size, Size]] = []
    for size, extent, stride in zip(sizes, extents, strides, strict=True):
        count = (size + (stride - 1)) // stride
        missing = larger((count - 1) * stride + extent - size, 0)
        half, rest = missing // 2, missing - missing // 2
        pairs.append((rest, half) if name == "SAME_LOWER" else (half, rest))
    return pairs


def image_sizes(x: Tensor, channels_last: bool) -> tuple[Size, Size, list[Size]]:
    """The sizes of batch and channels, and of the spatial axes.

    Raises GinghamError where there is no spatial axis.
    """
    if x.ndim < 3:
        raise error(
            f"expected images of at least 3 axes, got {x.ndim}",
            "batch, channels, and one spatial axis or more; channels_last says that "
            "the channels come last",
        )
    sizes = sizes_of(x)
    if channels_last:
        return sizes[0], sizes[-1], sizes[1:-1]
    return sizes[0], sizes[1], sizes[2:]


def image(batch: Any, channel: Any, spatial: Sequence[Any], last: bool) -> list[Any]:
    """What is said of the axes of images, in their order."""
    return [batch, *spatial, channel] if last else [batch, channel, *spatial]

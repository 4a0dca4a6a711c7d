"""Images in other sizes, at other places, and of patches."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from ... import op
from ...edsl.functions import ident
from ...edsl.tensors import Tensor
from ..node import Node, Unsupported
from ..table import operator
from .networks import padding_of
from .shapes import positions


@operator("Resize", known=(1, 2, 3))
def resize(node: Node) -> Tensor:
    """Other sizes of some axes, by interpolation."""
    count = node.rank(0)
    axes = [axis % count for axis in node.attribute("axes") or range(count)]
    scales, sizes = _wanted(node, axes)
    mode = node.attribute("coordinate_transformation_mode", "half_pixel")
    if node.opset < 11:
        mode = "asymmetric"
    own = node.shape(0)
    _check_form(node, mode, [own[axis] for axis in axes], scales)
    if mode != "tf_crop_and_resize":
        kept = [
            n for n, axis in enumerate(axes) if not _stays(own[axis], scales, sizes, n)
        ]
        axes = [axes[n] for n in kept]
        scales = None if scales is None else [scales[n] for n in kept]
        sizes = None if sizes is None else [sizes[n] for n in kept]
        if not axes:
            return ident(node[0])
    return op.resize(
        node[0],
        sizes,
        scales,
        axes,
        node.attribute("mode", "nearest"),
        mode,
        "floor"
        if node.opset < 11
        else node.attribute("nearest_mode", "round_prefer_floor"),
        node.attribute("cubic_coeff_a", -0.75),
        antialias=bool(node.attribute("antialias", 0)),
        exclude_outside=bool(node.attribute("exclude_outside", 0)),
        roi=_region(node, len(axes)) if mode == "tf_crop_and_resize" else None,
        extrapolation_value=node.attribute("extrapolation_value", 0.0),
    )


def _check_form(
    node: Node, mode: str, sizes: Sequence[int], scales: Sequence[float] | None
) -> None:
    """Raise Unsupported for what `op.resize` means otherwise than ONNX."""
    if node.attribute("antialias", 0) and not node.attribute("exclude_outside", 0):
        raise Unsupported("antialiasing with the elements beyond the borders")
    products = [
        size * scale for size, scale in zip(sizes, scales or sizes, strict=True)
    ]
    is_whole = all(product == int(product) for product in products)
    if scales and mode in ("align_corners", "tf_crop_and_resize") and not is_whole:
        raise Unsupported("corners of sizes that are no integers")


def _stays(
    size: int, scales: Sequence[float] | None, sizes: Sequence[int] | None, number: int
) -> bool:
    """Whether an axis stays as it is."""
    return scales[number] == 1 if scales else bool(sizes) and sizes[number] == size


def _wanted(
    node: Node, axes: Sequence[int]
) -> tuple[list[float] | None, list[int] | None]:
    """The scales of the axes, or their new sizes."""
    position = 1 if node.opset < 11 else 2
    if node.has(position) and node.array(position).size:
        return [float(each) for each in node.array(position)], None
    sizes = node.integers(3)
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return None, sizes
    own = [node.shape(0)[axis] for axis in axes]
    quotients = [size / before for size, before in zip(sizes, own, strict=True)]
    scale = min(quotients) if policy == "not_larger" else max(quotients)
    if any(floor(each * scale + 0.5) != floor(each * scale) for each in own):
        raise Unsupported("sizes that are rounded to keep the aspect ratio")
    return [scale] * len(own), None


def _region(node: Node, count: int) -> list[tuple[float, float]]:
    region = [float(each) for each in node.array(1)]
    return [*zip(region[:count], region[count:], strict=True)]


@operator("Upsample", known=(1,))
def upsample(node: Node) -> Tensor:
    """Elements repeated, or between others."""
    given = node.array(1) if node.has(1) else node.attribute("scales")
    scales = [float(each) for each in given]
    axes = [axis for axis, scale in enumerate(scales) if scale != 1]
    mode: str = node.attribute("mode", "nearest")
    if not axes:
        return ident(node[0])
    return op.resize(
        node[0],
        None,
        [scales[axis] for axis in axes],
        axes,
        mode,
        "asymmetric",
        "floor",
    )


_SAMPLING = {"linear": "bilinear", "cubic": "bicubic"}


@operator("GridSample")
def sample(node: Node) -> Tensor:
    """Images at the places of a grid."""
    mode: str = node.attribute("mode", "linear")
    return op.grid_sample(
        node[0],
        node[1],
        _SAMPLING.get(mode, mode),
        node.attribute("padding_mode", "zeros"),
        bool(node.attribute("align_corners", 0)),
    )


@operator("Col2Im", known=(1, 2))
def fold(node: Node) -> Tensor:
    """The sums of patches."""
    sizes: list[Any] = node.integers(1)
    return op.fold(
        node[0],
        sizes,
        node.integers(2),
        node.attribute("dilations") or 1,
        padding_of(node, len(sizes)),
        node.attribute("strides") or 1,
    )


@operator("RoiAlign")
def regions(node: Node) -> Tensor:
    """Regions of images in another size, each element the mean of samples."""
    if node.attribute("mode", "avg") != "avg":
        raise Unsupported("the largest of weighted elements")
    ratio = node.attribute("sampling_ratio", 0)
    if ratio < 1:
        raise Unsupported("a number of samples that depends on the regions")
    mode = "output_half_pixel" if node.opset < 16 else "half_pixel"
    return op.roi_align(
        node[0],
        node[1],
        positions(node, 2),
        (node.attribute("output_height", 1), node.attribute("output_width", 1)),
        ratio,
        node.attribute("spatial_scale", 1.0),
        node.attribute("coordinate_transformation_mode", mode) == "half_pixel",
    )

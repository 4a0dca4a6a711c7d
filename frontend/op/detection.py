"""Boxes of objects: how far they overlap, and which of them are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..edsl.functions import floor, logical_and, logical_or, select
from ..edsl.functions import max as larger
from ..edsl.functions import min as smaller
from ..edsl.locations import error
from ..edsl.tensors import Tensor, cast
from .axes import (
    Size,
    integer_of,
    per_axis,
    require_rank,
    require_size,
    sizes_of,
)
from .contractions import MAX
from .creation import places
from .indexing import gather_nd
from .joining import stack
from .operation import TensorLike, as_tensor, operation
from .reductions import argmax, max, mean, reduced
from .shapes import broadcast_to, moveaxis, unsqueeze
from .slicing import select_index

__all__ = ["box_iou", "non_max_suppression", "roi_align"]


@operation
def box_iou(a: TensorLike, b: TensorLike) -> Tensor:
    """The common area of each box of a with each of b, over that of both together.

    As torchvision's box_iou: a has shape [.., M, 4], b [.., N, 4], the result [.., M,
    N]. A box is two opposite corners, (x, y, x, y) or (y, x, y, x).
    """
    first, second = _corners(a, -2), _corners(b, -3)
    common: Any = 1.0
    areas: list[Any] = [1.0, 1.0]
    for axis in range(2):
        ends = [(box[axis], box[axis + 2]) for box in (first, second)]
        spans = [(smaller(*pair), larger(*pair)) for pair in ends]
        (low, high), (other_low, other_high) = spans
        overlap = smaller(high, other_high) - larger(low, other_low)
        common = common * larger(overlap, 0.0)
        areas = [areas[0] * (high - low), areas[1] * (other_high - other_low)]
    union = areas[0] + areas[1] - common
    return common / select(union > 0.0, union, 1.0)


def _corners(boxes: TensorLike, axis: int) -> list[Tensor]:
    """The four numbers of each box, with a further axis for the boxes beside them."""
    boxes = as_tensor(boxes)
    if boxes.ndim < 2:
        raise error(f"expected boxes of shape [.., N, 4], got {boxes.ndim} axes")
    require_size(boxes, boxes.ndim - 1, 4, "the numbers of a box")
    return [
        unsqueeze(select_index(boxes, number, -1), -1 if axis == -2 else -2)
        for number in range(4)
    ]


@operation
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output: int,
    iou_threshold: float = 0.5,
    score_threshold: float = -float("inf"),
) -> Tensor:
    """The places of the best boxes that do not overlap better ones, best first: si32.

    As TensorFlow's and ONNX's, but that there are always `max_output` places on the
    last axis: -1 where there are no more boxes. Boxes have shape [.., N, 4], as of
    `box_iou`, scores [.., N]. A box is left out where it and a better one have a ratio
    of more than the threshold, or its score is not more than the other. A program has
    as many steps as places, and the ratios of all pairs.
    """
    boxes, scores = as_tensor(boxes), as_tensor(scores)
    if max_output < 1:
        raise error(f"expected at least one place, got {max_output}")
    count = sizes_of(boxes)[-2]
    require_size(scores, scores.ndim - 1, count, "the number of boxes")
    overlaps = box_iou(boxes, boxes) > iou_threshold
    left = select(scores > score_threshold, scores, -float("inf"))
    place = places(scores.ndim, scores.ndim - 1, count)
    found: list[Tensor] = []
    for _ in range(max_output):
        best = argmax(left, -1, keepdims=True)
        is_one = max(left, -1, keepdims=True) > -float("inf")
        found.append(select_index(select(is_one, best, -1), 0, -1))
        is_best = place == best
        near = select(unsqueeze(is_best, -1), overlaps, False)
        gone = logical_or(reduced(near, MAX, near.ndim - 2, False), is_best)
        left = select(gone, -float("inf"), left)
    return stack(found, -1)


@operation
def roi_align(
    x: TensorLike,
    boxes: TensorLike,
    batch: TensorLike,
    output_size: Sequence[int],
    sampling_ratio: int,
    spatial_scale: float = 1.0,
    aligned: bool = True,
) -> Tensor:
    """Regions of images in another size, each element the mean of samples of a part.

    As torchvision's roi_align and ONNX's RoiAlign: x has shape [N, C, H, W], boxes [R,
    4] of (x, y, x, y) times 1 over the scale, and `batch` [R] says which image each is
    of; the result is [R, C, rows, columns]. A part has `sampling_ratio` samples along
    each axis. With `aligned` the middle of an element is at a half.
    """
    x, boxes, batch = as_tensor(x), as_tensor(boxes), as_tensor(batch)
    require_rank(x, 4, "the images")
    require_rank(boxes, 2, "the boxes")
    require_size(boxes, 1, 4, "the numbers of a box")
    count, (_, channels, *sizes) = sizes_of(boxes)[0], sizes_of(x)
    require_size(batch, 0, count, "the number of boxes")
    parts = per_axis(output_size, 2, "the sizes of regions", 1)
    samples = integer_of(sampling_ratio, "the number of samples")
    if samples < 1:
        raise error(f"expected at least one sample, got {samples}")
    shift = 0.5 if aligned else 0.0
    ends: list[list[tuple[Tensor, Tensor]]] = []
    for axis, (size, number) in enumerate(zip(sizes, parts, strict=True)):
        first, last = (
            select_index(boxes, 1 - axis + corner, 1) * spatial_scale - shift
            for corner in (0, 2)
        )
        length = last - first if aligned else larger(last - first, 1.0)
        share = (places(2, 1, number * samples) + 0.5) / (number * samples)
        place = unsqueeze(first, -1) + unsqueeze(length, -1) * share
        ends.append(_neighbours(unsqueeze(place, 2 - axis), size))
    images = moveaxis(x, 1, -1)
    shape = [count, parts[0] * samples, parts[1] * samples]
    image = cast(batch, "int32").reshape(count, 1, 1)
    total: Any = 0.0
    for row, row_share in ends[0]:
        for column, column_share in ends[1]:
            each = [broadcast_to(n, shape) for n in (image, row, column)]
            share = unsqueeze(row_share * column_share, -1)
            total = total + gather_nd(images, stack(each, -1)) * share
    split = [count, parts[0], samples, parts[1], samples, channels]
    return moveaxis(mean(total.reshape(*split), (2, 4)), -1, 1)


def _neighbours(place: Tensor, size: Size) -> list[tuple[Tensor, Tensor]]:
    """The two elements that a place lies between, and how much of each it has.

    Up to one element beyond the ends is as at them; further away is nothing.
    """
    last = as_tensor(size) - 1
    inside = smaller(larger(place, 0.0), last * 1.0)
    low = floor(inside)
    share = inside - low
    is_near = logical_and(place >= -1.0, place <= as_tensor(size) * 1.0)
    first = cast(low, "int32")
    return [
        (first, select(is_near, 1.0 - share, 0.0)),
        (smaller(first + 1, last), select(is_near, share, 0.0)),
    ]

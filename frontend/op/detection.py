"""Boxes of objects: how far they overlap, and which of them are kept."""

from __future__ import annotations

from typing import Any

from ..edsl.functions import logical_or, select
from ..edsl.functions import max as larger
from ..edsl.functions import min as smaller
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import require_size, sizes_of
from .contractions import MAX
from .creation import places
from .joining import stack
from .operation import TensorLike, as_tensor, operation
from .reductions import argmax, max, reduced
from .shapes import unsqueeze
from .slicing import select_index

__all__ = ["box_iou", "non_max_suppression"]


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

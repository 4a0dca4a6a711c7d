"""Overlaps of boxes, and the boxes that are kept, beside the loops that define them."""

from __future__ import annotations

import numpy as np
from operation_checks import Array, Cases, check

from gingham import op


def boxes(count: int, seed: int) -> Array:
    """Boxes by two corners, which are in any order."""
    generator = np.random.default_rng(seed)
    corner = generator.uniform(0, 8, (count, 2))
    size = generator.uniform(-5, 5, (count, 2))
    return np.concatenate([corner, corner + size], 1).astype(np.float32)


def ratio(a: Array, b: Array) -> float:
    common, areas = 1.0, np.ones(2)
    for axis in range(2):
        spans = [sorted(map(float, box[[axis, axis + 2]])) for box in (a, b)]
        common *= max(min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0]), 0)
        areas *= [span[1] - span[0] for span in spans]
    return common / (areas.sum() - common)


def kept(found: Array, scores: Array, count: int, most: float, least: float) -> Array:
    places: list[int] = []
    for place in np.argsort(-scores, kind="stable"):
        overlaps = (ratio(found[place], found[other]) > most for other in places)
        if len(places) < count and scores[place] > least and not any(overlaps):
            places.append(int(place))
    return np.array(places + [-1] * (count - len(places)))


def test_ratios_of_areas() -> None:
    a, b = boxes(5, 0), boxes(4, 1)
    want = np.array([[ratio(one, other) for other in b] for one in a], np.float32)
    check({"iou": (op.box_iou, want)}, a, b, tolerance=1e-6)


def test_boxes_that_do_not_overlap_better_ones() -> None:
    found = np.stack([boxes(12, 2), boxes(12, 3)])
    scores = np.random.default_rng(4).permutation(24).reshape(2, 12).astype(np.float32)
    want = [kept(*pair, 9, 0.2, 3.0) for pair in zip(found, scores, strict=True)]
    assert any(-1 in each for each in want)
    cases: Cases = {
        "few": (
            lambda b, s: op.non_max_suppression(b, s, 3, 0.1),
            np.stack(
                [kept(*pair, 3, 0.1, -1.0) for pair in zip(found, scores, strict=True)]
            ),
        ),
        "all": (
            lambda b, s: op.non_max_suppression(b, s, 9, 0.2, 3.0),
            np.stack(want),
        ),
    }
    check(cases, found, scores)

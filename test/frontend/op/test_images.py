"""Images resized, sampled and cut into patches, beside torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, integers, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


def test_resized_as_in_torch() -> None:
    x = normals(2, 3, 6, 5)
    tensor = torch.tensor(x)
    cases: Cases = {}
    for size in [(9, 11), (4, 3), (12, 10)]:
        for mode in ("nearest", "nearest-exact"):
            cases[f"{mode} {size}"] = (
                _interpolate(size, mode),
                F.interpolate(tensor, size, mode=mode).numpy(),
            )
        for mode in ("bilinear", "bicubic"):
            for corners, smooth in [(False, False), (True, False), (False, True)]:
                cases[f"{mode} {size} {corners} {smooth}"] = (
                    _interpolate(size, mode, corners, smooth),
                    F.interpolate(
                        tensor, size, None, mode, corners, antialias=smooth
                    ).numpy(),
                )
    cases["scale"] = (
        lambda x: op.interpolate(x, scale_factor=2.0),
        F.interpolate(tensor, scale_factor=2.0).numpy(),
    )
    check(cases, x, tolerance=2e-6)


def _interpolate(size: Any, mode: str, *options: bool) -> Operation:
    return lambda x: op.interpolate(x, size, None, mode, *options)


def _resized(
    row: Any,
    target: int,
    place: Callable[[int], float],
    kernel: Callable[[float], float],
    radius: int,
    inside: bool = False,
) -> Any:
    """By the definition, in 64 bits: for each element a sum over its neighbours."""
    result: list[float] = []
    for number in range(target):
        at = place(number)
        first = int(np.floor(at)) - radius + 1
        taps = range(first, first + 2 * radius)
        weights = [kernel(abs(at - tap)) for tap in taps]
        if inside:
            weights = [
                w if 0 <= tap < len(row) else 0.0
                for w, tap in zip(weights, taps, strict=True)
            ]
        values = [row[min(max(tap, 0), len(row) - 1)] for tap in taps]
        total = sum(w * v for w, v in zip(weights, values, strict=True))
        result.append(total / sum(weights))
    return np.array(result, np.float32)


def _linear(s: float) -> float:
    return max(1 - s, 0.0)


def _cubic(s: float, a: float = -0.75) -> float:
    if s <= 1:
        return (a + 2) * s**3 - (a + 3) * s**2 + 1
    return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a if s < 2 else 0.0


def test_coordinates_of_onnx() -> None:
    row = normals(7)
    scale, target = 1.6, 11
    cases: Cases = {
        "half_pixel": (
            lambda x: op.resize(x, scales=[scale], mode="linear"),
            _resized(row, target, lambda i: (i + 0.5) / scale - 0.5, _linear, 1),
        ),
        "symmetric": (
            lambda x: op.resize(
                x, scales=[scale], mode="linear", coordinate_mode="half_pixel_symmetric"
            ),
            _resized(
                row,
                target,
                lambda i: (i + 0.5) / scale - 0.5 + 3.5 * (1 - target / (7 * scale)),
                _linear,
                1,
            ),
        ),
        "asymmetric": (
            lambda x: op.resize(
                x, [target], mode="cubic", coordinate_mode="asymmetric"
            ),
            _resized(row, target, lambda i: i * 7 / target, _cubic, 2),
        ),
        "align_corners": (
            lambda x: op.resize(
                x, [target], mode="linear", coordinate_mode="align_corners"
            ),
            _resized(row, target, lambda i: i * 6 / (target - 1), _linear, 1),
        ),
        "excluded": (
            lambda x: op.resize(
                x, [target], mode="cubic", cubic_coeff=-0.5, exclude_outside=True
            ),
            _resized(
                row,
                target,
                lambda i: (i + 0.5) * 7 / target - 0.5,
                lambda s: _cubic(s, -0.5),
                2,
                True,
            ),
        ),
        "one": (
            lambda x: op.resize(
                x, [1], mode="linear", coordinate_mode="pytorch_half_pixel"
            ),
            row[:1],
        ),
    }
    check(cases, row, tolerance=1e-6)


def test_crops_have_a_value_beyond_the_image() -> None:
    row = normals(6)

    def place(i: int) -> float:
        return 5 * 0.4 + i * 5 * (1.2 - 0.4) / 4

    want = _resized(row, 5, place, _linear, 1)
    want[[place(i) > 5 for i in range(5)]] = 9
    cases: Cases = {
        "crop": (
            lambda x: op.resize(
                x,
                [5],
                mode="linear",
                coordinate_mode="tf_crop_and_resize",
                roi=[(0.4, 1.2)],
                extrapolation_value=9.0,
            ),
            want,
        )
    }
    check(cases, row, tolerance=1e-6)


def test_nearest_elements() -> None:
    row = integers(4)
    at = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]
    places = {
        "floor": [0, 0, 1, 1, 2, 2, 3, 3],
        "ceil": [0, 1, 1, 2, 2, 3, 3, 3],
        "round_prefer_floor": [0, 0, 1, 1, 2, 2, 3, 3],
        "round_prefer_ceil": [0, 1, 1, 2, 2, 3, 3, 3],
    }
    assert len(at) == 8
    cases: Cases = {
        mode: (_nearest(mode), row[expected]) for mode, expected in places.items()
    }
    check(cases, row)


def _nearest(mode: str) -> Operation:
    return lambda x: op.resize(x, [8], coordinate_mode="asymmetric", nearest_mode=mode)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_sampled_images(mode: str) -> None:
    x, grid = normals(2, 3, 6, 5), normals(2, 4, 7, 2) * np.float32(0.8)
    tensors = torch.tensor(x), torch.tensor(grid)
    cases: Cases = {}
    for padding in ("zeros", "border", "reflection"):
        for corners in (False, True):
            cases[f"{padding} {corners}"] = (
                _sampled(mode, padding, corners),
                F.grid_sample(*tensors, mode, padding, corners).numpy(),
            )
    check(cases, x, grid, tolerance=1e-5)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_reflections_in_images_of_one_row(mode: str) -> None:
    x, grid = normals(2, 3, 1, 5), normals(2, 4, 7, 2) * np.float32(2)
    cases: Cases = {}
    for corners in (False, True):
        tensors = torch.tensor(x), torch.tensor(grid)
        expected = F.grid_sample(*tensors, mode, "reflection", corners).numpy()
        cases[f"{corners}"] = (_sampled(mode, "reflection", corners), expected)
    check(cases, x, grid, tolerance=1e-5)


def _sampled(mode: str, padding: str, corners: bool) -> Operation:
    return lambda x, grid: op.grid_sample(x, grid, mode, padding, corners)


def test_affine_grids_and_volumes() -> None:
    theta, x = normals(2, 3, 4), normals(2, 2, 3, 4, 5)
    size = (2, 2, 3, 4, 5)
    grid = F.affine_grid(torch.tensor(theta), size, False)
    cases: Cases = {
        "grid": (lambda t, x: op.affine_grid(t, size), grid.numpy()),
        "corners": (
            lambda t, x: op.affine_grid(t, size, True),
            F.affine_grid(torch.tensor(theta), size, True).numpy(),
        ),
        "volume": (
            lambda t, x: op.grid_sample(x, op.affine_grid(t, size)),
            F.grid_sample(torch.tensor(x), grid, align_corners=False).numpy(),
        ),
    }
    check(cases, theta, x, tolerance=1e-5)


def test_patches() -> None:
    x = integers(2, 3, 7, 6)
    columns = F.unfold(torch.tensor(x), (3, 2), (1, 2), 1, 2)
    folded = F.fold(columns, (7, 6), (3, 2), (1, 2), 1, 2).numpy()
    last = np.moveaxis(x, 1, -1)
    same = np.pad(last, [(0, 0), (1, 1), (0, 1), (0, 0)])
    cases: Cases = {
        "unfold": (lambda x: op.unfold(x, (3, 2), (1, 2), 1, 2), columns.numpy()),
        "fold": (
            lambda x: op.fold(
                op.unfold(x, (3, 2), (1, 2), 1, 2), (7, 6), (3, 2), (1, 2), 1, 2
            ),
            folded,
        ),
        "valid": (_patches((1, 3, 2, 1), (1, 2, 2, 1), "VALID"), _cut(last, 3, 2, 2)),
        "same": (_patches((1, 3, 2, 1), (1, 1, 1, 1), "SAME"), _cut(same, 3, 2, 1)),
    }
    check(cases, x)


def _patches(sizes: Any, strides: Any, padding: str) -> Operation:
    return lambda x: op.extract_image_patches(
        op.moveaxis(x, 1, -1), sizes, strides, padding=padding
    )


def _cut(x: Any, height: int, width: int, stride: int) -> Any:
    rows = range(0, x.shape[1] - height + 1, stride)
    columns = range(0, x.shape[2] - width + 1, stride)
    patches = [
        [x[:, i : i + height, j : j + width].reshape(len(x), -1) for j in columns]
        for i in rows
    ]
    return np.moveaxis(np.array(patches), 2, 0)


def test_blocks_in_the_order_of_darknet() -> None:
    x = integers(1, 8, 4, 6)
    wanted = np.zeros(8 * 4 * 6, np.float32)
    flat, channels = x.ravel(), 2
    for channel in range(8):
        offset, own = divmod(channel, channels)
        for row in range(4):
            for column in range(6):
                source = (own * 8 + row * 2 + offset // 2) * 12
                source += column * 2 + offset % 2
                wanted[(channel * 4 + row) * 6 + column] = flat[source]
    check({"yolo": (lambda x: op.reorg_yolo(x, 2), wanted.reshape(1, 32, 2, 3))}, x)


def test_gradients() -> None:
    grid = normals(2, 3, 3, 2) * np.float32(0.4)
    pairs: dict[str, tuple[Operation, Operation]] = {
        "linear": (
            lambda x: op.interpolate(x, (7, 6), mode="bilinear"),
            lambda x: F.interpolate(x, (7, 6), mode="bilinear"),
        ),
        "smooth": (
            lambda x: op.interpolate(x, (3, 2), mode="bilinear", antialias=True),
            lambda x: F.interpolate(x, (3, 2), mode="bilinear", antialias=True),
        ),
        "sampled": (
            lambda x: op.grid_sample(x, grid),
            lambda x: F.grid_sample(x, torch.tensor(grid), align_corners=False),
        ),
        "patches": (
            lambda x: op.unfold(x, 2),
            lambda x: F.unfold(x, 2),
        ),
    }
    check_slopes(pairs, normals(2, 2, 4, 5))

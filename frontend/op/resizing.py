"""Images in other sizes: nearest, linear and cubic interpolation along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..edsl.functions import abs, logical_and, select
from ..edsl.functions import max as larger
from ..edsl.locations import error
from ..edsl.specials import gather as gather_cells
from ..edsl.specials import index
from ..edsl.tensors import Tensor, cast
from .axes import (
    Size,
    axis_of,
    indices,
    known_size,
    replaced,
    require_choice,
    size_list,
    sizes_of,
)
from .contractions import SUM, contract
from .creation import places
from .operation import TensorLike, as_tensor, in_type_of, operation
from .reductions import reduced

__all__ = ["interpolate", "resize"]

_MODES = ("nearest", "linear", "cubic")
_COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")


@dataclass(frozen=True)
class _Axis:
    """How an axis gets another size."""

    size: Size
    target: Size
    scale: float | None
    """By how much it is scaled, where that is not the quotient of the sizes."""
    begin: float = 0.0
    end: float = 1.0
    """The part of the axis that is taken, of `tf_crop_and_resize`."""

    def coordinates(self, mode: str) -> Tensor:
        """Where on the axis each element of the result lies, as floats."""
        place = cast(index([self.target], 0), "float32")
        size, target = _float(self.size), _float(self.target)
        last = larger(target - 1.0, 1.0)
        match mode:
            case "align_corners":
                return place * (size - 1.0) / last
            case "asymmetric":
                return self._unscaled(place)
            case "tf_half_pixel_for_nn":
                return self._unscaled(place + 0.5)
            case "tf_crop_and_resize":
                step = (size - 1.0) * (self.end - self.begin) / last
                middle = (size - 1.0) * (0.5 * (self.begin + self.end))
                start = (size - 1.0) * self.begin
                return place * step + select(target > 1.0, start, middle)
            case "pytorch_half_pixel":
                return select(target > 1.0, self._unscaled(place + 0.5) - 0.5, 0.0)
            case "half_pixel_symmetric":
                whole = size * (self.scale or 1.0)
                shift = (1.0 - target / whole) * 0.5 * size if self.scale else 0.0
                return self._unscaled(place + 0.5) - 0.5 + shift
            case _:
                return self._unscaled(place + 0.5) - 0.5

    def _unscaled(self, place: Tensor) -> Tensor:
        if self.scale is not None:
            return place / self.scale
        return place * _float(self.size) / _float(self.target)

    def stretch(self) -> Tensor:
        """How many elements each of the result is for, at least 1."""
        if self.scale is not None:
            return as_tensor(max(1.0 / self.scale, 1.0))
        return larger(_float(self.size) / _float(self.target), 1.0)


def _float(size: Size) -> Any:
    number = known_size(size)
    return float(number) if number is not None else as_tensor(size) * 1.0


@operation
def resize(
    x: TensorLike,
    sizes: Sequence[Size] | None = None,
    scales: Sequence[float] | None = None,
    axes: Sequence[int] | None = None,
    mode: str = "nearest",
    coordinate_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff: float = -0.75,
    *,
    antialias: bool = False,
    exclude_outside: bool = False,
    roi: Sequence[tuple[float, float]] | None = None,
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Other sizes of some axes, all by default, by interpolation, as ONNX's Resize.

    Either `sizes` or `scales` are given, one for each axis. The mode is nearest, linear
    or cubic; `coordinate_mode` says which place of x an element of the result is at:
    half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric,
    tf_half_pixel_for_nn or tf_crop_and_resize, for which `roi` has the beginning and
    the end of each axis as parts of its size. `nearest_mode` is round_prefer_floor,
    round_prefer_ceil, floor, ceil or simple. Beyond the borders are the elements at
    them, or with `exclude_outside` none. With `antialias` elements of a smaller image
    are means of all that they are for.
    """
    x = as_tensor(x)
    require_choice(mode, _MODES, "mode")
    require_choice(coordinate_mode, _COORDINATES, "coordinate_mode")
    require_choice(nearest_mode, _NEAREST, "nearest_mode")
    chosen = range(x.ndim) if axes is None else [axis_of(x, axis) for axis in axes]
    moves = _axes_of(x, chosen, sizes, scales, roi)
    result, is_inside = x, None
    for axis, move in moves.items():
        own, target = known_size(move.size), known_size(move.target)
        is_crop = coordinate_mode == "tf_crop_and_resize"
        if not is_crop and own is not None and own == target and move.scale is None:
            continue
        at = move.coordinates(coordinate_mode)
        if mode != "nearest" and (antialias or exclude_outside):
            weights = _weights(move, at, mode, cubic_coeff, antialias)
            weighted = _weighted(result, axis, move.target, weights)
            result = in_type_of(x, weighted)
        else:
            result = gather_cells(
                result,
                at,
                axis=axis,
                interpolation=mode,
                nearest_mode=nearest_mode,
                cube_coefficient=cubic_coeff,
            )
        if is_crop:
            own = logical_and(at >= 0.0, at <= _float(move.size) - 1.0)
            along = own.reshape(*replaced([1] * x.ndim, axis, move.target))
            is_inside = along if is_inside is None else logical_and(is_inside, along)
    if is_inside is None:
        return result
    return select(is_inside, result, extrapolation_value)


def _axes_of(
    x: Tensor,
    chosen: Sequence[int],
    sizes: Sequence[Size] | None,
    scales: Sequence[float] | None,
    roi: Sequence[tuple[float, float]] | None,
) -> dict[int, _Axis]:
    given = sizes if scales is None else scales
    if (sizes is None) == (scales is None) or given is None:
        raise error("expected either sizes or scales")
    if len(given) != len(chosen) or len(roi or given) != len(chosen):
        raise error(f"expected something for each of {len(chosen)} axes, got {given}")
    own = sizes_of(x)
    moves: dict[int, _Axis] = {}
    for number, axis in enumerate(chosen):
        begin, end = (0.0, 1.0) if roi is None else roi[number]
        scale = None if scales is None else float(scales[number])
        if scale is not None and scale <= 0:
            raise error(f"expected scales of more than 0, got {scale}")
        if scale == 1.0:
            scale, target = None, own[axis]
        elif scale is not None:
            target = int(int(own[axis]) * scale)
        else:
            target = size_list(sizes)[number]
        moves[axis] = _Axis(own[axis], target, scale, begin, end)
    return moves


def _weights(
    move: _Axis, at: Tensor, mode: str, coefficient: float, antialias: bool
) -> Tensor:
    """How much each element of an axis counts for each of the result."""
    stretch = move.stretch() if antialias else as_tensor(1.0)
    place = cast(places(2, 1, move.size), "float32")
    distance = abs(place - at.reshape(move.target, 1)) / stretch
    if mode == "linear":
        weights = larger(1.0 - distance, 0.0)
    else:
        weights = _cubic(distance, coefficient)
    return weights / reduced(weights, SUM, 1, True)


def _cubic(s: Tensor, a: float) -> Tensor:
    """Keys's kernel of cubic convolution, for distances."""
    near = ((s * (a + 2) - (a + 3)) * s) * s + 1.0
    far = ((s * a - 5 * a) * s + 8 * a) * s - 4 * a
    return select(s <= 1.0, near, select(s < 2.0, far, 0.0))


def _weighted(x: Tensor, axis: int, target: Size, weights: Tensor) -> Tensor:
    """An axis multiplied by a matrix."""
    source, (place,) = indices(x.ndim), indices(1)
    return contract(
        SUM,
        replaced(sizes_of(x), axis, target),
        replaced(source, axis, place),
        x[tuple(source)] * weights[place, source[axis]],
    )


@operation
def interpolate(
    x: TensorLike,
    size: int | Sequence[Size] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    antialias: bool = False,
) -> Tensor:
    """Images of shape [N, C, spatial..] in other sizes, as torch's interpolate.

    The mode is nearest, nearest-exact, linear, bilinear, trilinear or bicubic. Other
    than in torch a scale is always the quotient of the sizes, as with its
    `recompute_scale_factor`.
    """
    x = as_tensor(x)
    rank = x.ndim - 2
    if rank < 1:
        raise error(f"expected images of at least 3 axes, got {x.ndim}")
    kinds = {"nearest": "nearest", "nearest-exact": "nearest", "bicubic": "cubic"}
    kinds |= dict.fromkeys(("linear", "bilinear", "trilinear"), "linear")
    require_choice(mode, list(kinds), "mode")
    if (size is None) == (scale_factor is None):
        raise error("expected either a size or a scale factor")
    if scale_factor is None:
        sizes = [size] * rank if isinstance(size, int) else size_list(size)
    else:
        single = isinstance(scale_factor, int | float)
        factors = [scale_factor] * rank if single else size_list(scale_factor)
        own = sizes_of(x)[2:]
        sizes = [int(int(s) * f) for s, f in zip(own, factors, strict=True)]
    coordinates = "align_corners" if align_corners else "half_pixel"
    return resize(
        x,
        sizes,
        axes=range(2, x.ndim),
        mode=kinds[mode],
        coordinate_mode="asymmetric" if mode == "nearest" else coordinates,
        nearest_mode="floor" if mode == "nearest" else "round_prefer_ceil",
        cubic_coeff=-0.5 if antialias else -0.75,
        antialias=antialias,
    )

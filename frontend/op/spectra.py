"""Fourier transforms: of signals, and of their frames."""

from __future__ import annotations

from math import pi

from ..edsl.functions import cos, select, sin
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import (
    Size,
    axis_of,
    indices,
    integer_of,
    known_size,
    replaced,
    require_choice,
    require_rank,
    require_size,
    require_some,
    sizes_of,
)
from .contractions import SUM, contract, moved
from .creation import places
from .elementwise import fmod
from .joining import stack
from .operation import TensorLike, as_tensor, in_type_of, operation
from .shapes import unsqueeze

__all__ = ["dft", "stft"]


@operation
def dft(
    x: TensorLike,
    length: Size | None = None,
    axis: int = -2,
    inverse: bool = False,
    onesided: bool = False,
) -> Tensor:
    """The discrete Fourier transform along an axis, as ONNX's DFT.

    The last axis of x has one number for each element, or real and imaginary part; that
    of the result has both. Signals are cut to the length, or continued by zeros; it is
    the size of the axis where nothing is said. With `onesided` the result ends at half
    of the frequencies, and the inverse of such has one number for each element. It is a
    product with a matrix of length by length: for signals of some thousand elements.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    if place == x.ndim - 1:
        raise error("expected an axis before the last one, which has the parts")
    *sizes, parts = sizes_of(x)
    if known_size(parts) is not None:
        require_choice(parts, (1, 2), "the size of the last axis")
    is_real = inverse and onesided
    usual = 2 * (sizes[place] - 1) if is_real else sizes[place]
    size = usual if length is None else length
    waves, quarter = _tables(x, size, inverse, onesided)
    # Of what has no imaginary part no element is read.
    real = _product(x, 0, place, waves) + _product(x, 1, place, quarter)
    if is_real:
        return unsqueeze(real, -1)
    imaginary = _product(x, 1, place, waves) - _product(x, 0, place, quarter)
    return stack([real, imaginary], -1)


def _tables(
    x: Tensor, length: Size, inverse: bool, onesided: bool
) -> tuple[Tensor, Tensor]:
    """The cosines and sines that elements are multiplied by, a column a result."""
    require_some([length])
    is_real, half = inverse and onesided, length // 2 + 1
    row = places(2, 0, half if is_real else length)
    column = places(2, 1, half if onesided and not inverse else length)
    # Whole turns are left out while numbers are integers, and so exact.
    whole = as_tensor(length) * 1.0
    share = in_type_of(x, fmod(row * column, length)) / whole
    waves, quarter = cos(share * (2 * pi)), sin(share * (2 * pi))
    if not inverse:
        return waves, quarter
    # The frequencies beyond the half, which are conjugates, count here.
    count = select(fmod(row * 2, length) == 0, 1.0, 2.0) if is_real else 1.0
    return waves * count / whole, -quarter * count / whole


def _product(x: Tensor, part: int, axis: int, table: Tensor) -> Tensor:
    """The sums of one of the parts of x along an axis, times the columns of a table."""
    at, (column,) = indices(x.ndim - 1), indices(1)
    return contract(
        SUM,
        replaced(sizes_of(x)[:-1], axis, sizes_of(table)[1]),
        replaced(at, axis, column),
        x[(*at, part)] * table[at[axis], column],
    )


@operation
def stft(
    x: TensorLike,
    frame_step: int,
    window: TensorLike = None,
    frame_length: Size | None = None,
    onesided: bool = True,
) -> Tensor:
    """The Fourier transforms of frames of signals, as ONNX's STFT.

    Of [N, samples, 1 or 2] the result is [N, frames, frequencies, 2], as of `dft`. A
    frame begins each `frame_step` samples, is as long as `frame_length` or the window
    says, and is multiplied by the window.
    """
    x = as_tensor(x)
    require_rank(x, 3, "the signals")
    batch, samples, parts = sizes_of(x)
    step = integer_of(frame_step, "the step")
    factors = None if window is None else as_tensor(window)
    length: Size = samples if frame_length is None else frame_length
    if factors is not None:
        require_rank(factors, 1, "the window")
        if frame_length is not None:
            require_size(factors, 0, frame_length, "the length of a frame")
        (length,) = sizes_of(factors)
    if step < 1:
        raise error(f"expected a step of at least 1, got {step}")
    n, frame, sample, part = indices(4)
    frames = moved(
        x,
        [batch, (samples - length) // step + 1, length, parts],
        [n, frame, sample, part],
        [n, step * frame + sample, part],
    )
    if factors is not None:
        frames = frames * unsqueeze(factors, -1)
    return dft(frames, onesided=onesided)

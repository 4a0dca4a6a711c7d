"""Patches of images: taken out, and put together again."""

from __future__ import annotations

from collections.abc import Sequence

from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, indices, per_axis, product, require_rank, require_size, sizes_of
from .contractions import SUM, contract, moved
from .operation import TensorLike, as_tensor, operation
from .windows import Padding, Window, image_sizes, windows

__all__ = ["extract_image_patches", "fold", "unfold"]


def _moves(
    sizes: Sequence[Size],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int],
    padding: Padding,
    stride: int | Sequence[int],
) -> list[Window]:
    kernel = per_axis(kernel_size, len(sizes), "the sizes of patches", 1)
    return windows(sizes, kernel, stride, padding, dilation)


@operation
def unfold(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: Padding = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """The patches of images, each as a column, as torch's unfold.

    Of [N, C, spatial..] the result is [N, C * elements of a patch, patches].
    """
    x = as_tensor(x)
    batch, channels, sizes = image_sizes(x, False)
    moves = _moves(sizes, kernel_size, dilation, padding, stride)
    n, c = indices(2)
    at, taps = indices(len(moves)), indices(len(moves))
    kernel, counts = [m.kernel for m in moves], [m.count for m in moves]
    patches = moved(
        x,
        [batch, channels, *kernel, *counts],
        [n, c, *taps, *at],
        [n, c, *(m.element(i, k) for m, i, k in zip(moves, at, taps, strict=True))],
    )
    return patches.reshape(batch, channels * product(kernel), product(counts))


@operation
def fold(
    x: TensorLike,
    output_size: Sequence[Size],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: Padding = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """The sums of patches at the places that `unfold` takes them from, as torch's fold.

    Of [N, C * elements of a patch, patches] the result is [N, C, spatial..], with the
    spatial sizes of `output_size`.
    """
    x = as_tensor(x)
    require_rank(x, 3, "the patches")
    sizes = [*output_size]
    moves = _moves(sizes, kernel_size, dilation, padding, stride)
    kernel, counts = [m.kernel for m in moves], [m.count for m in moves]
    require_size(x, 2, product(counts), "the number of patches")
    batch, rows, _ = sizes_of(x)
    channels = rows // product(kernel)
    patches = x.reshape(batch, channels, *kernel, *counts)
    n, c = indices(2)
    at, taps = indices(len(moves)), indices(len(moves))
    return contract(
        SUM,
        [batch, channels, *sizes],
        [n, c, *(m.element(i, k) for m, i, k in zip(moves, at, taps, strict=True))],
        patches[(n, c, *taps, *at)],
    )


@operation
def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int] = (1, 1, 1, 1),
    padding: str = "VALID",
) -> Tensor:
    """The patches of images, channels last, as TensorFlow's and PlaidML's.

    `ksizes`, `strides` and `rates` are those of all axes, 1 for batch and channels.
    Of [N, H, W, C] the result is [N, rows, columns, patch height * patch width * C].
    """
    x = as_tensor(images)
    require_rank(x, 4, "the images")
    for given in (ksizes, strides, rates):
        if len(given) != 4 or (given[0], given[3]) != (1, 1):
            raise error(f"expected 1, height, width and 1, got {tuple(given)}")
    batch, channels, sizes = image_sizes(x, True)
    rows, columns = _moves(sizes, ksizes[1:3], rates[1:3], padding, strides[1:3])
    n, y, x_, i, j, c = indices(6)
    patches = moved(
        x,
        [batch, rows.count, columns.count, rows.kernel, columns.kernel, channels],
        [n, y, x_, i, j, c],
        [n, rows.element(y, i), columns.element(x_, j), c],
    )
    depth = channels * (ksizes[1] * ksizes[2])
    return patches.reshape(batch, rows.count, columns.count, depth)

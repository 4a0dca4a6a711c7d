"""Elements in order along an axis, and the first of them."""

from __future__ import annotations

from ..edsl.locations import error
from ..edsl.specials import argsort as argsort_of
from ..edsl.tensors import Tensor
from .axes import Size, axis_of, known_size, sizes_of
from .indexing import take_along_axis
from .operation import TensorLike, as_tensor, operation
from .slicing import slice

__all__ = ["argsort", "sort", "sort_with_indices", "topk"]


@operation
def argsort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """Where the elements stand that sorting puts in order, as torch.argsort: si32.

    Equal elements keep their order, and NaN comes last in both directions.
    """
    x = as_tensor(x)
    direction = "descending" if descending else "ascending"
    return argsort_of(x, axis_of(x, axis), direction)


@operation
def sort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """The elements in order along an axis, as NumPy's sort."""
    return sort_with_indices(x, axis, descending)[0]


@operation
def sort_with_indices(
    x: TensorLike, axis: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    """The elements in order along an axis, and where they stood, as torch.sort."""
    x = as_tensor(x)
    order = argsort(x, axis, descending)
    return take_along_axis(x, order, axis), order


@operation
def topk(
    x: TensorLike, k: Size, axis: int = -1, largest: bool = True
) -> tuple[Tensor, Tensor]:
    """The k largest or least elements along an axis, and where they stand.

    As torch.topk and ONNX's TopK: in order, and of equal elements the first.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    number, size = known_size(k), known_size(sizes_of(x)[place])
    if number is not None and number < 1:
        raise error(f"expected k to be at least 1, got {number}")
    if number is not None and size is not None and number > size:
        raise error(f"there are no {number} elements on axis {place} of size {size}")
    order = slice(argsort(x, place, largest), 0, k, place)
    return take_along_axis(x, order, place), order

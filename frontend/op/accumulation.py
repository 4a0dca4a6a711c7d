"""Sums and products of all elements up to each: cumsum and cumprod."""

from __future__ import annotations

from typing import Any

from ...dialects.aggregation import Aggregation
from ..edsl.tensors import Tensor
from .axes import Size, axis_of, indices, known_size, replaced, sizes_of
from .contractions import PRODUCT, SUM, contract, moved
from .creation import full
from .operation import TensorLike, as_tensor, operation
from .slicing import flip

__all__ = ["cumprod", "cumsum"]

_BLOCK = 32
"""Elements of an axis that are added up by themselves; then come the blocks' sums."""


@operation
def cumsum(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    """The sum of the elements up to each along an axis, as NumPy's and ONNX's CumSum.

    An exclusive sum is without the element itself; in reverse it is that of the
    elements from each to the end.
    """
    return _accumulated(as_tensor(x), SUM, axis, exclusive, reverse)


@operation
def cumprod(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    """The product of the elements up to each along an axis, as NumPy's cumprod.

    `exclusive` and `reverse` are as of `cumsum`.
    """
    return _accumulated(as_tensor(x), PRODUCT, axis, exclusive, reverse)


def _accumulated(
    x: Tensor, aggregation: Aggregation, axis: int, exclusive: bool, reverse: bool
) -> Tensor:
    place = axis_of(x, axis)
    if reverse:
        turned = _accumulated(flip(x, place), aggregation, place, exclusive, False)
        return flip(turned, place)
    size = known_size(sizes_of(x)[place])
    if size is not None and size <= 2 * _BLOCK:
        return _prefixes(x, aggregation, place, exclusive)
    return _by_blocks(x, aggregation, place, exclusive)


def _prefixes(
    x: Tensor, aggregation: Aggregation, axis: int, exclusive: bool
) -> Tensor:
    """By all pairs of elements: for short axes."""
    sizes, target = sizes_of(x), indices(x.ndim)
    (source,) = indices(1)
    last = target[axis] - 1 if exclusive else target[axis]
    return contract(
        aggregation,
        sizes,
        target,
        x[tuple(replaced(target, axis, source))],
        [last - source < sizes[axis]],
        _neutral(x, aggregation, sizes) if exclusive else None,
    )


def _neutral(x: Tensor, aggregation: Aggregation, sizes: list[Size]) -> Tensor | None:
    """What a product of nothing is; a sum of nothing is 0 as it stands."""
    if aggregation is SUM:
        return None
    # Of the type of x, which need not be known here.
    return full(sizes, 1) + x * 0


def _by_blocks(
    x: Tensor, aggregation: Aggregation, axis: int, exclusive: bool
) -> Tensor:
    """Within blocks of an axis, then with what all blocks before come to."""
    sizes, source = sizes_of(x), indices(x.ndim)
    count = (sizes[axis] + (_BLOCK - 1)) // _BLOCK
    block, within = indices(2)

    def two(items: list[Any], first: Any, second: Any) -> list[Any]:
        return [*items[:axis], first, second, *items[axis + 1 :]]

    blocked = two(sizes, count, _BLOCK)
    element = replaced(source, axis, _BLOCK * block + within)
    default = full(blocked, 1) if aggregation is PRODUCT else None
    blocks = moved(x, blocked, two(source, block, within), element, default=default)
    inner = _prefixes(blocks, aggregation, axis + 1, exclusive)
    totals = contract(
        aggregation,
        replaced(sizes, axis, count),
        replaced(source, axis, block),
        blocks[tuple(two(source, block, within))],
    )
    before = _prefixes(totals, aggregation, axis, True)
    before = before.reshape(*two(sizes, count, 1))
    whole = inner + before if aggregation is SUM else inner * before
    constraint = [within < _BLOCK]
    return moved(whole, sizes, element, two(source, block, within), constraint)

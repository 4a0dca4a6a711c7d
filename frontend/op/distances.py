"""Distances and similarities of vectors."""

from __future__ import annotations

from ..edsl.functions import abs, sqrt
from ..edsl.functions import max as larger
from ..edsl.functions import pow as power
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import axis_of
from .contractions import MAX
from .operation import TensorLike, as_tensor, operation
from .reductions import norm, reduced, sum, sum_of_squares
from .shapes import unsqueeze

__all__ = ["cdist", "cosine_similarity", "pairwise_distance"]


@operation
def cdist(x: TensorLike, y: TensorLike, p: float = 2.0) -> Tensor:
    """The p-norm of the difference of each row of x with each of y, as torch.cdist.

    x has shape [.., M, D], y [.., N, D], and the result [.., M, N].
    """
    x, y = as_tensor(x), as_tensor(y)
    if min(x.ndim, y.ndim) < 2:
        raise error("expected rows of vectors: at least 2 axes")
    difference = unsqueeze(x, -2) - unsqueeze(y, -3)
    if p == float("inf"):
        return reduced(abs(difference), MAX, -1, False)
    if p == 1:
        return sum(abs(difference), -1)
    if p == 2:
        return sqrt(sum_of_squares(difference, -1))
    return power(sum(power(abs(difference), p), -1), 1.0 / p)


@operation
def pairwise_distance(
    x: TensorLike, y: TensorLike, p: float = 2.0, epsilon: float = 1e-6
) -> Tensor:
    """The p-norm of `x - y + epsilon` along the last axis, as torch's."""
    return norm(as_tensor(x) - y + epsilon, p, -1)


@operation
def cosine_similarity(
    x: TensorLike, y: TensorLike, axis: int = 1, epsilon: float = 1e-8
) -> Tensor:
    """The cosine of the angle between vectors along an axis, as torch's.

    The lengths of both are at least epsilon.
    """
    x, y = as_tensor(x), as_tensor(y)
    place = axis_of(x, axis)
    lengths = larger(sqrt(sum_of_squares(x, place)), epsilon)
    others = larger(sqrt(sum_of_squares(y, axis)), epsilon)
    return sum(x * y, place) / (lengths * others)

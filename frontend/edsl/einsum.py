"""`einsum` of tensors of a program: a chain of contractions, as for arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .einsum_node import einsum_node
from .tensors import Tensor


def einsum(
    *operands: Any, optimize: bool | str | Sequence[Any] = True, dtype: Any = None
) -> Tensor:
    """The sum over products of tensors that an equation describes.

    Called as `einsum("ij,jk->ik", A, B)` or `einsum(A, [0, 1], B, [1, 2])`, with all of
    NumPy's forms; `optimize` and `dtype` are as in `gingham.einsum`. Axes with one
    label have one size. One of size 1 is repeated where that is known, and those of an
    ellipsis in any case; otherwise it is an error once sizes are known.

    Where the element types are not known, truth values are counted.
    """
    return Tensor.of(einsum_node(operands, optimize, dtype))

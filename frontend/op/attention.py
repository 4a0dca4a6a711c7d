"""Attention, and the rotation of positions into queries and keys."""

from __future__ import annotations

from ..edsl.functions import exp, select, tanh
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, indices, known_size, sizes_of
from .contractions import MAX, SUM, moved
from .creation import places
from .indexing import take
from .joining import concatenate
from .operation import TensorLike, as_tensor, operation
from .products import product_of_stacks
from .reductions import reduced
from .shapes import unsqueeze
from .slicing import slice

__all__ = ["rotary_embedding", "scaled_dot_product_attention"]

_NEVER = -float("inf")


@operation
def scaled_dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    attn_mask: TensorLike = None,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    enable_gqa: bool = False,
    softcap: float = 0.0,
) -> Tensor:
    """`softmax(query @ key.T * scale) @ value`, as torch's.

    Query, key and value have shape [.., L, E], [.., S, E] and [.., S, V], and other
    axes that broadcast; the scale is by default one over the root of E. A mask
    broadcasts to [.., L, S]: where a mask of truth values is false nothing is attended
    to, another is added. Causal attention of query i sees keys up to i. With
    `enable_gqa` several heads of queries share one of keys, on the axis before the last
    two. `softcap` limits scores by `softcap * tanh(score / softcap)`, as of ONNX's
    Attention. A row that attends to nothing is 0.
    """
    q, k, v = as_tensor(query), as_tensor(key), as_tensor(value)
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise error("expected query, key and value to have at least 2 axes")
    groups = _groups(q, k) if enable_gqa else None
    scores = product_of_stacks(q, k, transposed=True, groups=groups)
    scores = scores * _scale(q, scale)
    if softcap:
        scores = tanh(scores / softcap) * softcap
    scores, is_seen = _masked(scores, attn_mask, is_causal)
    greatest = reduced(scores, MAX, -1, True)
    if is_seen is not None:
        greatest = select(greatest > _NEVER, greatest, 0.0)
    power = exp(scores - greatest)
    total = reduced(power, SUM, -1, True)
    if is_seen is not None:
        total = select(total > 0.0, total, 1.0)
    return product_of_stacks(power / total, v, groups=groups)


def _scale(query: Tensor, scale: float | None) -> TensorLike:
    if scale is not None:
        return scale
    size = sizes_of(query)[-1]
    number = known_size(size)
    return number**-0.5 if number is not None else as_tensor(size) ** -0.5


def _masked(
    scores: Tensor, mask: TensorLike, is_causal: bool
) -> tuple[Tensor, TensorLike]:
    """Scores where something is attended to, and the mask if it may leave nothing."""
    rows, columns = sizes_of(scores)[-2:]
    if is_causal:
        may_see = places(2, 0, rows) >= places(2, 1, columns)
        scores = select(may_see, scores, _NEVER)
    if mask is None:
        return scores, None
    mask = as_tensor(mask)
    if mask.dtype.value == "bool":
        return select(mask, scores, _NEVER), mask
    return scores + mask, mask


def _groups(q: Tensor, k: Tensor) -> Size:
    """How many heads of queries share one of keys."""
    if min(q.ndim, k.ndim) < 3:
        raise error("expected an axis of heads before the last two axes")
    heads, others = sizes_of(q)[-3], sizes_of(k)[-3]
    number, shared = known_size(heads), known_size(others)
    if number is not None and shared is not None and number % shared:
        raise error(f"{number} heads of queries are no multiple of {shared} of keys")
    return heads // others


@operation
def rotary_embedding(
    x: TensorLike,
    cos: TensorLike,
    sin: TensorLike,
    positions: TensorLike = None,
    interleaved: bool = False,
    rotary_dim: int = 0,
) -> Tensor:
    """Pairs of elements turned by angles, as ONNX's RotaryEmbedding.

    x has shape [.., L, D], of which the first `rotary_dim` elements of D, all by
    default, are turned. A pair is an element of the first half of them and one of the
    second, or with `interleaved` two neighbours. `cos` and `sin` have half as many
    elements on the last axis and broadcast to x; with `positions` of shape [.., L] they
    are tables whose rows are taken, for all heads on the axis before L.
    """
    x, cos, sin = as_tensor(x), as_tensor(cos), as_tensor(sin)
    if positions is not None:
        cos, sin = (take(table, positions, 0) for table in (cos, sin))
        if x.ndim > cos.ndim:
            cos, sin = unsqueeze(cos, -3), unsqueeze(sin, -3)
    if rotary_dim:
        turned = slice(x, 0, rotary_dim, -1)
        rest = slice(x, rotary_dim, None, -1)
        return concatenate([_turned(turned, cos, sin, interleaved), rest], -1)
    return _turned(x, cos, sin, interleaved)


def _turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    sizes = sizes_of(x)
    half = sizes[-1] // 2
    if interleaved:
        first, second = slice(x, 0, None, -1, 2), slice(x, 1, None, -1, 2)
    else:
        first, second = slice(x, 0, half, -1), slice(x, half, None, -1)
    left = first * cos - second * sin
    right = first * sin + second * cos
    if not interleaved:
        return concatenate([left, right], -1)
    source = indices(x.ndim)
    *outer, pair = source
    even = moved(left, sizes, [*outer, 2 * pair], source)
    return moved(right, sizes, [*outer, 2 * pair + 1], source, default=even)

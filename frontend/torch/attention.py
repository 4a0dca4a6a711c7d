"""Attention: shares of values by products of queries and keys."""

from __future__ import annotations

import math
from typing import Any

from .. import op
from ..edsl.functions import exp, log, select
from ..edsl.tensors import Tensor
from ..op.creation import places
from .rows import Call, NotLowered, row, sizes_of


@row("aten._scaled_dot_product_flash_attention_for_cpu.default")
def attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The values by their shares, and the logarithms of the sums of powers."""
    scores = _scores(query, key, dropout, is_causal, attn_mask, scale)
    largest = op.max(scores, -1, keepdims=True)
    powers = exp(scores - largest)
    total = op.sum(powers, -1, keepdims=True)
    result = op.matmul(powers / total, value)
    sums = largest + log(total)
    return result, sums.reshape(*sizes_of(sums)[:-1])


@row("aten._scaled_dot_product_flash_attention_for_cpu_backward.default")
def attention_backward(
    call: Call,
    change: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    result: Tensor,
    sums: Tensor,
    dropout: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients by queries, keys and values.

    With shares P, `dV = P^T dO` and `dS = P (dO V^T - sum(dO O))`, as in the paper of
    FlashAttention (Dao et al., 2022).
    """
    scores = _scores(query, key, dropout, is_causal, attn_mask, scale)
    shares = exp(scores - sums.reshape(*sizes_of(sums), 1))
    by_value = op.matmul(op.swapaxes(shares, -1, -2), change)
    by_share = op.matmul(change, op.swapaxes(value, -1, -2))
    own = op.sum(change * result, -1, keepdims=True)
    by_score = shares * (by_share - own) * _scale(query, scale)
    by_query = op.matmul(by_score, key)
    by_key = op.matmul(op.swapaxes(by_score, -1, -2), query)
    return by_query, by_key, by_value


def _scale(query: Tensor, scale: float | None) -> float:
    return 1 / math.sqrt(sizes_of(query)[-1]) if scale is None else scale


def _scores(
    query: Tensor,
    key: Tensor,
    dropout: float,
    is_causal: bool,
    mask: Any,
    scale: float | None,
) -> Tensor:
    """The products of queries and keys, with the mask added, and -inf behind now."""
    if dropout:
        raise NotLowered("attention with dropout")
    scores = op.matmul(query, op.swapaxes(key, -1, -2)) * _scale(query, scale)
    if mask is not None:
        scores = scores + mask
    if not is_causal:
        return scores
    rows, columns = sizes_of(scores)[-2:]
    return select(places(2, 0, rows) >= places(2, 1, columns), scores, -math.inf)

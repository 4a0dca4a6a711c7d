"""Attention beside torch, and rotated positions beside their formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
attention: Any = torch.nn.functional.scaled_dot_product_attention


def test_attention() -> None:
    q, k, v = normals(2, 4, 5, 8), normals(2, 4, 7, 8), normals(2, 4, 7, 6)
    mask = np.random.default_rng(0).random((5, 7)) > 0.4
    mask[2] = False
    added = normals(2, 1, 5, 7, seed=1)
    tq, tk, tv = map(torch.tensor, (q, k, v))
    masked = attention(tq, tk, tv, torch.tensor(mask))
    cases: Cases = {
        "plain": (
            lambda q, k, v, m, a: op.scaled_dot_product_attention(q, k, v),
            attention(tq, tk, tv).numpy(),
        ),
        "causal": (
            lambda q, k, v, m, a: op.scaled_dot_product_attention(
                q, k, v, is_causal=True
            ),
            attention(tq, tk, tv, is_causal=True).numpy(),
        ),
        "masked": (
            lambda q, k, v, m, a: op.scaled_dot_product_attention(q, k, v, m),
            torch.nan_to_num(masked).numpy(),
        ),
        "added": (
            lambda q, k, v, m, a: op.scaled_dot_product_attention(
                q, k, v, a, scale=0.2
            ),
            attention(tq, tk, tv, torch.tensor(added), scale=0.2).numpy(),
        ),
        "capped": (
            lambda q, k, v, m, a: op.scaled_dot_product_attention(
                q, k, v, scale=1.0, softcap=2.0
            ),
            _capped(q, k, v),
        ),
    }
    check(cases, q, k, v, mask, added, tolerance=1e-6)


def _capped(q: Any, k: Any, v: Any) -> Any:
    scores = np.exp(2 * np.tanh(q @ k.swapaxes(-2, -1) / 2))
    return scores / scores.sum(-1, keepdims=True) @ v


def test_heads_that_share_keys() -> None:
    q, k, v = normals(2, 6, 5, 8), normals(2, 2, 7, 8), normals(2, 2, 7, 6)
    one, each = normals(2, 1, 5, 7), normals(6, 5, 7)
    tq, tk, tv = map(torch.tensor, (q, k, v))

    def shared(mask: Any) -> Operation:
        return lambda q, k, v: op.scaled_dot_product_attention(
            q, k, v, mask, enable_gqa=True
        )

    def wanted(mask: Any) -> Any:
        given = None if mask is None else torch.tensor(mask)
        return attention(tq, tk, tv, given, enable_gqa=True).numpy()

    cases: Cases = {
        "plain": (shared(None), wanted(None)),
        "one mask": (shared(one), wanted(one)),
        "a mask for each": (shared(each), wanted(each)),
    }
    check(cases, q, k, v, tolerance=1e-6)


def test_gradients() -> None:
    pairs: dict[str, tuple[Operation, Operation]] = {
        "plain": (
            lambda q, k, v: op.scaled_dot_product_attention(q, k, v),
            attention,
        ),
        "causal": (
            lambda q, k, v: op.scaled_dot_product_attention(q, k, v, is_causal=True),
            lambda q, k, v: attention(q, k, v, is_causal=True),
        ),
    }
    check_slopes(pairs, normals(2, 3, 4), normals(2, 3, 4, seed=1), normals(2, 3, 5))


def test_rotated_positions() -> None:
    x, angles = normals(2, 3, 5, 8), normals(5, 4)
    cos, sin = np.cos(angles), np.sin(angles)
    positions = np.array([[0, 2, 1, 4, 3], [1, 1, 0, 0, 2]])

    def turned(first: Any, second: Any, c: Any, s: Any) -> Any:
        return first * c - second * s, first * s + second * c

    pairs = np.stack(turned(x[..., ::2], x[..., 1::2], cos, sin), -1)
    rows = [table[positions][:, None, :, :2] for table in (cos, sin)]
    part = turned(x[..., :2], x[..., 2:4], *rows)
    cases: Cases = {
        "halves": (
            lambda x, c, s: op.rotary_embedding(x, c, s),
            np.concatenate(turned(x[..., :4], x[..., 4:], cos, sin), -1),
        ),
        "interleaved": (
            lambda x, c, s: op.rotary_embedding(x, c, s, interleaved=True),
            pairs.reshape(x.shape),
        ),
        "some elements at positions": (
            lambda x, c, s: op.rotary_embedding(
                x,
                op.slice(c, 0, 2, 1),
                op.slice(s, 0, 2, 1),
                positions,
                rotary_dim=4,
            ),
            np.concatenate([*part, x[..., 4:]], -1),
        ),
    }
    check(cases, x, cos, sin, tolerance=1e-6)

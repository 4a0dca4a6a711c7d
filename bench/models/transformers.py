"""Transformers: BERT, GPT-2 and a block of Llama.

By Devlin et al. (2018), Radford et al. (2019) and Touvron et al. (2023).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention, silu


class Attention(nn.Module):
    """Attention with several heads, over the sequence itself."""

    def __init__(self, width: int, heads: int, is_causal: bool, dropout: float) -> None:
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """[N, T, width] to the same; the mask is added to scores [N, 1, 1, T]."""
        batch, length, width = x.shape
        parts = self.project(x).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=self.is_causal
        )
        joined = mixed.transpose(1, 2).reshape(batch, length, width)
        return self.dropout(self.out(joined))


class Layer(nn.Module):
    """Attention and two linear layers; normalized before, as GPT-2, or behind."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        is_causal: bool,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.is_first_normalized = is_causal
        self.approximate = "tanh" if is_causal else "none"
        self.attention = Attention(width, heads, is_causal, dropout)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = (
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """[N, T, width] to the same."""
        if self.is_first_normalized:
            x = x + self.attention(self.norm1(x), mask)
            return x + self._feed(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self._feed(x))

    def _feed(self, x: Tensor) -> Tensor:
        hidden = gelu(self.wide(x), approximate=self.approximate)
        return self.dropout(self.narrow(hidden))


class Bert(nn.Module):
    """Tokens [N, T] and a mask of those that count to states [N, T, width]."""

    def __init__(
        self,
        layers: int = 12,
        width: int = 768,
        heads: int = 12,
        words: int = 30522,
        length: int = 512,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.places = nn.Embedding(length, width)
        self.kinds = nn.Embedding(2, width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            Layer(width, heads, is_causal=False, dropout=dropout) for _ in range(layers)
        )

    def forward(self, tokens: Tensor, counts: Tensor) -> Tensor:
        """The states of the last layer."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        kinds = torch.zeros_like(tokens)
        x = self.words(tokens) + self.places(places) + self.kinds(kinds)
        x = self.dropout(self.norm(x))
        mask = (1.0 - counts.to(x.dtype))[:, None, None, :] * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Gpt2(nn.Module):
    """Tokens [N, T] to scores of the next ones [N, T, words]."""

    def __init__(
        self,
        layers: int = 12,
        width: int = 768,
        heads: int = 12,
        words: int = 50257,
        length: int = 1024,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            Layer(width, heads, is_causal=True, dropout=dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores by the words' own embeddings."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.words(tokens) + self.places(places))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.words.weight.T


class RmsNorm(nn.Module):
    """Each vector over the root of its mean square (Zhang and Sennrich, 2019)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[..., width] to the same."""
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    """A layer of Llama: rotary places, shared keys, gated linear layers.

    [N, T, width] to the same.
    """

    def __init__(self, width: int = 512, heads: int = 8, shared: int = 2) -> None:
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, shared * self.size, bias=False)
        self.value = nn.Linear(width, shared * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        hidden = 8 * width // 3
        self.gate = nn.Linear(width, hidden, bias=False)
        self.wide = nn.Linear(width, hidden, bias=False)
        self.narrow = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the gated layers, each added to what came in."""
        x = x + self._attend(self.norm1(x))
        y = self.norm2(x)
        return x + self.narrow(silu(self.gate(y)) * self.wide(y))

    def _attend(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        query = self.query(x).view(batch, length, self.heads, -1).transpose(1, 2)
        key = self.key(x).view(batch, length, self.shared, -1).transpose(1, 2)
        value = self.value(x).view(batch, length, self.shared, -1).transpose(1, 2)
        repeats = self.heads // self.shared
        mixed = scaled_dot_product_attention(
            _rotated(query),
            _rotated(key).repeat_interleave(repeats, 1),
            value.repeat_interleave(repeats, 1),
            is_causal=True,
        )
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


def _rotated(x: Tensor) -> Tensor:
    """Pairs of numbers turned by angles of their places (Su et al., 2021)."""
    half = x.shape[-1] // 2
    speeds = 10000.0 ** (-torch.arange(half, device=x.device) / half)
    angles = torch.arange(x.shape[-2], device=x.device)[:, None] * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat(
        (first * cosine - second * sine, second * cosine + first * sine), -1
    )

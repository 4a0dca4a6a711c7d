"""Triton: kernels as its tutorials write them, tuned where they tune.

Products in IEEE single precision, not TF32. Kinds of which there is no kernel here are
not offered; PyTorch's tensors hold the data.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..cases import Case
from . import with_torch
from .prepared import Inputs, Prepared
from .with_torch import open_device

__all__ = ["open_device", "prepare_on_device"]

_BLOCK = 1024
_WIDEST_ROW = 1 << 16


def prepare_on_device(case: Case, inputs: Inputs) -> Prepared | None:
    """The case as launches of kernels, each call with new results as of PyTorch."""
    if case.kind in _BY_ROWS:
        (*rows, columns) = next(iter(case.inputs.values()))
        is_last = case.parameters.get("axis", len(rows)) == len(rows)
        if columns > _WIDEST_ROW or not (is_last and case.by_rows):
            return None
    return with_torch.prepare_on_device(case, inputs, builders=BUILDERS)


# Element-wise


@triton.jit
def _multiply_add_kernel(a, b, c, y, count, gelu: tl.constexpr, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    ok = i < count
    x = tl.load(a + i, ok) * tl.load(b + i, ok) + tl.load(c + i, ok)
    if gelu:
        inner = 0.7978846 * x * (1.0 + 0.044715 * x * x)
        # tanh by exp, which Triton has
        x = x - x / (tl.exp(2.0 * inner) + 1.0)
    tl.store(y + i, x, ok)


@triton.jit
def _negation_kernel(a, y, count, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, -tl.load(a + i, i < count), i < count)


def _multiply_add(case, inputs):
    a, b, c = inputs
    blocks = triton.cdiv(a.numel(), _BLOCK)

    def call():
        y = torch.empty_like(a)
        gelu = case.kind == "gelu"
        _multiply_add_kernel[(blocks,)](a, b, c, y, a.numel(), gelu, _BLOCK)
        return y

    return call


def _negation(case, inputs):
    (a,) = inputs
    blocks = triton.cdiv(a.numel(), _BLOCK)

    def call():
        y = torch.empty_like(a)
        _negation_kernel[(blocks,)](a, y, a.numel(), _BLOCK)
        return y

    return call


# Rows


@triton.jit
def _softmax_kernel(x, y, columns, log: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, block)
    ok = i < columns
    value = tl.load(x + row * columns + i, ok, -float("inf"))
    value -= tl.max(value, 0)
    power = tl.exp(value)
    total = tl.sum(power, 0)
    result = value - tl.log(total) if log else power / total
    tl.store(y + row * columns + i, result, ok)


@triton.jit
def _layer_norm_kernel(x, scale, bias, y, columns, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, block)
    ok = i < columns
    value = tl.load(x + row * columns + i, ok, 0.0)
    centered = tl.where(ok, value - tl.sum(value, 0) / columns, 0.0)
    variance = tl.sum(centered * centered, 0) / columns
    result = centered / tl.sqrt(variance + 1e-5)
    result = result * tl.load(scale + i, ok) + tl.load(bias + i, ok)
    tl.store(y + row * columns + i, result, ok)


@triton.jit
def _row_kernel(x, y, columns, what: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, block)
    ok = i < columns
    least = -float("inf") if what == "argmax" else 0.0
    value = tl.load(x + row * columns + i, ok, least)
    if what == "argmax":
        tl.store(y + row, tl.argmax(value, 0))
    elif what == "sum":
        tl.store(y + row, tl.sum(value, 0))
    else:
        tl.store(y + row * columns + i, tl.cumsum(value, 0), ok)


def _rows(case, inputs):
    """Kinds of which a program computes a row, that it holds in registers."""
    x, *others = inputs
    what = case.kind
    columns = x.shape[-1]
    rows = x.numel() // columns
    block = triton.next_power_of_2(columns)
    warps = min(max(block // 256, 4), 16)

    def call():
        if what in ("softmax", "log_softmax"):
            y = torch.empty_like(x)
            log = what == "log_softmax"
            _softmax_kernel[(rows,)](x, y, columns, log, block, num_warps=warps)
        elif what == "layer_norm":
            y = torch.empty_like(x)
            _layer_norm_kernel[(rows,)](x, *others, y, columns, block, num_warps=warps)
        else:
            type = torch.int32 if what == "argmax" else torch.float32
            shape = x.shape if what == "cumulative_rows" else x.shape[:-1]
            y = torch.empty(shape, dtype=type, device=x.device)
            _row_kernel[(rows,)](x, y, columns, what, block, num_warps=warps)
        return y

    return call


@triton.jit
def _gather_kernel(table, indices, y, width, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, block)
    cell = tl.load(indices + row).to(tl.int64)
    value = tl.load(table + cell * width + i, i < width)
    tl.store(y + row * width + i, value, i < width)


def _gather(case, inputs):
    table, indices = inputs
    width = table.shape[1]
    block = triton.next_power_of_2(width)

    def call():
        y = torch.empty((len(indices), width), dtype=table.dtype, device=table.device)
        _gather_kernel[(len(indices),)](table, indices, y, width, block, num_warps=1)
        return y

    return call


# Products

_TILES = [
    triton.Config({"bm": bm, "bn": bn, "bk": bk}, num_warps=warps, num_stages=stages)
    for bm, bn, bk, warps, stages in (
        (128, 128, 16, 8, 3),
        (64, 128, 16, 4, 4),
        (128, 64, 16, 4, 4),
        (64, 64, 16, 4, 4),
        (32, 64, 32, 4, 4),
        (16, 64, 64, 4, 3),
        (64, 16, 64, 4, 3),
    )
]


@triton.autotune(configs=_TILES, key=["m", "n", "k"])
@triton.jit
def _product_kernel(
    a, b, c, m, n, k, ab, ai, ak, bb, bk_, bj,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, bm), tl.cdiv(n, bn)
    # Eight rows of tiles together, so that what they read stays in the cache.
    group = tile // (8 * tiles_n)
    high = min(tiles_m - group * 8, 8)
    ti = group * 8 + (tile % (8 * tiles_n)) % high
    tj = (tile % (8 * tiles_n)) // high
    batch = tl.program_id(1).to(tl.int64)
    i = ti * bm + tl.arange(0, bm)
    j = tj * bn + tl.arange(0, bn)
    p = tl.arange(0, bk)
    left = a + batch * ab + i[:, None] * ai + p[None, :] * ak
    right = b + batch * bb + p[:, None] * bk_ + j[None, :] * bj
    total = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        x = tl.load(left, (i[:, None] < m) & (start + p[None, :] < k), 0.0)
        y = tl.load(right, (start + p[:, None] < k) & (j[None, :] < n), 0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        left += bk * ak
        right += bk * bk_
    at = c + batch * m * n + i[:, None] * n + j[None, :]
    tl.store(at, total, (i[:, None] < m) & (j[None, :] < n))


def _product(case, inputs):
    a, b = inputs
    if case.kind == "matmul_transposed":
        b = b.T
    vector = b.ndim == 1
    if vector:
        b = b[:, None]
    left, right = (x if x.ndim == 3 else x[None] for x in (a, b))
    batch, m, k = left.shape
    n = right.shape[-1]
    shape = a.shape[:-1] if vector else (*a.shape[:-1], n)

    def grid(meta):
        return triton.cdiv(m, meta["bm"]) * triton.cdiv(n, meta["bn"]), batch

    def call():
        c = torch.empty(shape, dtype=torch.float32, device=a.device)
        _product_kernel[grid](left, right, c, m, n, k, *left.stride(), *right.stride())
        return c

    return call


# Attention


@triton.jit
def _attention_kernel(
    q, k, v, o, length, width, scale,
    bq: tl.constexpr, bk: tl.constexpr, bw: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64) * length * width
    i = tl.program_id(0) * bq + tl.arange(0, bq)
    w = tl.arange(0, bw)
    query = tl.load(
        q + head + i[:, None] * width + w[None, :],
        (i[:, None] < length) & (w[None, :] < width),
        0.0,
    )
    top = tl.full((bq,), -float("inf"), tl.float32)
    total = tl.zeros((bq,), tl.float32)
    result = tl.zeros((bq, bw), tl.float32)
    for start in range(0, length, bk):
        j = start + tl.arange(0, bk)
        inside = (j[:, None] < length) & (w[None, :] < width)
        at = head + j[:, None] * width + w[None, :]
        keys = tl.load(k + at, inside, 0.0)
        scores = tl.dot(query, tl.trans(keys), input_precision="ieee") * scale
        scores = tl.where(j[None, :] < length, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        power = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(power, 1)
        values = tl.load(v + at, inside, 0.0)
        result = tl.dot(power, values, result * shrink[:, None], input_precision="ieee")
        top = higher
    tl.store(
        o + head + i[:, None] * width + w[None, :],
        result / total[:, None],
        (i[:, None] < length) & (w[None, :] < width),
    )


def _attention(case, inputs):
    query, key, value = inputs
    heads, length, width = query.shape
    block = max(triton.next_power_of_2(width), 16)

    def call():
        result = torch.empty_like(query)
        _attention_kernel[(triton.cdiv(length, 64), heads)](
            query, key, value, result, length, width, width**-0.5, 64, 32, block
        )
        return result

    return call


_BY_ROWS = (
    "softmax", "log_softmax", "layer_norm", "sum", "argmax", "cumulative_rows"
)  # fmt: skip
BUILDERS = {
    "matmul": _product,
    "matmul_transposed": _product,
    **dict.fromkeys(_BY_ROWS, _rows),
    "gather": _gather,
    "negation": _negation,
    "multiply_add": _multiply_add,
    "gelu": _multiply_add,
    "attention": _attention,
}

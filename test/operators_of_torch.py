"""Functions of PyTorch for each operator that has a row, with arguments for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F


class Example(NamedTuple):
    """A function and what it is called with."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def examples() -> list[Example]:
    """All of them, with the same numbers in each run."""
    torch.manual_seed(3)
    return [
        *_elementwise(),
        *_shapes(),
        *_reductions(),
        *_products(),
        *_pools(),
        *_normalizations(),
        *_indexing(),
    ]


def _floats(*sizes: int) -> Any:
    return torch.randn(sizes)


def _integers(low: int, high: int, *sizes: int) -> Any:
    return torch.randint(low, high, sizes)


_UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor "
    "log log10 log1p log2 neg reciprocal relu round rsqrt sigmoid sign sin sinh sqrt "
    "tan tanh trunc isnan isinf logical_not square"
)
_BINARY = (
    "add sub mul div atan2 maximum minimum fmax fmin fmod remainder pow hypot copysign "
    "eq ge gt le lt ne logical_and logical_or logical_xor floor_divide"
)
_ACTIVATIONS = (
    "celu elu gelu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 "
    "selu silu softplus softsign tanhshrink hardshrink softshrink"
)


def _elementwise() -> Iterator[Example]:
    x, y = _floats(3, 1, 5), _floats(4, 1)
    inside = torch.rand(3, 5) * 0.9 + 0.05
    n, m = _integers(-9, 9, 3, 5), _integers(1, 5, 5)
    for name in _UNARY.split():
        arguments = (inside + 1 if name == "acosh" else inside,)
        yield Example(name, getattr(torch, name), arguments)
    for name in _BINARY.split():
        first = x.abs() if name == "pow" else x
        yield Example(name, getattr(torch, name), (first, y))
    for name in "add sub mul div fmod remainder eq lt floor_divide".split():
        yield Example(f"{name} of integers", getattr(torch, name), (n, m))
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        yield Example(name, getattr(torch, name), (n, m))
        yield Example(f"{name} of truth", getattr(torch, name), (n > 0, m > 2))
    for name in _ACTIVATIONS.split():
        yield Example(name, getattr(F, name), (x * 3,))
    yield Example("gelu tanh", lambda x: F.gelu(x, approximate="tanh"), (x,))
    yield Example("bitwise_not", torch.bitwise_not, (n,))
    yield Example("shifts", lambda n, m: (n << m, n >> m), (n, m))
    yield Example("alpha", lambda x, y: torch.add(x, y, alpha=2), (x, y))
    yield Example("rsub", lambda x: 1.5 - x, (x,))
    yield Example("where", lambda x, y: torch.where(x > 0, x, y), (x, y))
    yield Example("where number", lambda x: torch.where(x > 0, x, 0.0), (x,))
    yield Example("masked_fill", lambda x: x.masked_fill(x > 0, -1e9), (x,))
    yield Example("clamp", lambda x: x.clamp(-0.5, 0.5), (x,))
    yield Example("clamp of tensors", lambda x, y: x.clamp(min=y), (x, y))
    yield Example("clamp_max", lambda n: n.clamp(max=3), (n,))
    yield Example("powers", lambda x: (x**2, x**3, x.abs() ** 0.5, 2.0**x), (x,))
    yield Example("integer power", lambda n: n**2, (n,))
    yield Example("mixed types", lambda x, m: x * m + m / 2, (x, m))
    yield Example("conversions", lambda x: (x.to(torch.int32), x.double(), x > 0), (x,))
    yield Example(
        "rounded", lambda x, y: torch.div(x, y, rounding_mode="trunc"), (x, y)
    )
    yield Example("lerp", lambda x, y: torch.lerp(x, y, 0.3), (x, y))
    yield Example("addcmul", lambda x, y: torch.addcmul(x, x, y, value=0.5), (x, y))
    yield Example("bfloat16", lambda x: x * 2 + 1, (x.bfloat16(),))
    yield Example("float16", lambda x: torch.exp(x), (x.half(),))
    yield Example("float64", lambda x: torch.sin(x) + 1, (x.double(),))


def _shapes() -> Iterator[Example]:
    x, y = _floats(2, 3, 4), _floats(2, 3, 4)
    yield Example("view", lambda x: (x * 1).view(6, 4).relu(), (x,))
    yield Example("flatten", lambda x: x.flatten(1) + 1, (x,))
    yield Example("permute", lambda x: x.permute(2, 0, 1) + 1, (x,))
    yield Example("transposed result", lambda x: (x + 1).permute(2, 0, 1), (x,))
    yield Example("view of an input", lambda x: (x.transpose(0, 1), x + 1), (x,))
    yield Example("squeeze", lambda x: x[:, :1].squeeze(1).unsqueeze(-1) + 1, (x,))
    yield Example("expand", lambda x: x[:, :1].expand(5, 2, 3, 4) * 2, (x,))
    yield Example("slice", lambda x: x[:, 1:, ::2] + x[:, -2:, 1::2], (x,))
    yield Example("select", lambda x: x[1, :2] + x[:, -1, :1], (x,))
    yield Example("cat", lambda x, y: torch.cat((x, y * 2, x), 1), (x, y))
    yield Example("stack", lambda x, y: torch.stack((x, y), 2), (x, y))
    yield Example("split", lambda x: [p * 2 for p in x.split([1, 3], 2)], (x,))
    yield Example("chunk", lambda x: [p * 2 for p in x.chunk(2, 1)], (x,))
    yield Example("unbind", lambda x: x.unbind(1)[1] * 2, (x,))
    yield Example("pad", lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), (x,))
    yield Example("crop", lambda x: F.pad(x, (-1, 2)), (x,))
    yield Example("reflect", lambda x: F.pad(x, (2, 1), mode="reflect"), (x,))
    yield Example("replicate", lambda x: F.pad(x, (2, 1), mode="replicate"), (x,))
    yield Example("flip", lambda x: x.flip(0, 2), (x,))
    yield Example("roll", lambda x: x.roll((1, -1), (0, 2)), (x,))
    yield Example("repeat", lambda x: x.repeat(2, 1, 1, 3), (x,))
    yield Example("repeat_interleave", lambda x: x.repeat_interleave(2, 1) + 0, (x,))
    yield Example("tril", lambda x: (x.tril(1), x.triu(-1)), (x,))
    yield Example("arange", lambda x: x + torch.arange(4) * 2, (x,))
    yield Example("numbers", lambda x: torch.linspace(0, 1, 4) + x, (x,))
    yield Example("full", lambda x: torch.full((2, 3, 1), 7.0) + x, (x,))
    yield Example("zeros_like", lambda x: torch.zeros_like(x).add_(x), (x,))
    yield Example("in place", _in_place, (x,))
    yield Example("channels last", _channels_last, (_floats(2, 3, 4, 5),))
    yield Example("meshgrid", lambda x: x[0, 0] * torch.eye(4), (x,))
    yield Example("same twice", lambda x: (x + 1, (x + 1).clone(), x), (x,))


def _in_place(x: Any) -> Any:
    y = x.clone()
    y[:, 1:2] = 0
    y[0].mul_(2)
    return y


def _channels_last(x: Any) -> Any:
    return F.relu(x.to(memory_format=torch.channels_last)) * 2


def _reductions() -> Iterator[Example]:
    x, n = _floats(3, 4, 5), _integers(-5, 5, 3, 4)
    for name in "sum mean prod amax amin var std logsumexp norm".split():
        if name not in ("logsumexp",):
            yield Example(name, getattr(torch, name), (x,))
        function = getattr(torch, name)
        yield Example(f"{name} of an axis", partial(function, dim=1), (x,))
    yield Example("kept", lambda x: x.sum((0, 2), keepdim=True), (x,))
    yield Example("max", lambda x: (x.max(), x.min(), x.max(1), x.min(-1)), (x,))
    yield Example(
        "argmax", lambda x: (x.argmax(1), x.argmin(), x.argmax(-1, True)), (x,)
    )
    yield Example(
        "any", lambda x: ((x > 2).any(), (x > 0).any(1), (x < 9).all(0)), (x,)
    )
    yield Example("integers", lambda n: (n.sum(1), n.prod(), n.max(0)[0]), (n,))
    yield Example("counted", lambda x: (x > 0).sum(1), (x,))
    yield Example("var_mean", lambda x: torch.var_mean(x, 1, correction=0), (x,))
    yield Example("cumsum", lambda x: (x.cumsum(1), x.cumprod(-1)), (x,))
    yield Example("softmax", lambda x: (x.softmax(1), x.log_softmax(-1)), (x,))
    yield Example("sort", lambda x: x.sort(1, descending=True), (x,))
    yield Example("topk", lambda x: x.topk(2, 1), (x,))


def _products() -> Iterator[Example]:
    a, b, c = _floats(3, 4), _floats(4, 5), _floats(5)
    x, y = _floats(2, 3, 4), _floats(2, 4, 5)
    image, weight = _floats(2, 4, 9, 8), _floats(6, 4, 3, 3)
    yield Example("mm", torch.mm, (a, b))
    yield Example("mv", torch.mv, (b, c))
    yield Example("dot", torch.dot, (c, c))
    yield Example("bmm", torch.bmm, (x, y))
    yield Example("matmul", torch.matmul, (x, b))
    yield Example("linear", lambda a, b, c: F.linear(a, b.T, c), (a, b, c))
    yield Example("addmm", lambda a, b, c: torch.addmm(c, a, b, beta=2), (a, b, c))
    yield Example("einsum", lambda x, y: torch.einsum("bij,bjk->bk", x, y), (x, y))
    yield Example("conv2d", lambda x, w: F.conv2d(x, w, None, 2, 1), (image, weight))
    yield Example(
        "groups", lambda x, w: F.conv2d(x, w[:, :2], groups=2), (image, weight)
    )
    yield Example(
        "dilated", lambda x, w: F.conv2d(x, w, padding=2, dilation=2), (image, weight)
    )
    yield Example("conv1d", F.conv1d, (_floats(2, 3, 9), _floats(4, 3, 3), _floats(4)))
    yield Example(
        "conv3d", F.conv3d, (_floats(1, 2, 4, 5, 6), _floats(3, 2, 2, 3, 3), _floats(3))
    )
    yield Example(
        "transposed",
        lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1),
        (image, _floats(4, 3, 3, 3)),
    )
    query, key, value = _floats(2, 2, 6, 8), _floats(2, 2, 7, 8), _floats(2, 2, 7, 8)
    attention = F.scaled_dot_product_attention
    yield Example("attention", attention, (query, key, value))
    yield Example("causal", lambda q: attention(q, q, q, is_causal=True), (query,))
    yield Example(
        "masked",
        lambda q, k, v, m: attention(q, k, v, m),
        (query, key, value, _floats(6, 7)),
    )


def _pools() -> Iterator[Example]:
    x = _floats(2, 3, 9, 8)
    yield Example("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), (x,))
    yield Example("ceil", lambda x: F.max_pool2d(x, 2, ceil_mode=True), (x,))
    yield Example(
        "places", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), (x,)
    )
    yield Example("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1), (x,))
    yield Example(
        "padding not counted",
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        (x,),
    )
    yield Example("max_pool1d", lambda x: F.max_pool1d(x[0], 2), (x,))
    yield Example("avg_pool1d", lambda x: F.avg_pool1d(x[0], 2), (x,))
    yield Example("adaptive", lambda x: F.adaptive_avg_pool2d(x, (3, 2)), (x,))
    yield Example("global", lambda x: F.adaptive_avg_pool2d(x, 1), (x,))
    yield Example("nearest", lambda x: F.interpolate(x, scale_factor=2), (x,))
    yield Example("nearest to a size", lambda x: F.interpolate(x, (5, 11)), (x,))
    yield Example(
        "bilinear", lambda x: F.interpolate(x, (5, 11), mode="bilinear"), (x,)
    )
    yield Example(
        "corners",
        lambda x: F.interpolate(x, (5, 11), mode="bilinear", align_corners=True),
        (x,),
    )
    yield Example(
        "pixel_shuffle", lambda x: F.pixel_shuffle(x[:, :1].repeat(1, 4, 1, 1), 2), (x,)
    )
    yield Example("unfold", lambda x: F.unfold(x, 3), (x,))


def _normalizations() -> Iterator[Example]:
    x, w, b = _floats(3, 4, 5, 6), _floats(4), _floats(4)
    mean, variance = _floats(4), torch.rand(4) + 0.5
    yield Example("batch_norm", F.batch_norm, (x, mean, variance, w, b))
    yield Example(
        "batch_norm in training",
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        (x, w, b),
    )
    yield Example("layer_norm", lambda x: F.layer_norm(x, (5, 6)), (x,))
    yield Example("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), (x, w, b))
    yield Example("instance_norm", lambda x: F.instance_norm(x), (x,))
    yield Example("rms_norm", lambda x: F.rms_norm(x, (6,)), (x,))
    yield Example("normalize", lambda x: F.normalize(x, dim=1), (x,))


def _indexing() -> Iterator[Example]:
    x, n, at = _floats(6, 4), _integers(-6, 6, 3), _integers(0, 6, 2, 3)
    rows, columns = _integers(0, 6, 5), _integers(0, 4, 5)
    yield Example("embedding", lambda x, i: F.embedding(i, x), (x, at))
    yield Example("index", lambda x, n: x[n], (x, n))
    yield Example("index of an axis", lambda x, c: x[:, c], (x, columns))
    yield Example("two indices", lambda x, r, c: x[r, c], (x, rows, columns))
    yield Example("index_select", lambda x, r: x.index_select(0, r), (x, rows))
    yield Example("gather", lambda x, i: x.gather(0, i), (x, at))
    yield Example("scatter", lambda x, i: x.scatter(0, i[:, :1], 5.0), (x, at))
    yield Example("scatter_add", lambda x, i: x.scatter_add(0, i, x[:2, :3]), (x, at))
    yield Example("index_add", lambda x, r: x.index_add(0, r, x[:5]), (x, rows))
    yield Example("index_put", _index_put, (x, torch.tensor([4, 1, 2])))
    yield Example("cross_entropy", lambda x, c: F.cross_entropy(x[:5], c), (x, columns))
    yield Example("losses", lambda x: (F.mse_loss(x, x + 1), F.l1_loss(x, x * 2)), (x,))


def _index_put(x: Any, rows: Any) -> Any:
    y = x.clone()
    y[rows] = 1.5
    y.index_put_((rows, rows % 4), x[0, :3], accumulate=True)
    return y

"""Programs of every kind with the types of their inputs: what passes are judged by.

The benchmarks, one program of each growing family, small networks in training, the
examples, and what none of these has: other element types, other layouts, narrow and
odd axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .cases import CASES
from .cases.case import Shape
from .growing import FAMILIES
from .resnet import resnet50
from .training import resnet50_training

_EXAMPLES = Path(__file__).parents[1] / "examples"
_STATEMENTS = 20
"""Of a program of a growing family."""

_SHAPES_OF_EXAMPLES = {
    "attention": "8x128x64xf32 8x192x64xf32 8x192x64xf32",
    "average": "777x513xf32",
    "average_in_stages": "777x513xf32",
    "average_over_axis": "777x513xf32",
    "bilinear_resize": "2x48x40x16xf32 96x80xf32",
    "categorical_cross_entropy": "256x1000xf32 256x1000xf32",
    "complex_conv_2d": "2x33x35x4x8xf32 3x3x4x8x16xf32",
    "concatenation": "250x133xf32 131x133xf32",
    "conv_1d": "4x515x16xf32 3x16x64xf32",
    "conv_2d_dilated": "2x56x56x16xf32 3x3x16x64xf32",
    "cumulative_sum": "4099xf32",
    "dropout": "256x513xf32 3x96xui32",
    "embedding": "1000x96xf32 8x64xsi32",
    "global_min": "64x33x65xf32",
    "histogram": "40000xf32 16xf32",
    "layer_norm": "256x1000xf32 1000xf32 1000xf32",
    "matrix_product": "300x200xf32 200x100xf32",
    "max_over_axis": "777x513xf32",
    "max_pool_1d": "40099xf32",
    "max_pool_1d_ceil": "40099xf32",
    "skip": "69x513xf32",
    "softmax": "256x1000xf32",
    "sum_over_axis": "777x513xf32",
    "top_k": "64x1000xf32",
    "transpose": "515x257xf32",
}

_PRODUCT = """function (A[M, K], B[K, N]) -> (C) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
}"""
_NCHW = """function (I[N, C, H, W], K[O, C, A, B]) -> (R) {
  Y[n, o, y, x : N, O, H, W] = +(I[n, c, y + a - 1, x + b - 1] * K[o, c, a, b]);
  R = relu(Y);
}"""
_OUTER = """function (A[N], B[M]) -> (C) {
  C[i, j : N, M] = +(A[i] * B[j]);
}"""
_PADDING = """function (I[N, H, W, C]) -> (O) {
  O[n, y + 1, x + 1, c : N, H + 2, W + 2, C] = =(I[n, y, x, c]);
}"""
_OTHERS = {
    "product of f16": (_PRODUCT, "256x256xf16 256x256xf16"),
    "product of bf16": (_PRODUCT, "256x256xbf16 256x256xbf16"),
    "product of f64": (_PRODUCT, "256x256xf64 256x256xf64"),
    "product of i8": (_PRODUCT, "256x256xsi8 256x256xsi8"),
    "product of odd sizes": (_PRODUCT, "131x257xf32 257x67xf32"),
    "product of narrow results": (_PRODUCT, "2048x512xf32 512x3xf32"),
    "product of few rows": (_PRODUCT, "3x1024xf32 1024x1024xf32"),
    "product of small matrices": (_PRODUCT, "4x4xf32 4x4xf32"),
    "product over a long axis": (_PRODUCT, "8x65536xf32 65536x8xf32"),
    "convolution, NCHW": (_NCHW, "1x64x28x28xf32 64x64x3x3xf32"),
    "padding of images": (_PADDING, "8x112x112x64xf32"),
    "exponential of f16": ("function (X[N]) -> (Y) { Y = exp(X) * X; }", "100000xf16"),
    "least complement": (
        "function (X[N], A[N]) -> (Y) { Y = ~X < A ? ~X : A; }",
        "100000xsi32 100000xsi32",
    ),
    "outer product": (_OUTER, "1000xf32 3001xf32"),
}


@dataclass(frozen=True)
class Sample:
    """A program, with the types of its inputs as Tile's tools take them: `4x8xf32`."""

    name: str
    group: str
    text: str
    types: tuple[str, ...]


def collection() -> Iterator[Sample]:
    """All programs, by group."""
    for case in CASES:
        yield _of_f32(case.name, "benchmarks", case.program, case.inputs.values())
    for name, build in FAMILIES.items():
        text, shapes = build(_STATEMENTS)
        yield _of_f32(f"growing {name}", "growing", text, shapes)
    text, shapes = resnet50_training(2, 32, 16, (1, 1))
    yield _of_f32("training of a small ResNet", "networks", text, shapes)
    yield _of_f32("ResNet-50", "networks", *resnet50(64, 16))
    for name, types in _SHAPES_OF_EXAMPLES.items():
        text = (_EXAMPLES / f"{name}.tile").read_text()
        yield Sample(f"example {name}", "examples", text, (*types.split(),))
    for name, (text, types) in _OTHERS.items():
        yield Sample(name, "others", text, (*types.split(),))


def select(samples: Iterable[Sample], words: Sequence[str]) -> list[Sample]:
    """Those whose name has one of the words, or whose group is one; all if none."""
    return [
        sample
        for sample in samples
        if not words or any(w in sample.name or w == sample.group for w in words)
    ]


def _of_f32(name: str, group: str, text: str, shapes: Iterable[Shape]) -> Sample:
    types = ("x".join([*map(str, shape), "f32"]) for shape in shapes)
    return Sample(name, group, text, (*types,))

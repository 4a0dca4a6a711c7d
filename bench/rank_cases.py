"""The programs whose candidates `bench.rank` measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ranked:
    """A Tile program with one block that counts, and the shapes of its inputs."""

    name: str
    text: str
    shapes: tuple[str, ...]


_CONTRACTIONS = (
    Ranked(
        "matrix product 1024",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ("A=1024x1024", "B=1024x1024"),
    ),
    Ranked(
        "product with a transposed matrix 600x768x640",
        "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
        ("A=600x768", "B=640x768"),
    ),
    Ranked(
        "convolution 3x3 64-64 at 56",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[n, x, y, co : N, X, Y, CO] ="
        " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }",
        ("I=1x56x56x64", "K=3x3x64x64"),
    ),
    Ranked(
        "depthwise convolution 3x3 96 at 112, batch 2",
        "function (I[N, X, Y, C], K[KX, KY, C]) -> (O) {"
        " O[n, x, y, c : N, X, Y, C] ="
        " +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c]); }",
        ("I=2x112x112x96", "K=3x3x96"),
    ),
    Ranked(
        "contraction abcd = aebf * dfce",
        "function (X[A, E, B, F], Y[D, F, C, E]) -> (O) {"
        " O[a, b, c, d : A, B, C, D] = +(X[a, e, b, f] * Y[d, f, c, e]); }",
        ("X=24x28x26x30", "Y=32x30x25x28"),
    ),
    Ranked(
        "sum over the middle axis 64x512x768",
        "function (X[A, B, C]) -> (S) { S[a, c : A, C] = +(X[a, b, c]); }",
        ("X=64x512x768",),
    ),
)


_OTHERS = (
    Ranked(
        "matrix product 700x900x1100",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ("A=700x900", "B=900x1100"),
    ),
    Ranked(
        "product of a transposed matrix 800x480x1000",
        "function (A[K, M], B[K, N]) -> (C) { C[i, j : M, N] = +(A[k, i] * B[k, j]); }",
        ("A=480x800", "B=480x1000"),
    ),
    Ranked(
        "convolution 5x5 stride 2 48-80 at 61",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[n, x, y, co : N, 31, 31, CO] ="
        " +(I[n, 2*x + kx - 2, 2*y + ky - 2, ci] * K[kx, ky, ci, co]); }",
        ("I=1x61x61x48", "K=5x5x48x80"),
    ),
    Ranked(
        "depthwise convolution 4x4 112 at 83x70",
        "function (I[N, X, Y, C], K[KX, KY, C]) -> (O) {"
        " O[n, x, y, c : N, X, Y, C] ="
        " +(I[n, x + i - 1, y + j - 2, c] * K[i, j, c]); }",
        ("I=1x83x70x112", "K=4x4x112"),
    ),
    Ranked(
        "contraction abc = eaf * fbce",
        "function (X[E, A, F], Y[F, B, C, E]) -> (O) {"
        " O[a, b, c : A, B, C] = +(X[e, a, f] * Y[f, b, c, e]); }",
        ("X=36x90x40", "Y=40x44x50x36"),
    ),
    Ranked(
        "maximum over the first axis 900x90x110",
        "function (X[A, B, C]) -> (S) { S[b, c : B, C] = >(X[a, b, c]); }",
        ("X=900x90x110",),
    ),
)
"""Shapes and kinds that no figure of the model was chosen by."""

_PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
_TRANSPOSE = "function (A[M, N]) -> (O) { O[j, i : N, M] = =(A[i, j]); }"

_DEVICE = (
    Ranked("matrix product 1024", _PRODUCT, ("A=1024x1024", "B=1024x1024")),
    Ranked("matrix product 64x4096x4096", _PRODUCT, ("A=64x4096", "B=4096x4096")),
    Ranked("matrix product 700x900x1100", _PRODUCT, ("A=700x900", "B=900x1100")),
    Ranked(
        "product with a transposed matrix 600x768x640",
        "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
        ("A=600x768", "B=640x768"),
    ),
    Ranked(
        "product of a transposed matrix 2000x512x1000",
        "function (A[K, M], B[K, N]) -> (C) { C[i, j : M, N] = +(A[k, i] * B[k, j]); }",
        ("A=512x2000", "B=512x1000"),
    ),
    Ranked(
        "batched product 16x512x512x512",
        "function (A[B, M, K], C[B, K, N]) -> (O) {"
        " O[b, i, j : B, M, N] = +(A[b, i, k] * C[b, k, j]); }",
        ("A=16x512x512", "C=16x512x512"),
    ),
    Ranked(
        "contraction abcd = aebf * dfce",
        "function (X[A, E, B, F], Y[D, F, C, E]) -> (O) {"
        " O[a, b, c, d : A, B, C, D] = +(X[a, e, b, f] * Y[d, f, c, e]); }",
        ("X=24x28x26x30", "Y=32x30x25x28"),
    ),
    Ranked(
        "contraction abc = eaf * fbce",
        "function (X[E, A, F], Y[F, B, C, E]) -> (O) {"
        " O[a, b, c : A, B, C] = +(X[e, a, f] * Y[f, b, c, e]); }",
        ("X=36x90x40", "Y=40x44x50x36"),
    ),
    Ranked(
        "convolution 3x3 128-128 at 28, batch 16",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[n, x, y, co : N, X, Y, CO] ="
        " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }",
        ("I=16x28x28x128", "K=3x3x128x128"),
    ),
    Ranked(
        "convolution 3x3 64-64 at 56, batch 8",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[n, x, y, co : N, X, Y, CO] ="
        " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }",
        ("I=8x56x56x64", "K=3x3x64x64"),
    ),
    Ranked(
        "convolution 1x1 256-64 at 56, batch 8",
        "function (I[N, X, Y, CI], K[CI, CO]) -> (O) {"
        " O[n, x, y, co : N, X, Y, CO] = +(I[n, x, y, ci] * K[ci, co]); }",
        ("I=8x56x56x256", "K=256x64"),
    ),
    Ranked(
        "convolution 3x3 128-128 at 28, channels first, batch 16",
        "function (I[N, CI, X, Y], K[CO, CI, KX, KY]) -> (O) {"
        " O[n, co, x, y : N, CO, X, Y] ="
        " +(I[n, ci, x + kx - 1, y + ky - 1] * K[co, ci, kx, ky]); }",
        ("I=16x128x28x28", "K=128x128x3x3"),
    ),
    Ranked(
        "depthwise convolution 3x3 96 at 112, batch 8",
        "function (I[N, X, Y, C], K[KX, KY, C]) -> (O) {"
        " O[n, x, y, c : N, X, Y, C] ="
        " +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c]); }",
        ("I=8x112x112x96", "K=3x3x96"),
    ),
    Ranked("transpose 4096x4096", _TRANSPOSE, ("A=4096x4096",)),
    Ranked("transpose 4095x4097", _TRANSPOSE, ("A=4095x4097",)),
    Ranked("transpose 100x100000", _TRANSPOSE, ("A=100x100000",)),
    Ranked(
        "channels last from channels first, 256 at 56, batch 32",
        "function (A[N, C, H, W]) -> (O) {"
        " O[n, h, w, c : N, H, W, C] = =(A[n, c, h, w]); }",
        ("A=32x256x56x56",),
    ),
    Ranked(
        "channels last from channels first, 3 at 224, batch 64",
        "function (A[N, C, H, W]) -> (O) {"
        " O[n, h, w, c : N, H, W, C] = =(A[n, c, h, w]); }",
        ("A=64x3x224x224",),
    ),
    Ranked(
        "multiply, add and tanh 4096x4096",
        "function (A[M, N], B[M, N], C[M, N]) -> (O) { O = tanh(A * B + C); }",
        ("A=4096x4096", "B=4096x4096", "C=4096x4096"),
    ),
    Ranked(
        "add a row 4095x4095",
        "function (A[M, N], B[N]) -> (O) { O = A + B; }",
        ("A=4095x4095", "B=4095"),
    ),
    Ranked(
        "max pool 3x3 stride 2 at 112, batch 16",
        "function (I[N, X, Y, C]) -> (O) { O[n, x, y, c : N, X / 2, Y / 2, C] ="
        " >(I[n, 2*x + i, 2*y + j, c]), i < 3, j < 3; }",
        ("I=16x112x112x64",),
    ),
)
"""Large ones, for devices with lanes."""

LISTS = {"usual": _CONTRACTIONS, "others": _OTHERS, "device": _DEVICE}

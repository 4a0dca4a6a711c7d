"""Fused nests mean what their members meant one after the other.

Programs are chains over a matrix: reductions over one of its axes, element-wise
operations with broadcast operands, products with other matrices, some of their results
returned. Integers make results exact. Launches that cost a second make every legal
fusion pay, so that what is decided is all that is legal.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from stripe_programs import run, stripe_pipeline
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import gingham
from gingham.dialects.stripe.fusion import Epilogue
from gingham.dialects.stripe.ops import AllocOp
from gingham.dialects.stripe.scheduled import done_with
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis.nests import all_blocks, statements
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

EAGER = 'hardware="cpu-avx512:launch_microseconds=1000000"'
FUSE = (
    "stripe-fuse,stripe-localize,"
    f"stripe-plan-fusion{{{EAGER}}},stripe-fuse-nests,stripe-localize,"
    "stripe-scalarize,stripe-dead-code-elimination,stripe-reuse-scratch"
)
OPTIONS = TargetOptions().with_vectors(256, 16)


def lowered(text: str, shapes: list[str]) -> ModuleOp:
    """A program as blocks."""
    module = specialize(parse_tile(text), [parse_argument_type(s) for s in shapes])
    run(module, stage_passes(OPTIONS)["tile"])
    run(module, "lower-tile-to-stripe")
    return module


class RandomChain:
    """A random program over `X[M, N]`, with inputs of its sizes."""

    def __init__(self, random: Random) -> None:
        self.sizes = {name: random.randint(1, 20) for name in "MNK"}
        self.random = random
        self.full = ["X", "Z"]
        self.rows: list[str] = ["R"]
        self.columns: list[str] = ["C"]
        self.lines: list[str] = []
        for number in range(random.randint(2, 7)):
            self.add(f"T{number}")

    @property
    def text(self) -> str:
        made = [line.split("[")[0].split(" ")[0] for line in self.lines]
        returned = [n for n in made if self.random.random() < 0.25]
        returned = list(dict.fromkeys([*returned, made[-1]]))
        lines = "\n".join(f"  {line};" for line in self.lines)
        inputs = "X[M, N], Z[M, N], R[M, U], C[N], W[N, K], V[K, N]"
        return f"function ({inputs}) -> ({', '.join(returned)}) {{\n{lines}\n}}"

    @property
    def shapes(self) -> list[str]:
        m, n, k = self.sizes.values()
        shapes = [(m, n), (m, n), (m, 1), (n,), (n, k), (k, n)]
        return ["x".join([*map(str, shape), "si32"]) for shape in shapes]

    def arrays(self) -> list[np.ndarray]:
        random = np.random.default_rng(self.random.randint(0, 1000))
        return [
            random.integers(-3, 4, [int(s) for s in shape.split("x")[:-1]], np.int32)
            for shape in self.shapes
        ]

    def pick(self, *groups: list[str]) -> str:
        return self.random.choice([name for group in groups for name in group])

    def add(self, name: str) -> None:
        kind = self.random.choice(("row", "row", "column", "map", "map", "product"))
        aggregation = self.random.choice("+><")
        if kind == "row":
            source = self.pick(self.full)
            line = f"{name}[m, 0 : M, 1] = {aggregation}({source}[m, n])"
            self.rows.append(name)
        elif kind == "column":
            source = self.pick(self.full)
            line = f"{name}[n : N] = {aggregation}({source}[m, n])"
            self.columns.append(name)
        elif kind == "product":
            line = f"{name}_a[m, k : M, K] = +({self.pick(self.full)}[m, n] * W[n, k])"
            self.lines.append(line)
            line = f"{name}[m, n : M, N] = +({name}_a[m, k] * V[k, n])"
            self.full.append(name)
        else:
            first = self.pick(self.full)
            second = self.pick(self.full, self.rows, self.columns)
            line = f"{name} = {first} {self.random.choice('+-*')} {second}"
            self.full.append(name)
        self.lines.append(line)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_random_chains(seed: int) -> None:
    chain = RandomChain(Random(seed))
    text, shapes, arrays = chain.text, chain.shapes, chain.arrays()
    note(f"{text}\n{shapes}")
    module = lowered(text, shapes)
    expected = interpret(module, arrays)
    run(module, FUSE)
    module.verify()
    for got, wanted in zip(interpret(module, arrays), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    rest = stripe_pipeline(OPTIONS).partition("stripe-merge-indices")
    run(module, rest[1] + rest[2])
    module.verify()
    for got, wanted in zip(interpret(module, arrays), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


LAYERS = """function (X, W, B, V, C, U, D) -> (R, T, Q) {
  Y[i, j : 16, 55] = +(X[i, k] * W[k, j]);
  Z = Y + B;
  S[i, j : 16, 61] = +(Z[i, k] * V[k, j]);
  T = S * S + C;
  P[i, j : 16, 55] = +(T[i, k] * U[k, j]);
  R = P + D > 3 ? Z - P : P;
  Q = Z * P;
}"""


def test_sums_are_used_where_they_are_stored() -> None:
    """Of odd widths, in one nest; some sums are needed by two blocks, or in the end."""
    sizes = [(16, 33), (33, 55), (55,), (55, 61), (61,), (61, 55), (55,)]
    random = np.random.default_rng(1)
    arrays = [random.integers(-2, 3, size).astype(np.float32) for size in sizes]
    x, w, b, v, c, u, d = arrays
    module = lowered(LAYERS, ["x".join([*map(str, s), "f32"]) for s in sizes])
    before, name, after = stripe_pipeline(OPTIONS).partition("stripe-share-kernels")
    run(module, before.rstrip(","))
    module.verify()
    done = [each for block in all_blocks(module) for each in done_with(block)]
    assert sum(each.part(Epilogue) is not None for each in done) >= 2
    z = x @ w + b
    s = z @ v
    t = s * s + c
    p = t @ u
    expected = [np.where(p + d > 3, z - p, p), t, z * p]
    for got, wanted in zip(interpret(module, arrays), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    run(module, name + after)
    for got, wanted in zip(interpret(module, arrays), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


SOFTMAX = """function (X[M, N]) -> (Y) {
  Top[m, 0 : M, 1] = >(X[m, n]);
  E = exp(X - Top);
  Sum[m, 0 : M, 1] = +(E[m, n]);
  Y = E / Sum;
}"""

ATTENTION = """function (Q[H, L, D], K[H, M, D], V[H, M, D]) -> (O) {
  S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);
  T = S * 0.125;
  Top[h, q, 0 : H, L, 1] = >(T[h, q, k]);
  E = exp(T - Top);
  Sum[h, q, 0 : H, L, 1] = +(E[h, q, k]);
  P = E / Sum;
  O[h, q, d : H, L, D] = +(P[h, q, k] * V[h, k, d]);
}"""

DENSE = """function (A[M, K], B[K, N], Bias[N], Z[M, N]) -> (R) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
  D = C + Bias + Z;
  R = D < 0 ? 0 : D;
}"""

VARIANCE = """function (X[M, N], S[N]) -> (V, Y) {
  Mean[m, 0 : M, 1] = +(X[m, n]);
  C = X - Mean / N;
  V[m : M] = +(C[m, n] * C[m, n]);
  Y = C * S;
}"""

RESIDUAL = """function (I[H, W, C], K[A, B, C], S[C], P[C, O], Q[O, C]) -> (R) {
  D[y, x, c : H, W, C] = +(I[y + a - 1, x + b - 1, c] * K[a, b, c]);
  E = D * S;
  F = E < 0 ? 0 : E;
  G[y, x, o : H, W, O] = +(F[y, x, c] * P[c, o]);
  R[y, x, c : H, W, C] = +(G[y, x, o] * Q[o, c]);
}"""

FUSED = {
    "softmax": (SOFTMAX, ["512x512xf32"]),
    "attention": (ATTENTION, ["2x512x32xf32", "2x512x32xf32", "2x512x32xf32"]),
    "dense": (DENSE, ["256x256xf32", "256x256xf32", "256xf32", "256x256xf32"]),
    "variance": (VARIANCE, ["640x1000xf32", "1000xf32"]),
    "residual": (
        RESIDUAL,
        ["14x14x96xf32", "3x3x96xf32", "96xf32", "96x32xf32", "32x96xf32"],
    ),
}


@pytest.mark.parametrize("name", FUSED)
def test_nothing_goes_through_memory(name: str) -> None:
    """By the figures of two real cores, nothing but the outputs is allocated."""
    text, shapes = FUSED[name]
    module = lowered(text, shapes)
    run(module, FUSE.replace(EAGER, 'hardware="cpu-avx512:cores=2"'))
    module.verify()
    (function,) = [op for op in module.walk() if isinstance(op, FuncOp)]
    allocated = {op.view for op in statements(function) if isinstance(op, AllocOp)}
    returned = function.body.block.last_op
    assert returned is not None
    assert allocated == {*returned.operands}


@pytest.mark.parametrize("name", FUSED)
def test_runs_on_the_device(name: str) -> None:
    text, shapes = FUSED[name]
    random = np.random.default_rng(5)
    arrays = [
        random.standard_normal([int(s) + 3 for s in shape.split("x")[:-1]]).astype("f4")
        for shape in shapes
    ]
    if name == "attention":
        arrays[0] = arrays[0][:, :100]
    results = gingham.compile(text).run(arrays)
    expected = gingham.compile(text, device="reference").run(arrays)
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4)


def test_a_strip_runs_in_the_order_of_its_contraction() -> None:
    """Columns outside: a part of W serves all rows while it is in the caches."""
    function = gingham.compile(
        "function (X[B, N], W[N, G, H]) -> (R) {"
        " A[b, g, h : B, G, H] = +(X[b, n] * W[n, g, h]);"
        " E = tanh(A); R[b, h : B, H] = +(E[b, g, h]); }",
        device="reference",
        hardware="cpu-avx512",
        constants=("W",),
    )
    shapes = (64, 512), (512, 4, 512)
    stripe = function.ir(*(np.zeros(s, np.float32) for s in shapes), stage="stripe")
    assert 'stripe.block "R" [%h : 16 grid, %b : 8 grid]' in stripe

"""Orders of axes for a whole program: any of them means the same, and good ones win."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.dialects.stripe.layout import LayoutAttr
from gingham.dialects.stripe.ops import AllocOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis.layouts import may_permute
from gingham.passes.stripe.apply.permute_axes import StripePermuteAxesPass
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.tuning.lowering import run_passes
from gingham.targets.reference import interpret

Array = npt.NDArray[np.float32]

NETWORK = """
function (
  I[N, C, Y, X], A[D, C, P, P], B[D, ONE, ONE], F[D, Q, Q], G[E, D], S[E]
) -> (R, M) {
  O[n, d, y, x : N, D, Y / 2, X / 2] =
    +(I[n, c, 2 * y + j - 1, 2 * x + i - 1] * A[d, c, j, i]);
  T = O + B;
  U = (T > 0.0 ? T : 0.0);
  V[n, d, y, x : N, D, Y / 2, X / 2] =
    +(U[n, d, y + j - 1, x + i - 1] * F[d, j, i]);
  L[n, d, y, x : N, 2 * D, Y / 2, X / 2] = =(U[n, d, y, x]) no_defract;
  H[n, d + D, y, x : N, 2 * D, Y / 2, X / 2] = =(V[n, d, y, x]) no_defract;
  K = L + H;
  W[n, e, y, x : N, E, Y / 2, X / 2] = +(K[n, d, y, x] * G[e, d]), d < D;
  Z = W + U;
  R = Z * 0.5;
  M[n, e : N, E] = +(Z[n, e, y, x] * S[e]);
}
"""
"""A convolution with bias and ReLU, one by channels, a concatenation, a residual."""


def network_inputs(
    seed: int, channels: int, inner: int, size: int, batch: int
) -> tuple[Array, ...]:
    """Small integers, so that sums are exact in any order."""
    generator = np.random.default_rng(seed)
    shapes = (
        (batch, channels, size, size),
        (inner, channels, 3, 3),
        (inner, 1, 1),
        (inner, 3, 3),
        (inner, inner),
        (inner,),
    )
    return tuple(generator.integers(-2, 3, s).astype(np.float32) for s in shapes)


def expected_of(inputs: tuple[Array, ...]) -> tuple[Array, Array]:
    """What the network gives, by NumPy."""
    image, kernel, bias, _, mixing, scale = inputs
    size = image.shape[2] // 2
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    first = np.einsum("ncyxji,dcji->ndyx", windows[:, :, ::2, ::2], kernel)
    active = np.maximum(first[:, :, :size, :size] + bias, 0)
    # What the last half of the channels holds is not read.
    mixed = np.einsum("ndyx,ed->neyx", active, mixing)
    result = mixed + active
    return result * 0.5, np.einsum("neyx,e->ne", result, scale)


def lowered(inputs: tuple[Array, ...]) -> ModuleOp:
    """The network as blocks."""
    types = ["x".join([*map(str, each.shape), "f32"]) for each in inputs]
    module = specialize(parse_tile(NETWORK), [parse_argument_type(t) for t in types])
    stages = stage_passes(TargetOptions())
    before, _ = stages["stripe"].split("stripe-assign-layouts", 1)
    run_passes(module, f"{stages['tile']},{before.rstrip(',')}")
    return module


def buffers(module: ModuleOp) -> list[AllocOp]:
    return [op for op in module.walk() if isinstance(op, AllocOp) and may_permute(op)]


@pytest.mark.parametrize("seed", range(12))
def test_any_order_means_the_same(seed: int) -> None:
    random = Random(seed)
    channels, inner, half, batch = (random.randint(1, 4) for _ in range(4))
    inputs = network_inputs(seed, channels, inner, 2 * half, batch)
    module = lowered(inputs)
    found = buffers(module)
    assert len(found) > 4
    for buffer in found:
        order = [*range(buffer.view.type.rank)]
        random.shuffle(order)
        buffer.layout = LayoutAttr.of(order)
    StripePermuteAxesPass().apply(gingham.dialects.make_context(), module)
    module.verify()
    for result, expected in zip(
        interpret(module, inputs), expected_of(inputs), strict=True
    ):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("channels", "inner", "size", "batch"),
    [(3, 64, 28, 1), (16, 96, 14, 2), (48, 40, 26, 1), (5, 7, 64, 1)],
)
def test_networks_on_the_device(
    channels: int, inner: int, size: int, batch: int
) -> None:
    inputs = network_inputs(size, channels, inner, size, batch)
    results = gingham.compile(NETWORK)(*inputs)
    for result, expected in zip(results, expected_of(inputs), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("inner", "size", "is_moved"), [(64, 28, True), (5, 28, False), (64, 256, False)]
)
def test_channels_go_last_where_rows_are_short(
    inner: int, size: int, is_moved: bool
) -> None:
    module = lowered(network_inputs(0, 16, inner, size, 1))
    run_passes(module, 'stripe-assign-layouts{hardware="cpu-avx512" bits=512}')
    moved = [buffer for buffer in buffers(module) if buffer.layout is not None]
    assert bool(moved) == is_moved
    assert all(b.layout and b.layout.order == (0, 2, 3, 1) for b in moved)


def test_explanation_says_which_buffers_and_why() -> None:
    inputs = network_inputs(0, 16, 64, 28, 1)
    f = gingham.compile(NETWORK, hardware="cpu-avx512", tuned=False)
    (layout,) = f.explain(*inputs).layouts
    assert layout.order == (0, 2, 3, 1)
    assert {"O", "U", "W"} <= {*layout.buffers}
    assert layout.reason.endswith("with the axes as they are")
    assert "axes [0, 2, 3, 1] of O, " in str(f.explain(*inputs))

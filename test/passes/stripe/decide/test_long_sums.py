"""Sums of many floats are nearly as exact as their terms, on all descriptions."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.passes.stripe.analysis.nests import reduction_indices
from gingham.passes.stripe.decide.split_reduction import StripeSplitReductionPass

F32 = NDArray[np.float32]

_PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
_SUMS = {
    "all": ("function (A[N]) -> (S) { S[] = +(A[n]); }", [(3_000_017,)]),
    "columns": ("function (A[M, N]) -> (S) { S[n : N] = +(A[m, n]); }", [(400_000, 3)]),
    "rows": ("function (A[M, N]) -> (S) { S[m : M] = +(A[m, n]); }", [(3, 400_000)]),
    "outer axes": (
        "function (A[L, M, N]) -> (S) { S[m : M] = +(A[l, m, n]); }",
        [(100_000, 5, 3)],
    ),
    "images": (
        "function (A[N, C, H, W]) -> (S) { S[c : C] = +(A[n, c, h, w]); }",
        [(128, 12, 28, 28)],
    ),
    "product": (_PRODUCT, [(16, 100_000), (100_000, 16)]),
    "narrow product": (_PRODUCT, [(8, 400_000), (400_000, 3)]),
    "gradient": (
        "function (X[N, K], W[K, J]) -> (G) {"
        " Y[n, j : N, J] = +(X[n, k] * W[k, j]);"
        " S[] = +(Y[n, j]); G = gradient(S, W); }",
        [(100_000, 6), (6, 5)],
    ),
}


@pytest.mark.parametrize("hardware", [None, "nvidia-h200", "amd-rdna3"])
@pytest.mark.parametrize("name", _SUMS)
def test_error_of_a_long_sum(name: str, hardware: str | None) -> None:
    text, shapes = _SUMS[name]
    inputs = [_slowly_rising(shape) for shape in shapes]
    exact = gingham.compile(text)(*(array.astype(np.float64) for array in inputs))
    result = gingham.compile(text, hardware=hardware)(*inputs)
    assert result.dtype == np.float32
    # Added up one after the other they have errors of 1e-5 to 2e-3.
    np.testing.assert_allclose(result, exact, rtol=8e-6)


_SUM = """
%A = stripe.alloc : !stripe.view<{0}xf32>
%S = stripe.alloc : !stripe.view<f32>
stripe.block "S" [%i : {0}] in %a = %A[%i] : 1 out %s = %S[] add init 0 {{
  %0 = stripe.load %a : !stripe.view<1xf32>
  stripe.store %0, %s : !stripe.view<f32>
}}
"""


@pytest.mark.parametrize("lanes", [16, 64])
@pytest.mark.parametrize("cores", [4, 64])
def test_no_count_leaves_a_long_sum_over(cores: int, lanes: int) -> None:
    random = Random(1)
    counts = [random.randrange(10**5, 2 * 10**7) for _ in range(50)]
    for count in [9_999_991, 17_755_810, 1_277_825, *counts]:
        module = Parser(make_context(), _SUM.format(count)).parse_module()
        split = StripeSplitReductionPass(lanes=lanes, parallelism=16 * cores)
        split.apply(make_context(), module)
        blocks = [op for op in module.walk() if isinstance(op, BlockOp)]
        assert max(map(_length, blocks)) <= 1024


def _length(block: BlockOp) -> int:
    """How many values are added up one after the other in each cell."""
    return prod(block.index_ranges[index] for index in reduction_indices(block))


def _slowly_rising(shape: tuple[int, ...]) -> F32:
    """Numbers of which sequential sums lose the last digits all the same way."""
    numbers = 1 + 1e-7 * np.arange(np.prod(shape))
    return numbers.astype(np.float32).reshape(shape)

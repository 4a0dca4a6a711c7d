"""Blocks for tests of the cost model, from Tile programs."""

from __future__ import annotations

from xdsl.passes import PassPipeline

from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.passes.stripe.analysis.problem import Problem
from gingham.passes.stripe.decide.search import problem_of
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
TRANSPOSED = (
    "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }"
)
CONVOLUTION = (
    "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
    " O[n, x, y, co : N, X, Y, CO] ="
    " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }"
)
FOUR_AXES = (
    "function (X[A, E, B, F], Y[D, F, C, E]) -> (O) {"
    " O[a, b, c, d : A, B, C, D] = +(X[a, e, b, f] * Y[d, f, c, e]); }"
)

_PASSES = "tile-flatten,tile-canonicalize,lower-tile-to-stripe,stripe-merge-indices"


def block_of(program: str, *types: str) -> BlockOp:
    """The one block of a program, before anything is decided."""
    module = specialize(parse_tile(program), [parse_argument_type(t) for t in types])
    context = make_context()
    for module_pass in PassPipeline.parse_spec(get_all_passes(), _PASSES).passes:
        module_pass.apply(context, module)
    (block,) = top_level_blocks(module)
    return block


def problem(program: str, *types: str, bits: int = 512) -> Problem:
    """The same as the model sees it."""
    return problem_of(block_of(program, *types), bits)


def product(m: int, k: int, n: int) -> Problem:
    """A product of matrices of m x k and k x n numbers."""
    return problem(PRODUCT, f"{m}x{k}xf32", f"{k}x{n}xf32")

"""Programs that random tests once found to fail, on every road through the compiler.

Each was drawn by `test_differential.py`, or is the part of one that failed. The
reference interpreter, which enumerates points, says what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.dialects import make_context
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import PIPELINES, run_stages
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.lowering import STAGES
from gingham.targets.reference import interpret


@dataclass(frozen=True)
class Found:
    """A program, and the types of its inputs as `tile-specialize` reads them."""

    text: str
    types: tuple[str, ...]


FOUND = {
    # Whole vectors were read from private memory that was set up to the end only.
    "columns that nobody set": Found(
        """function (A[A_0, A_1], B[B_0, B_1]) -> (Y) {
          X = A < 0 ? 0 : A;
          Y[j, i : 8, 63] = +(X[k, i] + B[j, k]);
        }""",
        ("63x63xf32", "8x63xf32"),
    ),
    # Its index set took integer programming more operations than it had.
    "fraction of four indices": Found(
        """function (A[A_0, A_1, A_2], B[B_0, B_1]) -> (X) {
          X[-2 * i + -1 * j + l + 2, l + -1, i + 1 : A_1 + -4, A_1 + -1, 9] =
              >(B[i, i + 3 * j + 3 * k + 2 * l + -8]
                * B[(-2 * i + -2 * j + -1 * k + l + 4) / 3, i + l]),
              j + 1 < 2, k + 1 < 5;
        }""",
        ("7x7x3xf32", "8x5xf32"),
    ),
    "fractions and constraints of four indices": Found(
        """function (A[A_0, A_1]) -> (X) {
          X[i, (-1 * i + 3 * j + -2 * l + 2) / 2, i + 3 : 3, 6, 6] =
              +(A[i + j + -2 * k, l]
                == A[(-1 * i + 2 * j + -1 * k + -1 * l + A_0 + -5) / 2, l + 1]),
              2 * i + j + -1 * k + -1 * l < 6, j + 3 < 8, k + 1 < 5;
        }""",
        ("7x4xsi32",),
    ),
    # Tiles of two digits of a place were chosen where they are a diagonal.
    "digits and a diagonal": Found(
        "function (A[]) -> (X) { X[j, 0, -2 * i + j : 2, 1, 4] = +(A[]); }", ("i1",)
    ),
    "fraction as a diagonal": Found(
        """function (A[N]) -> (X) {
          X[j, k, i : N + 1, N + -1, N + -2] = +(A[(j + k) / 2]);
        }""",
        ("3xi1",),
    ),
    # Six parts of 25 indices have five each, and the last has none.
    "scatter in parts": Found(
        "function (A, I, U) -> (X) { X = scatter(U, I, A); }",
        ("1xi1", "5x5xsi32", "5x5xf16"),
    ),
    # The compiler of the device took -0.0 for 0.0 where the sign was asked for too.
    "sign and relu of zeros": Found(
        "function (A[N]) -> (X, Y) { X = sign(A * -1); Y = relu(A * -1); }",
        ("40xf16",),
    ),
    # Two kernels that differ in the width of their vectors alone were taken for one.
    "kernels of two widths": Found(
        """function (A[N], B[]) -> (X, Y) {
          X[i : N + 1] = +(B[]);
          Y[i : N] = +(B[]);
        }""",
        ("1xi1", "f16"),
    ),
}


Arrays = Sequence[NDArray[Any]]


@pytest.mark.parametrize("name", FOUND)
def test_a_found_program(name: str) -> None:
    found = FOUND[name]
    random = np.random.default_rng([*name.encode()])
    types = [parse_argument_type(text) for text in found.types]
    arrays = [
        random.integers(-3, 4, t.get_shape()).astype(numpy_dtype(t.element_type))
        for t in types
    ]
    wanted = interpret(specialize(parse_tile(found.text), types), arrays)
    results = gingham.compile(found.text)(*arrays)
    check("default device", wanted, results if len(wanted) > 1 else (results,))
    for pipeline, options in PIPELINES.items():
        module = specialize(parse_tile(found.text), types)
        for stage in STAGES[1:]:
            run_stages(module, make_context(), options, [stage])
            check(f"{pipeline}, {stage}", wanted, interpret(module, arrays))


def check(road: str, wanted: Arrays, results: Arrays) -> None:
    for number, (want, result) in enumerate(zip(wanted, results, strict=True)):
        assert result.dtype == want.dtype
        width = want.dtype.itemsize
        bits = [np.asarray(array).view(f"u{width}") for array in (result, want)]
        np.testing.assert_array_equal(*bits, err_msg=f"{road}: output {number}")

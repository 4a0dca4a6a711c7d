"""Every form of a contraction, by loops in Python, on every road through the compiler.

One program has them all, so that it is compiled once for the device. It is run by the
reference interpreter as it is, flattened and as blocks, and on the default device. The
numbers are small integers, negative ones among them, so that nothing is rounded and the
identity of no aggregation is mistaken for a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.dialects import make_context
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = NDArray[np.int32]
Cell = tuple[int, ...]
Pairs = Iterable[tuple[Cell, int]]

INPUTS = {
    "V": (7,),
    "W": (3,),
    "M": (4, 5),
    "S": (5, 5),
    "P": (),
    "D": (9,),
    "K": (4, 3),
}


def aggregate(
    shape: Cell, function: Callable[[list[int]], int], pairs: Pairs, default: Any = 0
) -> Array:
    """What each cell of a tensor aggregates; cells outside are left out."""
    met: dict[Cell, list[int]] = {}
    for cell, value in pairs:
        met.setdefault(cell, []).append(int(value))
    result = np.broadcast_to(np.asarray(default, np.int32), shape).copy()
    for cell in product(*map(range, shape)):
        if cell in met:
            result[cell] = function(met[cell])
    return result


def forms(x: dict[str, Array]) -> list[tuple[str, Any]]:
    """Each statement, the output first, and what it must give."""
    v, w, m, s, p, d, k = (x[name] for name in INPUTS)
    seven, six, five, four = range(7), range(6), range(5), range(4)

    def images(value: Callable[[int, int], int]) -> Pairs:
        """A window of 4 x 3 with strides 2 and 3, written to each cell of M."""
        for a, b, i, j in product(four, five, four, range(3)):
            yield (2 * a + i - 1, 3 * b + j - 1), value(m[a, b], k[i, j])

    return [
        # Repeated indices and constants.
        ("Diagonal[i : 5] = +(S[i, i])", np.diag(s)),
        ("Placed[i, i : 5, 5] = =(V[i])", np.diag(v[:5])),
        ("Corner[] = +(S[i, i]), i - 3 < 1", s[3, 3]),
        ("Constant[j : 5] = =(M[2, j])", m[2]),
        ("Element[] = =(M[3, 4])", m[3, 4]),
        ("Row[1, j : 3, 5] = +(M[i, j])", np.stack([0 * m[0], m.sum(0), 0 * m[0]])),
        ("Outside[j : 5] = >(M[9, j])", np.zeros(5)),
        # Rank 0.
        ("Product[] = *(V[i])", v.prod()),
        ("Repeated[i : 3] = =(P[]), i < 3", np.full(3, p)),
        ("Scalar[] = +(P[] * P[])", p * p),
        # Outputs of other sizes than what is reached.
        (
            "Larger[i + 2 : 12] = >(V[i])",
            aggregate((12,), max, (((i + 2,), v[i]) for i in seven)),
        ),
        ("Smaller[i : 3] = <(V[i])", v[:3]),
        ("Between[i - 2 : 3] = *(V[i])", v[2:5]),
        # Strides: negative, large, beyond the tensor.
        ("Backwards[i : 7] = =(V[6 - i])", v[::-1]),
        (
            "Falling[9 - 3 * i : 10] = +(V[i])",
            aggregate((10,), sum, (((9 - 3 * i,), v[i]) for i in seven)),
        ),
        (
            "Large[10 * i : 65] = <(V[i])",
            aggregate((65,), min, (((10 * i,), v[i]) for i in seven)),
        ),
        (
            "Huge[i : 7] = >(V[1000000000 * i])",
            aggregate((7,), max, [((0,), v[0])]),
        ),
        (
            "Negative[i : 7] = +(V[6 - 2 * i])",
            aggregate((7,), sum, (((i,), v[6 - 2 * i]) for i in four)),
        ),
        # Points that only constraints tell apart.
        ("Counted[i : 7] = +(V[i]), a < 5, a + b < 3", 15 * v),
        ("Powers[i : 7] = *(V[i]), a < 3", v**3),
        (
            "Sides[i : 7] = >(V[i]), 2 * a < 5, i - a < 4",
            aggregate((7,), max, (((i,), v[i]) for i in six)),
        ),
        # No point at all.
        ("Empty[i : 3] = *(V[i + 9])", np.zeros(3)),
        ("Never[i : 7] = <(V[i]), i - 9 < 3", np.zeros(7)),
        ("Parity[i : 7] = >(V[i] * V[i / 2]), 2 * i - 1 < 1", np.zeros(7)),
        ("Fallback[i : 9] = *(V[i + 9]) default D", d),
        # Several points on one cell, with strides.
        (
            "Folded[2 * i + j : 13] = >(M[i, j])",
            aggregate(
                (13,), max, (((2 * i + j,), m[i, j]) for i in four for j in five)
            ),
        ),
        (
            "Pair[2 * i + j : 12] = +(V[i]), j < 2",
            aggregate(
                (12,), sum, (((2 * i + j,), v[i]) for i in seven for j in (0, 1))
            ),
        ),
        (
            "Odd[2 * i + j : 15] = >(V[i]), j < 3",
            aggregate(
                (15,), max, (((2 * i + j,), v[i]) for i in seven for j in range(3))
            ),
        ),
        (
            "Threes[3 * i + j - 1 : 20] = <(V[i]), j < 3",
            aggregate(
                (20,), min, (((3 * i + j - 1,), v[i]) for i in seven for j in range(3))
            ),
        ),
        (
            "Gaps[5 * i + 2 * j : 33] = +(V[i] * W[j])",
            aggregate(
                (33,),
                sum,
                (((5 * i + 2 * j,), v[i] * w[j]) for i in seven for j in range(3)),
            ),
        ),
        (
            "Transposed[2 * a + i - 1, 3 * b + j - 1 : 9, 14] = +(M[a, b] * K[i, j])",
            aggregate((9, 14), sum, images(lambda a, b: a * b)),
        ),
        (
            "Dilated[2 * a + i - 1, 3 * b + j - 1 : 8, 15] = <(M[a, b] + K[i, j])",
            aggregate((8, 15), min, images(lambda a, b: a + b)),
        ),
        (
            "Skewed[i, i + 2 * j : 5, 9] = >(S[i, j])",
            aggregate(
                (5, 9), max, (((i, i + 2 * j), s[i, j]) for i in five for j in five)
            ),
        ),
        # Fractions.
        (
            "Half[i / 2 : 4] = +(V[i])",
            aggregate((4,), sum, (((i // 2,), v[i]) for i in (0, 2, 4, 6))),
        ),
        (
            "Spread[i : 13] = >(V[i / 2])",
            aggregate((13,), max, (((2 * i,), v[i]) for i in seven)),
        ),
        (
            "Solved[i : 12] = +(V[(i - j + 1) / 2] * W[j])",
            aggregate(
                (12,),
                sum,
                (((2 * a + j - 1,), v[a] * w[j]) for a in seven for j in range(3)),
            ),
        ),
        (
            "Thirds[i : 9] = *(V[i / 3 + j / 3]), j < 4",
            aggregate(
                (9,),
                prod,
                (
                    ((i,), v[(i + j) // 3])
                    for i in range(9)
                    for j in four
                    if (i + j) % 3 == 0
                ),
            ),
        ),
        (
            "Filled[2 * i : 9] = <(V[i]) default D",
            aggregate((9,), min, (((2 * i,), v[i]) for i in range(5)), d),
        ),
    ]


@pytest.fixture(scope="module")
def inputs() -> dict[str, Array]:
    random = np.random.default_rng(1)
    return {
        name: random.integers(-4, 4, shape).astype(np.int32)
        for name, shape in INPUTS.items()
    }


@pytest.fixture(scope="module")
def program(inputs: dict[str, Array]) -> str:
    statements = [statement for statement, _ in forms(inputs)]
    arguments = ", ".join(
        f"{name}[{', '.join(f'{name}{axis}' for axis in range(len(shape)))}]"
        for name, shape in INPUTS.items()
    )
    outputs = ", ".join(statement.split("[")[0] for statement in statements)
    return f"function ({arguments}) -> ({outputs}) {{ {'; '.join(statements)}; }}"


def check(results: Any, inputs: dict[str, Array]) -> None:
    expected = forms(inputs)
    found = cast("tuple[Array, ...]", results)
    for (statement, wanted), result in zip(expected, found, strict=True):
        assert np.array_equal(result, wanted), (statement, inputs, result, wanted)


def test_on_the_default_device(program: str, inputs: dict[str, Array]) -> None:
    check(gingham.compile(program)(*inputs.values()), inputs)


def test_on_the_interpreter(program: str, inputs: dict[str, Array]) -> None:
    types = ["x".join([*map(str, shape), "si32"]) for shape in INPUTS.values()]
    module = specialize(parse_tile(program), [parse_argument_type(t) for t in types])
    check(interpret(module, [*inputs.values()]), inputs)
    for name in ("tile-flatten", "lower-tile-to-stripe"):
        get_all_passes()[name]()().apply(make_context(), module)
        module.verify()
        check(interpret(module, [*inputs.values()]), inputs)

"""Networks that repeat a layer compute what they say, with one kernel for the layer."""

from __future__ import annotations

import numpy as np
import pytest
from special_programs import opencl_device

import gingham

CONVOLUTION = (
    "T{n}[x, o : X, C] = +({before}[x + i - 1, c] * W{n}[i, c, o]);"
    " R{n} = relu(T{n} + B{n});"
)
PRODUCT = "T{n}[x, o : X, C] = +({before}[x, c] * W{n}[c, o]); R{n} = relu(T{n} + A);"
DEPENDENT = "R{n}[x, o : X, C] = +({before}[x, c] * {before}[c, o]);"


def network(layer: str, arguments: str, count: int) -> str:
    """A program with `count` layers."""
    names = ["A[X, C]", *(arguments.format(n=n) for n in range(count) if arguments)]
    befores = ["A", *(f"R{n}" for n in range(count))]
    lines = [layer.format(n=n, before=befores[n]) for n in range(count)]
    return f"function ({', '.join(names)}) -> (R{count - 1}) {{ {' '.join(lines)} }}"


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize(
    ("layer", "arguments", "shapes"),
    [
        (CONVOLUTION, "W{n}[K{n}, C, C], B{n}[C]", ((3, 16, 16), (16,))),
        (PRODUCT, "W{n}[C, C]", ((16, 16),)),
        (DEPENDENT, "", ()),
    ],
    ids=["convolution", "product", "dependent"],
)
def test_repeated_layers(
    layer: str, arguments: str, shapes: tuple[tuple[int, ...], ...], count: int
) -> None:
    device = opencl_device()
    if device is None:
        pytest.skip("there is no OpenCL device")
    program = network(layer, arguments, count)
    random = np.random.default_rng(count)
    values = [
        random.integers(-1, 2, shape).astype(np.float32)
        for shape in ((16, 16), *(shapes * count))
    ]
    if layer == DEPENDENT:
        values[0] = random.permutation(np.eye(16, dtype=np.float32))
    compiled = gingham.compile(program, device=device)
    expected = gingham.compile(program, device="reference")(*values)
    np.testing.assert_array_equal(compiled(*values), expected)
    kernels = compiled.source(*values).count("__kernel")
    assert kernels <= 2 or kernels < count

"""How much memory programs need."""

from __future__ import annotations

import re

import numpy as np
import pytest
from counted_calls import count_calls

import gingham


def residual(blocks: int) -> str:
    """Blocks of two 3x3 convolutions each, added to what goes into the block."""
    inputs, value = ["I[X, Y, C]"], "I"
    lines: list[str] = []
    for block in range(blocks):
        inputs += [f"A{block}[P, Q, C, D{block}]", f"B{block}[P, Q, D{block}, C]"]
        lines += [
            f"T{block}[x, y, d : X, Y, D{block}] ="
            f" +({value}[x + i - 1, y + j - 1, c] * A{block}[i, j, c, d]);",
            f"R{block} = relu(T{block});",
            f"U{block}[x, y, c : X, Y, C] ="
            f" +(R{block}[x + i - 1, y + j - 1, d] * B{block}[i, j, d, c]);",
            f"S{block} = relu(U{block} + {value});",
        ]
        value = f"S{block}"
    return f"function ({', '.join(inputs)}) -> ({value}) {{ {' '.join(lines)} }}"


def test_a_chain_with_skip_connections_is_near_the_bound() -> None:
    blocks = 4
    f = gingham.compile(residual(blocks))
    generator = np.random.default_rng(0)
    arrays = [generator.integers(-2, 3, (6, 7, 32)).astype(np.float32)]
    for block in range(blocks):
        width = 32 + 16 * (block % 3)
        for shape in ((3, 3, 32, width), (3, 3, width, 32)):
            arrays.append(generator.integers(-1, 2, shape).astype(np.float32))
    report = f.memory(*arrays)
    assert report.inputs == sum(array.nbytes for array in arrays)
    assert report.results == arrays[0].nbytes
    assert report.lower_bound <= report.peak <= 1.1 * report.lower_bound
    assert report.peak < report.unshared
    for number, one in enumerate(report.buffers):
        for other in report.buffers[:number]:
            if one.first <= other.last and other.first <= one.last:
                apart = one.place + one.size <= other.place
                assert apart or other.place + other.size <= one.place
    assert re.search(r"between .* in use at once; .* without sharing", str(report))
    expected = gingham.compile(residual(blocks), device="reference")(*arrays)
    # Where large numbers cancel out, what is left is as exact as they were.
    near = 1e-5 * float(np.abs(expected).max())
    for _ in range(2):
        np.testing.assert_allclose(f(*arrays), expected, rtol=1e-4, atol=near)


def test_a_single_kernel_needs_nothing_between() -> None:
    f = gingham.compile("function (A[N]) -> (B) { B = A + 1; }")
    report = f.memory(np.zeros(16, np.float32))
    assert (report.peak, report.unshared, report.kept) == (0, 0, 0)
    assert report.buffers == ()


def test_repeated_calls_are_short() -> None:
    if gingham.default_device().is_reference:
        pytest.skip("the interpreter is slow")
    if not gingham.default_device().properties["host_unified_memory"]:
        pytest.skip("copies take calls, too")
    f = gingham.compile("function (A[N], B[N]) -> (C) { C = A * B; }")
    a = np.ones(16, np.float32)
    f(a, a)
    # A collection of garbage may come in between, but not each time. With the launch
    # fifty calls are 10 us on a machine that does nothing else.
    assert min(count_calls(lambda: f(a, a)) for _ in range(5)) < 70

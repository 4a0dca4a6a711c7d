"""Programs of odd sizes between a few and a few hundred give what NumPy gives.

Sizes are primes, and powers of two give or take one, so that tiles, vectors and chunks
are left with rests. Inputs lie between NaNs and outputs between marks, as reading or
writing over the end of an array mostly goes unnoticed. All numbers are small integers,
so that sums are exact in every order.

`MEDIUM_SEED=N` draws other programs than the usual ones, and `MEDIUM_EXAMPLES=N` sets
how many of each kind are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham

Array = NDArray[Any]
Random = np.random.Generator

SEED = int(os.environ.get("MEDIUM_SEED", "1"))
EXAMPLES = int(os.environ.get("MEDIUM_EXAMPLES", "2"))
SIZES = (1, 2, 3, 7, 8, 13, 15, 17, 31, 32, 33, 61, 63, 65, 97, 127, 129, 211, 257)
AROUND = 64
"""Elements on each side of an array that are none of its own."""


@dataclass(frozen=True)
class Example:
    """A program with its inputs and what its only output should be."""

    text: str
    inputs: Mapping[str, Array]
    wanted: Array


def size(random: Random, limit: int = 1000) -> int:
    return int(random.choice([n for n in SIZES if n <= limit]))


def numbers(random: Random, *shape: int) -> Array:
    return random.integers(-3, 4, shape).astype(np.float32)


def names_of(letters: str) -> str:
    return ", ".join(letters.upper())


def contraction(random: Random) -> Example:
    """Two tensors of shuffled axes: `p` is in all, `k` and `q` are summed over."""
    while True:
        sizes = {"p": size(random, 8), "q": size(random, 17)}
        sizes |= {letter: size(random) for letter in "mnk"}
        if prod(sizes.values()) < 4e6:
            break
    a, b, c = ("".join(random.permutation([*word])) for word in ("pmkq", "pnkq", "pmn"))
    inputs = {
        "A": numbers(random, *(sizes[x] for x in a)),
        "B": numbers(random, *(sizes[x] for x in b)),
        "Bias": numbers(random, sizes[c[-1]]),
    }
    text = f"""function (A[{names_of(a)}], B[{names_of(b)}], Bias) -> (R) {{
      O[{", ".join(c)} : {names_of(c)}] = +(A[{", ".join(a)}] * B[{", ".join(b)}]);
      R = max(O + Bias, -9);
    }}"""
    product = np.einsum(f"{a},{b}->{c}", inputs["A"], inputs["B"], optimize=True)
    return Example(text, inputs, np.maximum(product + inputs["Bias"], -9))


def convolution(random: Random) -> Example:
    """Strides, dilation and padding; channels last or first."""
    height, width = random.integers(5, 40, 2)
    taps, step, far = (
        int(random.choice(n)) for n in ([1, 2, 3, 5], [1, 1, 2, 3], [1, 2])
    )
    before = int(random.integers(0, taps))
    channels, features = size(random, 33), size(random, 65)
    reach = far * (taps - 1) + 1
    high, wide = (
        max(int(n) + 2 * before - reach, 0) // step + 1 for n in (height, width)
    )
    is_last = bool(random.random() < 0.5)
    image = numbers(random, int(height), int(width), channels)
    weights = numbers(random, taps, taps, channels, features)
    margin = before, step * max(high, wide) + reach
    padded = np.pad(image, [margin, margin, (0, 0)])
    wanted = np.zeros((high, wide, features), np.float32)
    for u, v in product(range(taps), repeat=2):
        rows = slice(far * u, far * u + step * high, step)
        columns = slice(far * v, far * v + step * wide, step)
        wanted += padded[rows, columns] @ weights[u, v]
    places = [f"{step} * {x} + {far} * {u} - {before}" for x, u in ("xu", "yv")]
    cell, shape, axes = "x, y, o", f"{high}, {wide}, F", "H, W, C"
    if is_last:
        places.append("c")
    else:
        places.insert(0, "c")
        cell, shape, axes = "o, x, y", f"F, {high}, {wide}", "C, H, W"
        image, wanted = (np.moveaxis(array, -1, 0).copy() for array in (image, wanted))
    text = f"""function (I[{axes}], K[U, V, C, F]) -> (O) {{
      O[{cell} : {shape}] = +(I[{", ".join(places)}] * K[u, v, c, o]);
    }}"""
    return Example(text, {"I": image, "K": weights}, wanted)


def reduction(random: Random) -> Example:
    """Sums over some axes, of many rows and few columns, or the other way round."""
    shape = [size(random, 33), int(random.integers(1, 3000)), size(random, 65)]
    shape = [shape[int(n)] for n in random.permutation(3)]
    if prod(shape) > 4e5:
        shape[int(np.argmin(shape))] = 1
    kept = [n for n in range(3) if random.random() < 0.5]
    values = numbers(random, *shape)
    cell = ", ".join("ijk"[n] for n in kept) + " : " + ", ".join("IJK"[n] for n in kept)
    text = f"""function (A[I, J, K]) -> (O) {{
      O[{cell if kept else ""}] = +(A[i, j, k] * A[i, j, k]);
    }}"""
    others = tuple(n for n in range(3) if n not in kept)
    return Example(text, {"A": values}, np.asarray((values * values).sum(others)))


def scan(random: Random) -> Example:
    """Running sums along one of two axes, from either end."""
    shape = [size(random), size(random)]
    axis = int(random.integers(2))
    values = numbers(random, *shape)
    from_end = bool(random.random() < 0.5)
    read = ("k, j", "i, k")[axis]
    sign = "-" if from_end else ""
    text = f"""function (A[I, J]) -> (O) {{
      O[i, j : I, J] = +(A[{read}]), {sign}({"ij"[axis]} - k) < {"IJ"[axis]};
    }}"""
    turned = np.flip(values, axis) if from_end else values
    sums = np.cumsum(turned, axis, dtype=np.float32)
    return Example(text, {"A": values}, np.flip(sums, axis) if from_end else sums)


def transposition(random: Random) -> Example:
    order = "".join("ijk"[n] for n in random.permutation(3))
    values = numbers(random, *(size(random, 65) for _ in "ijk"))
    text = f"""function (A[I, J, K]) -> (O) {{
      O[{", ".join(order)} : {names_of(order)}] = =(A[i, j, k]);
    }}"""
    return Example(text, {"A": values}, np.einsum(f"ijk->{order}", values))


def layers(random: Random) -> Example:
    """Dense layers, each of which needs all of the one before."""
    rows, *widths = size(random, 65), *(size(random, 129) for _ in range(4))
    value = values = numbers(random, rows, widths[0])
    inputs = {"X": values}
    statements: list[str] = []
    for n, (inner, outer) in enumerate(pairwise(widths)):
        weights = inputs[f"W{n}"] = numbers(random, inner, outer)
        bias = inputs[f"B{n}"] = numbers(random, outer)
        above = f"Z{n - 1}" if n else "X"
        statements.append(
            f"Y{n}[i, j : {rows}, {outer}] = +({above}[i, k] * W{n}[k, j]);\n"
            f"      Z{n} = min(max(Y{n} + B{n}, 0), 3);"
        )
        value = np.clip(value @ weights + bias, 0, 3)
    names = ", ".join(f"W{n}[K{n}, N{n}], B{n}" for n in range(len(statements)))
    body = "\n      ".join(statements)
    text = f"""function (X[M, K], {names}) -> (Z{len(statements) - 1}) {{
      {body}
    }}"""
    return Example(text, inputs, value)


KINDS: dict[str, Callable[[Random], Example]] = {
    kind.__name__: kind
    for kind in (contraction, convolution, reduction, scan, transposition, layers)
}


def surrounded(shape: tuple[int, ...], mark: float) -> tuple[Array, Array]:
    """An array, and the memory that it lies in the middle of."""
    count = prod(shape)
    memory = np.full(count + 2 * AROUND, mark, np.float32)
    return memory[AROUND : AROUND + count].reshape(shape), memory


def check(example: Example) -> None:
    inputs: dict[str, Array] = {}
    for name, values in example.inputs.items():
        inputs[name], _ = surrounded(values.shape, np.nan)
        inputs[name][...] = values
    result, memory = surrounded(example.wanted.shape, 1e9)
    gingham.compile(example.text)(**inputs, out=result)
    np.testing.assert_array_equal(result, example.wanted, err_msg=example.text)
    outside = np.concatenate([memory[:AROUND], memory[-AROUND:]])
    assert (outside == 1e9).all(), f"written outside of the output:\n{example.text}"


@pytest.mark.parametrize("number", range(EXAMPLES))
@pytest.mark.parametrize("kind", KINDS)
def test_a_program_of_odd_sizes(kind: str, number: int) -> None:
    check(KINDS[kind](np.random.default_rng([SEED, number, *kind.encode()])))


def test_chunks_of_rows_that_take_turns() -> None:
    """Chunks of 741 rows, of which two are added up at a time."""
    random = np.random.default_rng(1)
    text = """function (A[M], B[M, N]) -> (O) { O[n : N] = +(A[m] * B[m, n]); }"""
    inputs = {"A": numbers(random, 1482), "B": numbers(random, 1482, 27)}
    check(Example(text, inputs, inputs["A"] @ inputs["B"]))


def test_packed_weights_whose_windows_stick_out() -> None:
    """The copies that fill what sticks out have tiles that do not divide them."""
    random = np.random.default_rng(1)
    text = """function (I[N, H, W, C], K[U, V, C, F]) -> (O) {
      O[n, x, y, o : N, 9, 33, F] =
          +(I[n, (x + 2 - u) / 2, (y + 2 - v) / 2, c] * K[u, v, c, o]);
    }"""
    image, weights = numbers(random, 2, 4, 16, 29), numbers(random, 5, 5, 29, 17)
    full = np.zeros((2, 11, 35, 17), np.float32)
    for u, v in product(range(5), repeat=2):
        full[:, u : u + 7 : 2, v : v + 31 : 2] += image @ weights[u, v]
    check(Example(text, {"I": image, "K": weights}, full[:, 2:, 2:]))

"""The command: `python -m bench.flatten [--repeat N]`.

How long the pass `tile-flatten` takes for each contraction of a ResNet-50: forward, by
the data and by the weights. The gradients have the strided convolutions transposed.
What is measured is the pass on a function of one contraction, in processor time, since
the machine may be shared. Nothing is kept from one run to the next.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from xdsl.context import Context

from gingham.dialects.tile import ContractOp
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.passes.tile.specialize import specialize

_CONVOLUTIONS = (
    # size of the image, channels in and out, taps, stride, padding
    (224, 3, 64, 7, 2, 3),
    *((56, i, o, k, 1, k // 2) for i, o, k in ((64, 64, 1), (64, 64, 3), (64, 256, 1))),
    *((56, i, o, 1, 1, 0) for i, o in ((256, 64), (256, 128))),
    *((size, c, c, 3, 2, 1) for size, c in ((56, 128), (28, 256), (14, 512))),
    *((size, 2 * c, 4 * c, 1, 2, 0) for size, c in ((56, 128), (28, 256), (14, 512))),
    *((size, c, c, 3, 1, 1) for size, c in ((28, 128), (14, 256), (7, 512))),
    *((size, c, 4 * c, 1, 1, 0) for size, c in ((28, 128), (14, 256), (7, 512))),
    *((size, 4 * c, c, 1, 1, 0) for size, c in ((28, 128), (14, 256), (7, 512))),
    *((size, 4 * c, 2 * c, 1, 1, 0) for size, c in ((28, 128), (14, 256))),
)


@dataclass(frozen=True)
class Structure:
    """One contraction: a Tile program and the types of its inputs."""

    name: str
    program: str
    types: tuple[str, ...]


def _convolution(
    size: int, inputs: int, outputs: int, taps: int, stride: int, padding: int
) -> Iterator[Structure]:
    """A convolution and its gradients, NHWC; weights by taps, inputs and outputs."""
    small = (size + 2 * padding - taps) // stride + 1
    image = f"1x{size}x{size}x{inputs}xf32"
    weights = f"{taps}x{taps}x{inputs}x{outputs}xf32"
    result = f"1x{small}x{small}x{outputs}xf32"
    x, y = (f"{stride} * {i} + {k} - {padding}" for i, k in (("x", "i"), ("y", "j")))
    at = {"I": f"n, {x}, {y}, ci", "K": "i, j, ci, co", "O": "n, x, y, co"}
    sizes = {
        "I": f"1, {size}, {size}, {inputs}",
        "K": f"{taps}, {taps}, {inputs}, {outputs}",
        "O": f"1, {small}, {small}, {outputs}",
    }
    types = {"I": image, "K": weights, "O": result}
    name = f"{taps}x{taps} {inputs}-{outputs} at {size}, stride {stride}"
    for target, what in (("O", "forward"), ("I", "data"), ("K", "weights")):
        a, b = (tensor for tensor in "IKO" if tensor != target)
        program = (
            f"function ({a}[{a}0, {a}1, {a}2, {a}3], {b}[{b}0, {b}1, {b}2, {b}3])"
            f" -> ({target}) {{ {target}[{at[target]} : {sizes[target]}]"
            f" = +({a}[{at[a]}] * {b}[{at[b]}]); }}"
        )
        yield Structure(f"{name}: {what}", program, (types[a], types[b]))


def _others() -> Iterator[Structure]:
    """Pooling, the dense layer, and sums over pixels."""
    image, pooled = "1x112x112x64xf32", "1x56x56x64xf32"
    window = "n, 2 * x + i - 1, 2 * y + j - 1, c"
    yield Structure(
        "max pool 3x3, stride 2: forward",
        "function (I[N, X, Y, C]) -> (O) {"
        f" O[n, x, y, c : N, X / 2, Y / 2, C] = >(I[{window}]), i < 3, j < 3; }}",
        (image,),
    )
    yield Structure(
        "max pool 3x3, stride 2: data",
        "function (I[N, X, Y, C], O[N, P, Q, C], D[N, P, Q, C]) -> (G) {"
        f" G[{window} : N, X, Y, C] ="
        f" +(I[{window}] == O[n, x, y, c] ? D[n, x, y, c]), i < 3, j < 3; }}",
        (image, pooled, pooled),
    )
    yield Structure(
        "sum over pixels",
        "function (I[N, X, Y, C]) -> (O) { O[n, c : N, C] = +(I[n, x, y, c]); }",
        ("1x7x7x2048xf32",),
    )
    for name, statement in (
        ("forward", "O[n, j : N, J] = +(A[n, i] * B[i, j]);"),
        ("data", "O[n, j : N, J] = +(A[n, i] * B[j, i]);"),
        ("weights", "O[i, j : I, J] = +(A[n, i] * B[n, j]);"),
    ):
        transposed = {"forward": "I, J", "data": "J, I", "weights": "N, J"}[name]
        types = {
            "forward": ("1x2048xf32", "2048x1000xf32"),
            "data": ("1x1000xf32", "2048x1000xf32"),
            "weights": ("1x2048xf32", "1x1000xf32"),
        }[name]
        program = f"function (A[N, I], B[{transposed}]) -> (O) {{ {statement} }}"
        yield Structure(f"dense 2048-1000: {name}", program, types)


def structures() -> list[Structure]:
    """All different contractions of a ResNet-50 and of its gradients."""
    convolutions = [s for shape in _CONVOLUTIONS for s in _convolution(*shape)]
    return [*convolutions, *_others()]


def seconds(structure: Structure, repeat: int) -> tuple[float, ContractOp]:
    """The median seconds of the pass, and the contraction that it makes."""
    types = [parse_argument_type(text) for text in structure.types]
    module = specialize(parse_tile(structure.program), types)
    taken: list[float] = []
    copies = [module.clone() for _ in range(repeat)]
    for copy in copies:
        start = time.thread_time()
        TileFlattenPass().apply(Context(), copy)
        taken.append(time.thread_time() - start)
    (flat,) = (op for op in copies[0].walk() if isinstance(op, ContractOp))
    return median(taken), flat


def main() -> None:
    """Measure and print a line for each contraction, the slowest first."""
    parser = argparse.ArgumentParser(prog="python -m bench.flatten")
    parser.add_argument(
        "--repeat", type=int, default=9, help="runs of each (default 9)"
    )
    repeat = parser.parse_args().repeat
    seconds(structures()[0], 1)  # libraries are loaded once
    found = [(*seconds(s, repeat), s.name) for s in structures()]
    for time_taken, flat, name in sorted(found, key=lambda row: -row[0]):
        ranges = " x ".join(map(str, flat.flat_ranges))
        conditions = len(flat.conditions)
        print(f"{time_taken * 1e3:6.2f} ms  {name}: {ranges}, {conditions} conditions")
    times = sorted(row[0] for row in found)
    print(
        f"{len(times)} contractions: median {median(times) * 1e3:.2f} ms, "
        f"worst {times[-1] * 1e3:.2f} ms"
    )


if __name__ == "__main__":
    main()

"""Random programs of products, convolutions, pools and attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from drawn_programs import (
    FLOATS,
    LETTERS,
    MOST_CELLS,
    MOST_POINTS,
    SIZES,
    TYPES,
    ProgramDrawing,
    cells_of,
)


def draw_product(draw: ProgramDrawing) -> list[str]:
    """Two operands over batches, rows, columns and sums of any number of indices."""
    type = draw.one_of(TYPES)
    counts = [draw.one_of([0, 0, 0, 1, 2]), draw.one_of([0, 1, 1, 1, 2])]
    counts += [draw.one_of([0, 1, 1, 1, 2]), draw.one_of([1, 1, 1, 2])]
    while True:
        sizes = [draw.sizes(count) for count in counts]
        if prod(map(cells_of, sizes)) <= MOST_POINTS:
            break
    letters = iter(LETTERS)
    batch, rows, columns, summed = ([(next(letters), s) for s in k] for k in sizes)
    one = draw.shuffled([*batch, *rows, *summed])
    two = draw.shuffled([*batch, *columns, *summed])
    out = draw.shuffled([*batch, *rows, *columns])
    a = draw.operand([s for _, s in one], type)
    b = draw.operand([s for _, s in two], type)
    right = f"{_access(a, one)} {draw.one_of('****+')} {_access(b, two)}"
    behind = ""
    if rows and draw.chance(0.1):
        behind = f", {rows[0][0]} - {summed[0][0]} < {rows[0][1]}"
    aggregation = draw.one_of("++++++><")
    shape = [s for _, s in out]
    x = draw.contract(aggregation, [n for n, _ in out], shape, right, behind)
    if draw.chance(0.2) and shape and prod(shape) * 33 <= MOST_POINTS:
        x = _times_matrix(draw, x, type)
    return draw.finished(x)


def _access(name: str, indices: Sequence[tuple[str, int]]) -> str:
    return f"{name}[{', '.join(n for n, _ in indices)}]"


def _times_matrix(draw: ProgramDrawing, x: str, type: str) -> str:
    """A further product behind a function of elements, over the last axis."""
    shape = draw.shapes[x]
    x = draw.let(f"{x} < 1 ? {x} : 1", shape)
    width = draw.one_of([1, 3, 8, 17, 32, 33])
    w = draw.given((shape[-1], width), type)
    letters = ", ".join(LETTERS[: len(shape) - 1])
    before = f"{letters}, " if letters else ""
    cells = [*LETTERS[: len(shape) - 1], "z"]
    right = f"{x}[{before}y] * {w}[y, z]"
    return draw.contract("+", cells, (*shape[:-1], width), right)


@dataclass(frozen=True)
class _Windows:
    """The windows of a convolution over one or two spatial axes."""

    is_transposed: bool
    sizes: Sequence[int]
    taps: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[int]

    @staticmethod
    def drawn(draw: ProgramDrawing, rank: int, *, is_transposed: bool) -> _Windows:
        taps = [draw.one_of([1, 2, 3, 3, 3, 5, 7]) for _ in range(rank)]
        return _Windows(
            is_transposed,
            [draw.one_of(SIZES) for _ in range(rank)],
            taps,
            [draw.one_of([1, 1, 1, 2, 3]) for _ in range(rank)],
            [1 if is_transposed else draw.one_of([1, 1, 1, 2]) for _ in range(rank)],
            [draw.one_of([0, tap // 2, tap // 2, tap - 1]) for tap in taps],
        )

    @property
    def results(self) -> list[int]:
        """The sizes of the result."""
        pairs = zip(self.sizes, self.strides, strict=True)
        if self.is_transposed:
            return [size * stride for size, stride in pairs]
        return [-(-size // stride) for size, stride in pairs]

    @property
    def places(self) -> list[str]:
        """Where tap `u`, `v` of cell `x`, `y` lies in the image."""
        figures = zip(self.strides, self.dilations, self.pads, strict=True)
        return [
            f"({at} + {pad} - {tap}) / {stride}"
            if self.is_transposed
            else f"{stride} * {at} + {dilation} * {tap} - {pad}"
            for (stride, dilation, pad), at, tap in zip(
                figures, "xy", "uv", strict=False
            )
        ]


def draw_convolution(draw: ProgramDrawing) -> list[str]:
    """One or two spatial axes; strides, dilation, groups; channels first or last."""
    rank, batch = draw.one_of([1, 2, 2, 2]), draw.one_of([1, 1, 2, 3])
    kind = draw.one_of(["full"] * 5 + ["depthwise", "transposed", "grouped"])
    channels = draw.one_of([1, 2, 3, 4, 8, 16, 17, 32])
    while True:
        kernels = 1 if kind == "depthwise" else draw.one_of(SIZES)
        windows = _Windows.drawn(draw, rank, is_transposed=kind == "transposed")
        cells = prod(windows.results) * prod(windows.taps)
        if cells * batch * channels * kernels <= MOST_POINTS:
            break
    type = draw.one_of(FLOATS if draw.chance(0.8) else TYPES)
    if kind == "grouped":
        return _grouped(draw, windows, (batch, channels, kernels), type)
    is_first = draw.chance(0.4)

    def image(n: Any, channel: Any, spatial: Sequence[Any]) -> list[Any]:
        return [n, channel, *spatial] if is_first else [n, *spatial, channel]

    at, tap = "xy"[:rank], "uv"[:rank]
    i = draw.operand(image(batch, channels, windows.sizes), type)
    shape, access = [*windows.taps, channels, kernels], [*tap, "c", "o"]
    if kind == "depthwise":
        shape, access = shape[:-1], access[:-1]
    elif draw.chance(0.3):
        shape, access = shape[-1:] + shape[-2:-1] + shape[:-2], ["o", "c", *tap]
    k = draw.given(shape, type)
    if draw.chance(0.05):
        draw.spoil(k, np.inf)
    read = f"{i}[{', '.join(image('n', 'c', windows.places))}]"
    right = f"{read} * {k}[{', '.join(access)}]"
    own, count = ("c", channels) if kind == "depthwise" else ("o", kernels)
    result = image(batch, count, windows.results)
    return draw.finished(draw.contract("+", image("n", own, at), result, right))


def _grouped(
    draw: ProgramDrawing, windows: _Windows, counts: tuple[int, int, int], type: str
) -> list[str]:
    batch, channels, kernels = counts
    groups, rank = draw.one_of([2, 3]), len(windows.sizes)
    at, tap = "xy"[:rank], "uv"[:rank]
    i = draw.given([batch, *windows.sizes, groups, channels], type)
    k = draw.given([*windows.taps, groups, channels, kernels], type)
    places = ", ".join(windows.places)
    right = f"{i}[n, {places}, g, c] * {k}[{', '.join(tap)}, g, c, o]"
    shape = [batch, *windows.results, groups, kernels]
    return draw.finished(draw.contract("+", ["n", *at, "g", "o"], shape, right))


def draw_pool(draw: ProgramDrawing) -> list[str]:
    batch, channels = draw.one_of([1, 2, 3]), draw.one_of(SIZES)
    sizes = draw.sizes(2, MOST_CELLS // (batch * channels))
    taps = [draw.one_of([1, 2, 3, 5]) for _ in sizes]
    stride = [draw.one_of([1, 2, 3]) for _ in sizes]
    out = [max(n // s, 1) for n, s in zip(sizes, stride, strict=True)]
    first, type = draw.chance(0.5), draw.one_of(TYPES)
    shape = [batch, channels, *sizes] if first else [batch, *sizes, channels]
    x = draw.given(shape, type)
    pad = draw.one_of([0, 1])
    places = [
        f"{s} * {at} + {tap} - {pad}"
        for s, at, tap in zip(stride, "xy", "uv", strict=True)
    ]
    read = ["n", "c", *places] if first else ["n", *places, "c"]
    cells = ["n", "c", "x", "y"] if first else ["n", "x", "y", "c"]
    result = [batch, channels, *out] if first else [batch, *out, channels]
    behind = f", u < {taps[0]}, v < {taps[1]}"
    right = f"{x}[{', '.join(read)}]"
    return [draw.contract(draw.one_of("+>><"), cells, result, right, behind)]


def draw_attention(draw: ProgramDrawing) -> list[str]:
    heads = draw.sizes(draw.one_of([0, 1, 1, 2]), 8)
    while True:
        rows, keys = draw.size(), draw.size()
        depth, width = draw.one_of([1, 4, 8, 16, 17, 32, 64]), draw.one_of([8, 16, 17])
        if draw.chance(0.6):
            width = depth
        if prod(heads) * rows * keys * (depth + width) <= 2 * MOST_POINTS:
            break
    type = draw.one_of(["f32"] * 4 + ["f16", "bf16", "f64"])
    q = draw.given((*heads, rows, depth), type)
    k = draw.given((*heads, keys, depth), type)
    v = draw.given((*heads, keys, width), type)
    h = LETTERS[: len(heads)]
    before = "".join(f"{x}, " for x in h)
    scores = draw.contract(
        "+",
        [*h, "q", "r"],
        (*heads, rows, keys),
        f"{q}[{before}q, d] * {k}[{before}r, d]",
    )
    shape = draw.shapes[scores]
    scores = draw.let(f"{scores} * 0.25", shape)
    scores = _masked(draw, scores)
    if draw.chance(0.1):
        for name, bad in ((q, np.nan), (k, np.inf), (v, np.nan), (v, np.inf)):
            if draw.chance(0.3):
                draw.spoil(name, bad)
    axis = [len(shape) - 1]
    if draw.chance(0.85):
        e = draw.let(f"exp({scores} - {draw.reduced('>', scores, axis)})", shape)
    else:
        e = draw.let(f"exp({scores} * 0.1)", shape)
    total = draw.reduced("+", e, axis)
    late = draw.chance(0.3)
    weights = e if late else draw.let(f"{e} / {total}", shape)
    x = draw.contract(
        "+",
        [*h, "q", "d"],
        (*heads, rows, width),
        f"{weights}[{before}q, r] * {v}[{before}r, d]",
    )
    return [draw.let(f"{x} / {total}", draw.shapes[x])] if late else [x]


def _masked(draw: ProgramDrawing, scores: str) -> str:
    """Scores of which some keys are left out, for all heads or rows alike, or none."""
    shape = draw.shapes[scores]
    *heads, rows, keys = shape
    match draw.one_of(["none", "none", "added", "causal", "chosen", "rows"]):
        case "added":
            mask = draw.given((rows, keys))
            draw.inputs[mask][draw.arrays.uniform(size=(rows, keys)) < 0.3] = -np.inf
            return draw.let(f"{scores} + {mask}", shape)
        case "causal":
            rank = len(shape)
            row, column = f"index({scores}, {rank - 2})", f"index({scores}, {rank - 1})"
            low = draw.one_of(["-1000.0", "(0 - 1.0 / 0.0)"])
            return draw.let(f"{column} <= {row} ? {scores} : {low}", shape)
        case "chosen":
            mask = draw.given((rows, keys), "si32", below=2)
            return draw.let(f"{mask} == 1 ? {scores} : -1000.0", shape)
        case "rows":
            return draw.let(f"{scores} + {draw.given((*heads, 1, keys))}", shape)
        case _:
            return scores

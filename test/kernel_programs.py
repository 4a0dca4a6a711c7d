"""Random programs of every family that has kernels of its own on lanes.

Products, convolutions, pools, functions of elements, aggregations, rows, attention,
running aggregations, transpositions and special operations, each with any number and
order of axes, of any type, and the gradients of some. Sizes are large enough that
blocks are tiled, staged and cut, and small enough for interpreters.

Numbers are small integers where that makes results exact; some are infinite or NaN.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from gradients import Array
from training_steps import Step, hash_of

import gingham
from gingham.runtime.arguments import dtype_named
from gingham.targets.hardware import HARDWARE_NAMES, load_hardware

_LETTERS = "ijklmnopqrstuvwxyzabcdefgh"
_SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127)
_LONG = (128, 130, 192, 200, 255, 256, 257, 333, 512, 777, 1000, 1024, 2049, 4096, 5000)
_MOST_POINTS = 1 << 22
"""Of one contraction."""
_MOST_CELLS = 1 << 18
"""Of one tensor."""
_FLOATS = ("f32",) * 8 + ("f16", "bf16", "f64")
_TYPES = (*_FLOATS, *("si8", "ui8", "si16", "si32", "si32", "si64", "ui32"))


class _Drawing:
    """Draws a program: its inputs, its statements and what it returns."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.arrays = np.random.default_rng(hash_of(seed))
        self.inputs: dict[str, Array] = {}
        self.lines: list[str] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.names = 0
        self.is_whole = self.random.random() < 0.6

    # Choices.

    def one_of(self, options: Sequence[Any]) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def size(self) -> int:
        if self.chance(0.003):
            return 0
        return self.one_of(_SIZES if self.chance(0.7) else _LONG)

    def sizes(self, count: int, most: int = _MOST_CELLS) -> tuple[int, ...]:
        """Of so many axes, with at most so many cells."""
        while True:
            found = tuple(self.size() for _ in range(count))
            if prod(found) <= most:
                return found

    def shuffled(self, items: Sequence[Any]) -> list[Any]:
        return self.random.sample(list(items), len(items))

    def operand(self, shape: Sequence[int], type: str) -> str:
        """An input, or a function of the elements of one."""
        x = self.given(shape, type)
        if self.chance(0.85):
            return x
        return self.let(self.one_of(["{0} * 2", "{0} < 0 ? 0 : {0}"]).format(x), shape)

    # What programs are written with.

    def given(self, shape: Sequence[int], type: str = "f32", below: int = 0) -> str:
        """An input of small integers or normal numbers; of integers up to `below`."""
        name = f"A{len(self.inputs)}"
        dtype = dtype_named(type)
        if below:
            values: Any = self.arrays.integers(0, below, shape)
        elif type[0] in "su":
            low = -4 if type[0] == "s" else 0
            values = self.arrays.integers(low, 5, shape)
        elif self.is_whole:
            values = self.arrays.integers(-3, 4, shape)
        else:
            values = self.arrays.normal(size=shape)
        self.inputs[name] = np.asarray(values).astype(dtype)
        self.shapes[name] = tuple(shape)
        return name

    def name(self, shape: Sequence[int]) -> str:
        self.names += 1
        name = f"V{self.names}"
        self.shapes[name] = tuple(shape)
        return name

    def let(self, text: str, shape: Sequence[int]) -> str:
        name = self.name(shape)
        self.lines.append(f"{name} = {text};")
        return name

    def contract(
        self,
        aggregation: str,
        cells: Sequence[str],
        shape: Sequence[int],
        right: str,
        behind: str = "",
    ) -> str:
        name = self.name(shape)
        access = ", ".join(cells) + " : " + ", ".join(map(str, shape)) if shape else ""
        self.lines.append(f"{name}[{access}] = {aggregation}({right}){behind};")
        return name

    def reduced(self, aggregation: str, x: str, axes: Sequence[int]) -> str:
        """Over some axes, of which one cell is left."""
        shape = self.shapes[x]
        letters = _LETTERS[: len(shape)]
        cells = ["0" if n in axes else letters[n] for n in range(len(shape))]
        left = [1 if n in axes else size for n, size in enumerate(shape)]
        return self.contract(aggregation, cells, left, f"{x}[{', '.join(letters)}]")

    def finished(self, x: str) -> list[str]:
        """What comes of a function of elements of the results, or nothing more."""
        shape = self.shapes[x]
        kind = self.one_of(["none", "none", "bias", "relu", "residual", "both", "two"])
        if kind == "none":
            return [x]
        bias = [s if self.chance(0.5) else 1 for s in shape] if shape else []
        added = self.given(bias, "f32")
        other = self.given(shape, "f32")
        text = {
            "bias": f"{x} + {added}",
            "relu": f"({x} < 0 ? 0 : {x})",
            "residual": f"{x} * 0.5 + {other}",
            "both": f"abs({x} + {added}) - {other}",
            "two": f"{x} * 2",
        }[kind]
        y = self.let(text, shape)
        return [x, y] if kind == "two" else [y]

    def text(self, outputs: Sequence[str]) -> str:
        declared = ", ".join(
            f"{name}[{', '.join(f'{name}_{n}' for n in range(array.ndim))}]"
            for name, array in self.inputs.items()
        )
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"function ({declared}) -> ({', '.join(outputs)}) {{\n{body}}}\n"

    def differentiated(self, outputs: Sequence[str]) -> list[str]:
        """The gradients of a sum of products of a result, by some floating inputs."""
        x = outputs[-1]
        letters = ", ".join(_LETTERS[: len(self.shapes[x])])
        weights = self.given(self.shapes[x])
        product = f"{x}[{letters}] * {weights}[{letters}]" if letters else x
        if letters:
            loss = self.contract("+", [], [], product)
        else:
            loss = self.let(f"{x} * 1", ())
        by = [n for n, a in self.inputs.items() if a.dtype == np.float32]
        by = self.random.sample(by, min(len(by), 2))
        return [self.let(f"gradient({loss}, {n})", self.shapes[n]) for n in by]


# Families: each draws statements and says what is returned.


def _product(draw: _Drawing) -> list[str]:
    """Two operands over batches, rows, columns and sums of any number of indices."""
    type = draw.one_of(_TYPES)
    counts = [draw.one_of([0, 0, 0, 1, 2]), draw.one_of([0, 1, 1, 1, 2])]
    counts += [draw.one_of([0, 1, 1, 1, 2]), draw.one_of([1, 1, 1, 2])]
    while True:
        sizes = [draw.sizes(count) for count in counts]
        if prod(map(prod, sizes)) <= _MOST_POINTS:
            break
    letters = iter(_LETTERS)
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
    if draw.chance(0.2) and shape and prod(shape) * 33 <= _MOST_POINTS:
        x = _times_matrix(draw, x, type)
    return draw.finished(x)


def _access(name: str, indices: Sequence[tuple[str, int]]) -> str:
    return f"{name}[{', '.join(n for n, _ in indices)}]"


def _times_matrix(draw: _Drawing, x: str, type: str) -> str:
    """A further product behind a function of elements, over the last axis."""
    shape = draw.shapes[x]
    x = draw.let(f"{x} < 1 ? {x} : 1", shape)
    width = draw.one_of([1, 3, 8, 17, 32, 33])
    w = draw.given((shape[-1], width), type)
    letters = ", ".join(_LETTERS[: len(shape) - 1])
    before = f"{letters}, " if letters else ""
    cells = [*_LETTERS[: len(shape) - 1], "z"]
    right = f"{x}[{before}y] * {w}[y, z]"
    return draw.contract("+", cells, (*shape[:-1], width), right)


def _convolution(draw: _Drawing) -> list[str]:
    """One or two spatial axes; strides, dilation, groups; channels first or last."""
    rank = draw.one_of([1, 2, 2, 2])
    channels, kernels = draw.one_of([1, 2, 3, 4, 8, 16, 17, 32]), draw.one_of(_SIZES)
    batch = draw.one_of([1, 1, 2, 3])
    kind = draw.one_of(["full"] * 5 + ["depthwise", "transposed", "grouped"])
    while True:
        sizes = [draw.one_of(_SIZES) for _ in range(rank)]
        taps = [draw.one_of([1, 2, 3, 3, 3, 5, 7]) for _ in range(rank)]
        stride = [draw.one_of([1, 1, 1, 2, 3]) for _ in range(rank)]
        dilation = [draw.one_of([1, 1, 1, 2]) for _ in range(rank)]
        if kind == "transposed":
            out, dilation = [n * s for n, s in zip(sizes, stride)], [1] * rank
        else:
            out = [-(-n // s) for n, s in zip(sizes, stride)]
        points = prod(out) * prod(taps) * batch * channels
        points *= 1 if kind == "depthwise" else kernels
        if points <= _MOST_POINTS:
            break
        kernels = draw.one_of(_SIZES)
    type = draw.one_of(_FLOATS if draw.chance(0.8) else _TYPES)
    pad = [draw.one_of([0, t // 2, t // 2, t - 1]) for t in taps]
    at, tap = "xy"[:rank], "uv"[:rank]
    places: list[str] = []
    for n in range(rank):
        if kind == "transposed":
            places.append(f"({at[n]} + {pad[n]} - {tap[n]}) / {stride[n]}")
            continue
        place = f"{stride[n]} * {at[n]} + {dilation[n]} * {tap[n]} - {pad[n]}"
        places.append(place)
    first = draw.chance(0.4)

    def image(channel: str, spatial: Sequence[Any], n: Any = "n") -> list[Any]:
        return [n, channel, *spatial] if first else [n, *spatial, channel]

    groups = draw.one_of([2, 3]) if kind == "grouped" else 1
    if groups > 1:
        i = draw.given([batch, *sizes, groups, channels], type)
        k = draw.given([*taps, groups, channels, kernels], type)
        right = f"{i}[n, {', '.join(places)}, g, c] * {k}[{', '.join(tap)}, g, c, o]"
        cells, shape = ["n", *at, "g", "o"], [batch, *out, groups, kernels]
        return draw.finished(draw.contract("+", cells, shape, right))
    i = draw.operand(image(channels, sizes, batch), type)
    if kind == "depthwise":
        k = draw.given([*taps, channels], type)
        kernel, channel, last = f"{k}[{', '.join(tap)}, c]", "c", channels
    elif draw.chance(0.7):
        k = draw.given([*taps, channels, kernels], type)
        kernel, channel, last = f"{k}[{', '.join(tap)}, c, o]", "o", kernels
    else:
        k = draw.given([kernels, channels, *taps], type)
        kernel, channel, last = f"{k}[o, c, {', '.join(tap)}]", "o", kernels
    if draw.chance(0.05) and draw.inputs[k].dtype.kind == "f" and draw.inputs[k].size:
        draw.inputs[k].flat[draw.random.randrange(draw.inputs[k].size)] = np.inf
    right = f"{i}[{', '.join(image('c', places))}] * {kernel}"
    cells, shape = image(channel, at), image(last, out, batch)
    return draw.finished(draw.contract("+", cells, shape, right))


def _pool(draw: _Drawing) -> list[str]:
    batch, channels = draw.one_of([1, 2, 3]), draw.one_of(_SIZES)
    sizes = draw.sizes(2, _MOST_CELLS // (batch * channels))
    taps = [draw.one_of([1, 2, 3, 5]) for _ in sizes]
    stride = [draw.one_of([1, 2, 3]) for _ in sizes]
    out = [max(n // s, 1) for n, s in zip(sizes, stride)]
    first, type = draw.chance(0.5), draw.one_of(_TYPES)
    shape = [batch, channels, *sizes] if first else [batch, *sizes, channels]
    x = draw.given(shape, type)
    pad = draw.one_of([0, 1])
    places = [
        f"{s} * {at} + {tap} - {pad}" for s, at, tap in zip(stride, "xy", "uv")
    ]
    read = ["n", "c", *places] if first else ["n", *places, "c"]
    cells = ["n", "c", "x", "y"] if first else ["n", "x", "y", "c"]
    result = [batch, channels, *out] if first else [batch, *out, channels]
    behind = f", u < {taps[0]}, v < {taps[1]}"
    right = f"{x}[{', '.join(read)}]"
    return [draw.contract(draw.one_of("+>><"), cells, result, right, behind)]


def _elements(draw: _Drawing) -> list[str]:
    rank = draw.one_of([1, 1, 2, 2, 3, 4, 5])
    shape = draw.sizes(rank, _MOST_CELLS)
    names = []
    for _ in range(draw.one_of([1, 2, 3, 4])):
        own = [s if draw.chance(0.7) else 1 for s in shape]
        own = own[draw.one_of([0, 0, 0, 1]) :] if rank > 1 else own
        names.append(draw.given(own, draw.one_of(_TYPES)))
    results = []
    for _ in range(draw.one_of([1, 1, 2, 3])):
        one, two = draw.one_of(names), draw.one_of(names)
        template = draw.one_of(
            [
                "{0} + {1} * 2",
                "{0} * {1}",
                "{0} < {1} ? {0} : {1}",
                "exp(as_float({0}, 32) * 0.1) + {1}",
                "tanh(as_float({0}, 32)) * as_float({1}, 32)",
                "as_int({0}, 32) - as_int({1}, 32)",
                "{0} == {1}",
                "abs(as_float({0}, 32)) / (abs(as_float({1}, 32)) + 1)",
            ]
        )
        own = np.broadcast_shapes(draw.shapes[one], draw.shapes[two])
        names.append(draw.let(template.format(one, two), own))
        results.append(names[-1])
    return results[-2:]


def _aggregation(draw: _Drawing) -> list[str]:
    rank = draw.one_of([1, 1, 2, 2, 2, 3, 3, 4])
    shape = _long_shape(draw, rank)
    type = draw.one_of(_TYPES)
    x = draw.given(shape, type)
    if draw.chance(0.3):
        x = draw.let(f"{x} * {x} + 1", shape)
    axes = draw.random.sample(range(rank), draw.random.randint(1, rank))
    aggregation = draw.one_of("+++>><<")
    if prod(shape[a] for a in axes) < 12 and draw.chance(0.3):
        aggregation = "*"
    if draw.chance(0.3):
        return draw.finished(draw.reduced(aggregation, x, axes))
    letters = _LETTERS[:rank]
    kept = draw.shuffled([n for n in range(rank) if n not in axes])
    cells, left = [letters[n] for n in kept], [shape[n] for n in kept]
    right = f"{x}[{', '.join(letters)}]"
    found = [draw.contract(aggregation, cells, left, right)]
    if draw.chance(0.3):
        other = draw.one_of("+><")
        found.append(draw.contract(other, cells, left, f"{x}[{', '.join(letters)}]"))
    return found


def _long_shape(draw: _Drawing, rank: int) -> tuple[int, ...]:
    """Short or long rows, few or many of them."""
    if draw.chance(0.3):
        long = draw.one_of([1000, 4096, 5000, 10000, 33333, 65536])
        shape = [draw.one_of([1, 1, 2, 3, 5, 7]) for _ in range(rank)]
        shape[draw.random.randrange(rank)] = long
        if prod(shape) <= 2 * _MOST_CELLS:
            return tuple(shape)
    return draw.sizes(rank, 2 * _MOST_CELLS)


def _rows(draw: _Drawing) -> list[str]:
    """Softmax, norms and the like over any axes."""
    rank = draw.one_of([1, 2, 2, 2, 3, 4])
    shape = _long_shape(draw, rank)
    x = draw.given(shape, draw.one_of(_FLOATS))
    if draw.chance(0.2):
        x = draw.let(f"{x} * 0.5 + {draw.given([shape[-1]])}", shape)
    elif draw.chance(0.1):
        array = draw.inputs[x]
        array.flat[:: draw.one_of([7, 50, 333])] = draw.one_of([-np.inf, np.nan])
    count = draw.one_of([1] * 4 + [min(2, rank)])
    axes = draw.random.sample(range(rank), count)
    if draw.chance(0.5):
        axes = list(range(rank - count, rank))
    number = prod(shape[a] for a in axes)
    kind = draw.one_of(["softmax", "log", "norm", "rms", "place", "spread", "unit"])
    if kind in ("softmax", "log"):
        top = draw.reduced(">", x, axes)
        shifted = draw.let(f"{x} - {top}", shape)
        e = draw.let(f"exp({shifted})", shape)
        total = draw.reduced("+", e, axes)
        if kind == "softmax":
            return [draw.let(f"{e} / {total}", shape)]
        return [draw.let(f"{shifted} - log({total})", shape)]
    if kind in ("norm", "spread"):
        mean = draw.let(f"{draw.reduced('+', x, axes)} / {number}", ())
        draw.shapes[mean] = tuple(
            1 if n in axes else s for n, s in enumerate(shape)
        )
        centred = draw.let(f"{x} - {mean}", shape)
        squares = draw.let(f"{centred} * {centred}", shape)
        variance = draw.reduced("+", squares, axes)
        if kind == "spread":
            return [mean, variance]
        gain = draw.given([shape[-1]])
        return [
            draw.let(f"{centred} / sqrt({variance} / {number} + 0.01) * {gain}", shape)
        ]
    if kind == "place":
        axis = axes[0]
        top = draw.reduced(draw.one_of("><"), x, [axis])
        size = shape[axis]
        where = f"{x} == {top} ? index({x}, {axis}) : {size}"
        return [draw.reduced("<", draw.let(where, shape), [axis])]
    if kind == "unit":
        least, most = draw.reduced("<", x, axes), draw.reduced(">", x, axes)
        return [draw.let(f"({x} - {least}) / ({most} - {least} + 0.5)", shape)]
    squares = draw.reduced("+", draw.let(f"{x} * {x}", shape), axes)
    return [draw.let(f"{x} / sqrt({squares} / {number} + 0.01)", shape)]


def _attention(draw: _Drawing) -> list[str]:
    heads = draw.sizes(draw.one_of([0, 1, 1, 2]), 8)
    while True:
        rows, keys = draw.size(), draw.size()
        depth, width = draw.one_of([1, 4, 8, 16, 17, 32, 64]), draw.one_of([8, 16, 17])
        if draw.chance(0.6):
            width = depth
        if prod(heads) * rows * keys * (depth + width) <= 2 * _MOST_POINTS:
            break
    type = draw.one_of(["f32"] * 4 + ["f16", "bf16", "f64"])
    q = draw.given((*heads, rows, depth), type)
    k = draw.given((*heads, keys, depth), type)
    v = draw.given((*heads, keys, width), type)
    h = _LETTERS[: len(heads)]
    before = "".join(f"{x}, " for x in h)
    scores = draw.contract(
        "+",
        [*h, "q", "r"],
        (*heads, rows, keys),
        f"{q}[{before}q, d] * {k}[{before}r, d]",
    )
    shape = draw.shapes[scores]
    scores = draw.let(f"{scores} * 0.25", shape)
    kind = draw.one_of(["none", "none", "added", "causal", "chosen", "rows"])
    if kind == "added":
        mask = draw.given((rows, keys))
        draw.inputs[mask][draw.arrays.uniform(size=(rows, keys)) < 0.3] = -np.inf
        scores = draw.let(f"{scores} + {mask}", shape)
    elif kind == "causal":
        row, column = f"index({scores}, {len(h)})", f"index({scores}, {len(h) + 1})"
        low = draw.one_of(["-1000.0", "(0 - 1.0 / 0.0)"])
        scores = draw.let(f"{column} <= {row} ? {scores} : {low}", shape)
    elif kind == "chosen":
        mask = draw.given((rows, keys), "si32", below=2)
        scores = draw.let(f"{mask} == 1 ? {scores} : -1000.0", shape)
    elif kind == "rows":
        mask = draw.given((*heads, 1, keys))
        scores = draw.let(f"{scores} + {mask}", shape)
    if draw.chance(0.1):
        for name, bad in ((q, np.nan), (k, np.inf), (v, np.nan), (v, np.inf)):
            if draw.chance(0.3) and draw.inputs[name].size:
                array = draw.inputs[name]
                array.flat[draw.random.randrange(array.size)] = bad
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


def _scan(draw: _Drawing) -> list[str]:
    rank = draw.one_of([1, 1, 2, 2, 3])
    shape = _long_shape(draw, rank)
    axis = draw.random.randrange(rank)
    while prod(shape) * shape[axis] > 1 << 26:
        shape = tuple(max(s // 2, 1) for s in shape)
    x = draw.given(shape, draw.one_of(_TYPES))
    if draw.chance(0.3):
        x = draw.let(f"{x} + 1", shape)
    letters, size = list(_LETTERS[:rank]), shape[axis]
    read = [*letters[:axis], "z", *letters[axis + 1 :]]
    i = letters[axis]
    constraint = draw.one_of(
        [
            f"{i} - z < {size}",
            f"{i} - z < {size}",
            f"z - {i} < {size}",
            f"{i} - z - 1 < {size}",
            f"z - {i} - 1 < {size}",
            f"{i} - z < {draw.one_of([2, 5, 33])}",
        ]
    )
    right, aggregation = f"{x}[{', '.join(read)}]", draw.one_of("+++><")
    y = draw.contract(aggregation, letters, shape, right, f", {constraint}")
    if draw.chance(0.3):
        return [draw.let(f"{y} * 2 + {x}", shape)]
    return [y]


def _turned(draw: _Drawing) -> list[str]:
    """Transpositions, slices, paddings and concatenations."""
    rank = draw.one_of([2, 2, 3, 4, 5])
    shape = draw.sizes(rank, 2 * _MOST_CELLS)
    x, letters = draw.given(shape, draw.one_of(_TYPES)), _LETTERS[:rank]
    order = draw.shuffled(range(rank))
    cells, result = [letters[n] for n in order], [shape[n] for n in order]
    kind = draw.one_of(["plain", "plain", "function", "slice", "pad", "joined", "flip"])
    read = list(letters)
    if kind == "function":
        x = draw.let(f"{x} * 2 + 1", shape)
    elif kind == "slice":
        n = draw.random.randrange(rank)
        step = draw.one_of([2, 3])
        read[n] = f"{step} * {letters[n]}"
        result[order.index(n)] = -(-shape[n] // step)
    elif kind == "pad":
        n = draw.random.randrange(rank)
        read[n] = f"{letters[n]} - {draw.one_of([1, 2])}"
        result[order.index(n)] = shape[n] + 3
    elif kind == "flip":
        n = draw.random.randrange(rank)
        read[n] = f"{shape[n] - 1} - {letters[n]}"
    y = draw.contract("=", cells, result, f"{x}[{', '.join(read)}]")
    if kind != "joined":
        if draw.chance(0.3):
            return [draw.let(f"{y} + {draw.given(result)}", result)]
        return [y]
    n = order.index(draw.random.randrange(rank))
    other = draw.given(result)
    wide = [s * 2 if m == n else s for m, s in enumerate(result)]
    moved = [f"{c} + {result[n]}" if m == n else c for m, c in enumerate(cells)]
    upper = draw.contract("=", cells, wide, f"{y}[{', '.join(cells)}]")
    right = f"{other}[{', '.join(cells)}]"
    return [draw.contract("=", moved, wide, right, f" default {upper}")]


def _special(draw: _Drawing) -> list[str]:
    kind = draw.one_of(["gather", "gather", "scatter", "scatter", "sort", "prng"])
    shape = draw.sizes(draw.one_of([1, 2, 2, 3]), 1 << 14)
    if kind == "prng":
        state = draw.given((3, draw.one_of([1, 5, 64, 300])), "ui32", below=1 << 32)
        p = draw.let(f"prng_step({state}, {', '.join(map(str, shape))})", shape)
        return [
            draw.let(f"prng_value({p}) * 2 - 1", shape),
            draw.let(f"prng_state({p})", ()),
        ]
    axis = draw.random.randrange(len(shape))
    if kind == "sort":
        x = draw.given(shape, draw.one_of(_TYPES))
        order = draw.one_of(["ascending", "descending"])
        return [draw.let(f"argsort({x}, {axis}, order={order})", shape)]
    room = max(_MOST_CELLS * max(shape[axis], 1) // max(prod(shape), 1), 1)
    chosen = draw.sizes(draw.one_of([1, 1, 2]), min(room, 1 << 10))
    if kind == "gather":
        x = draw.given(shape, draw.one_of(_TYPES))
        places = draw.given(chosen, "si32", below=shape[axis] + 1)
        option = draw.one_of(["", ", out_of_bounds=zero"])
        if option == "":
            draw.inputs[places] %= shape[axis]
        result = (*shape[:axis], *chosen, *shape[axis + 1 :])
        y = draw.let(f"gather({x}, {places}, axis={axis}{option})", result)
        return [draw.let(f"{y} + 1", result)] if draw.chance(0.5) else [y]
    rest = shape[1:] if prod(shape[1:]) * prod(chosen) <= _MOST_CELLS else ()
    shape = (shape[0], *rest)
    updates = draw.given((*chosen, *rest), draw.one_of(["f32", "f32", "si32", "f64"]))
    places = draw.given(chosen, "si32", below=shape[0])
    base = draw.given(shape, str_of(draw.inputs[updates]))
    mode = draw.one_of(["", "", ", mode=update_slice"])
    return [draw.let(f"scatter({updates}, {places}, {base}{mode})", shape)]


def str_of(array: Array) -> str:
    """The element type of an array, as programs spell it."""
    return {"float32": "f32", "float64": "f64", "int32": "si32"}[array.dtype.name]


_FAMILIES: dict[str, Callable[[_Drawing], list[str]]] = {
    "product": _product,
    "convolution": _convolution,
    "pool": _pool,
    "elements": _elements,
    "aggregation": _aggregation,
    "rows": _rows,
    "attention": _attention,
    "scan": _scan,
    "turned": _turned,
    "special": _special,
}
FAMILIES = (*_FAMILIES,)
_DIFFERENTIABLE = ("product", "convolution", "rows", "attention", "scan", "turned")
_GRADIENTS = 0.12


def kernel_program(seed: str) -> Step:
    """The program of a seed: the same for the same text."""
    chooser = random.Random(f"{seed} family")
    family = chooser.choice(FAMILIES)
    draw = _Drawing(seed)
    outputs = _FAMILIES[family](draw)
    types = {array.dtype for array in draw.inputs.values()}
    if family in _DIFFERENTIABLE and types == {np.dtype("float32")}:
        if chooser.random() < _GRADIENTS:
            outputs = draw.differentiated(outputs)
    text = draw.text(list(dict.fromkeys(outputs)))
    return Step(draw.inputs, text, lambda: gingham.compile(text))


GPUS = tuple(
    name for name in HARDWARE_NAMES if not load_hardware(name).has_vectors
)
"""The descriptions of devices with lanes."""

_FIGURES: Sequence[tuple[str, Sequence[Any]]] = (
    ("parallel.group.count", (2, 8, 64)),
    ("parallel.group.memory_bytes", (1024, 4096, 16384)),
    ("parallel.group.item_limit", (32, 64, 96, 128)),
    ("parallel.subgroup.count", (1, 2, 4)),
    ("parallel.lane.count", (4, 8, 16, 64)),
    ("parallel.lane.registers", (16, 32, 64)),
    ("parallel.lane.access_bits", (32, 64)),
    ("launch_microseconds", (0.1,)),
    ("lanes.array_memory_bytes", (1,)),
    ("lanes.core_memory_bytes", (8192,)),
    ("memory_gigabytes_per_second", (10, 100)),
    ("lanes.barrier_cycles", (1, 300)),
)


def drawn_gpu(seed: str) -> str:
    """A description of a GPU, often with other figures, which make rare ways likely."""
    chooser = random.Random(f"{seed} hardware")
    name = chooser.choice(GPUS)
    if chooser.random() < 0.4:
        return name
    figures = chooser.sample(_FIGURES, chooser.randint(1, 4))
    changes = [f"{figure}={chooser.choice(values)}" for figure, values in figures]
    return f"{name}:{','.join(changes)}"

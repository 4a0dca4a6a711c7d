"""Random programs of elements, rows, running aggregations and special operations."""

from __future__ import annotations

from math import prod

import numpy as np
from drawn_programs import (
    FLOATS,
    LETTERS,
    MOST_CELLS,
    TYPES,
    ProgramDrawing,
    long_shape,
)
from gradients import Array


def draw_elements(draw: ProgramDrawing) -> list[str]:
    rank = draw.one_of([1, 1, 2, 2, 3, 4, 5])
    shape = draw.sizes(rank, MOST_CELLS)
    names: list[str] = []
    for _ in range(draw.one_of([1, 2, 3, 4])):
        own = [s if draw.chance(0.7) else 1 for s in shape]
        own = own[draw.one_of([0, 0, 0, 1]) :] if rank > 1 else own
        names.append(draw.given(own, draw.one_of(TYPES)))
    results: list[str] = []
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


def draw_aggregation(draw: ProgramDrawing) -> list[str]:
    rank = draw.one_of([1, 1, 2, 2, 2, 3, 3, 4])
    shape = long_shape(draw, rank)
    type = draw.one_of(TYPES)
    x = draw.given(shape, type)
    if draw.chance(0.3):
        x = draw.let(f"{x} * {x} + 1", shape)
    axes = draw.random.sample(range(rank), draw.random.randint(1, rank))
    aggregation = draw.one_of("+++>><<")
    if prod(shape[a] for a in axes) < 12 and draw.chance(0.3):
        aggregation = "*"
    if draw.chance(0.3):
        return draw.finished(draw.reduced(aggregation, x, axes))
    letters = LETTERS[:rank]
    kept = draw.shuffled([n for n in range(rank) if n not in axes])
    cells, left = [letters[n] for n in kept], [shape[n] for n in kept]
    right = f"{x}[{', '.join(letters)}]"
    found = [draw.contract(aggregation, cells, left, right)]
    if draw.chance(0.3):
        other = draw.one_of("+><")
        found.append(draw.contract(other, cells, left, f"{x}[{', '.join(letters)}]"))
    return found


def draw_rows(draw: ProgramDrawing) -> list[str]:
    """Softmax, norms and the like over any axes."""
    rank = draw.one_of([1, 2, 2, 2, 3, 4])
    shape = long_shape(draw, rank)
    x = draw.given(shape, draw.one_of(FLOATS))
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
        draw.shapes[mean] = tuple(1 if n in axes else s for n, s in enumerate(shape))
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


def draw_scan(draw: ProgramDrawing) -> list[str]:
    rank = draw.one_of([1, 1, 2, 2, 3])
    shape = long_shape(draw, rank)
    axis = draw.random.randrange(rank)
    while prod(shape) * shape[axis] > 1 << 26:
        shape = tuple(max(s // 2, 1) for s in shape)
    x = draw.given(shape, draw.one_of(TYPES))
    if draw.chance(0.3):
        x = draw.let(f"{x} + 1", shape)
    letters, size = list(LETTERS[:rank]), shape[axis]
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


def draw_turned(draw: ProgramDrawing) -> list[str]:
    """Transpositions, slices, paddings and concatenations."""
    rank = draw.one_of([2, 2, 3, 4, 5])
    shape = draw.sizes(rank, 2 * MOST_CELLS)
    x, letters = draw.given(shape, draw.one_of(TYPES)), LETTERS[:rank]
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


def draw_special(draw: ProgramDrawing) -> list[str]:
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
        x = draw.given(shape, draw.one_of(TYPES))
        order = draw.one_of(["ascending", "descending"])
        return [draw.let(f"argsort({x}, {axis}, order={order})", shape)]
    room = max(MOST_CELLS * max(shape[axis], 1) // max(prod(shape), 1), 1)
    chosen = draw.sizes(draw.one_of([1, 1, 2]), min(room, 1 << 10))
    if kind == "gather":
        x = draw.given(shape, draw.one_of(TYPES))
        places = draw.given(chosen, "si32", below=shape[axis] + 1)
        option = draw.one_of(["", ", out_of_bounds=zero"])
        if option == "":
            draw.inputs[places] %= shape[axis]
        result = (*shape[:axis], *chosen, *shape[axis + 1 :])
        y = draw.let(f"gather({x}, {places}, axis={axis}{option})", result)
        return [draw.let(f"{y} + 1", result)] if draw.chance(0.5) else [y]
    rest = shape[1:] if prod(shape[1:]) * prod(chosen) <= MOST_CELLS else ()
    shape = (max(shape[0], 1), *rest)
    updates = draw.given((*chosen, *rest), draw.one_of(["f32", "f32", "si32", "f64"]))
    places = draw.given(chosen, "si32", below=shape[0])
    base = draw.given(shape, _type_of(draw.inputs[updates]))
    mode = draw.one_of(["", "", ", mode=update_slice"])
    return [draw.let(f"scatter({updates}, {places}, {base}{mode})", shape)]


def _type_of(array: Array) -> str:
    """The element type of an array, as programs spell it."""
    return {"float32": "f32", "float64": "f64", "int32": "si32"}[array.dtype.name]

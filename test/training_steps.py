"""Random steps of training: a network, a loss, gradients by weights, and an update.

A program is a list of statements, drawn layer by layer with its inputs, that can be
written as Tile text and as functions of the eDSL. Sizes are those of real layers, with
narrow and odd ones among them, so that blocks are tiled, packed, fused and unrolled.
The models of `differentiable_models` are drawn too, with other sizes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from differentiable_models import MODELS
from gradients import Array

import gingham
from gingham import edsl

BATCHES = (1, 2, 3, 7, 8, 16, 17, 32, 33, 64, 64, 100, 128, 130, 256)
SIZES = (1, 2, 3, 5, 8, 10, 10, 16, 17, 20, 32, 33, 48, 64, 65, 96, 100, 128, 130)
_FUNCTIONS = (
    *("abs", "erf", "exp", "gather", "index", "log", "relu", "reshape", "select"),
    *("sigmoid", "sqrt", "tanh"),
)
_MOST_POINTS = 1 << 22
"""Of one contraction, so that a program takes seconds."""


@dataclass(frozen=True)
class Statement:
    """`name = template` of operands, or a contraction of them.

    A template has `{0}`, `{1}` for operands. In a contraction they are written as
    accesses, `{0}[i, k] * {1}[k, j]`, and `cells` are the accesses of the result.
    """

    name: str
    shape: tuple[int, ...]
    template: str
    operands: tuple[str, ...]
    aggregation: str | None = None
    cells: str = ""

    @property
    def text(self) -> str:
        """The statement in Tile."""
        right = self.template.format(*self.operands)
        if self.aggregation is None:
            return f"{self.name} = {right};"
        sizes = f" : {', '.join(map(str, self.shape))}" if self.shape else ""
        return f"{self.name}[{self.cells}{sizes}] = {self.aggregation}({right});"

    def in_python(self, known: dict[str, Any]) -> None:
        """Put the tensor that the statement computes among those that are known."""
        scope: dict[str, Any] = {name: getattr(edsl, name) for name in _FUNCTIONS}
        scope |= known
        if self.aggregation is None:
            known[self.name] = eval(self.template.format(*self.operands), scope)
            return
        letters = {*re.findall(r"\b[a-z]\b", f"{self.cells} {self.template}")}
        indices = {letter: edsl.TensorIndex(letter) for letter in sorted(letters)}
        functions = {"+": edsl.sum, ">": edsl.max, "=": edsl.assign}
        right = eval(self.template.format(*self.operands), scope | indices)
        output = edsl.TensorOutput(*self.shape)
        cells = eval(f"({self.cells},)" if self.cells else "()", scope | indices)
        output[cells] = functions[self.aggregation](right)
        known[self.name] = output


@dataclass(frozen=True)
class Step:
    """A program of one step, and its inputs."""

    inputs: Mapping[str, Array]
    text: str
    function: Callable[[], gingham.Function]
    """Compiled for the default device, of the text or in Python."""
    is_in_python: bool = False


class _Network:
    """Draws a program statement by statement."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.arrays = np.random.default_rng(abs(hash_of(seed)))
        self.inputs: dict[str, Array] = {}
        self.statements: list[Statement] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.weights: list[str] = []

    # What layers are written with.

    def given(self, prefix: str, array: Array) -> str:
        name = f"{prefix}{len(self.inputs)}"
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        self.inputs[name] = array
        self.shapes[name] = array.shape
        return name

    def normal(self, *shape: int, scale: float = 1.0) -> Array:
        return self.arrays.normal(size=shape) * scale

    def weight(self, *shape: int, scale: float | None = None) -> str:
        own = float(prod(shape[:-1]) ** -0.5) if scale is None else scale
        name = self.given("W", self.normal(*shape, scale=own))
        self.weights.append(name)
        return name

    def add(
        self,
        template: str,
        *operands: str,
        shape: Sequence[int] | None = None,
        aggregation: str | None = None,
        cells: str = "",
    ) -> str:
        if shape is None:
            shape = np.broadcast_shapes(*(self.shapes[each] for each in operands))
        name = f"V{len(self.statements)}"
        self.statements.append(
            Statement(name, tuple(shape), template, operands, aggregation, cells)
        )
        self.shapes[name] = tuple(shape)
        return name

    def reduced(self, x: str, aggregation: str = "+", axis: int = -1) -> str:
        """Over one axis, of which one cell is left."""
        shape = list(self.shapes[x])
        letters = "abcdefg"[: len(shape)]
        axis %= len(shape)
        cells = ["0" if n == axis else c for n, c in enumerate(letters)]
        shape[axis] = 1
        read = "{0}[" + ", ".join(letters) + "]"
        return self.add(
            read, x, shape=shape, aggregation=aggregation, cells=", ".join(cells)
        )

    def total(self, x: str) -> str:
        letters = "abcdefg"[: len(self.shapes[x])]
        read = "{0}[" + ", ".join(letters) + "]"
        return self.add(read, x, shape=(), aggregation="+")

    def one_of(self, options: Sequence[Any]) -> Any:
        return self.random.choice(options)

    # Layers: of a matrix, one row for each example, another one.

    def dense(self, x: str) -> str:
        rows, inner = self.shapes[x]
        sizes = [s for s in SIZES if rows * inner * s <= _MOST_POINTS]
        size = self.one_of(sizes)
        turned = self.random.random() < 0.3
        w = self.weight(size, inner) if turned else self.weight(inner, size)
        read = "{0}[i, k] * {1}[j, k]" if turned else "{0}[i, k] * {1}[k, j]"
        y = self.add(read, x, w, shape=(rows, size), aggregation="+", cells="i, j")
        if self.random.random() < 0.8:
            y = self.add("{0} + {1}", y, self.weight(size, scale=0.1))
        return self.activated(y)

    def activated(self, x: str) -> str:
        templates = (
            "{0}",
            "tanh({0})",
            "relu({0})",
            "sigmoid({0})",
            "{0} * sigmoid({0})",
            "0.5 * {0} * (1.0 + erf({0} * 0.7071067))",
            "select({0} < 0.0, 0.1 * {0}, {0})",
            "log(1.0 + exp(-abs({0}))) + relu({0})",
        )
        return self.add(self.one_of(templates), x)

    def layer_norm(self, x: str) -> str:
        size = self.shapes[x][1]
        mean = self.add(f"{{0}} / {size}.0", self.reduced(x))
        centered = self.add("{0} - {1}", x, mean)
        squares = self.reduced(self.add("{0} * {0}", centered))
        y = self.add(f"{{0}} / sqrt({{1}} / {size}.0 + 0.01)", centered, squares)
        return self.scaled(y)

    def batch_norm(self, x: str) -> str:
        rows = self.shapes[x][0]
        mean = self.add(f"{{0}} / {rows}.0", self.reduced(x, axis=0))
        centered = self.add("{0} - {1}", x, mean)
        squares = self.reduced(self.add("{0} * {0}", centered), axis=0)
        y = self.add(f"{{0}} / sqrt({{1}} / {rows}.0 + 0.01)", centered, squares)
        return self.scaled(y)

    def scaled(self, x: str) -> str:
        size = self.shapes[x][1]
        gain, bias = self.weight(size, scale=1.0), self.weight(size, scale=0.1)
        return self.add("{0} * {1} + {2}", x, gain, bias)

    def unit_norm(self, x: str) -> str:
        squares = self.reduced(self.add("{0} * {0}", x))
        return self.add("{0} / sqrt({1} + 0.001)", x, squares)

    def dropout(self, x: str) -> str:
        mask = self.given("M", self.arrays.uniform(size=self.shapes[x]))
        return self.add("select({1} < 0.3, 0.0 * {0}, {0} / 0.7)", x, mask)

    def softmax(self, x: str) -> str:
        top = self.reduced(x, ">")
        powers = self.add("exp({0} - {1})", x, top)
        return self.add("{0} / {1}", powers, self.reduced(powers))

    def attention(self, x: str) -> str:
        rows, size = self.shapes[x]
        count = self.one_of([s for s in SIZES if rows * size * s <= _MOST_POINTS])
        keys, values = self.weight(count, size), self.weight(count, size)
        read = "{0}[i, k] * {1}[j, k]"
        scores = self.add(
            read, x, keys, shape=(rows, count), aggregation="+", cells="i, j"
        )
        weights = self.softmax(scores)
        read = "{0}[i, k] * {1}[k, j]"
        return self.add(
            read, weights, values, shape=(rows, size), aggregation="+", cells="i, j"
        )

    def gated(self, x: str) -> str:
        """Halves of each row, one as the gate of the other."""
        rows, size = self.shapes[x]
        if size % 2:
            return self.activated(x)
        half = size // 2
        parts = [
            self.add(
                f"{{0}}[i, j + {start}]" if start else "{0}[i, j]",
                x,
                shape=(rows, half),
                aggregation="=",
                cells="i, j",
            )
            for start in (0, half)
        ]
        return self.add("sigmoid({0}) * tanh({1})", *parts)

    def residual(self, x: str) -> str:
        y = self.one_of([self.layer_norm, self.attention, self.dropout])(x)
        return self.add("{0} + {1}", x, y)

    # What networks begin with.

    def features(self) -> str:
        return self.given("X", self.normal(self.one_of(BATCHES), self.one_of(SIZES)))

    def embedding(self) -> str:
        rows, words, size = (
            self.one_of(BATCHES),
            self.one_of((1, 3, 10, 17)),
            self.one_of(SIZES),
        )
        table = self.weight(self.one_of((3, 10, 50, 100, 130)), size, scale=1.0)
        below = self.shapes[table][0]
        chosen = self.arrays.integers(0, below, (rows, words)).astype(np.int32)
        read = self.add(
            "gather({0}, {1})",
            table,
            self.given("I", chosen),
            shape=(rows, words, size),
        )
        return self.add(
            "{0}[i, k, j]", read, shape=(rows, size), aggregation="+", cells="i, j"
        )

    def image(self) -> str:
        """A convolution or two with pooling, as rows."""
        batch, size = self.one_of((1, 2, 3, 8)), self.one_of((5, 8, 10, 14))
        channels = self.one_of((1, 3, 8, 10, 16))
        x = self.given("X", self.normal(batch, size, size, channels))
        for _ in range(self.one_of((1, 1, 2))):
            x = self.convolution(x)
        batch, height, width, channels = self.shapes[x]
        rows = (batch, height * width * channels)
        return self.add(f"reshape({{0}}, {rows[0]}, {rows[1]})", x, shape=rows)

    def convolution(self, x: str) -> str:
        batch, height, width, channels = self.shapes[x]
        width_of_kernel, stride = self.one_of((1, 3, 3, 5)), self.one_of((1, 1, 2))
        kernels = self.one_of((1, 3, 8, 10, 16, 17, 32))
        w = self.weight(width_of_kernel, width_of_kernel, channels, kernels)
        shape = (batch, -(-height // stride), -(-width // stride), kernels)
        before = width_of_kernel // 2
        rows = f"{stride}*x + u - {before}" if before else f"{stride}*x + u"
        columns = rows.replace("x", "y").replace("u", "v")
        read = f"{{0}}[n, {rows}, {columns}, c] * {{1}}[u, v, c, o]"
        y = self.add(read, x, w, shape=shape, aggregation="+", cells="n, x, y, o")
        y = self.add("relu({0} + {1})", y, self.weight(kernels, scale=0.1))
        if min(shape[1:3]) < 4 or self.random.random() < 0.4:
            return y
        # Pooling without constraints: the places of a window are axes of their own.
        half = shape[1] // 2, shape[2] // 2
        split = self.add(
            "{0}[n, 2*x + u, 2*y + v, o]",
            y,
            shape=(batch, half[0], 2, half[1], 2, kernels),
            aggregation="=",
            cells="n, x, u, y, v, o",
        )
        return self.add(
            "{0}[n, x, u, y, v, o]",
            split,
            shape=(batch, *half, kernels),
            aggregation=self.one_of("+>"),
            cells="n, x, y, o",
        )

    # Losses: of a matrix a number.

    def squares(self, x: str) -> str:
        target = self.given("T", self.normal(*self.shapes[x]))
        error = self.add("{0} - {1}", x, target)
        return self.mean(self.add("{0} * {0}", error))

    def huber(self, x: str) -> str:
        target = self.given("T", self.normal(*self.shapes[x]))
        error = self.add("{0} - {1}", x, target)
        small = "select(abs({0}) < 1.0, 0.5 * {0} * {0}, abs({0}) - 0.5)"
        return self.mean(self.add(small, error))

    def cross_entropy(self, x: str) -> str:
        rows, classes = self.shapes[x]
        shifted = x
        if self.random.random() < 0.7:
            shifted = self.add("{0} - {1}", x, self.reduced(x, ">"))
        powers = self.reduced(self.add("exp({0})", shifted))
        logs = self.add("{0} - log({1})", shifted, powers)
        labels = self.arrays.integers(0, classes, rows).astype(np.int32)
        if self.random.random() < 0.5:
            target = self.given("T", np.eye(classes)[labels])
            chosen = self.add("{0} * {1}", logs, target)
        else:
            label = self.given("T", labels.reshape(rows, 1))
            template = "select(index({0}, 1) == {1}, {0}, 0.0)"
            chosen = self.add(template, logs, label, shape=(rows, classes))
        return self.add(f"-{{0}} / {rows}.0", self.total(chosen))

    def probabilities(self, x: str) -> str:
        rows, classes = self.shapes[x]
        labels = np.eye(classes)[self.arrays.integers(0, classes, rows)]
        target = self.given("T", labels)
        p = self.softmax(x)
        return self.mean(self.add("-{1} * log({0} + 0.0001)", p, target))

    def binary(self, x: str) -> str:
        labels = self.arrays.integers(0, 2, self.shapes[x]).astype(np.float32)
        target = self.given("T", labels)
        loss = "relu({0}) - {0} * {1} + log(1.0 + exp(-abs({0})))"
        return self.mean(self.add(loss, x, target))

    def hinge(self, x: str) -> str:
        signs = self.arrays.choice([-1.0, 1.0], self.shapes[x])
        loss = "relu(1.0 - {0} * {1})"
        return self.mean(self.add(loss, x, self.given("T", signs)))

    def cosine(self, x: str) -> str:
        one, other = self.unit_norm(x), self.given("T", self.normal(*self.shapes[x]))
        return self.mean(self.add("{0} * {1}", one, other))

    def mean(self, x: str) -> str:
        return self.add(f"{{0}} / {prod(self.shapes[x])}.0", self.total(x))

    # The whole.

    def draw(self) -> tuple[str, list[str]]:
        """The loss, and the values to differentiate it by."""
        x = self.one_of([self.features] * 4 + [self.image] * 2 + [self.embedding])()
        layers = [self.dense] * 4 + [
            self.layer_norm,
            self.batch_norm,
            self.unit_norm,
            self.dropout,
            self.attention,
            self.gated,
            self.residual,
        ]
        for _ in range(self.one_of((0, 1, 1, 2, 2, 3))):
            x = self.one_of(layers)(x)
        losses = [self.cross_entropy] * 4 + [
            self.squares,
            self.huber,
            self.probabilities,
            self.binary,
            self.hinge,
            self.cosine,
        ]
        loss = self.one_of(losses)(x)
        by = self.random.sample(self.weights, min(len(self.weights), 3))
        return loss, by if by and self.random.random() < 0.7 else [*by, x]

    def update(self, weight: str, gradient: str) -> list[tuple[str, str]]:
        """New names, and what they are: the weight after the step, and its momentum."""
        kind = self.one_of(("none", "descent", "momentum"))
        if kind == "none" or weight not in self.inputs:
            return [(f"N{weight}", f"{gradient} * 1.0")]
        if kind == "descent":
            return [(f"N{weight}", f"{weight} - 0.1 * {gradient}")]
        shape = self.shapes[weight]
        moment = self.given("P", self.normal(*shape, scale=0.1))
        return [
            (f"Q{weight}", f"0.9 * {moment} + {gradient}"),
            (f"N{weight}", f"{weight} - 0.1 * Q{weight}"),
        ]


def hash_of(text: str) -> int:
    """A number that is the same in each process."""
    return random.Random(text).getrandbits(62)


def training_step(seed: str) -> Step:
    """The program of a seed: the same for the same text."""
    chooser = random.Random(f"{seed} kind")
    if chooser.random() < 0.15:
        return _of_model(seed, chooser.choice([*MODELS]))
    network = _Network(seed)
    loss, by = network.draw()
    gradients = {name: f"G{name}" for name in by}
    updates = [
        line for name, g in gradients.items() for line in network.update(name, g)
    ]
    outputs = [loss, *(name for name, _ in updates)]
    declared = ", ".join(
        f"{name}[{', '.join(f'{name}_{n}' for n in range(array.ndim))}]"
        for name, array in network.inputs.items()
    )
    lines = [statement.text for statement in network.statements]
    lines += [f"{g} = gradient({loss}, {name});" for name, g in gradients.items()]
    lines += [f"{name} = {value};" for name, value in updates]
    body = "".join(f"  {line}\n" for line in lines)
    text = f"function ({declared}) -> ({', '.join(outputs)}) {{\n{body}}}\n"
    if chooser.random() < 0.7:
        return Step(network.inputs, text, lambda: gingham.compile(text))

    def in_python() -> gingham.Function:
        known: dict[str, Any] = {
            name: edsl.Placeholder(str(array.dtype), list(array.shape), name)
            for name, array in network.inputs.items()
        }
        given = list(known.values())
        for statement in network.statements:
            statement.in_python(known)
        for name, g in gradients.items():
            known[g] = edsl.gradient(known[loss], known[name])
        for name, value in updates:
            known[name] = eval(value, {}, known)
        results = {name: known[name] for name in outputs}
        return edsl.Program("step", given, results).compile()

    return Step(network.inputs, text, in_python, is_in_python=True)


def _of_model(seed: str, name: str) -> Step:
    """A model of `differentiable_models` with sizes of its own."""
    model, chooser = MODELS[name], random.Random(f"{seed} sizes")
    arrays = np.random.default_rng(hash_of(seed))
    names = sorted(
        {*re.findall(r"\w+", " ".join(re.findall(r"\[(.*?)\]", model.header)))}
    )
    sizes = {each: chooser.choice(SIZES) for each in names}
    if "N" in sizes:
        sizes["N"] = chooser.choice(BATCHES)
    if name == "convolution":
        channels = (1, 3, 8, 16)
        sizes |= {"N": 2, "KH": 3, "KW": 3, "CI": chooser.choice(channels)}
        sizes |= {"H": chooser.choice((9, 14)), "W": chooser.choice((7, 16))}
    if name == "lstm_cell":
        sizes["G"] = 4 * sizes["S"]
    if name == "geometric_mean":
        sizes["M"] = min(sizes["M"], 10)
    inputs: dict[str, Array] = {}
    drawn = model.inputs(arrays)
    shapes = re.findall(r"(\w+)\[(.*?)\]", model.header)
    for (input_name, axes), example in zip(shapes, drawn, strict=True):
        shape = [sizes[axis.strip()] for axis in axes.split(",")]
        if example.dtype == np.int32:
            inputs[input_name] = arrays.integers(0, 5, shape).astype(np.int32)
        elif input_name == "T" and name == "cross_entropy":
            classes = arrays.integers(0, shape[1], shape[0])
            inputs[input_name] = np.eye(shape[1], dtype=np.float32)[classes]
        else:
            scale = shape[0] ** -0.5 if input_name[0] in "WUK" else 0.7
            values = arrays.normal(size=shape) * scale
            if name == "geometric_mean":
                values = arrays.uniform(0.3, 1.7, shape)
            inputs[input_name] = values.astype(np.float32)
    text = model.with_gradients
    return Step(inputs, text, lambda: gingham.compile(text))

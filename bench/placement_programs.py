"""Fifty programs for `bench.placement`: what may be worth several devices, or not.

Random graphs, networks, and one large operation among small ones, with their inputs on
the host, on one of the devices, or here and there. The same number is the same program
everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

PLACES = ("host", "first", "second", "mixed")
"""Where inputs are: on the host, on one device, or each somewhere else."""
Shape = tuple[int, int]
_WIDTHS = (64, 128, 192, 256, 384, 512)


@dataclass(frozen=True)
class Case:
    """A program with the shapes of its inputs, for CPUs and where there is a GPU."""

    name: str
    text: str
    small: tuple[tuple[int, ...], ...]
    large: tuple[tuple[int, ...], ...]
    has_branches: bool = False
    """Whether two devices have to be faster than one."""
    places: str = "host"
    """One of `PLACES`."""


@dataclass
class _Writer:
    """A program that grows: matrices by name with their shapes."""

    inputs: dict[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]]
    )
    lines: list[str] = field(default_factory=list[str])
    shapes: dict[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]]
    )
    used: set[str] = field(default_factory=set[str])

    def input(self, rows: int, columns: int) -> str:
        name = f"I{len(self.inputs)}"
        self.inputs[name] = self.shapes[name] = rows, columns
        return name

    def add(self, shape: Shape, line: str, *used: str) -> str:
        """A statement with `{0}` for its own name and its operands behind it."""
        name = f"T{len(self.lines)}"
        self.lines.append(line.format(name, *used))
        self.shapes[name] = shape
        self.used |= {*used}
        return name

    def product(self, left: str, columns: int) -> str:
        rows, depth = self.shapes[left]
        weights = self.input(depth, columns)
        line = f"{{0}}[i, j : {rows}, {columns}] = +({{1}}[i, k] * {{2}}[k, j]);"
        return self.add((rows, columns), line, left, weights)

    def map(self, value: str, expression: str) -> str:
        return self.add(self.shapes[value], "{0} = " + expression + ";", value)

    def join(self, first: str, second: str) -> str:
        return self.add(self.shapes[first], "{0} = {1} + {2};", first, second)

    def rows(self, value: str, aggregation: str) -> str:
        rows, _ = self.shapes[value]
        line = f"{{0}}[i, 0 : {rows}, 1] = {aggregation}({{1}}[i, k]);"
        return self.add((rows, 1), line, value)

    def softmax(self, value: str) -> str:
        top = self.rows(value, ">")
        shape = self.shapes[value]
        powers = self.add(shape, "{0} = exp({1} - {2});", value, top)
        return self.add(shape, "{0} = {1} / {2};", powers, self.rows(powers, "+"))

    def case(self, name: str, places: str) -> Case:
        results = [n for n in self.shapes if n not in self.used and n[0] == "T"]
        heads = [f"{n}[{n}R, {n}C]" for n in self.inputs]
        body = "\n  ".join(self.lines)
        heading = f"function ({', '.join(heads)}) -> ({', '.join(results)})"
        shapes = tuple(self.inputs.values())
        text = f"{heading} {{\n  {body}\n}}"
        return Case(name, text, shapes, shapes, places=places)


_MAPS = ("relu({1})", "tanh({1})", "{1} * {1} + 0.5", "1 / (1 + exp(-{1}))")


def random_graph(seed: int, scale: int) -> _Writer:
    """Statements over what is there, with all that nothing uses as results."""
    choose = random.Random(seed)
    writer = _Writer()
    rows = scale * choose.choice(_WIDTHS)
    known = [writer.input(rows, scale * choose.choice(_WIDTHS)) for _ in range(2)]
    for _ in range(choose.randint(4, 10)):
        value = choose.choice(known)
        width = writer.shapes[value][1]
        kind = choose.choice(("product", "product", "map", "join", "rows", "softmax"))
        equal = [n for n in known if writer.shapes[n] == writer.shapes[value]]
        if kind == "product" or width == 1:
            known.append(writer.product(value, scale * choose.choice(_WIDTHS)))
        elif kind == "map":
            known.append(writer.map(value, choose.choice(_MAPS)))
        elif kind == "join":
            known.append(writer.join(value, choose.choice(equal)))
        elif kind == "rows":
            writer.rows(value, choose.choice("+><"))
        else:
            known.append(writer.softmax(value))
    return writer


def layers(rows: int, widths: Sequence[int]) -> _Writer:
    """A chain of dense layers, with a softmax at its end."""
    writer = _Writer()
    value = writer.input(rows, widths[0])
    for width in widths[1:]:
        value = writer.map(writer.product(value, width), "relu({1})")
    writer.softmax(value)
    return writer


def branches(rows: int, width: int, count: int, depth: int) -> _Writer:
    """Chains of layers that begin at one input and are added up."""
    writer = _Writer()
    start = writer.input(rows, width)
    ends: list[str] = []
    for _ in range(count):
        value = start
        for _ in range(depth):
            value = writer.map(writer.product(value, width), "tanh({1})")
        ends.append(value)
    total = ends[0]
    for end in ends[1:]:
        total = writer.join(total, end)
    return writer


def towers(rows: int, width: int, others: int) -> _Writer:
    """Two chains over inputs of their own, that meet in a product."""
    writer = _Writer()
    ends: list[str] = []
    for count in (rows, others):
        value = writer.input(count, width)
        for _ in range(2):
            value = writer.map(writer.product(value, width), "relu({1})")
        ends.append(value)
    line = f"{{0}}[i, j : {rows}, {others}] = +({{1}}[i, k] * {{2}}[j, k]);"
    writer.map(writer.add((rows, others), line, *ends), "1 / (1 + exp(-{1}))")
    return writer


def attention(rows: int, width: int) -> _Writer:
    """Projections of one input, scores, softmax, and a projection of what is found."""
    writer = _Writer()
    value = writer.input(rows, width)
    query, key, content = (writer.product(value, width) for _ in range(3))
    line = f"{{0}}[i, j : {rows}, {rows}] = +({{1}}[i, k] * {{2}}[j, k]);"
    score = writer.softmax(writer.add((rows, rows), line, query, key))
    line = f"{{0}}[i, j : {rows}, {width}] = +({{1}}[i, k] * {{2}}[k, j]);"
    found = writer.add((rows, width), line, score, content)
    writer.join(writer.product(found, width), value)
    return writer


def one_among_small(seed: int, scale: int) -> _Writer:
    """A large product with small operations before, behind and beside it."""
    choose = random.Random(1000 + seed)
    writer = _Writer()
    small, large = 32 * choose.randint(1, 3), scale * choose.choice((512, 768, 1024))
    before = writer.map(writer.input(large, small), choose.choice(_MAPS))
    product = writer.product(writer.product(before, large), large)
    writer.rows(writer.map(product, choose.choice(_MAPS)), "+")
    beside = writer.input(small, small)
    for _ in range(choose.randint(1, 4)):
        beside = writer.map(writer.product(beside, small), choose.choice(_MAPS))
    return writer


def sweep(scale: int) -> list[Case]:
    """The fifty programs, for sizes that are `scale` times the smallest."""
    found: list[Case] = []
    for seed in range(20):
        place = PLACES[seed % len(PLACES)]
        found.append(random_graph(seed, scale).case(f"graph {seed}", place))
    for seed in range(12):
        place = PLACES[(seed + seed // 4) % len(PLACES)]
        found.append(one_among_small(seed, scale).case(f"one large {seed}", place))
    unit = 64 * scale
    networks = {
        "narrow layers": layers(4 * unit, [unit] * 6),
        "wide layers": layers(unit, [8 * unit] * 4),
        "hourglass": layers(4 * unit, [8 * unit, 2 * unit, unit, 2 * unit, 8 * unit]),
        "two branches": branches(4 * unit, 4 * unit, 2, 2),
        "four branches": branches(2 * unit, 4 * unit, 4, 2),
        "towers": towers(2 * unit, 6 * unit, 8 * unit),
    }
    for number, (name, writer) in enumerate(networks.items()):
        for place in ("host", PLACES[1 + number % 3]):
            found.append(writer.case(name, place))
    for number, rows in enumerate((1, 2, 4)):
        for place in ("host", PLACES[1 + number]):
            writer = attention(rows * unit, 4 * unit)
            found.append(writer.case(f"attention of {rows * unit}", place))
    return found

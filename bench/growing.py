"""Programs of any number of statements: what compile time is measured with.

Each family is a function from a number of statements to a Tile program of about as
many, with the shapes of its inputs. Tensors are small, so that what grows is the
program and not the work. The gradient of a family is the program with the sum of its
result as the loss, and the derivatives by all weights; each statement gets about two
more by it, so that a third of the statements are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from .cases.case import Shape

ProgramText: TypeAlias = tuple[str, list[Shape]]

_SIDE = 32
_ROWS = 16


class Lines:
    """The lines of a program, its inputs and the weights among them."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.weights: list[str] = []
        self.weight_shapes: list[Shape] = []
        self.shapes: list[Shape] = []
        self._inputs: list[str] = []

    def input(self, name: str, *shape: int, is_weight: bool = True) -> str:
        """Another input; its name."""
        sizes = ", ".join(f"{name}_{axis}" for axis in range(len(shape)))
        self._inputs.append(f"{name}[{sizes}]")
        self.shapes.append(shape)
        if is_weight:
            self.weights.append(name)
            self.weight_shapes.append(shape)
        return name

    def add(self, name: str, value: str) -> str:
        """Another statement; the name of its tensor."""
        self.statements.append(f"{name} = {value};")
        return name.split("[")[0]

    def product(self, name: str, left: str, right: str, *shape: int) -> str:
        """A product of two matrices."""
        sizes = ", ".join(map(str, shape))
        return self.add(f"{name}[i, j : {sizes}]", f"+({left}[i, k] * {right}[k, j])")

    def program(self, results: list[str]) -> ProgramText:
        """The text of a function that returns `results`, and its inputs' shapes."""
        lines = "\n  ".join(self.statements)
        inputs, outputs = ", ".join(self._inputs), ", ".join(results)
        return f"function ({inputs}) -> ({outputs}) {{\n  {lines}\n}}\n", self.shapes


_Family: TypeAlias = Callable[[Lines, int], tuple[str, int]]
"""Adds so many statements; the last tensor and its number of axes."""


def _products(lines: Lines, count: int) -> tuple[str, int]:
    """A chain of products of 32 x 32 matrices."""
    value = lines.input("X", _SIDE, _SIDE, is_weight=False)
    for n in range(count):
        weight = lines.input(f"W{n}", _SIDE, _SIDE)
        value = lines.product(f"T{n}", value, weight, _SIDE, _SIDE)
    return value, 2


def _tree(lines: Lines, count: int) -> tuple[str, int]:
    """A binary tree of products."""
    level = [lines.input(f"W{n}", _SIDE, _SIDE) for n in range(count + 1)]
    number = 0
    while len(level) > 1:
        pairs = zip(level[0::2], level[1::2], strict=False)
        above: list[str] = level[len(level) // 2 * 2 :]
        for left, right in pairs:
            above.append(lines.product(f"T{number}", left, right, _SIDE, _SIDE))
            number += 1
        level = above
    return level[0], 2


def _layers(lines: Lines, count: int, widths: Callable[[int], int]) -> tuple[str, int]:
    width = widths(0)
    value = lines.input("X", _ROWS, width, is_weight=False)
    for n in range(max(count // 2, 1)):
        width, inner = widths(n + 1), width
        weight, bias = lines.input(f"W{n}", inner, width), lines.input(f"B{n}", width)
        value = lines.product(f"Y{n}", value, weight, _ROWS, width)
        value = lines.add(f"Z{n}", f"relu({value} + {bias})")
    return value, 2


def _equal_layers(lines: Lines, count: int) -> tuple[str, int]:
    """Dense layers of one width, each with a bias and relu."""
    return _layers(lines, count, lambda _: 64)


def _different_layers(lines: Lines, count: int) -> tuple[str, int]:
    """Dense layers of which few have the same widths."""
    return _layers(lines, count, lambda n: 24 + 8 * (n % 23) + n * n // 29 % 7)


def _convolutions(lines: Lines, count: int) -> tuple[str, int]:
    """3 x 3 convolutions with a bias and relu, of changing numbers of channels."""
    channels = (8, 16, 32, 16)
    value = lines.input("X", 1, 14, 14, channels[0], is_weight=False)
    for n in range(max(count // 2, 1)):
        inner, outer = channels[n % 4], channels[(n + 1) % 4]
        kernel = lines.input(f"K{n}", 3, 3, inner, outer)
        bias = lines.input(f"B{n}", outer)
        value = lines.add(
            f"Y{n}[n, y, x, o : 1, 14, 14, {outer}]",
            f"+({value}[n, y + i - 1, x + j - 1, c] * {kernel}[i, j, c, o])",
        )
        value = lines.add(f"Z{n}", f"relu({value} + {bias})")
    return value, 4


def _recurrence(lines: Lines, count: int) -> tuple[str, int]:
    """The steps of an LSTM cell, one after the other, with the same weights."""
    hidden = lines.input("H", _ROWS, _SIDE, is_weight=False)
    cell = lines.input("C", _ROWS, _SIDE, is_weight=False)
    functions = {"I": "sigmoid", "F": "sigmoid", "G": "tanh", "O": "sigmoid"}
    for gate in functions:
        lines.input(f"W{gate}", _SIDE, _SIDE)
        lines.input(f"U{gate}", _SIDE, _SIDE)
        lines.input(f"B{gate}", _SIDE)
    for n in range(max(count // 14, 1)):
        x = lines.input(f"X{n}", _ROWS, _SIDE, is_weight=False)
        gates: dict[str, str] = {}
        for gate, function in functions.items():
            a = lines.product(f"A{gate}{n}", x, f"W{gate}", _ROWS, _SIDE)
            b = lines.product(f"P{gate}{n}", hidden, f"U{gate}", _ROWS, _SIDE)
            gates[gate] = lines.add(f"{gate}{n}", f"{function}({a} + {b} + B{gate})")
        i, f, g, o = gates.values()
        cell = lines.add(f"C{n}", f"{f} * {cell} + {i} * {g}")
        hidden = lines.add(f"H{n}", f"{o} * tanh({cell})")
    return hidden, 2


def _elementwise(lines: Lines, count: int) -> tuple[str, int]:
    """A chain of element-wise statements, of which each uses two before it."""
    values = [lines.input("X", 64, 64), lines.input("Y", 64, 64)]
    functions = ("tanh({} + {})", "{} * {} + 0.5", "max({}, {} - 1.0)", "exp(-{}) + {}")
    for n in range(count):
        text = functions[n % 4].format(values[-1], values[-2])
        values.append(lines.add(f"T{n}", text))
    return values[-1], 2


def _reductions(lines: Lines, count: int) -> tuple[str, int]:
    """Rows that are normalized again and again: maxima, exp, sums, quotients."""
    value = lines.input("X", _ROWS, 64)
    for n in range(max(count // 4, 1)):
        largest = lines.add(f"M{n}[i, 0 : {_ROWS}, 1]", f">({value}[i, j])")
        power = lines.add(f"E{n}", f"exp({value} - {largest})")
        total = lines.add(f"S{n}[i, 0 : {_ROWS}, 1]", f"+({power}[i, j])")
        value = lines.add(f"Q{n}", f"{power} / {total}")
    return value, 2


_FAMILIES: dict[str, _Family] = {
    "products": _products,
    "tree": _tree,
    "equal layers": _equal_layers,
    "different layers": _different_layers,
    "convolutions": _convolutions,
    "recurrence": _recurrence,
    "element-wise": _elementwise,
    "reductions": _reductions,
}


def _forward(family: _Family) -> Callable[[int], ProgramText]:
    def build(count: int) -> ProgramText:
        lines = Lines()
        result, _ = family(lines, count)
        return lines.program([result])

    return build


def _backward(family: _Family) -> Callable[[int], ProgramText]:
    def build(count: int) -> ProgramText:
        lines = Lines()
        result, rank = family(lines, max(count // 3, 1))
        indices = ", ".join(f"i{axis}" for axis in range(rank))
        loss = lines.add("L[]", f"+({result}[{indices}])")
        slopes = [
            lines.add(f"D{weight}", f"gradient({loss}, {weight})")
            for weight in lines.weights
        ]
        return lines.program([loss, *slopes])

    return build


FAMILIES: Mapping[str, Callable[[int], ProgramText]] = {
    **{name: _forward(family) for name, family in _FAMILIES.items()},
    **{f"{name}, gradients": _backward(family) for name, family in _FAMILIES.items()},
}
"""Each family by its name: a Tile program of about so many statements, and shapes."""

"""Random programs in Tile with their inputs, drawn statement by statement."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np
from gradients import Array
from training_steps import hash_of

from gingham.runtime.arguments import dtype_named

_Choice = TypeVar("_Choice")

LETTERS = "ijklmnopqrstuvwxyzabcdefgh"
SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127)
LONG_SIZES = (
    128,
    130,
    192,
    200,
    255,
    256,
    257,
    333,
    512,
    777,
    1000,
    1024,
    2049,
    4096,
    5000,
)
MOST_POINTS = 1 << 22
"""Of one contraction."""
MOST_CELLS = 1 << 18
"""Of one tensor."""
FLOATS = ("f32",) * 8 + ("f16", "bf16", "f64")
TYPES = (*FLOATS, *("si8", "ui8", "si16", "si32", "si32", "si64", "ui32"))


def cells_of(shape: Sequence[int]) -> int:
    """How many cells there are, or would be if no axis were empty."""
    return prod(max(size, 1) for size in shape)


class ProgramDrawing:
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

    def one_of(self, options: Sequence[_Choice]) -> _Choice:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def size(self) -> int:
        if self.chance(0.003):
            return 0
        return self.one_of(SIZES if self.chance(0.7) else LONG_SIZES)

    def sizes(self, count: int, most: int = MOST_CELLS) -> tuple[int, ...]:
        """Of so many axes, with at most so many cells."""
        while True:
            found = tuple(self.size() for _ in range(count))
            if cells_of(found) <= most:
                return found

    def shuffled(self, items: Iterable[_Choice]) -> list[_Choice]:
        found = list(items)
        self.random.shuffle(found)
        return found

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

    def spoil(self, name: str, number: float) -> None:
        """Let a cell of an input of floats be infinite, or NaN."""
        array = self.inputs[name]
        if array.size and array.dtype.kind not in "iu":
            array.flat[self.random.randrange(array.size)] = number

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
        letters = LETTERS[: len(shape)]
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
        letters = ", ".join(LETTERS[: len(self.shapes[x])])
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


def long_shape(draw: ProgramDrawing, rank: int) -> tuple[int, ...]:
    """Short or long rows, few or many of them."""
    if draw.chance(0.3):
        long = draw.one_of([1000, 4096, 5000, 10000, 33333, 65536])
        shape = [draw.one_of([1, 1, 2, 3, 5, 7]) for _ in range(rank)]
        shape[draw.random.randrange(rank)] = long
        if prod(shape) <= 2 * MOST_CELLS:
            return tuple(shape)
    return draw.sizes(rank, 2 * MOST_CELLS)

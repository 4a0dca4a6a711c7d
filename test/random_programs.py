"""Random Tile programs, with what brute force gives for them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from brute_force import (
    CALLS,
    COMPARISONS,
    EXACT,
    INFIX,
    INTEGER_INFIX,
    TYPES,
    UNCOUNTED,
    Collision,
    Contraction,
    Form,
    Tensor,
    Unclear,
    choice,
    common_type,
    counted,
    elementwise,
    hold,
    places,
)
from hypothesis import assume
from hypothesis import strategies as st


@dataclass
class Program:
    """A program, as text and as what brute force gives for its inputs."""

    inputs: dict[str, Tensor]
    tensors: dict[str, Tensor]
    statements: list[str]
    outputs: list[str]
    collides: bool = False

    @property
    def text(self) -> str:
        declared = ", ".join(
            f"{name}[{', '.join(dimensions(name, tensor.shape))}]"
            for name, tensor in self.inputs.items()
        )
        body = "".join(f"  {statement};\n" for statement in self.statements)
        return f"function ({declared}) -> ({', '.join(self.outputs)}) {{\n{body}}}\n"


def dimensions(name: str, shape: tuple[int, ...]) -> list[str]:
    return [f"{name}_{axis}" for axis in range(len(shape))]


class Drawing:
    """Draws a program statement by statement, and computes each."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.program = Program({}, {}, [], [])
        for name in "ABC"[: self._integer(1, 3)]:
            shape = [self._size() for _ in range(self._integer(0, 3))]
            self._input(name, tuple(shape))
        for name in "XYZ"[: self._integer(1, 3)]:
            if self._integer(0, 9) < 7:
                text, tensor = self._contraction(name)
            else:
                text, tensor = self._expression(self._integer(1, 3))
                text = f"{name} = {text}"
            self.program.statements.append(text)
            if tensor is None:
                self.program.collides = True
                self.program.outputs.append(name)
                return
            self.program.tensors[name] = tensor
            self.program.outputs.append(name)
        if len(self.program.outputs) > 1 and self._integer(0, 1):
            del self.program.outputs[0]

    def _integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def _one_of(self, options: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(options))

    def _size(self) -> int:
        # Now and then more than a vector has lanes.
        return self._one_of([1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7, 17, 32, 33])

    def _input(self, name: str, shape: tuple[int, ...]) -> None:
        type = self._one_of([*TYPES, "si32", "f32", "f32"])
        low, high = -3, 3
        if math.prod(shape) > 1200:
            raise Unclear
        values = random.Random(self._integer(0, 2**16))
        cells = {at: hold(type, values.randint(low, high)) for at in places(shape)}
        tensor = Tensor(type, shape, cells)
        if type[0] == "u":
            tensor = Tensor(type, shape, {at: abs(v) % 8 for at, v in cells.items()})
        self.program.inputs[name] = self.program.tensors[name] = tensor

    def _contraction(self, name: str) -> tuple[str, Tensor | None]:
        program = self.program
        indices = tuple("ijkl"[: self._integer(1, 4)])
        point = [self._integer(0, 2) for _ in indices]
        combination = self._one_of(["", "", "+", "*", "*", "==", "?"])
        count = {"": 1, "?": 3}.get(combination, 2)
        operands = tuple(self._one_of([*program.tensors]) for _ in range(count))
        accesses = tuple(
            tuple(self._form(point, size) for size in program.tensors[x].shape)
            for x in operands
        )
        sizes = tuple(self._size() for _ in range(self._integer(0, 3)))
        if math.prod(sizes) > 1200:
            raise Unclear
        output = tuple(self._form(point, size) for size in sizes)
        ends = [self._integer(1, 6) for _ in range(max(self._integer(-2, 2), 0))]
        constraints = [(self._form(point, end), end) for end in ends]
        anchored = {
            axis
            for form in [f for access in (output, *accesses) for f in access]
            for axis, c in enumerate(form.coefficients)
            if c and sum(map(bool, form.coefficients)) == 1
        }
        for axis in range(len(indices)):
            if axis not in anchored and self._integer(0, 9):
                alone = [int(axis == other) for other in range(len(indices))]
                form = Form(tuple(alone), self._one_of([0, 0, 1, 3]))
                constraints.append((form, self._integer(1, 5) + form.constant))
        default = None
        if self._integer(0, 3) == 0 and name not in program.inputs:
            default = f"D{name}"
            self._input(default, sizes)
        contraction = Contraction(
            self._one_of("++**>><<="),
            combination,
            indices,
            output,
            sizes,
            operands,
            accesses,
            tuple(constraints),
            default,
        )
        try:
            result = contraction.evaluate(program.tensors)
        except Collision:
            result = None
        return self._show(name, contraction), result

    def _form(self, point: Sequence[int], size: int) -> Form:
        """A form that mostly is an integer from 0 to `size` at a point."""
        rank = len(point)
        coefficients, divisor = [0] * rank, 1
        if self._integer(0, 9) < 6:
            coefficients[self._integer(0, rank - 1)] = 1
        else:
            choices = [0, 0, 1, 1, -2, -1, 2, 3]
            coefficients = [self._one_of(choices) for _ in range(rank)]
            divisor = self._one_of([1, 1, 1, 1, 1, 2, 3])
        constant = self._one_of([0, 0, 0, -1, 1, 3])
        value = sum(c * x for c, x in zip(coefficients, point, strict=True))
        if self._integer(0, 19):
            inside = min(max((value + constant) // divisor, 0), size - 1)
            constant = inside * divisor - value
        return Form(tuple(coefficients), constant, divisor)

    def _show(self, name: str, x: Contraction) -> str:
        def accessed(tensor: str, access: tuple[Form, ...]) -> str:
            return f"{tensor}[{', '.join(self._shown(f, x.indices) for f in access)}]"

        sizes = ", ".join(map(self._number, x.sizes))
        text = f"{accessed(name, x.output)} = {x.aggregation}("
        if x.sizes:
            text = text.replace("] =", f" : {sizes}] =")
        inside = [accessed(t, a) for t, a in zip(x.operands, x.accesses, strict=True)]
        if x.combination == "?":
            text += f"{inside[0]} == {inside[1]} ? {inside[2]})"
        else:
            text += f" {x.combination} ".join(inside) + ")"
        for form, end in x.constraints:
            text += f", {self._shown(form, x.indices)} < {self._number(end)}"
        return text + ("" if x.default is None else f" default {x.default}")

    def _shown(self, form: Form, indices: tuple[str, ...]) -> str:
        terms = [
            index if c == 1 else f"{c} * {index}"
            for c, index in zip(form.coefficients, indices, strict=True)
            if c
        ]
        if form.constant or not terms:
            terms.append(self._number(form.constant))
        text = " + ".join(terms)
        return text if form.divisor == 1 else f"({text}) / {form.divisor}"

    def _number(self, value: int) -> str:
        """A number, sometimes in terms of a dimension."""
        sizes = [
            pair
            for name, tensor in self.program.inputs.items()
            for pair in zip(dimensions(name, tensor.shape), tensor.shape, strict=True)
        ]
        if not sizes or self._integer(0, 2):
            return str(value)
        name, size = self._one_of(sizes)
        return f"{name} + {value - size}" if value != size else name

    # Expressions.

    def _expression(self, depth: int) -> tuple[str, Tensor]:
        if depth == 0:
            return self._leaf()
        kind = self._one_of(["infix", "infix", "compare", "call", "choose", "integer"])
        left_text, left = self._expression(depth - 1)
        right_text, right = self._leaf()
        if left.weak and right.weak:
            right_text = self._one_of([*self.program.tensors])
            right = self.program.tensors[right_text]
        try:
            shape = np.broadcast_shapes(left.shape, right.shape)
        except ValueError:
            right_text, right, shape = "2", literal(2), left.shape
        if math.prod(shape) > 1200:
            raise Unclear
        if left.weak and right.weak:
            return left_text, left
        common = common_type([left, right])
        integers = common not in EXACT
        if kind == "compare":
            symbol = self._one_of([*COMPARISONS])
            result = elementwise(COMPARISONS[symbol], [left, right], common, "i1")
            return f"({left_text} {symbol} {right_text})", result
        if kind == "choose":
            symbol = self._one_of([*COMPARISONS])
            choices = [left, right]
            test = elementwise(COMPARISONS[symbol], choices, common, "i1").to(common)
            result = elementwise(choice, [test, left, right], common, common)
            text = f"({left_text} {symbol} {right_text} ? {left_text} : {right_text})"
            return text, result
        if kind == "call":
            name = self._one_of([n for n in CALLS if integers or n != "mod"])
            unary = name in ("abs", "relu", "sign", "neg")
            if unary and left.weak:
                return left_text, left
            operands = [left] if unary else [left, right]
            type = common_type(operands)
            type = type if name in UNCOUNTED else counted(type)
            result = elementwise(CALLS[name], operands, type, type)
            if name == "neg":
                return f"(-{left_text})", result
            texts = left_text if unary else f"{left_text}, {right_text}"
            return f"{name}({texts})", result
        table = INTEGER_INFIX if kind == "integer" and integers else INFIX
        symbol = self._one_of([*table])
        type = common if symbol in UNCOUNTED else counted(common)
        result = elementwise(table[symbol], [left, right], type, type)
        return f"({left_text} {symbol} {right_text})", result

    def _leaf(self) -> tuple[str, Tensor]:
        if self._integer(0, 3) == 0:
            value = self._integer(0, 3)
            return str(value), literal(value)
        name = self._one_of([*self.program.tensors])
        return name, self.program.tensors[name]


def literal(value: int) -> Tensor:
    return Tensor("si32", (), {(): value}, weak=True)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    try:
        return Drawing(draw).program
    except Unclear:
        assume(False)
        raise

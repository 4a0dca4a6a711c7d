"""Random Tile programs, with what brute force gives for them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import brute_force_specials as specials
import numpy as np
from brute_force import (
    CALLS,
    COMPARISONS,
    EXACT,
    INFIX,
    INTEGER_INFIX,
    LOGICAL,
    TYPES,
    UNCOUNTED,
    Collision,
    Contraction,
    Form,
    Tensor,
    Unclear,
    choice,
    common_type,
    converted,
    counted,
    elementwise,
    hold,
    least,
    places,
    shift_left,
    shift_right,
    width,
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


CASTS = [
    *((f"as_int({{}}, {bits})", f"si{bits}") for bits in (8, 16, 32, 64)),
    *((f"as_uint({{}}, {bits})", f"ui{bits}") for bits in (8, 16, 32, 64)),
    *((f"as_float({{}}, {bits})", f"f{bits}") for bits in (16, 32, 64)),
    ("as_bool({})", "i1"),
]
"""Conversions: how they are written, and to what type."""


class Drawing:
    """Draws a program statement by statement, and computes each."""

    broadcasts_defaults = False
    """Whether defaults may have smaller shapes than the outputs."""
    draws_specials = False
    """Whether there are statements with special functions."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.program = Program({}, {}, [], [])
        for name in "ABC"[: self._integer(1, 3)]:
            shape = [self._size() for _ in range(self._integer(0, 3))]
            self._input(name, tuple(shape))
        for name in "XYZ"[: self._integer(1, 3)]:
            choice = self._integer(0, 9)
            if choice < 6:
                text, tensor = self._contraction(name)
            elif choice < 8 and self.draws_specials:
                text, tensor = self._special()
                text = f"{name} = {text}"
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
        # Now and then more than a vector has lanes, and now and then nothing.
        sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9] * 2 + [3, 4, 5, 6, 7] * 2
        return self._one_of([*sizes, 17, 32, 33, 0])

    def _input(self, name: str, shape: tuple[int, ...]) -> None:
        type = self._one_of([*TYPES, "si32", "f32", "f32"])
        low, high = -3, 3
        if math.prod(shape) > 1200:
            raise Unclear
        if type[0] in "su":
            # Sometimes numbers that overflow.
            low = max(low, least(type))
            if self._integer(0, 5) == 0:
                low, high = least(type), least(type) + 2 ** width(type) - 1
        values = random.Random(self._integer(0, 2**16))
        cells = {at: hold(type, values.randint(low, high)) for at in places(shape)}
        tensor = Tensor(type, shape, cells)
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
            self._input(default, self._default_shape(sizes))
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

    def _default_shape(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to the output's; mostly that itself."""
        if not self.broadcasts_defaults or self._integer(0, 2):
            return sizes
        behind = sizes[self._integer(0, len(sizes)) :]
        return tuple(self._one_of([size, size, 1]) for size in behind)

    def _form(self, point: Sequence[int], size: int) -> Form:
        """A form that mostly is an integer from 0 to `size` at a point."""
        rank = len(point)
        coefficients, divisor = [0] * rank, 1
        if self._integer(0, 9) < 6:
            coefficients[self._integer(0, rank - 1)] = 1
        else:
            choices = [0, 0, 1, 1, -3, -2, -1, 2, 3]
            coefficients = [self._one_of(choices) for _ in range(rank)]
            divisor = self._one_of([1, 1, 1, 1, 1, 2, 3, 4])
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

    # Special functions.

    def _special(self) -> tuple[str, Tensor]:
        name = self._one_of([*self.program.tensors])
        x = self.program.tensors[name]
        kind = self._one_of(["reshape", "index", "shape", "gather", "scatter", "sort"])
        if kind == "reshape":
            choices = [self._integer(0, 9) for _ in range(self._integer(0, 2))]
            shape = specials.factors(math.prod(x.shape), choices)
            sizes = ", ".join(map(self._number, shape))
            return f"reshape({name}, {sizes})", specials.reshape(x, shape)
        if not x.shape:
            raise Unclear
        axis = self._integer(0, len(x.shape) - 1)
        match kind:
            case "index":
                return f"index({name}, {axis})", specials.index(x, axis)
            case "shape":
                return f"shape({name})", specials.shape_of(x)
            case "gather":
                return self._gather(name, x, axis)
            case "scatter":
                return self._scatter(name, x)
            case _:
                order, descending = self._one_of([("ascending", 0), ("descending", 1)])
                result = specials.argsort(x, axis, descending)
                return f"argsort({name}, {axis}, order={order})", result

    def _gather(self, name: str, x: Tensor, axis: int) -> tuple[str, Tensor]:
        before, size, behind = specials.parts(x.shape, axis)
        inside = tuple(self._size() for _ in range(self._integer(0, 2)))
        if size == 0 or not specials.is_small((*before, *inside, *behind)):
            raise Unclear
        indices = self._indices(f"I{name}", inside, size)
        zero = self._integer(0, 1)
        option = ", out_of_bounds=zero" if zero else ""
        result = specials.gather(x, indices, axis, bool(zero))
        return f"gather({name}, I{name}, axis={axis}{option})", result

    def _scatter(self, name: str, base: Tensor) -> tuple[str, Tensor]:
        size = base.shape[0]
        rows = tuple(self._size() for _ in range(self._integer(0, 2)))
        shape = (*rows, *(self._size() for _ in range(self._integer(0, 1))))
        result_shape = (size, *shape[len(rows) :])
        if size == 0 or not specials.is_small(result_shape):
            raise Unclear
        indices = self._indices(f"I{name}", rows, size)
        if f"U{name}" in self.program.inputs:
            raise Unclear
        self._input(f"U{name}", shape)
        updates = self.program.tensors[f"U{name}"]
        if updates.type == "i1":
            raise Unclear
        zero = self._integer(0, 1)
        option = ", out_of_bounds=zero" if zero else ""
        result = specials.scatter(updates, indices, size, bool(zero))
        return f"scatter(U{name}, I{name}, {name}{option})", result

    def _indices(self, name: str, shape: tuple[int, ...], size: int) -> Tensor:
        """A further input with indices, some of which are outside of an axis."""
        if name in self.program.inputs:
            raise Unclear
        values = random.Random(self._integer(0, 2**16))
        cells = {at: values.randint(-1, size) for at in places(shape)}
        tensor = Tensor("si32", shape, cells)
        self.program.inputs[name] = self.program.tensors[name] = tensor
        return tensor

    # Expressions.

    def _expression(self, depth: int) -> tuple[str, Tensor]:
        if depth == 0:
            return self._leaf()
        kinds = ["infix", "infix", "compare", "call", "choose", "integer", "shift"]
        kind = self._one_of([*kinds, "logical", "unary"])
        left_text, left = self._expression(depth - 1)
        if kind == "unary" and not left.weak:
            return self._unary(left_text, left)
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
        return self._of_two(kind, left_text, left, right_text, right)

    def _of_two(
        self, kind: str, left_text: str, left: Tensor, right_text: str, right: Tensor
    ) -> tuple[str, Tensor]:
        """An operation on two expressions, not both of them literals."""
        common = common_type([left, right])
        integers = common not in EXACT
        if kind == "compare":
            symbol = self._one_of([*COMPARISONS])
            result = elementwise(COMPARISONS[symbol], [left, right], common, "i1")
            return f"({left_text} {symbol} {right_text})", result
        if kind == "logical":
            name = self._one_of([*LOGICAL])
            result = elementwise(LOGICAL[name], [left, right], "i1", "i1")
            return f"{name}({left_text}, {right_text})", result
        if kind == "shift" and integers:
            return self._shift(left_text, left, right_text, right)
        if kind == "choose":
            symbol = self._one_of([*COMPARISONS])
            choices = [left, right]
            test = elementwise(COMPARISONS[symbol], choices, common, "i1").to(common)
            result = elementwise(choice, [test, left, right], common, common)
            text = f"({left_text} {symbol} {right_text} ? {left_text} : {right_text})"
            return text, result
        if kind == "call":
            name = self._one_of([n for n in CALLS if integers or n != "mod"])
            return self._call(name, left_text, left, right_text, right)
        table = INTEGER_INFIX if kind == "integer" and integers else INFIX
        symbol = self._one_of([*table])
        type = common if symbol in UNCOUNTED else counted(common)
        result = elementwise(table[symbol], [left, right], type, type)
        return f"({left_text} {symbol} {right_text})", result

    def _call(
        self, name: str, left_text: str, left: Tensor, right_text: str, right: Tensor
    ) -> tuple[str, Tensor]:
        """A function of the first expression, or of both."""
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

    def _unary(self, text: str, x: Tensor) -> tuple[str, Tensor]:
        """A conversion, or a function that is no matter of arithmetic."""
        name = self._one_of(["cast", "cast", "not", "logical_not", "whole", "ident"])
        if name == "not" and x.type not in EXACT:
            inverse = _inverse if x.type == "i1" else _complement
            complement = elementwise(inverse, [x], x.type, x.type)
            return f"(~{text})", complement
        if name == "logical_not":
            return f"logical_not({text})", elementwise(_inverse, [x], "i1", "i1")
        if name in ("whole", "ident"):
            function = self._one_of(["floor", "ceil", "round", "ident"])
            return f"{function}({text})", x
        written, type = self._one_of(CASTS)
        cells = {at: converted(x.type, type, v) for at, v in x.cells.items()}
        return written.format(text), Tensor(type, x.shape, cells)

    def _shift(
        self, left_text: str, left: Tensor, right_text: str, right: Tensor
    ) -> tuple[str, Tensor]:
        type = counted(common_type([left, right]))
        symbol = self._one_of(["<<", ">>"])
        function = (shift_left if symbol == "<<" else shift_right)(width(type))
        # A count of this type may be huge, but then it shifts everything out.
        result = elementwise(function, [left, right], type, type)
        return f"({left_text} {symbol} {right_text})", result

    def _leaf(self) -> tuple[str, Tensor]:
        if self._integer(0, 3) == 0:
            value = self._integer(0, 3)
            return str(value), literal(value)
        name = self._one_of([*self.program.tensors])
        return name, self.program.tensors[name]


class _Programs(Drawing):
    broadcasts_defaults = True
    draws_specials = True


def _inverse(a: int) -> int:
    return 1 - a


def _complement(a: int) -> int:
    return ~a


def literal(value: int) -> Tensor:
    return Tensor("si32", (), {(): value}, weak=True)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    try:
        return _Programs(draw).program
    except Unclear:
        assume(False)
        raise

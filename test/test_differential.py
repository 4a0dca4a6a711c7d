"""Random Tile programs mean what brute force says, on every road through the compiler.

A program of one to three statements is drawn together with its inputs. `Model` computes
it cell by cell in plain Python, from the definition of the language and from nothing of
the compiler's. The same text is then run by the reference interpreter, on the default
OpenCL device, and, lowered for each named pipeline, by the interpreter of kernels. All
numbers are small integers, so results are compared exactly.

The seed of a run is printed when it fails; `DIFFERENTIAL_SEED=N` repeats that run and
`DIFFERENTIAL_EXAMPLES=N` sets how many programs are drawn.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import PIPELINES, TargetOptions, run_stages
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.runtime.devices import default_device
from gingham.runtime.function import STAGES, make_context
from gingham.targets.opencl.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "100"))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", random.randrange(2**32)))

# Types: the order of promotion, and how each holds an integer.

TYPES = {
    "i1": "bool",
    "si8": "int8",
    "ui8": "uint8",
    "si16": "int16",
    "ui16": "uint16",
    "si32": "int32",
    "ui32": "uint32",
    "si64": "int64",
    "ui64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}
"""Tile's types, lowest first, and the NumPy types of the same values."""
ORDER = list(TYPES)
EXACT = {"f16": 2**11, "f32": 2**24, "f64": 2**53}
"""Up to where a float type holds every integer."""

Cells = dict[tuple[int, ...], int]


class Unclear(Exception):
    """The program leaves what is exact, or is too large: it is not compared."""


class Collision(Exception):
    """Two points assign one cell: the compiler must refuse the program."""


def hold(type: str, value: int) -> int:
    """The value after conversion to a type."""
    if type == "i1":
        return int(value != 0)
    if type in EXACT:
        if abs(value) > EXACT[type]:
            raise Unclear
        return value
    bits = int(type[2:])
    value %= 2**bits
    return value - 2**bits if type[0] == "s" and value >= 2 ** (bits - 1) else value


def counted(type: str) -> str:
    return "si32" if type == "i1" else type


def higher(types: Sequence[str]) -> str:
    return max(types, key=ORDER.index)


@dataclass(frozen=True)
class Tensor:
    """An array; a weak one is a literal, whose type gives way to that of tensors."""

    type: str
    shape: tuple[int, ...]
    cells: Cells = field(repr=False)
    weak: bool = False

    def to(self, type: str) -> Tensor:
        cells = {at: hold(type, value) for at, value in self.cells.items()}
        return Tensor(type, self.shape, cells)

    def array(self) -> NDArray[Any]:
        result = np.zeros(self.shape, TYPES[self.type])
        for at, value in self.cells.items():
            result[at] = value
        return result


def places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, shape))


# Element-wise expressions.


def common_type(operands: Sequence[Tensor]) -> str:
    strong = [x.type for x in operands if not x.weak]
    literals = [x.type for x in operands if x.weak]
    result = higher(strong)
    # A literal counts where it is of another kind: truth value < integer < float.
    kinds = {type: (type in EXACT) + (type != "i1") for type in TYPES}
    raising = [type for type in literals if kinds[type] > kinds[result]]
    return higher(raising) if raising else result


def truncating(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INFIX: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
INTEGER_INFIX: dict[str, Callable[[int, int], int]] = {
    "/": truncating,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
COMPARISONS: dict[str, Callable[[int, int], int]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
CALLS: dict[str, Callable[..., int]] = {
    "max": max,
    "min": min,
    "abs": abs,
    "relu": lambda a: max(a, 0),
    "sign": lambda a: (a > 0) - (a < 0),
    "mod": lambda a, b: a - b * truncating(a, b),
    "neg": lambda a: -a,
}
UNCOUNTED = ("max", "min", "&", "|", "^")
"""Functions of truth values that give truth values."""


def elementwise(
    function: Callable[..., int], operands: Sequence[Tensor], type: str, result: str
) -> Tensor:
    """A function of operands converted to `type`, with NumPy's broadcasting."""
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    if any(x.type in EXACT and type not in EXACT for x in operands):
        raise Unclear
    held = [x.to(type) for x in operands]
    cells: Cells = {}
    for at in places(shape):
        values = [value_at(x, at) for x in held]
        cells[at] = hold(result, hold(type, function(*values)))
    return Tensor(result, shape, cells)


def value_at(tensor: Tensor, at: tuple[int, ...]) -> int:
    last = at[len(at) - len(tensor.shape) :]
    place = (0 if size == 1 else i for i, size in zip(last, tensor.shape, strict=True))
    return tensor.cells[tuple(place)]


# Contractions.


@dataclass(frozen=True)
class Form:
    """`(sum of coefficients * indices + constant) / divisor`."""

    coefficients: tuple[int, ...]
    constant: int
    divisor: int = 1

    def limits(self, box: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Least and greatest numerator over a box."""
        low = high = self.constant
        for c, (first, last) in zip(self.coefficients, box, strict=True):
            low, high = low + min(c * first, c * last), high + max(c * first, c * last)
        return low, high


@dataclass(frozen=True)
class Condition:
    """`0 <= form < end`; of an access, `form` is an integer besides."""

    form: Form
    end: int
    integral: bool

    @property
    def last(self) -> int:
        """The greatest numerator."""
        return self.end * self.form.divisor - 1

    def narrowed(self, box: list[tuple[int, int]]) -> bool:
        """Shrink the box to what the condition leaves; False when that is nothing."""
        low, high = self.form.limits(box)
        if low > self.last or high < 0:
            return False
        for axis, c in enumerate(self.form.coefficients):
            if c == 0:
                continue
            first, last = box[axis]
            rest_low = low - min(c * first, c * last)
            rest_high = high - max(c * first, c * last)
            down, up = -rest_high, self.last - rest_low
            if c < 0:
                down, up = -up, -down
            least, most = -(-down // abs(c)), up // abs(c)
            box[axis] = max(first, least), min(last, most)
            if box[axis][0] > box[axis][1]:
                return False
            low, high = self.form.limits(box)
        return True

    def holds(self, point: Sequence[int]) -> bool:
        value, _ = self.form.limits([(x, x) for x in point])
        exact = not self.integral or value % self.form.divisor == 0
        return 0 <= value <= self.last and exact


REACH = 200
"""Indices of bounded programs stay within this."""


def points(
    conditions: Sequence[Condition], box: list[tuple[int, int]]
) -> Iterator[tuple[int, ...]]:
    """Every integer point that meets all conditions."""
    for _ in range(2):
        if not all(condition.narrowed(box) for condition in conditions):
            return
    widths = [(last - first, axis) for axis, (first, last) in enumerate(box)]
    open_axes = [(width, axis) for width, axis in widths if width > 0]
    if not open_axes:
        point = tuple(first for first, _ in box)
        if any(abs(x) >= REACH for x in point):
            raise Unclear
        if all(condition.holds(point) for condition in conditions):
            yield point
        return
    width, axis = min(open_axes)
    for value in range(box[axis][0], box[axis][0] + width + 1):
        rest = box.copy()
        rest[axis] = (value, value)
        yield from points(conditions, rest)


@dataclass(frozen=True)
class Contraction:
    aggregation: str
    combination: str
    indices: tuple[str, ...]
    output: tuple[Form, ...]
    sizes: tuple[int, ...]
    operands: tuple[str, ...]
    accesses: tuple[tuple[Form, ...], ...]
    constraints: tuple[tuple[Form, int], ...]
    default: str | None

    def evaluate(self, tensors: dict[str, Tensor]) -> Tensor:
        operands, type = self._typed([tensors[name] for name in self.operands])
        met: dict[tuple[int, ...], list[int]] = {}
        for number, point in enumerate(self._points(operands)):
            if number > 3000:
                raise Unclear
            values = [
                operand.cells[self._place(access, point)]
                for operand, access in zip(operands, self.accesses, strict=True)
            ]
            cell = self._place(self.output, point)
            met.setdefault(cell, []).append(self._combined(operands[0].type, values))
        if self.aggregation == "=" and any(len(v) > 1 for v in met.values()):
            raise Collision
        rest = None if self.default is None else tensors[self.default]
        if rest is not None and rest.type in EXACT and type not in EXACT:
            raise Unclear
        cells: Cells = {}
        for at in places(self.sizes):
            if at in met:
                cells[at] = aggregated(self.aggregation, type, met[at])
            else:
                cells[at] = 0 if rest is None else hold(type, rest.cells[at])
        return Tensor(type, self.sizes, cells)

    def _typed(self, operands: list[Tensor]) -> tuple[list[Tensor], str]:
        count = counted if self.aggregation in "+*" else str
        types = [x.type for x in operands]
        if self.combination == "":
            common = result = count(types[0])
        elif self.combination in "+*":
            common = result = counted(higher(types))
        else:
            common, result = higher(types[:2]), count("i1")
        converted = [x.to(common) for x in operands[:2]]
        if self.combination == "?":
            result = count(types[2])
            converted.append(operands[2].to(result))
        return converted, result

    def _combined(self, type: str, values: list[int]) -> int:
        match self.combination, values:
            case "", (a,):
                return a
            case "+", (a, b):
                return hold(type, a + b)
            case "*", (a, b):
                return hold(type, a * b)
            case "==", (a, b):
                return int(a == b)
            case _, (a, b, c):
                return c if a == b else 0
            case _:
                raise ValueError(self.combination)

    def _points(self, operands: list[Tensor]) -> Iterator[tuple[int, ...]]:
        sizes = [self.sizes, *(operand.shape for operand in operands)]
        conditions = [
            Condition(form, size, True)
            for shape, access in zip(sizes, (self.output, *self.accesses), strict=True)
            for size, form in zip(shape, access, strict=True)
        ]
        conditions += [Condition(form, end, False) for form, end in self.constraints]
        return points(conditions, [(-REACH, REACH) for _ in self.indices])

    @staticmethod
    def _place(access: tuple[Form, ...], point: tuple[int, ...]) -> tuple[int, ...]:
        values = [form.limits([(x, x) for x in point])[0] for form in access]
        return tuple(v // f.divisor for v, f in zip(values, access, strict=True))


def aggregated(aggregation: str, type: str, values: list[int]) -> int:
    # Floats must be exact in whatever order they are aggregated.
    if aggregation == "+":
        hold(type, sum(map(abs, values)) if type in EXACT else 0)
        return hold(type, sum(values))
    if aggregation == "*":
        hold(type, math.prod(max(abs(v), 1) for v in values) if type in EXACT else 0)
        return hold(type, math.prod(values))
    return {">": max, "<": min, "=": max}[aggregation](values)


# Programs.


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
        return self._one_of([1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7, 17, 33])

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
        combination = self._one_of(["", "", "+", "*", "*", "==", "?"])
        count = {"": 1, "?": 3}.get(combination, 2)
        operands = tuple(self._one_of([*program.tensors]) for _ in range(count))
        accesses = tuple(
            tuple(self._form(len(indices)) for _ in program.tensors[x].shape)
            for x in operands
        )
        sizes = tuple(self._size() for _ in range(self._integer(0, 3)))
        if math.prod(sizes) > 1200:
            raise Unclear
        output = tuple(self._form(len(indices)) for _ in sizes)
        constraints = [
            (self._form(len(indices)), self._integer(1, 6))
            for _ in range(max(self._integer(-2, 2), 0))
        ]
        anchored = {
            axis
            for form in [f for access in (output, *accesses) for f in access]
            for axis, c in enumerate(form.coefficients)
            if c and sum(map(bool, form.coefficients)) == 1
        }
        for axis in range(len(indices)):
            if axis not in anchored and self._integer(0, 9):
                alone = [int(axis == other) for other in range(len(indices))]
                form = Form(tuple(alone), self._integer(0, 3))
                constraints.append((form, self._integer(1, 5)))
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

    def _form(self, rank: int) -> Form:
        coefficients = [0] * rank
        if self._integer(0, 9) < 6:
            coefficients[self._integer(0, rank - 1)] = 1
            return Form(tuple(coefficients), self._one_of([0, 0, 0, -1, 1, 3]))
        coefficients = [self._one_of([0, 0, 1, 1, -2, -1, 2, 3]) for _ in range(rank)]
        divisor = self._one_of([1, 1, 1, 1, 1, 2, 3])
        return Form(tuple(coefficients), self._integer(-3, 3), divisor)

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
            result = elementwise(
                lambda c, a, b: a if c else b, [test, left, right], common, common
            )
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


# The roads.

CONTEXT = make_context()


def lowered(program: Program, options: TargetOptions) -> Any:
    """The program's kernels, for vectors of this width."""
    types = [
        parse_argument_type("x".join([*map(str, x.shape), x.type]))
        for x in program.inputs.values()
    ]
    module = specialize(parse_tile(program.text), types)
    run_stages(module, CONTEXT, options, STAGES[1:])
    return module


def results_of(call: Callable[..., Any], arrays: list[NDArray[Any]]) -> list[Any]:
    results = call(*arrays)
    return list(results) if isinstance(results, tuple | list) else [results]


def roads(program: Program) -> dict[str, Callable[..., Any]]:
    """Every way to run the program, by name."""
    device = default_device()
    text = program.text

    def interpreted(*arrays: Any) -> list[Any]:
        return gingham.compile(text, device="reference")(*arrays)

    def compiled(*arrays: Any) -> list[Any]:
        return gingham.compile(text)(*arrays)

    ways: dict[str, Callable[..., Any]] = {"reference": interpreted, "device": compiled}
    for name, options in PIPELINES.items():
        ways[f"{name}, interpreted"] = lambda *arrays, options=options: interpret(
            lowered(program, options), arrays
        )
        if isinstance(device, OpenCLDevice):
            ways[f"{name}, on the device"] = lambda *arrays, options=options: (
                OpenCLExecutable(lowered(program, options), device)(*arrays)
            )
    return ways


def compare(program: Program) -> None:
    arrays = [tensor.array() for tensor in program.inputs.values()]
    for road, call in roads(program).items():
        if program.collides:
            with pytest.raises(GinghamError, match="assign"):
                results_of(call, arrays)
            continue
        results = results_of(call, arrays)
        assert len(results) == len(program.outputs)
        for name, result in zip(program.outputs, results, strict=True):
            wanted = program.tensors[name].array()
            assert result.dtype == wanted.dtype, f"{road}: {name}"
            np.testing.assert_array_equal(result, wanted, err_msg=f"{road}: {name}")


@hypothesis.seed(SEED)
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_every_road_gives_what_brute_force_gives(program: Program) -> None:
    hypothesis.note(f"DIFFERENTIAL_SEED={SEED}\n{program.text}")
    for name, tensor in program.inputs.items():
        hypothesis.note(f"{name} : {tensor.type} = {tensor.array().tolist()}")
    compare(program)

"""What a Tile program means, in plain Python: cell by cell and point by point.

It follows the definition of the language in docs/language.md and shares nothing with
the compiler, so that the two can be compared. Values are integers of all types; what
would not be exact in a type of floats raises `Unclear`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

# Types: the order of promotion, and how each holds an integer.

TYPES: dict[str, DTypeLike] = {
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
    "bf16": ml_dtypes.bfloat16,
    "f32": "float32",
    "f64": "float64",
}
"""Tile's types, lowest first, and the NumPy types of the same values."""
ORDER = list(TYPES)
EXACT = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53}
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
    return (value - least(type)) % 2 ** width(type) + least(type)


def converted(source: str, target: str, value: int) -> int:
    """The value of one type in another; a float becomes the nearest integer."""
    if source not in EXACT or target in EXACT or target == "i1":
        return hold(target, value)
    return min(max(value, least(target)), least(target) + 2 ** width(target) - 1)


def width(type: str) -> int:
    """The bits of a type of integers."""
    return int(type[2:])


def least(type: str) -> int:
    """The least value of a type of integers."""
    return -(2 ** (width(type) - 1)) if type[0] == "s" else 0


def counted(type: str) -> str:
    return "si32" if type == "i1" else type


def higher(types: Sequence[str]) -> str:
    if {"f16", "bf16"} <= {*types}:
        types = [*types, "f32"]
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


def _larger(a: int, b: int) -> int:
    return max(a, b)


def _smaller(a: int, b: int) -> int:
    return min(a, b)


def _magnitude(a: int) -> int:
    return abs(a)


def _at_least_zero(a: int) -> int:
    return max(a, 0)


def _sign(a: int) -> int:
    return (a > 0) - (a < 0)


def _remainder(a: int, b: int) -> int:
    return a - b * truncating(a, b) if b else 0


def _negative(a: int) -> int:
    return -a


def choice(condition: int, a: int, b: int) -> int:
    """The meaning of `condition ? a : b`."""
    return a if condition else b


CALLS: dict[str, Callable[..., int]] = {
    "max": _larger,
    "min": _smaller,
    "abs": _magnitude,
    "relu": _at_least_zero,
    "sign": _sign,
    "mod": _remainder,
    "neg": _negative,
}
LOGICAL: dict[str, Callable[[int, int], int]] = {
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
    "logical_xor": lambda a, b: a ^ b,
}
"""Functions of truth values."""


def shift_left(bits: int) -> Callable[[int, int], int]:
    """The meaning of `a << b` for integers of so many bits."""
    return lambda a, b: a << b if 0 <= b < bits else 0


def shift_right(bits: int) -> Callable[[int, int], int]:
    """The meaning of `a >> b`; where every bit goes, the sign remains."""
    return lambda a, b: a >> (b if 0 <= b < bits else bits)


UNCOUNTED = ("max", "min", "&", "|", "^")
"""Functions of truth values that give truth values."""


def elementwise(
    function: Callable[..., int], operands: Sequence[Tensor], type: str, result: str
) -> Tensor:
    """A function of operands converted to `type`, with NumPy's broadcasting."""
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    if any(x.type in EXACT and type not in (*EXACT, "i1") for x in operands):
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
                cells[at] = 0 if rest is None else hold(type, value_at(rest, at))
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
        rows = [condition.form.coefficients for condition in conditions]
        if not rows or np.linalg.matrix_rank(rows) < len(self.indices):
            # Some index has no bound, which is an error even where there is no cell.
            raise Unclear
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

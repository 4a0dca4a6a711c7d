"""Random functions of floats, whose results are rounded: of numbers, and of each other.

Compilers know what sines and cosines, exponentials and hyperbolic functions of one
number have to do with each other, which has been wrong in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Protocol

from xdsl.ir import Attribute, SSAValue

from .values import Number

_BOUNDED = ("sin", "cos", "tanh", "sigmoid", "erf", "atan")
"""Functions whose results are at most 2."""

_SCALES = {
    "acos": 0.2,
    "asin": 0.4,
    "asinh": 1.0,
    "atanh": 0.4,
    "cosh": 0.5,
    "cospi": 0.5,
    "erfc": 1.0,
    "exp": 0.3,
    "exp2": 0.5,
    "expm1": 0.5,
    "log1p": 0.4,
    "sinh": 0.5,
    "sinpi": 0.5,
    "tan": 0.4,
} | dict.fromkeys(_BOUNDED, 1.0)
"""Functions whose results are at most 2, too, of numbers of at most 2 times this.

None makes errors much larger.
"""
_OF_SQUARES = ("log", "rsqrt")
"""As many that are taken of one more than a square."""
_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("sin", "cos"),
    ("sin", "cos"),
    ("sin", "cos", "tan"),
    ("sinpi", "cospi"),
    ("asin", "acos", "atan"),
    ("sinh", "cosh", "tanh"),
    ("asinh", "atanh", "log"),
    ("exp", "expm1", "exp2", "log", "log1p"),
    ("sigmoid", "exp", "tanh"),
    ("erf", "erfc", "exp"),
)
"""Functions that are derivatives of each other, or computed of each other."""


class Draw(Protocol):
    """What draws statements: see `Drawing`."""

    @property
    def random(self) -> Random:
        """What everything is drawn from."""
        ...

    def apply(self, name: str, operands: Sequence[Number]) -> SSAValue:
        """An element-wise function of numbers."""
        ...

    def constant(self, number: float, element: Attribute, lanes: int | None) -> Number:
        """A number of the program."""
        ...


def root_of_square(draw: Draw, number: Number) -> Number:
    """`sqrt(x * x)`."""
    square = draw.apply("mul", [number, number])
    root = draw.apply("sqrt", [replace(number, value=square)])
    return replace(number, value=root, is_exact=False)


def function_of(draw: Draw, number: Number) -> Number:
    """A function of any number; the result is at most 2."""
    return _bounded(draw, draw.random.choice(_BOUNDED), number)


def composition(draw: Draw, number: Number) -> Number:
    """Functions of each other, times others of the same numbers: as in gradients."""
    random = draw.random
    names = random.choice(_FAMILIES)
    if random.random() < 0.3:
        names = random.sample([*_SCALES, *_OF_SQUARES], 3)
    first = [name for name in names if name in _BOUNDED] or _BOUNDED
    inner = _bounded(draw, random.choice(first), number)
    result = _bounded(draw, random.choice(first), number)
    for _ in range(random.randint(1, 4)):
        if random.random() < 0.8:
            factor = _of_small(draw, random.choice(names), inner)
            value = draw.apply("mul", [result, factor])
            result = replace(result, value=value, size=2 * result.size)
        inner = _of_small(draw, random.choice(names), inner)
    value = draw.apply("add", [result, inner])
    return replace(inner, value=value, size=inner.size + result.size)


def _bounded(draw: Draw, name: str, number: Number) -> Number:
    value = draw.apply(name, [number])
    return Number(value, number.element, number.lanes, 2, 0, is_exact=False)


def _of_small(draw: Draw, name: str, number: Number) -> Number:
    """A function of a number of at most 2, which is at most 2."""
    element, lanes = number.element, number.lanes
    if name in _OF_SQUARES:
        square = replace(number, value=draw.apply("mul", [number, number]))
        one = draw.constant(1, element, lanes)
        number = replace(number, value=draw.apply("add", [square, one]))
    elif _SCALES[name] != 1:
        scale = draw.constant(_SCALES[name], element, lanes)
        number = replace(number, value=draw.apply("mul", [number, scale]))
    return replace(number, value=draw.apply(name, [number]))

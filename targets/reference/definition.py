"""What a contraction means: the definition that everything else is held against.

It is to be read, not to be fast: `contraction.py` computes the same, many points at
once, and is tested to agree. The numbers here are Python's; how the element types hold
them is told in docs/language.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

from ...affine.form import LinearForm, Rational

Point: TypeAlias = Sequence[int]
Cell: TypeAlias = tuple[int, ...]
Tensor: TypeAlias = Mapping[Cell, Any]


def combined(combination: str, operands: Sequence[Any]) -> Any:
    """The operands of one point as one value."""
    match combination, operands:
        case "none", [a]:
            return a
        case "add", [a, b]:
            return a + b
        case "mul", [a, b]:
            return a * b
        case "eq", [a, b]:
            return a == b
        case "cond", [a, b, c]:
            return c if a == b else 0
        case _:
            raise ValueError(f"{combination} of {len(operands)} operands")


def aggregated(aggregation: str, values: Sequence[Any]) -> Any:
    """The values of all points of a cell, of which there are some, as one value."""
    match aggregation, values:
        case "add", _:
            return sum(values)
        case "mul", _:
            return prod(values)
        case "max", _:
            return max(values)
        case "min", _:
            return min(values)
        case "assign", [value]:
            return value
        case _:
            raise ValueError("two points assign one cell")


@dataclass(frozen=True)
class IndexingMap:
    """The shape of a tensor, and an index expression for each of its axes."""

    shape: Cell
    expressions: Sequence[LinearForm]

    def is_valid(self, point: Point) -> bool:
        """Whether every index expression is an integer within its axis."""
        values = [expression.evaluate(point) for expression in self.expressions]
        return all(
            value.denominator == 1 and 0 <= value < size
            for value, size in zip(values, self.shape, strict=True)
        )

    def cell(self, point: Point) -> Cell:
        """The cell that a valid point names."""
        return tuple(int(expression.evaluate(point)) for expression in self.expressions)


@dataclass(frozen=True)
class Constraint:
    """`0 <= expression < bound`, or without a bound just `0 <= expression`."""

    expression: LinearForm
    bound: Rational | None

    def holds(self, point: Point) -> bool:
        """Whether a point meets it; every constraint is bounded by zero from below."""
        value = self.expression.evaluate(point)
        return value >= 0 and (self.bound is None or value < self.bound)


def contract(
    aggregation: str,
    combination: str,
    output: IndexingMap,
    inputs: Sequence[tuple[Tensor, IndexingMap]],
    constraints: Sequence[Constraint],
    default: Tensor | None,
    points: Iterable[Point],
) -> Tensor:
    """The output; `points` are all integer points, or some with all valid ones."""
    met: dict[Cell, list[Any]] = {}
    for point in points:
        accesses = (output, *(access for _, access in inputs))
        if not all(access.is_valid(point) for access in accesses):
            continue
        if not all(constraint.holds(point) for constraint in constraints):
            continue
        operands = [tensor[access.cell(point)] for tensor, access in inputs]
        value = combined(combination, operands)
        met.setdefault(output.cell(point), []).append(value)
    result: dict[Cell, Any] = {}
    for cell in product(*map(range, output.shape)):
        if cell in met:
            result[cell] = aggregated(aggregation, met[cell])
        else:
            result[cell] = 0 if default is None else default[cell]
    return result

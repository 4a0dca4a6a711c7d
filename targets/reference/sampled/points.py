"""The points of a flattened contraction behind some cells of its result.

The first indices of a flattened contraction determine the cell, so that the points of a
grid of cells are again a box, with a list of values for each index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from string import ascii_letters

import numpy as np

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation, Combination
from ....dialects.eltwise.element_types import Kind, kind
from ....dialects.tile.contract import ContractOp
from ..boxes import evaluate
from ..contraction import Condition, Contraction
from ..elements import Array
from ..tile import contraction_of
from .grid import Coordinates, Grid

_LONGEST_LISTING = 2**20
"""The most points over which the values of an index expression are listed."""

INDEX_NAMES = ascii_letters
"""What `numpy.einsum` may call indices."""

_FASTER = 32
"""How many points of `numpy.einsum` take as long as one that is enumerated."""
_READING = 4
"""And how many enumerated ones as one cell that is read for that."""


@dataclass(frozen=True)
class Points:
    """Some points of a contraction: `values` has a list for each index."""

    op: ContractOp
    contraction: Contraction
    values: tuple[Coordinates, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each index takes."""
        return tuple(len(values) for values in self.values)

    @property
    def reduced(self) -> tuple[int, ...]:
        """The indices that only aggregate."""
        return tuple(range(self.op.flat_output_rank, len(self.values)))

    @property
    def is_sum_of_products(self) -> bool:
        """Whether `numpy.einsum` knows it, up to conditions."""
        contraction = self.contraction
        return (
            contraction.aggregation is Aggregation.ADD
            and contraction.combination in (Combination.NONE, Combination.MUL)
            and kind(contraction.element) is Kind.FLOAT
            and len(self.values) <= len(INDEX_NAMES)
            and all(
                any(
                    own.issuperset(condition.numerator.support) for own in self.supports
                )
                for condition in contraction.constraints
            )
        )

    @cached_property
    def supports(self) -> list[frozenset[int]]:
        """The indices that each operand depends on."""
        return [
            frozenset(n for form in access for n in form.support)
            for access in self.contraction.accesses[1:]
        ]

    @property
    def cost(self) -> int:
        """About how many points are enumerated, or what takes as long."""
        total = prod(self.shape)
        if not self.is_sum_of_products:
            return total
        read = [prod(self.shape[n] for n in own) for own in self.supports]
        return total // _FASTER + _READING * sum(read)

    def grid(self, number: int) -> Grid:
        """The cells of an operand that they read."""
        access = self.contraction.accesses[1 + number]
        shape = self.contraction.shapes[1 + number]
        axes = [
            _reached(form, size, self.values)
            for form, size in zip(access, shape, strict=True)
        ]
        return Grid(tuple(axes))

    def numbers(self, form: LinearForm, box: Sequence[slice]) -> Array:
        """An index expression at a part of the points, broadcasting to its shape."""
        rank = len(self.values)
        coordinates = [
            values[part].reshape([-1 if n == axis else 1 for n in range(rank)])
            for axis, (values, part) in enumerate(zip(self.values, box, strict=True))
        ]
        value = np.asarray(evaluate(form, coordinates))
        return value.reshape(value.shape or (1,) * rank)

    def holds(self, condition: Condition, box: Sequence[slice]) -> Array:
        """Where a condition of a flattened contraction holds."""
        value = self.numbers(condition.numerator, box)
        holds = value >= 0
        return holds if condition.end is None else holds & (value < condition.end)


def points_of(op: ContractOp, wanted: Grid) -> Points:
    """The points that aggregate into some cells of the result, and maybe others."""
    values = [np.arange(extent, dtype=np.int64) for extent in op.flat_ranges]
    contraction = contraction_of(op)
    for form, axis in zip(contraction.accesses[0], wanted.axes, strict=True):
        support = form.support
        if not support or prod(len(values[n]) for n in support) > _LONGEST_LISTING:
            continue
        mesh = np.ix_(*(values[n] for n in support))
        chosen = np.isin(_at(form, support, mesh), axis)
        for position, n in enumerate(support):
            others = tuple(p for p in range(len(support)) if p != position)
            values[n] = values[n][chosen.any(axis=others)]
    return Points(op, contraction, tuple(values))


def _at(form: LinearForm, support: Sequence[int], mesh: Sequence[Array]) -> Array:
    known = dict(zip(support, mesh, strict=True))
    every = [known.get(n, 0) for n in range(len(form.coefficients))]
    return np.asarray(evaluate(form, every))


def _reached(form: LinearForm, size: int, values: Sequence[Coordinates]) -> Coordinates:
    """The coordinates within an axis that an index expression takes."""
    support = form.support
    if prod(len(values[n]) for n in support) > _LONGEST_LISTING:
        return np.arange(size, dtype=np.int64)
    mesh = np.ix_(*(values[n] for n in support)) if support else ()
    reached = np.unique(_at(form, support, mesh))
    return reached[(reached >= 0) & (reached < size)]

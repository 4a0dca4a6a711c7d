"""What the results of a call should be, in a sample of their cells.

How many cells are sampled depends on what these cost: the points of index spaces that
are enumerated for them are at most `BUDGET`. For an output of which one cell alone
costs more, or of which rounding alone may change most cells, nothing is expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from xdsl.dialects.builtin import TensorType

from ....dialects.eltwise.ops import element_of
from ...reference.interpreter import entry_function
from ...reference.sampled import (
    Estimate,
    Grid,
    expected,
    sample,
    slice_of,
    storage,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

    from ...reference.sampled import Slice

    Array = NDArray[Any]

BUDGET = 1 << 26
"""The most points for one call: a second or two, and less than 1 GiB."""

_COUNTS = (64, 16, 4, 1)
"""The cells of an output that are sampled, of which the most are taken that fit."""

_ERRORS = 8
"""Estimated errors are summed up as independent ones; where they are not, they are
larger by a small factor."""
_UNITS = 64
"""Units in the last place of the largest value, as `tile-run --check` allows."""
_LEAST_PRECISE = 0.25
"""A cell with a larger error, relative to the largest value, tells nothing."""
_FAST_MATH = 256
"""How much larger errors are with `fast_math`: 1e-4 for `exp` on one runtime."""


@dataclass(frozen=True)
class Mismatch:
    """A cell of an output that is wrong."""

    output: int
    cell: tuple[int, ...]
    got: Any
    wanted: Any
    tolerance: float

    @property
    def distance(self) -> float:
        """How far it is off; infinite where one of both is no number."""
        distance = abs(float(self.got) - float(self.wanted))
        return float("inf") if np.isnan(distance) else distance


@dataclass(frozen=True)
class Expected:
    """Some cells of an output, and how far right ones may be off; NaN for any value."""

    output: int
    grid: Grid
    values: Array
    tolerance: Array
    scale: float
    """The largest magnitude."""

    @property
    def is_known(self) -> bool:
        """Whether it says something of at least half of the cells."""
        unknown = int(np.count_nonzero(np.isnan(self.tolerance)))
        return 2 * unknown <= self.tolerance.size

    def mismatch(self, result: Array) -> Mismatch | None:
        """The cell of a result that is furthest off, if any is wrong."""
        got = result[np.ix_(*self.grid.axes)] if self.grid.axes else result
        with np.errstate(all="ignore"):
            one, two = got.astype(np.float64), self.values.astype(np.float64)
            same = (got == self.values) | (np.isnan(one) & np.isnan(two))
            distance = np.abs(one - two)
            distance = np.where(np.isnan(distance), np.inf, distance)
            wrong = ~same & ~np.isnan(self.tolerance)
            # Integers of 64 bits may differ where their floats do not.
            if got.dtype.kind not in "biu":
                wrong &= ~(distance <= self.tolerance)
        if not wrong.any():
            return None
        worst = int(np.where(wrong, distance, -1.0).argmax())
        place = np.unravel_index(worst, wrong.shape)
        cell = tuple(
            int(axis[n]) for axis, n in zip(self.grid.axes, place, strict=True)
        )
        return Mismatch(
            self.output,
            cell,
            got[place].item(),
            self.values[place].item(),
            float(self.tolerance[place]),
        )


@dataclass(frozen=True)
class Expectation:
    """What is known of all outputs."""

    outputs: Sequence[Expected]
    unknown: Mapping[int, str]
    """The outputs of which nothing is known, and why."""

    def mismatch(self, results: Sequence[Array]) -> Mismatch | None:
        """A cell that is wrong, if there is one."""
        for each in self.outputs:
            found = each.mismatch(results[each.output])
            if found is not None:
                return found
        return None


def expectation(
    module: ModuleOp, inputs: Sequence[Array], *, fast_math: bool
) -> Expectation:
    """What the results of a flattened module are for these inputs."""
    unknown: dict[int, str] = {}
    part = _affordable(module, unknown)
    elements = [element_of(type) for type in part.function.function_type.outputs]
    outputs: list[Expected] = []
    for number, estimate in expected(part, inputs).items():
        found = _expected(
            number, part.results[number], estimate, elements[number], fast_math
        )
        if found.is_known:
            outputs.append(found)
        else:
            unknown[number] = "rounding alone may change its values"
    return Expectation(outputs, unknown)


def _affordable(module: ModuleOp, unknown: dict[int, str]) -> Slice:
    """What sampled cells depend on, of all outputs that the budget allows.

    The others join those that are `unknown`.
    """
    types = entry_function(module).function_type.outputs
    shapes = {
        number: tuple(type.get_shape())
        for number, type in enumerate(types)
        if isinstance(type, TensorType) and 0 not in type.get_shape()
    }
    for count in _COUNTS:
        part = _slice(module, shapes, count)
        if part.cost <= BUDGET:
            return part
    costs = {
        number: _slice(module, {number: s}, 1).cost for number, s in shapes.items()
    }
    chosen: dict[int, tuple[int, ...]] = {}
    part = _slice(module, chosen, 1)
    for number in sorted(costs, key=lambda number: costs[number]):
        wider = _slice(module, chosen | {number: shapes[number]}, 1)
        if wider.cost <= BUDGET:
            chosen[number], part = shapes[number], wider
        else:
            unknown[number] = (
                f"a cell of it needs {costs[number]:.1e} points of index spaces, and "
                f"{BUDGET:.1e} are the most"
            )
    return part


def _slice(
    module: ModuleOp, shapes: Mapping[int, tuple[int, ...]], count: int
) -> Slice:
    grids = {
        number: sample(shape, count, crc32(f"{number} {shape}".encode()))
        for number, shape in shapes.items()
    }
    return slice_of(module, grids)


def _expected(
    number: int, grid: Grid, estimate: Estimate, element: Attribute, fast_math: bool
) -> Expected:
    """What an estimate says of an output's cells."""
    values, errors = estimate.values, estimate.bounds
    factor = _ERRORS * _FAST_MATH if fast_math else _ERRORS
    errors = np.broadcast_to(factor * errors, values.shape)
    if values.dtype.kind != "f":
        return Expected(number, grid, values, np.where(errors > 0, np.nan, 0.0), 1.0)
    finite = np.isfinite(values)
    scale = float(np.abs(values[finite]).max(initial=0.0))
    tolerance = errors + _UNITS * storage(element) * scale
    if fast_math:
        # Infinities and NaN have no meaning.
        tolerance = np.where(finite, tolerance, np.nan)
    is_loose = ~(errors <= _LEAST_PRECISE * scale) & (errors > 0) & (scale > 0)
    tolerance = np.where(is_loose | np.isinf(errors), np.nan, tolerance)
    return Expected(number, grid, values, tolerance, scale)

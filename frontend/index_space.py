"""The indices and sizes of one contraction, and whether every index is bounded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm

from xdsl.ir import SSAValue

from ..affine.form import Rational
from ..affine.matrix import EchelonBasis
from ..affine.polynomial import Polynomial
from ..dialects.tile.attributes import Constraint
from ..errors import GinghamError, SourceLocation
from ..limits import LARGEST_INTEGER, MOST_INDICES, MOST_TERMS


def valid_name(name: str) -> str:
    """A name of a program as one that MLIR accepts: a `'` becomes `_prime`.

    Python has letters that MLIR has not, and any text may be given as a name.
    """
    valid = re.sub(r"[^A-Za-z0-9_]", "_", name.replace("'", "_prime"))
    return valid if valid and not valid[0].isdigit() else f"_{valid}"


@dataclass(frozen=True)
class Size:
    """An integer that is known before anything runs: a number or an index value.

    `is_condition` says that it is a comparison's 0 or 1, which as a tensor is an i1.
    """

    value: int | SSAValue
    is_condition: bool = False


def check_expression(polynomial: Polynomial) -> Polynomial:
    """An index expression as it is, if it is within the limits; else OverflowError."""
    if len(polynomial.terms) > MOST_TERMS:
        raise OverflowError(f"an index expression has at most {MOST_TERMS} terms")
    for (_, powers), coefficient in polynomial.terms:
        if sum(abs(power) for _, power in powers) > MOST_TERMS:
            raise OverflowError(
                f"a term of an index expression has at most {MOST_TERMS} factors"
            )
        if max(abs(coefficient.numerator), coefficient.denominator) > LARGEST_INTEGER:
            raise OverflowError("a number of an index expression does not fit 64 bits")
    return polynomial


@dataclass
class IndexSpace:
    """Gives numbers to the indices and sizes of a contraction as they occur."""

    names: list[str] = field(default_factory=list[str])
    """The indices in order of their number."""
    locations: list[SourceLocation] = field(default_factory=list[SourceLocation])
    """Where each index occurs first."""
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The index values that polynomials refer to, with their numbers, in order."""

    def index(self, name: str, location: SourceLocation) -> Polynomial:
        """The index of this name, which is new if it did not occur before.

        Raises GinghamError, at `location`, for one too many.
        """
        if name not in self.names:
            if len(self.names) == MOST_INDICES:
                raise GinghamError(
                    f"expected at most {MOST_INDICES} indices in a contraction",
                    location,
                )
            self.names.append(name)
            self.locations.append(location)
        return Polynomial.index(self.names.index(name))

    def size(self, size: Size) -> Polynomial:
        """A size as a polynomial."""
        if isinstance(size.value, int):
            return Polynomial.constant(size.value)
        number = self.numbers.setdefault(size.value, len(self.numbers))
        return Polynomial.symbol(number)

    @property
    def symbols(self) -> list[SSAValue]:
        """The index values that polynomials refer to, in order of their number."""
        return list(self.numbers)

    def ir_names(self) -> list[str]:
        """The indices' names as MLIR accepts them, all different."""
        names: list[str] = []
        for name in self.names:
            valid = valid_name(name)
            while valid in names or (valid != name and valid in self.names):
                valid += "_"
            names.append(valid)
        return names

    def check_bounded(
        self, accesses: Sequence[Polynomial], constraints: Sequence[Constraint]
    ) -> None:
        """Raise GinghamError for an index that takes infinitely many values.

        An access lies within its axis and a constraint between 0 and its bound, so the
        points form a bounded set exactly when these expressions together determine
        every index. An expression with symbolic coefficients is taken to bound all of
        its indices: exact bounds are found once sizes are known.
        """
        basis = EchelonBasis(len(self.names))
        bounded = [c.expression for c in constraints if c.bound is not None]
        for polynomial in (*accesses, *bounded):
            if basis.rank == len(self.names):
                return
            for row in self._rows(polynomial):
                basis.add(row)
        for kernel in basis.columns[basis.rank :]:
            free = [number for number, entry in enumerate(kernel) if entry]
            raise self._unbounded(free)

    def _unbounded(self, free: Sequence[int]) -> GinghamError:
        """The error for indices that can change together without end."""
        name, *others = [self.names[number] for number in free]
        together = " and ".join(f"'{other}'" for other in others)
        reason = (
            f"'{name}' and {together} can grow together" if others else "it can grow"
        )
        return GinghamError(
            f"nothing bounds the index '{name}'",
            self.locations[free[0]],
            f"{reason} without leaving any tensor; add a constraint such as {name} < 3",
        )

    def _rows(self, polynomial: Polynomial) -> list[list[int]]:
        """The integer coefficients of a polynomial's indices."""
        size = len(self.names)
        if any(powers for (index, powers), _ in polynomial.terms if index is not None):
            return [[int(i == j) for j in range(size)] for i in polynomial.indices]
        row: list[Rational] = [0] * size
        for (index, _), coefficient in polynomial.terms:
            if index is not None:
                row[index] = coefficient
        scale = lcm(*(entry.denominator for entry in row))
        return [[int(entry * scale) for entry in row]]

"""The valid points of a contraction, kept while its tensors change places.

A derivative of a contraction runs over the same points as the contraction itself. But
the tensors of a contraction decide which points are valid: where the derivative does
not read one of them, what that one's access demands has to be said in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....affine.polynomial import Polynomial
from ....dialects.aggregation import Aggregation, Combination
from ....dialects.tile.attributes import Constraint
from ....dialects.tile.contract import ContractOp
from ..flatten import flat_form
from .emitter import AccessMap, Emitter, Tensor, identity, static


@dataclass(frozen=True)
class Place:
    """A tensor's shape, and the access of one of its cells at each point."""

    access: AccessMap
    shape: tuple[int, ...]

    @property
    def is_integral(self) -> bool:
        """Whether the access is an integer at every point."""
        return all(c.denominator == 1 for p in self.access for _, c in p.terms)

    def bounds(self) -> list[Constraint]:
        """The constraints that the access is in bounds."""
        return [
            Constraint(expression, Polynomial.constant(size))
            for expression, size in zip(self.access, self.shape, strict=True)
        ]


@dataclass(frozen=True)
class Space:
    """Points of index space: where the constraints and `places` allow them.

    `result` is the place of the contraction's result, `inputs` those of its operands.
    """

    indices: tuple[str, ...]
    result: Place
    inputs: tuple[Place, ...]
    constraints: tuple[Constraint, ...]

    @staticmethod
    def of(op: ContractOp) -> Space:
        """The points of a contraction of known sizes."""
        shape, *shapes = _shapes(op)
        output, *inputs = op.accesses
        constraints = op.conditions
        if op.is_flat:
            constraints = (*_in_box(op.flat_ranges), *constraints)
        return Space(
            op.index_names,
            Place(output, shape),
            tuple(map(Place, inputs, shapes)),
            constraints,
        )

    @staticmethod
    def flat(op: ContractOp) -> tuple[Space, tuple[int, ...]]:
        """The points in integers that start at 0, and how many values each index has.

        The constraints alone say which points are valid; every access is an integer.
        """
        if op.is_flat:
            return Space.of(op), op.flat_ranges
        shape, *shapes = _shapes(op)
        form = flat_form(op)
        accesses = [tuple(map(Polynomial.from_form, a)) for a in form.accesses]
        conditions = [Constraint(Polynomial.from_form(f)) for f in form.constraints]
        space = Space(
            tuple(f"i{number}" for number in range(len(form.ranges))),
            Place(accesses[0], shape),
            tuple(map(Place, accesses[1:], shapes)),
            (*_in_box(form.ranges), *conditions),
        )
        return space, form.ranges

    def without(self, dropped: Sequence[Place], kept: Sequence[Place]) -> Space:
        """The same points for a contraction that reads only the places `kept`."""
        said = {pair for place in kept for pair in _axes(place)}
        constraints = list(self.constraints)
        for place in dropped:
            for pair, bound in zip(_axes(place), place.bounds(), strict=True):
                if pair not in said:
                    said.add(pair)
                    constraints.append(bound)
        return Space(self.indices, self.result, self.inputs, tuple(constraints))


def _shapes(op: ContractOp) -> list[tuple[int, ...]]:
    values = [op.result, *op.inputs]
    return [static(value, op).type.get_shape() for value in values]


def _axes(place: Place) -> list[tuple[Polynomial, int]]:
    return list(zip(place.access, place.shape, strict=True))


def _in_box(ranges: Sequence[int]) -> tuple[Constraint, ...]:
    box = Place(identity(len(ranges)), tuple(ranges))
    return tuple(box.bounds())


def contract_over(
    emitter: Emitter,
    space: Space,
    operands: Sequence[tuple[Tensor, Place]],
    target: Place,
    combination: Combination = Combination.NONE,
    aggregation: Aggregation = Aggregation.ADD,
    default: Tensor | None = None,
) -> Tensor:
    """A contraction of these operands over the points of a space, to `target`."""
    return emitter.contract(
        aggregation,
        combination,
        [(tensor, place.access) for tensor, place in operands],
        target.access,
        target.shape,
        space.indices,
        space.constraints,
        default,
    )

"""The interpreter's contraction computes what the definition says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import f64

from gingham.affine.form import LinearForm, Rational
from gingham.dialects.aggregation import Aggregation, Combination
from gingham.dialects.eltwise.element_types import si64
from gingham.errors import GinghamError
from gingham.targets.reference import definition
from gingham.targets.reference.contraction import Condition, Contraction, contract
from gingham.targets.reference.elements import Array

COEFFICIENTS: list[Rational] = [
    *(0, 0, 0, 1, 1, 1, 1, -1, 2, -2, 3, -3),
    *(Fraction(1, 2), Fraction(-1, 2), Fraction(2, 3), Fraction(3, 4)),
]
CONSTANTS: list[Rational] = [0, 0, 0, 0, 1, -1, 2, -3, Fraction(1, 2), Fraction(-3, 4)]


@dataclass(frozen=True)
class Case:
    """A contraction, what its tensors hold, and the same as the definition has it."""

    contraction: Contraction
    inputs: list[Array]
    default: Array | None
    constraints: list[definition.Constraint]

    def defined(self, points: Sequence[Sequence[int]]) -> definition.Tensor:
        output, *accesses = (
            definition.IndexingMap(shape, access)
            for shape, access in zip(
                self.contraction.shapes, self.contraction.accesses, strict=True
            )
        )
        return definition.contract(
            self.contraction.aggregation.value,
            self.contraction.combination.value,
            output,
            list(zip(map(cells_of, self.inputs), accesses, strict=True)),
            self.constraints,
            None if self.default is None else cells_of(self.default),
            points,
        )


def cells_of(array: Array) -> definition.Tensor:
    return {cell: array[cell].item() for cell in np.ndindex(array.shape)}


@st.composite
def forms(draw: st.DrawFn, rank: int) -> LinearForm:
    terms = [draw(st.sampled_from(COEFFICIENTS)) for _ in range(rank)]
    return LinearForm.of(terms, draw(st.sampled_from(CONSTANTS)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank = draw(st.integers(0, 3))
    aggregation = draw(st.sampled_from([*Aggregation]))
    combination = draw(st.sampled_from([*Combination]))
    count = combination.arity + 1
    sizes = st.lists(st.sampled_from([3, 4, 2, 1, 5, 5, 0]), max_size=3)
    shapes = [tuple(draw(sizes)) for _ in range(count)]
    limits = st.sampled_from([3, 2, 4, 1, 0, None, Fraction(5, 2)])
    constraints = [
        definition.Constraint(draw(forms(rank)), draw(limits))
        for _ in range(draw(st.integers(0, 2)))
    ]
    for index in range(rank):
        # An index must be bounded, and mostly is by this.
        if draw(st.sampled_from([True, True, False])):
            bounded = LinearForm.dimension(index, rank) + draw(st.integers(-1, 3))
            constraints.append(definition.Constraint(bounded, draw(st.integers(2, 5))))
    element = draw(st.sampled_from([si64, f64]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))

    def numbers(shape: tuple[int, ...]) -> Array:
        values = random.integers(-3, 4, shape)
        return values.astype(np.int64 if element == si64 else np.float64)

    contraction = Contraction(
        aggregation,
        combination,
        ("i", "j", "k")[:rank],
        tuple(tuple(draw(forms(rank)) for _ in shape) for shape in shapes),
        tuple(shapes),
        tuple(Condition.constraint(c.expression, c.bound) for c in constraints),
        element,
    )
    default = numbers(shapes[0]) if draw(st.booleans()) else None
    return Case(contraction, [numbers(s) for s in shapes[1:]], default, constraints)


@given(cases())
@settings(max_examples=400, deadline=None)
def test_the_definition_is_what_is_computed(case: Case) -> None:
    try:
        box = case.contraction.box
    except GinghamError:
        # Some index has no bound: the enumeration of all integers does not end.
        assume(False)
        return
    # Wider than where the interpreter looks for points.
    spans = [range(span.start - 2, span.stop + 2) for span in box or ()]
    if box is None:
        spans = [range(-8, 9)] * len(case.contraction.indices)
    assume(prod(map(len, spans)) <= 8000)
    try:
        expected = case.defined(list(product(*spans)))
    except ValueError:
        event("assigned twice")
        with pytest.raises(GinghamError, match="two points assign the cell"):
            contract(case.contraction, case.inputs, case.default)
        return
    result = contract(case.contraction, case.inputs, case.default)
    assert result.shape == case.contraction.shapes[0]
    assert cells_of(result) == expected


def test_a_convolution_by_hand() -> None:
    # O[x : 4] = +(I[x + i - 1] * K[i])
    x, i = LinearForm.dimension(0, 2), LinearForm.dimension(1, 2)
    image = {(0,): 1, (1,): 2, (2,): 3, (3,): 4}
    kernel = {(0,): 1, (1,): 10, (2,): 100}
    result = definition.contract(
        "add",
        "mul",
        definition.IndexingMap((4,), [x]),
        [
            (image, definition.IndexingMap((4,), [x + i - 1])),
            (kernel, definition.IndexingMap((3,), [i])),
        ],
        [],
        None,
        list(product(range(-9, 9), repeat=2)),
    )
    assert [*result.values()] == [210, 321, 432, 43]

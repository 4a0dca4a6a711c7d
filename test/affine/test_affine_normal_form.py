"""One contraction, written with other indices, has one flat form."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from gingham.affine.flatten import FlatContraction
from gingham.affine.form import LinearForm

from .test_affine_flatten import (
    Contraction,
    contractions,
    independent,
    transposed,
    valid_points,
)

Change = Sequence[LinearForm]


@st.composite
def rewritings(draw: st.DrawFn, rank: int) -> Change:
    """The old indices over new ones: turned, moved, sheared and permuted."""
    order = draw(st.permutations(range(rank)))
    change = [LinearForm.dimension(place, rank) for place in order]
    for _ in range(draw(st.integers(0, 3)) if rank > 1 else 0):
        target, other = draw(st.permutations(range(rank)))[:2]
        factor = draw(st.sampled_from([1, -1, 2, -3]))
        change[target] = change[target] + change[other] * factor
    return [
        form * draw(st.sampled_from([1, -1])) + draw(st.integers(-5, 5))
        for form in change
    ]


def rewritten(contraction: Contraction, change: Change) -> Contraction:
    return Contraction(
        contraction.rank,
        [[form.substitute(change) for form in a] for a in contraction.accesses],
        contraction.shapes,
        [(form.substitute(change), bound) for form, bound in contraction.constraints],
    )


@st.composite
def with_idle_constraints(draw: st.DrawFn, contraction: Contraction) -> Contraction:
    """Constraints in another order and direction, and some that say nothing new."""
    limits = [
        (-form + (bound - 1), bound) if draw(st.booleans()) else (form, bound)
        for form, bound in contraction.constraints
    ]
    integral = [
        (form, bound) for form, bound in contraction.bounded if form.is_integral
    ]
    for _ in range(draw(st.integers(0, 2)) if integral else 0):
        parts = draw(st.lists(st.sampled_from(integral), min_size=1, max_size=2))
        form, end = LinearForm.constant_of(0, contraction.rank), 0
        for part, bound in parts:
            form, end = form + part, end + bound - 1
        below, above = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        if gcd(*(c.numerator for c in form.coefficients)) == 1:  # nothing is rounded
            limits.append((form + below, end + below + above + 1))
    return Contraction(
        contraction.rank,
        contraction.accesses,
        contraction.shapes,
        draw(st.permutations(limits)),
    )


def meaning(flat: FlatContraction) -> object:
    """All but what the indices are called."""
    return flat.ranges, flat.accesses, flat.constraints, flat.output_rank


def is_covered(contraction: Contraction) -> bool:
    """Whether the form is promised to be one.

    An index that no access depends on only counts, and has a place in no tensor. And
    equations are found where a bounded form has only one value, not where integer
    points happen to lie in a plane of other directions.
    """
    plain = Contraction(contraction.rank, contraction.accesses, contraction.shapes, [])
    if len(independent(plain)[0]) < contraction.rank:
        return False
    points = np.array(sorted(valid_points(contraction)))
    if not len(points):
        return True
    forms = np.array([[*map(float, f.coefficients)] for f, _ in contraction.bounded])
    single = forms[np.ptp(points @ forms.T, axis=0) < 1e-6]
    equations = np.linalg.matrix_rank(single) if len(single) else 0
    return np.linalg.matrix_rank(points - points[0]) == contraction.rank - equations


@given(contractions() | transposed(), st.data())
@settings(deadline=None, max_examples=400)
def test_one_flat_form(contraction: Contraction, data: st.DataObject) -> None:
    assume(is_covered(contraction))
    flat = contraction.flatten()
    event("no point" if flat.is_empty else f"{len(flat.constraints)} constraints")
    change = data.draw(rewritings(contraction.rank))
    other = rewritten(data.draw(with_idle_constraints(contraction)), change)
    assert meaning(other.flatten()) == meaning(flat)

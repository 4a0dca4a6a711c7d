"""Indices that only count: how often each point of the others occurs.

    S[] = +(A[i]), k < 1000000              each A[i] is added a million times
    S[] = +(A[i]), j + k < 1000             each one 500500 times

An index that no access and no inequality ties to another one multiplies the points of
the others. How many values such indices take together is counted (`counting`), not
enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .counting import count_points
from .flatten import FlatContraction
from .form import LinearForm
from .inequalities import components, within


def multiplicity(
    ranges: Sequence[int],
    used: Sequence[LinearForm],
    constraints: Sequence[LinearForm],
) -> tuple[int, tuple[int, ...]]:
    """How often points of a box occur, and the dimensions that tell them apart.

    The box is `0 <= d[i] < ranges[i]`, where all `constraints` are >= 0; `used` are the
    forms whose values a point is known by. Dimensions that can not be counted soon are
    among those that tell points apart.
    """
    seen = {dimension for form in used for dimension in form.support}
    count, kept = 1, list[int]()
    for dimensions, forms in components(constraints, len(ranges)):
        found = None
        if seen.isdisjoint(dimensions):
            extents = [ranges[d] for d in dimensions]
            found = count_points(extents, [within(form, dimensions) for form in forms])
        if found is None:
            kept += dimensions
        else:
            count *= found
    return count, tuple(sorted(kept))


def without_repetition(flat: FlatContraction) -> tuple[int, FlatContraction]:
    """How often each point of a contraction occurs, and the contraction without that.

    It must not be empty.
    """
    used = [form for access in flat.accesses for form in access]
    count, kept = multiplicity(flat.ranges, used, flat.constraints)
    if len(kept) == len(flat.ranges):
        return 1, flat
    tied = [form for form in flat.constraints if set(form.support) <= set(kept)]
    return count, replace(
        flat,
        substitution=tuple(within(form, kept) for form in flat.substitution),
        ranges=tuple(flat.ranges[d] for d in kept),
        accesses=tuple(tuple(within(f, kept) for f in a) for a in flat.accesses),
        constraints=tuple(within(form, kept) for form in tied),
        output_rank=sum(d < flat.output_rank for d in kept),
        names_of=tuple(flat.names_of[d] for d in kept),
    )

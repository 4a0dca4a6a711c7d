"""The forms of a block: over the values that occur, of a size that can be meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ...limits import LARGEST_INTEGER
from ..syntax import compact
from .attributes import Direction, Refinement, ViewType


def verify_forms(
    forms: Sequence[LinearForm], where: str, ranges: Sequence[int]
) -> None:
    """Raise VerifyException for forms that are not over indices of these ranges."""
    for form in forms:
        if form.rank != len(ranges):
            raise VerifyException(
                f"expected {where} to be over {len(ranges)} indices, got {form.rank}"
            )
        if not form.is_integral:
            raise VerifyException(f"expected {where} to have integer coefficients only")
        values = form.bounds(ranges) if 0 not in ranges else ()
        if any(abs(value) > LARGEST_INTEGER for value in values):
            raise VerifyException(f"expected values of {where} to fit 64 bits")


def verify_counts(
    ranges: Sequence[int],
    bindings: int,
    refinements: int,
    buffers: int,
    types: Sequence[Attribute],
) -> None:
    """Raise VerifyException unless there is as much of each thing as of the others.

    `types` are those of the body's arguments, first the indices, then the windows.
    """
    if any(extent < 0 for extent in ranges):
        raise VerifyException(f"expected ranges of 0 or more, got {list(ranges)}")
    if bindings != len(ranges):
        raise VerifyException(f"expected {len(ranges)} binding(s), got {bindings}")
    if buffers != refinements:
        raise VerifyException(
            f"expected {refinements} buffer(s), one per refinement, got {buffers}"
        )
    if len(types) != len(ranges) + refinements:
        raise VerifyException(
            f"expected a body with {len(ranges)} index argument(s) and {refinements} "
            f"view(s), got {len(types)} argument(s)"
        )
    if any(not isinstance(type, IndexType) for type in types[: len(ranges)]):
        raise VerifyException("expected the first arguments of the body to be index")


def verify_window(
    refinement: Refinement, outer: ViewType, inner: ViewType, where: str
) -> None:
    """Raise VerifyException for a window of another type than what it is cut from."""
    if inner != outer.resized(inner.sizes):
        raise VerifyException(
            f"expected {where} to have the element type and space of {outer}, got "
            f"{inner}"
        )
    if not len(refinement.access) == outer.rank == inner.rank:
        raise VerifyException(
            f"expected {where} to have {outer.rank} index expression(s) and sizes, "
            f"got {len(refinement.access)} and {inner.rank}"
        )
    direction = refinement.direction
    if direction is not Direction.OUT and refinement != Refinement(
        direction, refinement.access
    ):
        raise VerifyException(
            f"expected {where}, which is read, to have no aggregation and no init"
        )


def compact_captures(
    rank: int,
    refinements: Sequence[Refinement],
    constraints: Sequence[LinearForm],
    arguments: Sequence[SSAValue],
    captures: Sequence[SSAValue],
) -> tuple[list[Refinement], list[LinearForm], list[SSAValue]]:
    """Refinements and constraints over the indices and only the captures that occur."""
    forms = [form for refinement in refinements for form in refinement.access]
    values = [*arguments[:rank], *captures]
    compacted, kept = compact([*forms, *constraints], values, fixed=rank)
    remaining = iter(compacted)
    accesses = [tuple([next(remaining) for _ in r.access]) for r in refinements]
    new_refinements = [
        r if access == r.access else replace(r, access=access)
        for r, access in zip(refinements, accesses, strict=True)
    ]
    return new_refinements, list(remaining), kept[rank:]

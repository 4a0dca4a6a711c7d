"""The questions about integer points that the library isl (by islpy) decides for us.

The only module that imports islpy, and only when a question is asked: importing
gingham costs nothing. Nothing of isl's leaves this module: forms go in, Python integers
come out. All answers are exact over integer points.

Integer programming can take exponential time, so each question may spend
`OPERATION_LIMIT` of isl's own operations, and so may all questions together that are
asked within `one_limit`; past it, a `GinghamError` says so.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

from ..errors import GinghamError
from .form import LinearForm
from .lattice import identity_forms
from .matrix import Vector

if TYPE_CHECKING:
    import islpy

OPERATION_LIMIT = 30_000
"""A few seconds for ten dimensions, less for few; real programs take hundreds. Where
numbers are longer than 128 bits, or a question is larger, operations take longer, and
there are fewer."""

_USUAL_SIZE = 120
"""Numbers of a question for which there are `OPERATION_LIMIT` operations."""
_WRITING = 3
"""Operations for each number to hand it to isl, which say nothing of how hard it is."""


class _Thread(threading.local):
    """What a thread keeps between its questions: isl's contexts are not thread-safe."""

    context: islpy.Context | None = None
    is_shared: bool = False
    """Whether questions share one limit, of which some may be spent already."""


_thread = _Thread()


@contextmanager
def one_limit() -> Generator[None]:
    """Let the questions that this thread asks inside share one limit."""
    if _thread.is_shared:
        yield
        return
    if _thread.context is not None:
        _thread.context.reset_operations()
    _thread.is_shared = True
    try:
        yield
    finally:
        _thread.is_shared = False


@contextmanager
def _limited(forms: Sequence[LinearForm], effort: int = 1) -> Generator[islpy.Context]:
    """The context of this thread, with what a question about `forms` may spend.

    That is `effort` times as much as usual.
    """
    import islpy

    numbers = [n for form in forms for n in (*form.coefficients, form.constant)]
    bits = max((number.numerator.bit_length() for number in numbers), default=0)
    limit = OPERATION_LIMIT * 128 // max(bits, 128)
    limit = max(limit * _USUAL_SIZE // max(len(numbers), _USUAL_SIZE), 1) * effort
    limit += _WRITING * len(numbers)

    if _thread.context is None:
        _thread.context = islpy.Context()
    context = _thread.context
    context.set_max_operations(limit)
    if not _thread.is_shared:
        context.reset_operations()
    try:
        yield context
    except islpy.Error as error:
        if "maximal number of operations" not in str(error):
            raise
        raise GinghamError(
            f"the index set is too hard: not decided in {limit} operations",
            hint="use fewer indices or smaller coefficients in accesses or constraints",
        ) from None
    finally:
        # Objects that outlive the question must still be freed without complaint.
        context.set_max_operations(0)


def is_empty(rank: int, forms: Sequence[LinearForm]) -> bool:
    """Whether no integer point has all `forms >= 0`."""
    with _limited(forms) as context:
        return _basic_set(context, rank, forms).is_empty()


def sample(rank: int, forms: Sequence[LinearForm], effort: int = 1) -> Vector | None:
    """Some integer point with all `forms >= 0`, or None.

    The question may spend `effort` times as much as others.
    """
    import islpy

    with _limited(forms, effort) as context:
        point = _basic_set(context, rank, forms).sample_point()
    # Past the limit isl fails to print a number, without an error: so not inside.
    if point.is_void():
        return None
    kind = islpy.dim_type.set
    return tuple(point.get_coordinate_val(kind, i).to_python() for i in range(rank))


def irredundant(rank: int, forms: Sequence[LinearForm]) -> list[LinearForm]:
    """Those of inequalities that the others do not imply over rational points.

    The points with all `forms >= 0` must be bounded, and no two forms of one direction:
    so there is one answer. (Over integers there are several: with `0 <= y < 2` each of
    `x >= 0` and `2x + y >= 0` implies the other.) All forms where the points lie in a
    plane.
    """
    import islpy

    # In a cone, where scale does not matter, isl can not round to integers.
    cone = [LinearForm((*form.coefficients, form.constant)) for form in forms]
    scale = LinearForm.dimension(rank, rank + 1)
    with _limited(forms) as context:
        facets = _basic_set(context, rank + 1, [*cone, scale]).remove_redundancies()
        sides = facets.get_constraints()
    if any(side.is_equality() for side in sides):
        return [*forms]
    kind, size = islpy.dim_type.set, range(rank + 1)
    kept = {
        tuple(side.get_coefficient_val(kind, i).to_python() for i in size)
        for side in sides
    }
    return [f for f, side in zip(forms, cone, strict=True) if side.coefficients in kept]


def extremes(
    rank: int, forms: Sequence[LinearForm], values: Sequence[LinearForm] | None = None
) -> list[tuple[int | None, int | None]] | None:
    """Least and greatest value of integer forms at the points with all `forms >= 0`.

    The `values` asked for are those of every dimension where none are given. None in
    place of a value when there is none, None altogether when there is no point.
    """
    asked = identity_forms(rank) if values is None else values
    with _limited([*forms, *asked]) as context:
        points = _basic_set(context, rank, forms)
        if points.is_empty():
            return None
        points = points.to_set()
        found = [
            (points.min_val(value), points.max_val(value))
            for value in _affine(context, points, asked)
        ]
    return [  # outside of the limit, as in `sample`
        (
            low.to_python() if low.is_int() else None,
            high.to_python() if high.is_int() else None,
        )
        for low, high in found
    ]


def _affine(
    context: islpy.Context, points: islpy.Set, forms: Sequence[LinearForm]
) -> list[islpy.Aff]:
    """Forms as functions on the space of a set."""
    import islpy

    domain = islpy.LocalSpace.from_space(points.get_space())
    found: list[islpy.Aff] = []
    for form in forms:
        function = islpy.Aff.zero_on_domain(domain)
        function = function.set_constant_val(_value(context, form.constant.numerator))
        for d in form.support:
            factor = _value(context, form.coefficients[d].numerator)
            function = function.set_coefficient_val(islpy.dim_type.in_, d, factor)
        found.append(function)
    return found


def image_contains(
    rank: int,
    forms: Sequence[LinearForm],
    images: Sequence[LinearForm],
    box: Sequence[tuple[int, int]],
    where: Sequence[LinearForm] = (),
) -> bool:
    """Whether the points with all `forms >= 0` hit every cell of a box.

    The cell of a point has one coordinate for each of `images`, which are integer
    forms; `box` gives the least and greatest value of each coordinate. Of its cells
    only those count where all forms `where` over the coordinates are >= 0.
    """
    import islpy

    # The points (cell, point) with cell = images(point), then only their cells.
    size = len(images)
    shift = {i: size + i for i in range(rank)}
    joint = size + rank
    inequalities = [form.remap(shift, joint) for form in forms]
    ties = [
        image.remap(shift, joint) - LinearForm.dimension(cell, joint)
        for cell, image in enumerate(images)
    ]
    sides = [*where]
    for cell, (low, high) in enumerate(box):
        value = LinearForm.dimension(cell, size)
        sides += [value - low, -value + high]
    with _limited(inequalities + ties) as context:
        graph = _basic_set(context, joint, inequalities, ties).to_set()
        image = graph.project_out(islpy.dim_type.set, size, rank)
        return _basic_set(context, size, sides).to_set().is_subset(image)


def _basic_set(
    context: islpy.Context,
    rank: int,
    inequalities: Sequence[LinearForm],
    equalities: Sequence[LinearForm] = (),
) -> islpy.BasicSet:
    import islpy

    kinds = islpy.dim_type
    return islpy.BasicSet.from_constraint_matrices(
        islpy.Space.set_alloc(context, 0, rank),
        _matrix(context, rank, equalities),
        _matrix(context, rank, inequalities),
        kinds.set,
        kinds.div,
        kinds.param,
        kinds.cst,
    )


def _matrix(
    context: islpy.Context, rank: int, forms: Sequence[LinearForm]
) -> islpy.Mat:
    """One row for each form: its coefficients, then its constant."""
    import islpy

    # Each entry that is set copies all there is: so rows are made apart, and of their
    # entries those that are not 0.
    value = cache(partial(_value, context))
    matrix = islpy.Mat.alloc(context, 0, rank + 1)
    zeros = matrix.add_zero_rows(1)
    for form in forms:
        row = zeros
        for column, entry in enumerate((*form.coefficients, form.constant)):
            if entry:
                row = row.set_element_val(0, column, value(entry.numerator))
        matrix = matrix.concat(row)
    return matrix


def _value(context: islpy.Context, number: int) -> islpy.Val:
    import islpy

    if -(2**63) <= number < 2**63:
        return islpy.Val.int_from_si(context, number)
    return islpy.Val.read_from_str(context, str(number))

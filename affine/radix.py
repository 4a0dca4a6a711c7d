"""Mixed radix: which indices of a box the cell of an access gives away.

In `128*i + 2*j + k` with `0 <= k < 2` and `0 <= j < 64` the value tells all of `i`, `j`
and `k`, as the digits of a number do: each step exceeds what the smaller ones reach
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .form import LinearForm


def determined_indices(
    access: Sequence[LinearForm],
    windows: Sequence[int],
    extents: Mapping[int, int],
    known: Iterable[int] = (),
) -> set[int]:
    """The indices of a box that any cell of the window at `access` determines.

    `access[d]` is the first cell of the window along axis `d`, `windows[d]` its size.
    `extents` has the ranges of the box by index; indices that it lacks are the same at
    all points. `known` are known already. Axes are looked at one by one, so an index
    that only several of them tell together is not found.
    """
    found = {*known, *(index for index, extent in extents.items() if extent <= 1)}
    before = -1
    while len(found) != before:
        before = len(found)
        for form, window in zip(access, windows, strict=True):
            found.update(_digits(form, window, extents, found))
    return found


def _digits(
    form: LinearForm, window: int, extents: Mapping[int, int], known: set[int]
) -> Iterator[int]:
    """The unknown indices of one axis that its value tells, the largest step first."""
    steps = sorted(
        (
            (abs(form.coefficients[index].numerator), index)
            for index in form.support
            if index in extents and index not in known
        ),
        reverse=True,
    )
    reach = window - 1 + sum(step * (extents[index] - 1) for step, index in steps)
    for step, index in steps:
        reach -= step * (extents[index] - 1)
        if step <= reach:
            return
        yield index

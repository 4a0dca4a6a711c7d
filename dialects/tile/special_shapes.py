"""Shapes of the special operations: one rule each, for verifier, builder, specializer.

A shape is a tuple of sizes; DYNAMIC_INDEX stands for a size that is not known yet. All
functions raise ValueError, worded for the user, for shapes that do not fit.
"""

from __future__ import annotations

from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.str_enum import StrEnum

Shape: TypeAlias = tuple[int, ...]


class GatherMode(StrEnum):
    """What the indices of a gather are: coordinates of one axis, or of several."""

    NORMAL = "normal"
    ND = "nd"


class ScatterMode(StrEnum):
    """What a scatter writes for each index, and whether it adds or overwrites."""

    NORMAL = "normal"
    UPDATE_SLICE = "update_slice"
    UPDATE_ELT = "update_elt"
    UPDATE_ND = "update_nd"


def normalized_axis(axis: int, rank: int, what: str = "the tensor") -> int:
    """An axis counted from 0; negative ones count from the last."""
    if not -rank <= axis < rank:
        raise ValueError(f"{what} has {_axes(rank)}, so there is no axis {axis}")
    return axis % rank


def reshaped(source: Shape, target: Shape) -> Shape:
    """`target`, which must have as many elements as `source`."""
    are_known = DYNAMIC_INDEX not in source and DYNAMIC_INDEX not in target
    if are_known and prod(source) != prod(target):
        raise ValueError(
            f"{display(source)} has {_elements(source)} and {display(target)} has "
            f"{_elements(target)}"
        )
    return target


def display(shape: Shape) -> str:
    """A shape for a message: `4x5`, `?x5`, `0-D`."""
    return "x".join("?" if s == DYNAMIC_INDEX else str(s) for s in shape) or "0-D"


def gathered(
    values: Shape, indices: Shape, mode: GatherMode, axis: int, batch_dims: int
) -> Shape:
    """The shape of `gather(values, indices)`; `axis` may be negative."""
    most = min(len(values), len(indices))
    if not 0 <= batch_dims <= most:
        raise ValueError(f"batch_dims is {batch_dims}, expected 0 to {most}")
    _check_equal(
        values[:batch_dims],
        indices[:batch_dims],
        "the batch axes of the values",
        "those of the indices",
    )
    if mode is GatherMode.ND:
        return _gathered_nd(values, indices, batch_dims)
    axis = normalized_axis(axis, len(values), "the tensor of values")
    if axis < batch_dims:
        raise ValueError(f"axis {axis} is a batch axis: batch_dims is {batch_dims}")
    return (*values[:axis], *indices[batch_dims:], *values[axis + 1 :])


def _gathered_nd(values: Shape, indices: Shape, batch_dims: int) -> Shape:
    depth = _depth(indices, batch_dims)
    if depth > len(values) - batch_dims:
        raise ValueError(
            f"the last axis of the indices has {depth} coordinates, but the values "
            f"have {_axes(len(values) - batch_dims)} behind the batch"
        )
    return (*indices[:-1], *values[batch_dims + depth :])


def _depth(indices: Shape, batch_dims: int) -> int:
    """How many coordinates each index of mode `nd` has."""
    if len(indices) <= batch_dims:
        raise ValueError(
            f"the indices are {display(indices)}: expected an axis of coordinates "
            + (f"behind the first {batch_dims}" if batch_dims else "at the end")
        )
    return indices[-1]


def scattered(
    updates: Shape, indices: Shape, base: Shape, mode: ScatterMode, axis: int
) -> Shape:
    """The shape of `scatter(updates, indices, base)`; `axis` may be negative."""
    match mode:
        case ScatterMode.NORMAL:
            return _scattered_sum(updates, indices, base, axis)
        case ScatterMode.UPDATE_SLICE:
            axis = normalized_axis(axis, len(base), "the base")
            expected = (*base[:axis], *indices, *base[axis + 1 :])
            _check_updates(updates, expected)
        case ScatterMode.UPDATE_ELT:
            _check_elements(updates, indices, base, axis)
        case ScatterMode.UPDATE_ND:
            depth = _depth(indices, 0)
            if depth > len(base):
                raise ValueError(
                    f"the last axis of the indices has {depth} coordinates, but the "
                    f"base has {_axes(len(base))}"
                )
            _check_updates(updates, (*indices[:-1], *base[depth:]))
    return base


def _scattered_sum(updates: Shape, indices: Shape, base: Shape, axis: int) -> Shape:
    rank = len(updates) - len(indices) + 1
    if rank < 1:
        raise ValueError(
            f"the indices are {display(indices)}, but the updates only "
            f"{display(updates)}"
        )
    axis = normalized_axis(axis, rank, "the result")
    if axis >= len(base):
        raise ValueError(f"the base is {display(base)}, so it has no axis {axis}")
    behind = axis + len(indices)
    _check_updates(updates, (*updates[:axis], *indices, *updates[behind:]))
    return (*updates[:axis], base[axis], *updates[behind:])


def _check_elements(updates: Shape, indices: Shape, base: Shape, axis: int) -> None:
    if len(indices) != len(base):
        raise ValueError(
            f"expected as many axes of the indices as of the base ({display(base)}), "
            f"got {display(indices)}"
        )
    _check_equal(updates, indices, "the updates", "the indices")
    axis = normalized_axis(axis, len(base), "the base")
    for number, (size, limit) in enumerate(zip(indices, base, strict=True)):
        if number != axis and DYNAMIC_INDEX not in (size, limit) and size > limit:
            raise ValueError(
                f"the indices are {display(indices)}, which beside axis {axis} is "
                f"more than the base has, {display(base)}"
            )


def check_state(state: Shape) -> None:
    """A state of random numbers has shape [3, lanes], or [1, 3] for one lane."""
    if len(state) == 2:
        rows, columns = state
        if rows in (3, DYNAMIC_INDEX) and columns != 0:
            return
        if rows == 1 and columns in (3, DYNAMIC_INDEX):
            return
    # The number of axes is what is wrong where the sizes are still unknown.
    got = f"rank {len(state)}" if set(state) == {DYNAMIC_INDEX} else display(state)
    raise ValueError(f"expected a state of shape 3xL (for L lanes) or 1x3, got {got}")


def reduced(source: Shape, target: Shape) -> Shape:
    """`target`, which must broadcast to `source`."""
    fits = len(target) <= len(source) and all(
        want in (1, got) or DYNAMIC_INDEX in (want, got)
        for want, got in zip(reversed(target), reversed(source), strict=False)
    )
    if not fits:
        raise ValueError(f"{display(target)} does not broadcast to {display(source)}")
    return target


def _check_updates(updates: Shape, expected: Shape) -> None:
    if not _agree(updates, expected):
        raise ValueError(
            f"expected updates of shape {display(expected)}, got {display(updates)}"
        )


def _check_equal(left: Shape, right: Shape, what: str, other: str) -> None:
    if not _agree(left, right):
        raise ValueError(
            f"{what} are {display(left)} and {other} {display(right)}, expected the "
            "same"
        )


def _agree(left: Shape, right: Shape) -> bool:
    return len(left) == len(right) and all(
        DYNAMIC_INDEX in pair or pair[0] == pair[1]
        for pair in zip(left, right, strict=True)
    )


def _axes(count: int) -> str:
    return f"{count} {'axis' if count == 1 else 'axes'}"


def _elements(shape: Shape) -> str:
    count = prod(shape)
    return f"{count} element{'' if count == 1 else 's'}"

"""Tensors as parts of others along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from ..edsl.indices import TensorIndexes
from ..edsl.outputs import TensorOutput
from ..edsl.tensors import Tensor


def part_at(x: Tensor, shape: Sequence[int], axis: int, position: int) -> Tensor:
    """What a tensor is at a position of an axis, which goes."""
    indices = TensorIndexes(len(shape) - 1)
    sizes = [*shape[:axis], *shape[axis + 1 :]]
    part = TensorOutput(*sizes)
    part[tuple(indices)] = x[tuple([*indices[:axis], position, *indices[axis:]])]
    return part


def stacked(tensors: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors of one shape along a new axis."""
    whole: Tensor | None = None
    for position, each in enumerate(tensors):
        sizes = list(each.known_sizes)
        indices = TensorIndexes(len(sizes))
        sizes.insert(axis, len(tensors))
        output = TensorOutput(*sizes)
        at = [*indices[:axis], position, *indices[axis:]]
        output[tuple(at)] = each[tuple(indices)]
        if whole is not None:
            output.use_default(whole)
        whole = Tensor.of(output.node)
    if whole is None:
        raise ValueError("nothing to stack")
    return whole

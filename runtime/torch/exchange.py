"""Tensors of PyTorch as arrays in the same memory, and back.

A tensor whose axes are in memory in another order, as channels-last ones are, is the
array of that order: nothing is copied for it. Other strides are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import torch

Order: TypeAlias = tuple[int, ...]
"""The axes of a tensor as they are in memory, the outermost first."""


def memory_order(tensor: Any) -> Order | None:
    """The order of the axes in memory; None where elements do not fill it in any."""
    rank = tensor.dim()
    if tensor.is_contiguous():
        return tuple(range(rank))
    strides = tensor.stride()
    order = tuple(sorted(range(rank), key=lambda axis: -strides[axis]))
    expected = 1
    for axis in reversed(order):
        if tensor.shape[axis] != 1 and strides[axis] != expected:
            return None
        expected *= tensor.shape[axis]
    return order


def as_array(tensor: Any, order: Order) -> Any:
    """The elements as an array, its axes in this order; a copy where they lie apart."""
    tensor = tensor.detach()
    if tensor.requires_grad or tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if order != tuple(range(len(order))):
        tensor = tensor.permute(order)
    if not tensor.is_contiguous():
        tensor = tensor.contiguous()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def as_tensor(array: Any, order: Order) -> Any:
    """The tensor whose axes an array has in this order, in the same memory."""
    if array.dtype == ml_dtypes.bfloat16:
        tensor = torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(array)
    if order == tuple(range(len(order))):
        return tensor
    return tensor.permute(inverse(order))


def inverse(order: Sequence[int]) -> Order:
    """The order that undoes another one."""
    places = [0] * len(order)
    for place, axis in enumerate(order):
        places[axis] = place
    return tuple(places)

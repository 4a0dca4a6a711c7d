"""Operators that make tensors of numbers, sizes or nothing."""

from __future__ import annotations

from typing import Any

from .. import op
from ..edsl.tensors import Tensor, cast
from .rows import Call, row


@row(
    "aten.full.default",
    "aten.scalar_tensor.default",
)
def full(call: Call, *arguments: Any, **options: Any) -> Tensor:
    """A tensor of one number: the last argument."""
    return op.full(list(call.sizes), arguments[-1], call.dtype)


@row("aten.full_like.default", "aten.new_full.default")
def full_like(call: Call, x: Tensor, *arguments: Any, **options: Any) -> Tensor:
    """A tensor of one number in the shape of another, or in a shape that is said."""
    return op.full(list(call.sizes), arguments[-1], call.dtype)


@row(
    "aten.zeros.default",
    "aten.zeros_like.default",
    "aten.new_zeros.default",
    "aten.empty.memory_format",
    "aten.empty_like.default",
    "aten.new_empty.default",
)
def zeros(call: Call, *arguments: Any, **options: Any) -> Tensor:
    """Zeros, also where PyTorch leaves open what the elements are."""
    return op.full(list(call.sizes), 0, call.dtype)


@row("aten.ones.default", "aten.ones_like.default", "aten.new_ones.default")
def ones(call: Call, *arguments: Any, **options: Any) -> Tensor:
    """Ones."""
    return op.full(list(call.sizes), 1, call.dtype)


@row("aten.arange.start_step")
def arange(call: Call, start: Any, end: Any, step: Any = 1, **options: Any) -> Tensor:
    """Numbers at equal distances."""
    (count,) = call.sizes
    numbers = cast(op.arange(count), call.dtype)
    return numbers * cast(step, call.dtype) + cast(start, call.dtype)

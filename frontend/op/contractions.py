"""Contractions, as operations write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from ..edsl.accesses import Aggregated, Combined, IndexedTensor
from ..edsl.indices import Constraint, index_expression
from ..edsl.outputs import TensorOutput
from ..edsl.tensors import Tensor
from .axes import Size, indices, note_order, order_of, require_some, sizes_of

SUM, PRODUCT = Aggregation.ADD, Aggregation.MUL
MAX, MIN, ONLY = Aggregation.MAX, Aggregation.MIN, Aggregation.ASSIGN


def contract(
    aggregation: Aggregation,
    sizes: Sequence[Size],
    output: Sequence[Any],
    value: Combined,
    constraints: Sequence[Constraint] = (),
    default: Tensor | None = None,
) -> Tensor:
    """The tensor of these sizes, whose cell `output` aggregates the value's points."""
    require_some(sizes)
    result = TensorOutput(*sizes)
    result.add_constraints(constraints)
    if default is not None:
        result.use_default(default)
    places = [index_expression(index) for index in output]
    result.write(places, Aggregated(aggregation, value))
    return Tensor.of(result.node)


def moved(
    x: Tensor,
    sizes: Sequence[Size],
    output: Sequence[Any],
    source: Sequence[Any],
    constraints: Sequence[Constraint] = (),
    default: Tensor | None = None,
) -> Tensor:
    """The tensor whose cell `output` is the element `source` of x, else the default."""
    return contract(ONLY, sizes, output, element(x, source), constraints, default)


def reordered(x: Tensor, order: Sequence[int]) -> Tensor:
    """The tensor with its axes in another order."""
    places, sizes = indices(x.ndim), sizes_of(x)
    output = [places[axis] for axis in order]
    result = moved(x, [sizes[axis] for axis in order], output, places)
    note_order(result, x, order)
    return result


def element(x: Tensor, places: Sequence[Any]) -> IndexedTensor:
    """An access of a contraction.

    A tensor whose axes were reordered is read where it was before, so that nothing is
    moved for it.
    """
    while (known := order_of(x)) is not None:
        x, order = known
        own = dict(zip(order, places, strict=True))
        places = [own[axis] for axis in range(x.ndim)]
    return x[tuple(places)]

"""Contractions, as operations write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from ..edsl.accesses import Aggregated, Combined
from ..edsl.indices import Constraint, index_expression
from ..edsl.outputs import TensorOutput
from ..edsl.tensors import Tensor
from .axes import Size, require_some

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
    return contract(ONLY, sizes, output, x[tuple(source)], constraints, default)

"""Indices as numbers, at the `stripe` and the `opencl` level."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute

from ...dialects.eltwise.ops import element_of
from ...dialects.index_number import IndexNumberOp
from .boxes import evaluator
from .dispatch import Step, prepare
from .elements import cast
from .frame import Frame


@prepare.register(IndexNumberOp)
def _prepare_index(op: IndexNumberOp) -> Step:
    values, result = tuple(op.values), op.result
    value_of, element = evaluator(op.form.data), element_of(result.type)
    step_size = op.lane_step
    lanes = np.arange(_lanes(result.type)) * (step_size or 0)

    def step(frame: Frame) -> None:
        number = value_of([frame[value] for value in values])
        numbers = np.broadcast_to(np.asarray(number, np.int64), (frame.count,))
        if step_size is not None:
            numbers = numbers[:, None] + lanes
        frame[result] = cast(numbers, IndexType(), element)

    return step


def _lanes(type: Attribute) -> int:
    return type.get_shape()[0] if isinstance(type, VectorType) else 1

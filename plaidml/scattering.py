"""`scatter` with the operands in the order of PlaidML 1."""

from __future__ import annotations

from typing import Any

from ..frontend.edsl.specials import OutOfBoundsMode, ScatterMode
from ..frontend.edsl.specials import scatter as scatter_of_updates
from ..frontend.edsl.tensors import Tensor


def scatter(
    data: Any,
    indices: Any,
    updates: Any,
    axis: int = 0,
    *,
    mode: ScatterMode | str = ScatterMode.NORMAL,
    out_of_bounds: OutOfBoundsMode | str = OutOfBoundsMode.CLAMP,
) -> Tensor:
    """The `updates` put where `indices` say in a tensor like `data`."""
    return scatter_of_updates(
        updates, indices, data, axis, mode=mode, out_of_bounds=out_of_bounds
    )

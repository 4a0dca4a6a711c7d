"""`scatter` with the operands in the order of PlaidML 1."""

from __future__ import annotations

from typing import Any

from ..dialects.tile.scatter import ScatterOptions
from ..frontend.edsl.specials import scatter as scatter_of_updates
from ..frontend.edsl.specials import with_options
from ..frontend.edsl.tensors import Tensor


@with_options(ScatterOptions)
def scatter(
    data: Any, indices: Any, updates: Any, axis: int = 0, **options: Any
) -> Tensor:
    """The `updates` put where `indices` say in a tensor like `data`."""
    return scatter_of_updates(updates, indices, data, axis, **options)

"""What a name of a graph stands for while the graph is walked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..edsl.tensors import Tensor


@dataclass(eq=False)
class TensorValue:
    """A tensor of known sizes.

    It is one of three: an array that does not depend on what the model is called with,
    or only on what it has been specialized for; a tensor of the program that is being
    built; or something at a `slot` of what a run has computed so far.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    array: NDArray[Any] | None = None
    tensor: Tensor | None = None
    slot: int | None = None
    name: str = ""

    @property
    def is_known(self) -> bool:
        """Whether its elements are known before the model runs."""
        return self.array is not None


@dataclass(eq=False)
class HostValue:
    """A sequence, an optional or another thing that only the host has, at its slot."""

    slot: int
    name: str = ""


Value: TypeAlias = TensorValue | HostValue

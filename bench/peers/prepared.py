"""What a peer makes of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cases import Case

Array: TypeAlias = NDArray[np.float32]
Inputs: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True)
class Prepared:
    """A computation that is ready to be repeated."""

    call: Callable[[], object]
    """Computes once. On a device it may return before the end."""
    results: Callable[[], Sequence[NDArray[Any]]]
    """What it computes, in the shapes that the case gives its results or such that the
    elements lie in the same order."""
    finish: Callable[[], object] = lambda: None
    """Waits for the end of all calls."""
    on_device: Callable[[int], float | None] = lambda count: None
    """Makes so many calls: the seconds of one by the clock of the device, without what
    the host does in between; None where no device tells."""


Prepare: TypeAlias = Callable[[Case, Inputs], Prepared | None]


IMAGES = {
    "convolution",
    "depthwise",
    "transposed_convolution",
    "max_pool",
    "bottleneck",
}
"""The kinds of cases whose results are images, which some peers have as NCHW."""


def arrays_of(outputs: ArrayLike | tuple[ArrayLike, ...]) -> list[NDArray[Any]]:
    """The arrays of a result that is one or a tuple of them."""
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return [np.asarray(output) for output in several]

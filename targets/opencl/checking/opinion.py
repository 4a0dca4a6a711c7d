"""A second opinion on results: what another compiler, or another build, gives.

It is for outputs of which a sample is too dear, or changed by rounding alone. How much
rounding may change is seen by running that build again, on inputs whose last bits are
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .expectation import Mismatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...backend import Executable

    Array = NDArray[Any]

_AGREEMENT = 1e-2
"""Two builds whose results differ by more, relative to the largest, do not agree."""
_NOISE = 64
"""How far rounding may move results, in those of one rounding of all inputs."""


class Opinion:
    """What other code gives for some inputs."""

    def __init__(self, executable: Executable, inputs: Sequence[Array]) -> None:
        self._results = executable.run(inputs)
        moved = executable.run([_moved(array) for array in inputs])
        pairs = zip(self._results, moved, strict=True)
        self._noise = [_noise(one, other) for one, other in pairs]

    def disagreement(
        self, results: Sequence[Array], outputs: Iterable[int]
    ) -> Mismatch | None:
        """The cell of one of the outputs that is furthest off, if one is too far."""
        for number in outputs:
            found = _difference(
                number, results[number], self._results[number], self._noise[number]
            )
            if found is not None:
                return found
        return None


def _moved(array: Array) -> Array:
    """An input rounded another way: each number a few units in the last place off."""
    if array.dtype.kind in "biu":
        return array
    random = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        factors = (
            1 + random.choice([-1.0, 1.0], array.shape) * 2 * np.finfo(np.float32).eps
        )
        return (array.astype(np.float64) * factors).astype(array.dtype)


def _noise(one: Array, two: Array) -> float:
    """How far two results are apart, of numbers."""
    with np.errstate(all="ignore"):
        distance = np.abs(one.astype(np.float64) - two.astype(np.float64))
    return _NOISE * float(distance[np.isfinite(distance)].max(initial=0.0))


def _difference(number: int, got: Array, want: Array, noise: float) -> Mismatch | None:
    """The cell where a result is furthest from another build's, if it is too far."""
    if not got.size:
        return None
    with np.errstate(all="ignore"):
        one, two = got.astype(np.float64), want.astype(np.float64)
        same = (one == two) | (np.isnan(one) & np.isnan(two))
        scale = float(np.abs(two[np.isfinite(two)]).max(initial=0.0))
        tolerance = noise + (0.0 if want.dtype.kind in "biu" else _AGREEMENT * scale)
        distance = np.where(same, 0.0, np.abs(one - two))
        distance = np.where(np.isnan(distance), np.inf, distance)
    worst = int(distance.argmax())
    if distance.flat[worst] <= tolerance:
        return None
    cell = tuple(int(n) for n in np.unravel_index(worst, got.shape))
    return Mismatch(number, cell, got[cell].item(), want[cell].item(), tolerance)

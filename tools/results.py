"""What commands print of results: how long they took, and whether they are right."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .command import show

if TYPE_CHECKING:
    from numpy.typing import NDArray


def describe(array: NDArray[Any]) -> str:
    """The shape and the type of an array: `4x5, float32`."""
    sizes = "x".join(str(size) for size in array.shape) or "a number"
    return f"{sizes}, {array.dtype}"


def show_time(call: Callable[[], object], first_call: float) -> None:
    """Time further calls for about a second, at least three; print it in ms.

    `first_call` is what the first one took, in seconds.
    """
    import numpy as np

    times: list[float] = []
    while len(times) < 3 or (sum(times) < 1.0 and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    show(
        f"time: {np.median(times) * 1e3:.3f} ms a call (median of {len(times)}, "
        f"fastest {min(times) * 1e3:.3f} ms), first call with compilation "
        f"{first_call * 1e3:.0f} ms"
    )


def show_check(
    names: Sequence[str],
    results: Sequence[NDArray[Any]],
    expected: Sequence[NDArray[Any]],
) -> int:
    """Compare results with those of the reference interpreter; the exit status."""
    status = 0
    for name, got, want in zip(names, results, expected, strict=True):
        error = relative_error(got, want)
        tolerance = tolerance_of(want)
        verdict = "ok" if error <= tolerance else "WRONG"
        status = status if verdict == "ok" else 1
        show(
            f"check {name}: {verdict}, largest error {error:.1e} of the largest value "
            f"(tolerance {tolerance:.0e})"
        )
    return status


def relative_error(got: NDArray[Any], want: NDArray[Any]) -> float:
    """The largest difference, relative to the largest magnitude of `want`.

    0 where both are the same infinity or not a number; infinite where one alone is.
    """
    import numpy as np

    if got.shape != want.shape:
        return float("inf")
    if not want.size:
        return 0.0
    left, right = got.astype(np.float64), want.astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    if same.all():
        return 0.0
    if not (np.isfinite(left[~same]) & np.isfinite(right[~same])).all():
        return float("inf")
    finite = np.abs(right[np.isfinite(right)])
    scale = max(float(finite.max(initial=0.0)), np.finfo(np.float64).tiny)
    return float(np.abs(left[~same] - right[~same]).max()) / scale


def tolerance_of(array: NDArray[Any]) -> float:
    """How far two right results may be apart: rounding in another order."""
    import numpy as np

    if array.dtype.kind in "biu":
        return 0.0
    name = array.dtype.name
    epsilon = 2.0**-8 if name == "bfloat16" else float(np.finfo(array.dtype).eps)
    return 64 * epsilon

"""Whether kernels do what their program means, in each cell, and fit their device.

The reference interpreter runs the flattened program, and the kernels, where it finds
races, barriers that not all work-items reach, and reads of what was never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from gradients import Array
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.opencl import KernelOp
from gingham.errors import GinghamError
from gingham.passes.opencl.check_limits import local_bytes
from gingham.targets.hardware import Hardware
from gingham.targets.reference import Budget, OverBudgetError, interpret

_MEANING = 200_000_000
"""Points of a program that are interpreted: a few seconds."""
_KERNELS = 40_000_000
"""The same of its kernels, each statement of which takes as long as a whole program."""
_TOLERANCES = {"float64": 1e-6, "float32": 1e-4, "float16": 2e-2, "bfloat16": 5e-2}
"""Of the largest magnitude: kernels add up in another order."""
_LEAST_SCALE = 1e-3
"""Of results of numbers near 1, of which smaller ones are what rounding leaves over."""


def interpreted(module: ModuleOp, arrays: Sequence[Array], points: int) -> list[Array]:
    """The results by the interpreter; none where that takes more than so many points.

    Raises GinghamError where the program is wrong.
    """
    try:
        return interpret(module, arrays, budget=Budget(points))
    except OverBudgetError:
        return []


def wrong_cells(
    flattened: ModuleOp,
    kernels: ModuleOp,
    arrays: Sequence[Array],
    results: Sequence[Array],
) -> Iterator[str]:
    """What is wrong with results of kernels, and with the kernels, interpreted."""
    wanted = interpreted(flattened, arrays, _MEANING)
    types = [array.dtype.name for array in (*arrays, *wanted)]
    tolerance = max(_TOLERANCES.get(name, 0.0) for name in types) if types else 0.0
    for number, (got, want) in enumerate(zip(results, wanted, strict=False)):
        if problem := difference(got, want, tolerance):
            yield f"by the interpreter: result {number}{problem}"
    try:
        found = interpreted(kernels, arrays, _KERNELS)
    except GinghamError as error:
        yield f"the kernels, interpreted: {error}"
        return
    for number, (got, want) in enumerate(zip(found, wanted, strict=False)):
        if problem := difference(got, want, tolerance):
            yield f"the kernels, interpreted: result {number}{problem}"


def difference(got: Array, want: Array, tolerance: float) -> str | None:
    """The cell that is furthest off, if one is further than a part of the largest."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f" is {got.dtype}{got.shape} in place of {want.dtype}{want.shape}"
    with np.errstate(all="ignore"):
        one, two = got.astype(np.float64), want.astype(np.float64)
        same = (got == want) | (np.isnan(one) & np.isnan(two))
        scale = np.abs(two[np.isfinite(two)]).max(initial=0.0)
        is_exact = got.dtype.kind in "biu"
        most = 0.0 if is_exact else tolerance * max(scale, _LEAST_SCALE)
        distance = np.where(same, 0.0, np.abs(one - two))
        distance = np.where(np.isnan(distance), np.inf, distance)
    wrong = ~same & ~(distance <= most)
    if not wrong.any():
        return None
    cell = tuple(map(int, np.unravel_index(np.argmax(wrong * distance), wrong.shape)))
    return f"{list(cell)} is {got[cell]} in place of {want[cell]}, {wrong.sum()} cells"


def limits_passed(kernels: ModuleOp, hardware: Hardware) -> Iterator[str]:
    """What kernels take that a device has not: work-items, local memory."""
    memory = hardware.array_memory_bytes
    for kernel in kernels.walk():
        if not isinstance(kernel, KernelOp):
            continue
        items = int(np.prod(kernel.group_size))
        if items > hardware.work_group_limit:
            yield f"{items} work-items, and {hardware.work_group_limit} are the most"
        taken = local_bytes(kernel)
        if taken > memory:
            yield f"{taken} bytes of local memory, and {memory} are the most"

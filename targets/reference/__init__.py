"""The reference interpreter: the executable definition of what a module means.

`interpret` runs the function `@main` of a module on NumPy arrays, at the tile, the
stripe or the opencl level. It follows the definitions in the dialects' docstrings
literally and checks what they demand: accesses in bounds, no read of memory that was
never written, no two points that write one cell. A pass is right when the module before
and after it give the same result here.

One file per level: `tile`, `stripe` and `opencl`, with `eltwise` below them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .budget import Budget, OverBudgetError
from .faults import UnknownOperationError

if TYPE_CHECKING:
    import numpy.typing as npt
    from xdsl.dialects.builtin import ModuleOp


def interpret(
    module: ModuleOp,
    inputs: Sequence[npt.NDArray[Any]],
    entry: str = "main",
    budget: Budget | None = None,
) -> list[npt.NDArray[Any]]:
    """The results of running function `entry` of a verified module.

    There is one input for each argument, of exactly its shape and element type (`i1` is
    bool, `bf16` is `ml_dtypes.bfloat16`). Inputs are not changed, and results do not
    share memory with them, whether the level has tensors, views or buffers.

    Raises GinghamError for inputs that do not fit, for a module that has symbolic
    sizes, and where the program does something that has no meaning: see the package.
    Where it is the interpreter that lacks an operation, it is an UnknownOperationError,
    and an OverBudgetError where the run takes more than is left of `budget`, or more
    than the setting `interpreted_points`.
    """
    # NumPy is imported when something is run, not when a tool starts.
    from .interpreter import run

    return run(module, inputs, entry, budget)


__all__ = ["Budget", "OverBudgetError", "UnknownOperationError", "interpret"]

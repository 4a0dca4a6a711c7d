"""Functions of f32 written in `eltwise` ops, which `opencl-expand-functions` uses.

They use no op whose accuracy depends on the runtime but division, and are right whether
or not a compiler fuses `a * b + c`. They are wrong where it reorders sums, as
`-cl-fast-relaxed-math` allows.
"""

from __future__ import annotations

from collections.abc import Callable

from .error_function import erf
from .exponential import exp, sigmoid, tanh
from .logarithm import log
from .number import Number
from .power import power
from .trigonometric import cos, sin, tan

EXPANSIONS: dict[str, Callable[..., Number]] = {
    "exp": exp,
    "log": log,
    "pow": power,
    "sigmoid": sigmoid,
    "erf": erf,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "tanh": tanh,
}
"""What each function of the table is made of."""

__all__ = ["EXPANSIONS", "Number"]

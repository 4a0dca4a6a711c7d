"""Which functions of f32 a runtime had better compute by our own formulas.

The standard allows `erf` and `pow` errors of 16 ulp, `tan` and `tanh` of 5, and says
nothing of speed. What was measured on vectors of 16 f32:

| runtime | what was found |
| --- | --- |
| Intel CPU 2026.2 | all within 4 ulp; `erf` and `tanh` take 1.15 times our time |
| PoCL 3.1 (CPU) | all within 4 ulp; `pow` takes 5, `erf` 4, `tanh` 2 times our time |
| PoCL 5.0 (CPU) | `sin` of vectors is wrong |
| PoCL 7.1 (CPU) | `exp` takes 8 and `tanh` 20 times our time |
| NVIDIA 580 (H200) | all within 2.4 ulp |

`sigmoid` is ours everywhere, because `1 / (1 + exp(-x))` gives 0 where the result is a
denormal number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .device import OpenCLDevice

_ALL = ("exp", "log", "pow", "sigmoid", "erf", "sin", "cos", "tan", "tanh")

_MEASURED: dict[tuple[str, str], tuple[str, ...]] = {
    ("intel", "cpu"): ("sigmoid", "erf", "tanh"),
    ("pocl", "cpu"): _ALL,
    ("nvidia", "gpu"): ("sigmoid",),
}
"""By the vendor's name in `tile-devices` and the kind of device."""

# What the standard alone does not bound by 4 ulp.
_LOOSE = ("pow", "sigmoid", "erf", "tan", "tanh")

_NEED_F64 = frozenset({"pow", "sin", "cos", "tan"})


def own_functions(device: OpenCLDevice) -> tuple[str, ...]:
    """The functions that kernels for a device do not leave to its runtime."""
    vendor = device.name.rpartition(".")[0]
    unknown = _ALL if device.kind == "cpu" else _LOOSE
    functions = _MEASURED.get((vendor, device.kind), unknown)
    if device.details.supports_fp64:
        return functions
    return tuple(name for name in functions if name not in _NEED_F64)

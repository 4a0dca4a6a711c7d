"""Gingham: an MLIR-style compiler from Tile, a language of tensor contractions.

```python
import gingham

f = gingham.compile(
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
C = f(A, B)
```
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import edsl, plaidml
    from .errors import GinghamError
    from .frontend.edsl.differentiation import gradient
    from .runtime.devices import Device, default_device, device, devices
    from .runtime.einsum import einsum, tensordot, transpose
    from .runtime.function import Function, compile, compile_file
    from .runtime.jit import jit
    from .runtime.program import Program

__version__ = "0.1.0"

# Everything is imported when first asked for: the tools start with this package too.
_PLACES = {
    "GinghamError": "errors",
    "Device": "runtime.devices",
    "default_device": "runtime.devices",
    "device": "runtime.devices",
    "devices": "runtime.devices",
    "einsum": "runtime.einsum",
    "tensordot": "runtime.einsum",
    "transpose": "runtime.einsum",
    "Function": "runtime.function",
    "compile": "runtime.function",
    "compile_file": "runtime.function",
    "gradient": "frontend.edsl.differentiation",
    "jit": "runtime.jit",
    "Program": "runtime.program",
}

__all__ = [
    "Device",
    "Function",
    "GinghamError",
    "Program",
    "compile",
    "compile_file",
    "default_device",
    "device",
    "devices",
    "edsl",
    "einsum",
    "gradient",
    "jit",
    "plaidml",
    "tensordot",
    "transpose",
]


def __getattr__(name: str) -> Any:
    if name in ("edsl", "plaidml"):
        return import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]

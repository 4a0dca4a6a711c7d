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
    from .errors import GinghamError
    from .runtime.devices import Device, default_device, device, devices
    from .runtime.function import Function, compile, compile_file

__version__ = "0.1.0"

# Everything is imported when first asked for: the tools start with this package too.
_PLACES = {
    "GinghamError": "errors",
    "Device": "runtime.devices",
    "default_device": "runtime.devices",
    "device": "runtime.devices",
    "devices": "runtime.devices",
    "Function": "runtime.function",
    "compile": "runtime.function",
    "compile_file": "runtime.function",
}

__all__ = [
    "Device",
    "Function",
    "GinghamError",
    "compile",
    "compile_file",
    "default_device",
    "device",
    "devices",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]

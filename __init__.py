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

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .patched import watch_imports

if TYPE_CHECKING:
    from . import edsl, op, plaidml
    from .errors import GinghamError
    from .frontend.edsl.differentiation import gradient
    from .runtime import keras, onnx
    from .runtime.arrays.array import Array, asarray
    from .runtime.compilation import compile, compile_file
    from .runtime.device import Device
    from .runtime.devices import default_device, device, devices
    from .runtime.einsum import einsum, tensordot, transpose
    from .runtime.function import Function
    from .runtime.jit import jit
    from .runtime.memory import memory_usage
    from .runtime.placement.function import PlacedFunction
    from .runtime.profiling.profile import Profile, profile
    from .runtime.program import Program
    from .runtime.settings import configure

__version__ = "0.1.0"

# Everything is imported when first asked for: the tools start with this package too.
_PLACES = {
    "Array": "runtime.arrays.array",
    "GinghamError": "errors",
    "asarray": "runtime.arrays.array",
    "Device": "runtime.device",
    "default_device": "runtime.devices",
    "device": "runtime.devices",
    "devices": "runtime.devices",
    "einsum": "runtime.einsum",
    "tensordot": "runtime.einsum",
    "transpose": "runtime.einsum",
    "Function": "runtime.function",
    "compile": "runtime.compilation",
    "compile_file": "runtime.compilation",
    "PlacedFunction": "runtime.placement.function",
    "gradient": "frontend.edsl.differentiation",
    "jit": "runtime.jit",
    "Program": "runtime.program",
    "configure": "runtime.settings",
    "profile": "runtime.profiling.profile",
    "Profile": "runtime.profiling.profile",
    "memory_usage": "runtime.memory",
}

_MODULES = {
    "edsl": "edsl",
    "keras": "runtime.keras",
    "onnx": "runtime.onnx",
    "op": "op",
    "plaidml": "plaidml",
}


class _Alias(Loader):
    """Finds `gingham.onnx` where it is: a file `onnx.py` here would hide ONNX itself.

    It is a finder, too, as of `importlib.abc.MetaPathFinder`.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The module of a name in the table, if another folder has it."""
        package, _, name = fullname.rpartition(".")
        if package != __name__ or _MODULES.get(name, name) == name:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make one, which never is seen."""

    def exec_module(self, module: ModuleType) -> None:
        """Have the module that it stands for be imported instead."""
        name = module.__name__
        sys.modules[name] = getattr(sys.modules[__name__], name.rpartition(".")[2])


sys.meta_path.append(_Alias())
watch_imports()

__all__ = [
    "Array",
    "Device",
    "Function",
    "GinghamError",
    "PlacedFunction",
    "Profile",
    "Program",
    "asarray",
    "compile",
    "compile_file",
    "configure",
    "default_device",
    "device",
    "devices",
    "edsl",
    "einsum",
    "gradient",
    "jit",
    "keras",
    "memory_usage",
    "onnx",
    "op",
    "plaidml",
    "profile",
    "tensordot",
    "transpose",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    # The next time it is found without this function, which is slow.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]

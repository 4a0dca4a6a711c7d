"""`gingham.onnx`: models of ONNX as functions of arrays.

```python
model = gingham.onnx.load("resnet50.onnx")
y = model(x)
```

A `Session` runs a graph. The first call with inputs of some sizes walks it (`planner`),
which compiles as much as possible as one program, runs on the host what that cannot
do, and goes on with what came of it. What was found out is a chain of `parts`, which
further calls follow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import (
        Backend,
        is_compatible,
        prepare,
        run_model,
        run_node,
        supports_device,
    )
    from .loading import load
    from .model_function import ModelFunction
    from .warning import HostWarning

_PLACES = {
    "Backend": "backend",
    "HostWarning": "warning",
    "ModelFunction": "model_function",
    "is_compatible": "backend",
    "load": "loading",
    "prepare": "backend",
    "run_model": "backend",
    "run_node": "backend",
    "supports_device": "backend",
}

__all__ = [
    "Backend",
    "HostWarning",
    "ModelFunction",
    "is_compatible",
    "load",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]

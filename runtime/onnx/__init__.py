"""`gingham.onnx`: models of ONNX as functions of arrays.

```python
model = gingham.onnx.load("resnet50.onnx")
y = model(x)
```

A `Session` runs a graph. The first call with inputs of some sizes walks it (`planner`),
which compiles as much as possible as one program, runs what that cannot do on the host,
and goes on with what came of it. What was found out is a chain of `parts`, which further
calls follow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import Backend
    from .loading import load
    from .model_function import ModelFunction

_PLACES = {
    "load": "loading",
    "ModelFunction": "model_function",
    "Backend": "backend",
}

__all__ = ["Backend", "ModelFunction", "load"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]

"""Keras 3 on Gingham: `gingham.keras.compile(model)`.

The model's own `call` is run once for each kind of arguments, on tensors that only
write down what is done to them, and the graph that PyTorch's AOTAutograd makes of that
is compiled. Nothing of Keras is changed or replaced but that one method of the model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .models import compile

__all__ = ["compile"]


def __getattr__(name: str) -> Any:
    # Keras and PyTorch are imported when a model is compiled, not before.
    if name != "compile":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.models").compile

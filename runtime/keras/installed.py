"""The Keras that is installed, where it is one that models can be compiled of."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import GinghamError


def require_keras() -> Any:
    """Keras 3 with PyTorch as backend. Raises GinghamError where that is not there."""
    try:
        found: Any = import_module("keras")
    except ImportError as problem:
        raise GinghamError(
            f"Keras cannot be imported: {problem}",
            hint="python -m pip install 'gingham[keras]', and set KERAS_BACKEND=torch",
        ) from problem
    version = str(found.__version__)
    if version.startswith(("1.", "2.")):
        raise GinghamError(
            f"Keras {version} has no PyTorch in it",
            hint="Keras 3 has; for Keras 2.2.4 there is gingham.plaidml.keras",
        )
    name = found.backend.backend()
    if name != "torch":
        raise GinghamError(
            f"Keras's backend is {name}",
            hint="set KERAS_BACKEND=torch before Keras is imported",
        )
    return found

"""Models of Keras whose calls are compiled, for inference and for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import GinghamError
from .installed import require_keras


def compile(model: Any, **options: Any) -> Any:
    """Have a model of Keras run on Gingham: in `predict`, `evaluate`, `fit` and calls.

    Functional, sequential and subclassed models, whose Keras has PyTorch as backend.
    `options` are `device`, `fast_math` and `tuned`, as of `gingham.compile`. Returns
    the model, which is as it was but for its `call`; `model.compile` and training by
    `fit` are Keras's own. What cannot be compiled is run by Keras, with a warning.

    Raises GinghamError where Keras 3 or PyTorch is missing, where Keras has another
    backend, and for what is no model.
    """
    keras = require_keras()
    if not isinstance(model, keras.Model):
        raise GinghamError(
            f"expected a model of Keras, got {type(model).__name__}",
            hint="gingham.keras.compile(model), before or after model.compile(...)",
        )
    from ..torch.backend import chosen_options
    from .calls import CompiledCall

    call: Callable[..., Any] = model.call
    if isinstance(call, CompiledCall):
        call = call.original
    # In the instance only, past Keras, which keeps an account of attributes.
    object.__setattr__(
        model, "call", CompiledCall(model, call, chosen_options(options))
    )
    return model

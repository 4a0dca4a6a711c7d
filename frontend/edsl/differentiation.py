"""`gradient`: derivatives of a tensor of the program, in the shape of what is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from .specials import gradients
from .tensors import Tensor


@overload
def gradient(loss: Any, wrt: Tensor) -> Tensor: ...


@overload
def gradient(loss: Any, wrt: Mapping[str, Tensor]) -> dict[str, Tensor]: ...


@overload
def gradient(loss: Any, wrt: Sequence[Tensor]) -> list[Tensor]: ...


def gradient(
    loss: Any, wrt: Tensor | Mapping[str, Tensor] | Sequence[Tensor]
) -> Tensor | dict[str, Tensor] | list[Tensor]:
    """The derivative of `loss` by each element of a tensor, or of several tensors.

    A tensor for a tensor, a list for a sequence, a dictionary for a dictionary. Each
    has the shape and the element type of what it is the derivative by; zeros where the
    loss does not depend on that. Of a loss that is not 0-D it is the gradient of the
    sum of its elements.

    ```python
    @gingham.jit
    def step(weights, X, T):
        error = model(weights, X) - T
        slopes = gingham.gradient(error * error, weights)
        return {name: w - 0.1 * slopes[name] for name, w in weights.items()}
    ```

    Raises GinghamError for what is no tensor of floats.
    """
    if isinstance(wrt, Tensor):
        (derivative,) = gradients(loss, wrt)
        return derivative
    if isinstance(wrt, Mapping):
        found = gradients(loss, list(wrt.values()))
        return dict(zip(wrt, found, strict=True))
    return gradients(loss, wrt)

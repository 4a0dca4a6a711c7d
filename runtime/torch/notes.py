"""What users are told of operators that run in PyTorch."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import message_text, warn


class OperatorWarning(UserWarning):
    """Operators of a model that `torch.compile` leaves to PyTorch."""


_told: set[str] = set()

_RANDOM = (
    "bernoulli",
    "drawn_by_layer",
    "normal",
    "rand",
    "uniform",
    "multinomial",
    "exponential",
)
"""Parts of the names of operators whose numbers are to be those of PyTorch."""


def note(operators: Iterable[str], reason: str) -> None:
    """Warn, once for each operator, that PyTorch runs it.

    Random numbers are meant to be PyTorch's own, of which nobody need be told.
    """
    new = sorted(
        name
        for name in operators
        if name not in _told and not any(part in name for part in _RANDOM)
    )
    if not new:
        return
    _told.update(new)
    warn(
        f"PyTorch runs {', '.join(new)}: {message_text(reason)}",
        OperatorWarning,
    )

"""The shape and type that a result has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..errors import GinghamError

if TYPE_CHECKING:
    import numpy as np

    from ..targets.backend import ArrayType


class Typed(Protocol):
    """An array, of NumPy or of a device."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        ...


def check_type(what: str, target: Typed, expected: ArrayType) -> None:
    """Refuse an array that has not exactly a result's shape and type."""
    shape, dtype = expected
    if target.shape != shape or target.dtype != dtype:
        raise GinghamError(
            f"{what}: expected shape {shape} and type {dtype.name}, got shape "
            f"{target.shape} and type {target.dtype.name}"
        )
